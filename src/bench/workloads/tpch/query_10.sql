-- The twenty customers who sent back most of a quarter's orders, by value.
\set month random(1, 24)
select c.id, c.name, sum(l.price * (1 - l.discount)) as revenue, c.balance, n.name as nation, c.address, c.phone, c.comment
from sluice_tpch.orders o
    join sluice_tpch.customer c on c.id = o.customer_id
    join sluice_tpch.nation n on n.id = c.nation_id
    join sluice_tpch.lineitem l on l.order_id = o.id
where o.ordered >= date '2019-01-01' + make_interval(months => :month::int)
    and o.ordered < date '2019-01-01' + make_interval(months => :month::int + 3)
    and l.return_flag = 'R'
group by c.id, c.name, c.balance, c.phone, n.name, c.address, c.comment
order by revenue desc
limit 20
