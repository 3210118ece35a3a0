-- Where customers with money and without any order are, by the country code of their phones.
\set c1 random(10, 13)
\set c2 random(14, 17)
\set c3 random(18, 21)
\set c4 random(22, 25)
\set c5 random(26, 28)
\set c6 random(29, 31)
\set c7 random(32, 34)
select reachable.code, count(*) as customers, sum(reachable.balance) as balance
from (
    select left(c.phone, 2) as code, c.balance
    from sluice_tpch.customer c
    where left(c.phone, 2) in (:c1::text, :c2::text, :c3::text, :c4::text, :c5::text, :c6::text, :c7::text)
        and c.balance > (
            select avg(rich.balance)
            from sluice_tpch.customer rich
            where rich.balance > 0
                and left(rich.phone, 2) in (:c1::text, :c2::text, :c3::text, :c4::text, :c5::text, :c6::text, :c7::text)
        )
        and not exists (select from sluice_tpch.orders o where o.customer_id = c.id)
) as reachable
group by reachable.code
order by reachable.code
