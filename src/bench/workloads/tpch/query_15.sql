-- The supplier, or those who share the place, that brought in most in a quarter.
\set month random(0, 57)
with revenue (supplier_id, total) as (
    select l.supplier_id, sum(l.price * (1 - l.discount))
    from sluice_tpch.lineitem l
    where l.shipped >= date '2019-01-01' + make_interval(months => :month::int)
        and l.shipped < date '2019-01-01' + make_interval(months => :month::int + 3)
    group by l.supplier_id
)
select s.id, s.name, s.address, s.phone, r.total
from sluice_tpch.supplier s
    join revenue r on r.supplier_id = s.id
where r.total = (select max(total) from revenue)
order by s.id
