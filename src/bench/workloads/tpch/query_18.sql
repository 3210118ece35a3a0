-- The hundred most valuable orders of very many pieces.
\set pieces random(265, 285)
select c.name, c.id, o.id as order_id, o.ordered, o.total, sum(l.quantity) as pieces
from sluice_tpch.customer c
    join sluice_tpch.orders o on o.customer_id = c.id
    join sluice_tpch.lineitem l on l.order_id = o.id
where o.id in (
    select big.order_id from sluice_tpch.lineitem big group by big.order_id having sum(big.quantity) > :pieces::int
)
group by c.name, c.id, o.id, o.ordered, o.total
order by o.total desc, o.ordered
limit 100
