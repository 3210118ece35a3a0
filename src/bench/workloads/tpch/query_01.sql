-- What was shipped until some weeks before the end, summed up by state of the line.
\set days random(60, 120)
select l.return_flag, l.status,
    sum(l.quantity) as quantity,
    sum(l.price) as price,
    sum(l.price * (1 - l.discount)) as discounted,
    sum(l.price * (1 - l.discount) * (1 + l.tax)) as charged,
    avg(l.quantity) as mean_quantity,
    avg(l.price) as mean_price,
    avg(l.discount) as mean_discount,
    count(*) as lines
from sluice_tpch.lineitem l
where l.shipped <= date '2024-12-01' - :days::int
group by l.return_flag, l.status
order by l.return_flag, l.status
