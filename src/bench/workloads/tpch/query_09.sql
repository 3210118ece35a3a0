-- Profit on parts with a colour in their names, by nation of the supplier and year.
\set colour choice('almond', 'azure', 'black', 'brown', 'coral', 'crimson', 'ebony', 'forest', 'gold', 'green', 'ivory', 'khaki', 'lavender', 'lime', 'maroon', 'midnight', 'navy', 'olive', 'orchid', 'plum', 'purple', 'salmon', 'sienna', 'teal', 'violet')
select profit.nation, profit.year, sum(profit.amount) as amount
from (
    select n.name as nation, extract(year from o.ordered)::int as year, l.price * (1 - l.discount) - ps.cost * l.quantity as amount
    from sluice_tpch.part p
        join sluice_tpch.lineitem l on l.part_id = p.id
        join sluice_tpch.partsupp ps on ps.part_id = l.part_id and ps.supplier_id = l.supplier_id
        join sluice_tpch.supplier s on s.id = l.supplier_id
        join sluice_tpch.nation n on n.id = s.nation_id
        join sluice_tpch.orders o on o.id = l.order_id
    where p.name like '%' || :colour::text || '%'
) as profit
group by profit.nation, profit.year
order by profit.nation, profit.year desc
