-- Two modes of transport: how many late lines were of urgent orders, and how many of others.
\set one choice('AIR', 'RAIL', 'ROAD', 'SEA')
\set two choice('POST', 'COURIER', 'CANAL')
\set year random(2019, 2023)
select l.mode,
    sum(case when o.priority in ('1-URGENT', '2-HIGH') then 1 else 0 end) as urgent,
    sum(case when o.priority not in ('1-URGENT', '2-HIGH') then 1 else 0 end) as others
from sluice_tpch.orders o
    join sluice_tpch.lineitem l on l.order_id = o.id
where l.mode in (:one::text, :two::text)
    and l.committed < l.received
    and l.shipped < l.committed
    and l.received >= make_date(:year::int, 1, 1)
    and l.received < make_date(:year::int + 1, 1, 1)
group by l.mode
order by l.mode
