-- The ten most valuable orders of a segment that had not been shipped by a day.
\set segment choice('FARMING', 'HOUSEHOLD', 'INDUSTRY', 'TRANSPORT', 'BUILDING')
\set day random(1, 31)
select l.order_id, sum(l.price * (1 - l.discount)) as revenue, o.ordered, o.ship_priority
from sluice_tpch.customer c
    join sluice_tpch.orders o on o.customer_id = c.id
    join sluice_tpch.lineitem l on l.order_id = o.id
where c.segment = :segment::text
    and o.ordered < date '2021-02-28' + :day::int
    and l.shipped > date '2021-02-28' + :day::int
group by l.order_id, o.ordered, o.ship_priority
order by revenue desc, o.ordered
limit 10
