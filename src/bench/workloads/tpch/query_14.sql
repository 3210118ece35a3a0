-- The share of promoted parts in a month's revenue.
\set month random(0, 59)
select 100.0 * sum(case when p.type like 'PROMO%' then l.price * (1 - l.discount) else 0 end)
    / nullif(sum(l.price * (1 - l.discount)), 0) as percent
from sluice_tpch.lineitem l
    join sluice_tpch.part p on p.id = l.part_id
where l.shipped >= date '2019-01-01' + make_interval(months => :month::int)
    and l.shipped < date '2019-01-01' + make_interval(months => :month::int + 1)
