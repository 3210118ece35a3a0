-- For parts of one size and metal: the suppliers of a region that are cheapest there.
\set size random(1, 50)
\set metal choice('BRASS', 'COPPER', 'NICKEL', 'STEEL', 'TIN')
\set region choice('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'OCEANIA')
select s.balance, s.name, n.name as nation, p.id, p.maker, s.address, s.phone, s.comment
from sluice_tpch.part p
    join sluice_tpch.partsupp ps on ps.part_id = p.id
    join sluice_tpch.supplier s on s.id = ps.supplier_id
    join sluice_tpch.nation n on n.id = s.nation_id
    join sluice_tpch.region r on r.id = n.region_id
where p.size = :size::int
    and p.type like '%' || :metal::text
    and r.name = :region::text
    and ps.cost = (
        select min(other.cost)
        from sluice_tpch.partsupp other
            join sluice_tpch.supplier os on os.id = other.supplier_id
            join sluice_tpch.nation n2 on n2.id = os.nation_id
            join sluice_tpch.region r2 on r2.id = n2.region_id
        where other.part_id = p.id and r2.name = :region::text
    )
order by s.balance desc, n.name, s.name, p.id
limit 100
