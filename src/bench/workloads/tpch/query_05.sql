-- What suppliers of a region sold within their own nations in a year.
\set region choice('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'OCEANIA')
\set year random(2019, 2023)
select n.name, sum(l.price * (1 - l.discount)) as revenue
from sluice_tpch.region r
    join sluice_tpch.nation n on n.region_id = r.id
    join sluice_tpch.customer c on c.nation_id = n.id
    join sluice_tpch.orders o on o.customer_id = c.id
    join sluice_tpch.lineitem l on l.order_id = o.id
    join sluice_tpch.supplier s on s.id = l.supplier_id and s.nation_id = n.id
where r.name = :region::text
    and o.ordered >= make_date(:year::int, 1, 1)
    and o.ordered < make_date(:year::int + 1, 1, 1)
group by n.name
order by revenue desc
