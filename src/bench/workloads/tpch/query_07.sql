-- What two nations sent each other in two years.
\set one choice('KENYA', 'BRAZIL', 'INDIA', 'FRANCE', 'FIJI', 'EGYPT', 'CANADA', 'JAPAN', 'SPAIN', 'SAMOA', 'GHANA', 'PERU')
\set two choice('CHINA', 'POLAND', 'TONGA', 'MALI', 'CHILE', 'NEPAL', 'SWEDEN', 'NAURU', 'ZAMBIA', 'CUBA', 'OMAN', 'GREECE', 'PALAU')
select sent.seller, sent.buyer, sent.year, sum(sent.volume) as revenue
from (
    select sn.name as seller, cn.name as buyer, extract(year from l.shipped)::int as year, l.price * (1 - l.discount) as volume
    from sluice_tpch.supplier s
        join sluice_tpch.nation sn on sn.id = s.nation_id
        join sluice_tpch.lineitem l on l.supplier_id = s.id
        join sluice_tpch.orders o on o.id = l.order_id
        join sluice_tpch.customer c on c.id = o.customer_id
        join sluice_tpch.nation cn on cn.id = c.nation_id
    where l.shipped between date '2021-01-01' and date '2022-12-31'
        and (
            (sn.name = :one::text and cn.name = :two::text)
            or (sn.name = :two::text and cn.name = :one::text)
        )
) as sent
group by sent.seller, sent.buyer, sent.year
order by sent.seller, sent.buyer, sent.year
