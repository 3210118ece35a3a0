-- By priority: how many orders of a quarter had a line that came later than promised.
\set month random(0, 57)
select o.priority, count(*) as orders
from sluice_tpch.orders o
where o.ordered >= date '2019-01-01' + make_interval(months => :month::int)
    and o.ordered < date '2019-01-01' + make_interval(months => :month::int + 3)
    and exists (
        select from sluice_tpch.lineitem l
        where l.order_id = o.id and l.committed < l.received
    )
group by o.priority
order by o.priority
