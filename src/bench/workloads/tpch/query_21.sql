-- Suppliers of a nation who alone kept orders of several suppliers waiting, and how often.
\set nation choice('KENYA', 'BRAZIL', 'INDIA', 'FRANCE', 'FIJI', 'EGYPT', 'CANADA', 'JAPAN', 'SPAIN', 'SAMOA', 'GHANA', 'PERU', 'CHINA', 'POLAND', 'TONGA', 'MALI', 'CHILE', 'NEPAL', 'SWEDEN', 'NAURU', 'ZAMBIA', 'CUBA', 'OMAN', 'GREECE', 'PALAU')
select s.name, count(*) as waits
from sluice_tpch.supplier s
    join sluice_tpch.nation n on n.id = s.nation_id
    join sluice_tpch.lineitem late on late.supplier_id = s.id
    join sluice_tpch.orders o on o.id = late.order_id
where o.status = 'F'
    and late.received > late.committed
    and n.name = :nation::text
    and exists (
        select from sluice_tpch.lineitem other
        where other.order_id = late.order_id and other.supplier_id <> late.supplier_id
    )
    and not exists (
        select from sluice_tpch.lineitem other
        where other.order_id = late.order_id
            and other.supplier_id <> late.supplier_id
            and other.received > other.committed
    )
group by s.name
order by waits desc, s.name
limit 100
