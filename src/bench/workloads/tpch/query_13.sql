-- How many customers have how many orders, those with certain remarks left out.
\set adjective choice('pending', 'special', 'unusual', 'express')
\set noun choice('parcels', 'requests', 'accounts', 'deposits')
select per_customer.orders, count(*) as customers
from (
    select c.id, count(o.id) as orders
    from sluice_tpch.customer c
        left join sluice_tpch.orders o
            on o.customer_id = c.id
            and o.comment not like '%' || :adjective::text || '%' || :noun::text || '%'
    group by c.id
) as per_customer
group by per_customer.orders
order by customers desc, per_customer.orders desc
