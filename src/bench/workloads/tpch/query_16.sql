-- How many suppliers without complaints there are for each brand, type and size that a buyer would take.
\set brand choice('Brand#11', 'Brand#12', 'Brand#23', 'Brand#24', 'Brand#35', 'Brand#41', 'Brand#45', 'Brand#52', 'Brand#53')
\set kind choice('ECONOMY', 'STANDARD', 'PROMO', 'LARGE', 'MEDIUM', 'SMALL')
\set finish choice('POLISHED', 'BRUSHED', 'PAINTED', 'PLATED', 'RAW')
\set s1 random(1, 6)
\set s2 random(7, 12)
\set s3 random(13, 18)
\set s4 random(19, 24)
\set s5 random(25, 31)
\set s6 random(32, 37)
\set s7 random(38, 43)
\set s8 random(44, 50)
select p.brand, p.type, p.size, count(distinct ps.supplier_id) as suppliers
from sluice_tpch.partsupp ps
    join sluice_tpch.part p on p.id = ps.part_id
where p.brand <> :brand::text
    and p.type not like :kind::text || ' ' || :finish::text || '%'
    and p.size in (:s1::int, :s2::int, :s3::int, :s4::int, :s5::int, :s6::int, :s7::int, :s8::int)
    and ps.supplier_id not in (
        select s.id from sluice_tpch.supplier s where s.comment like '%Customer%Complaints%'
    )
group by p.brand, p.type, p.size
order by suppliers desc, p.brand, p.type, p.size
