-- A nation's share in what its region bought of a type of part, year by year. The region follows from the nation: a parameter cannot from another.
\set nation choice('KENYA', 'BRAZIL', 'INDIA', 'FRANCE', 'FIJI', 'EGYPT', 'CANADA', 'JAPAN', 'SPAIN', 'SAMOA', 'GHANA', 'PERU', 'CHINA', 'POLAND', 'TONGA', 'MALI', 'CHILE', 'NEPAL', 'SWEDEN', 'NAURU', 'ZAMBIA', 'CUBA', 'OMAN', 'GREECE', 'PALAU')
\set kind choice('ECONOMY', 'STANDARD', 'PROMO', 'LARGE', 'MEDIUM', 'SMALL')
\set finish choice('POLISHED', 'BRUSHED', 'PAINTED', 'PLATED', 'RAW')
\set metal choice('BRASS', 'COPPER', 'NICKEL', 'STEEL', 'TIN')
select sold.year, sum(case when sold.nation = :nation::text then sold.volume else 0 end) / sum(sold.volume) as share
from (
    select extract(year from o.ordered)::int as year, l.price * (1 - l.discount) as volume, sn.name as nation
    from sluice_tpch.part p
        join sluice_tpch.lineitem l on l.part_id = p.id
        join sluice_tpch.supplier s on s.id = l.supplier_id
        join sluice_tpch.nation sn on sn.id = s.nation_id
        join sluice_tpch.orders o on o.id = l.order_id
        join sluice_tpch.customer c on c.id = o.customer_id
        join sluice_tpch.nation cn on cn.id = c.nation_id
        join sluice_tpch.region r on r.id = cn.region_id
    where r.name = (
            select home.name from sluice_tpch.region home join sluice_tpch.nation n on n.region_id = home.id where n.name = :nation::text
        )
        and o.ordered between date '2021-01-01' and date '2022-12-31'
        and p.type = :kind::text || ' ' || :finish::text || ' ' || :metal::text
) as sold
group by sold.year
order by sold.year
