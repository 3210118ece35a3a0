-- Parts in which a nation's suppliers have a notable share of their stock's value. The share falls as the scale grows.
\set nation choice('KENYA', 'BRAZIL', 'INDIA', 'FRANCE', 'FIJI', 'EGYPT', 'CANADA', 'JAPAN', 'SPAIN', 'SAMOA', 'GHANA', 'PERU', 'CHINA', 'POLAND', 'TONGA', 'MALI', 'CHILE', 'NEPAL', 'SWEDEN', 'NAURU', 'ZAMBIA', 'CUBA', 'OMAN', 'GREECE', 'PALAU')
select ps.part_id, sum(ps.cost * ps.available) as value
from sluice_tpch.nation n
    join sluice_tpch.supplier s on s.nation_id = n.id
    join sluice_tpch.partsupp ps on ps.supplier_id = s.id
where n.name = :nation::text
group by ps.part_id
having sum(ps.cost * ps.available) > (
    select sum(all_of.cost * all_of.available) * 0.0001 / (select g.scale from sluice_tpch.generated g)
    from sluice_tpch.nation n2
        join sluice_tpch.supplier s2 on s2.nation_id = n2.id
        join sluice_tpch.partsupp all_of on all_of.supplier_id = s2.id
    where n2.name = :nation::text
)
order by value desc
