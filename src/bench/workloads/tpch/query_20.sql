-- Suppliers of a nation with more in stock of some parts than half of what they sold of them in a year.
\set colour choice('almond', 'azure', 'black', 'brown', 'coral', 'crimson', 'ebony', 'forest', 'gold', 'green', 'ivory', 'khaki', 'lavender', 'lime', 'maroon', 'midnight', 'navy', 'olive', 'orchid', 'plum', 'purple', 'salmon', 'sienna', 'teal', 'violet')
\set year random(2019, 2023)
\set nation choice('KENYA', 'BRAZIL', 'INDIA', 'FRANCE', 'FIJI', 'EGYPT', 'CANADA', 'JAPAN', 'SPAIN', 'SAMOA', 'GHANA', 'PERU', 'CHINA', 'POLAND', 'TONGA', 'MALI', 'CHILE', 'NEPAL', 'SWEDEN', 'NAURU', 'ZAMBIA', 'CUBA', 'OMAN', 'GREECE', 'PALAU')
select s.name, s.address
from sluice_tpch.supplier s
    join sluice_tpch.nation n on n.id = s.nation_id
where n.name = :nation::text
    and s.id in (
        select ps.supplier_id
        from sluice_tpch.partsupp ps
        where ps.part_id in (select p.id from sluice_tpch.part p where p.name like :colour::text || '%')
            and ps.available > (
                select 0.5 * sum(l.quantity)
                from sluice_tpch.lineitem l
                where l.part_id = ps.part_id
                    and l.supplier_id = ps.supplier_id
                    and l.shipped >= make_date(:year::int, 1, 1)
                    and l.shipped < make_date(:year::int + 1, 1, 1)
            )
    )
order by s.name
