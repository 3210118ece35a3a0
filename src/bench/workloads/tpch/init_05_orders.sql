-- One to seven lines for each order. Half of what has come back by 17 June 2021, the company's today, was returned.
insert into sluice_tpch.lineitem
select sluice_tpch.order_id(n), line, part, sluice_tpch.supplier_of(part, sluice_tpch.draw(key, 611, 0, 3)::int, suppliers),
    quantity, quantity * sluice_tpch.part_price(part),
    sluice_tpch.draw(key, 612, 0, 10) / 100.0, sluice_tpch.draw(key, 613, 0, 8) / 100.0,
    case when received > date '2021-06-17' then 'N' else sluice_tpch.pick(key, 614, '{R,A}') end,
    case when shipped > date '2021-06-17' then 'O' else 'F' end,
    shipped, sluice_tpch.order_date(n) + sluice_tpch.draw(key, 615, 30, 90)::int, received,
    sluice_tpch.pick(key, 616, '{HAND OVER IN PERSON,PAY ON DELIVERY,LEAVE AT THE DOOR,TAKE BACK EMPTIES}'),
    sluice_tpch.pick(key, 617, '{AIR,RAIL,ROAD,SEA,POST,COURIER,CANAL}'),
    sluice_tpch.sentence(key, 620)
from sluice_tpch.generated, generate_series(1, orders) as n,
    lateral generate_series(1, sluice_tpch.draw(n, 501, 1, 7)::int) as line,
    lateral (select 8 * n::bigint + line as key) as keyed,
    lateral (select sluice_tpch.draw(key, 600, 1, parts) as part, sluice_tpch.draw(key, 601, 1, 50) as quantity,
                    sluice_tpch.order_date(n) + sluice_tpch.draw(key, 602, 1, 121)::int as shipped) as drawn,
    lateral (select shipped + sluice_tpch.draw(key, 603, 1, 30)::int as received) as arrival;

-- Customers whose id is a multiple of three never ordered anything.
insert into sluice_tpch.orders
select sluice_tpch.order_id(n), buyer / 2 * 3 + buyer % 2 + 1,
    lines.status, lines.total, sluice_tpch.order_date(n),
    sluice_tpch.pick(n, 503, '{1-URGENT,2-HIGH,3-MEDIUM,4-UNSTATED,5-LOW}'),
    'Clerk ' || to_char(sluice_tpch.draw(n, 504, 1, greatest(1, round(1000 * scale))::bigint), 'FM000000000'),
    0, sluice_tpch.sentence(n, 510) || ' ' || sluice_tpch.sentence(n, 520)
from sluice_tpch.generated, generate_series(1, orders) as n,
    lateral (select sluice_tpch.draw(n, 502, 0, customers - customers / 3 - 1)::int as buyer) as drawn,
    (select order_id, round(sum(price * (1 + tax) * (1 - discount)), 2) as total,
            case when count(*) = count(*) filter (where status = 'F') then 'F'
                 when count(*) = count(*) filter (where status = 'O') then 'O'
                 else 'P' end as status
     from sluice_tpch.lineitem
     group by order_id) as lines
where lines.order_id = sluice_tpch.order_id(n)
order by n;
