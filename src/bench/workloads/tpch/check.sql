-- What must be so exactly, and shares and means that a hash only comes near: those may be off by five standard deviations.
with g as materialized (
    select * from sluice_tpch.generated
),
line as materialized (
    select count(*) as lines,
        count(*) filter (where l.price <> l.quantity * p.price) as wrong_prices,
        count(*) filter (where l.shipped - o.ordered not between 1 and 121) as wrong_shipped,
        count(*) filter (where l.committed - o.ordered not between 30 and 90) as wrong_committed,
        count(*) filter (where l.received - l.shipped not between 1 and 30) as wrong_received,
        count(*) filter (where (l.return_flag = 'N') <> (l.received > date '2021-06-17')) as wrong_flags,
        count(*) filter (where (l.status = 'O') <> (l.shipped > date '2021-06-17')) as wrong_states,
        count(*) filter (where l.quantity not between 1 and 50 or l.discount not between 0 and 0.10 or l.tax not between 0 and 0.08) as out_of_range,
        count(*) filter (where l.return_flag <> 'N') as came_back,
        count(*) filter (where l.return_flag = 'R') as returned,
        count(*) filter (where l.instruction = 'HAND OVER IN PERSON') as in_person,
        avg(l.quantity) as quantity, avg(l.discount) as discount, avg(l.tax) as tax,
        avg(l.shipped - o.ordered) as to_ship, avg(l.received - l.shipped) as on_the_way
    from sluice_tpch.lineitem l
        join sluice_tpch.orders o on o.id = l.order_id
        join sluice_tpch.part p on p.id = l.part_id
),
per_order as materialized (
    select o.id, o.status, o.total, count(l.line) as lines, max(l.line) as last_line,
        count(*) filter (where l.status = 'F') as finished,
        round(sum(l.price * (1 + l.tax) * (1 - l.discount)), 2) as sum
    from sluice_tpch.orders o
        left join sluice_tpch.lineitem l on l.order_id = o.id
    group by o.id
),
exact (name, expected, found) as (
    select 'rows of region', 5::bigint, (select count(*) from sluice_tpch.region)
    union all select 'rows of generated', 1, (select count(*) from sluice_tpch.generated)
    union all select 'scale', :scale::numeric, (select max(scale) from sluice_tpch.generated)
    union all select 'rows of nation', 25, (select count(*) from sluice_tpch.nation)
    union all select 'rows of supplier', g.suppliers, (select count(*) from sluice_tpch.supplier) from g
    union all select 'rows of customer', g.customers, (select count(*) from sluice_tpch.customer) from g
    union all select 'rows of part', g.parts, (select count(*) from sluice_tpch.part) from g
    union all select 'rows of partsupp', 4 * g.parts, (select count(*) from sluice_tpch.partsupp) from g
    union all select 'rows of orders', g.orders, (select count(*) from sluice_tpch.orders) from g
    union all select 'suppliers by scale', round(10000 * g.scale), g.suppliers from g
    union all select 'customers by scale', round(150000 * g.scale), g.customers from g
    union all select 'parts by scale', round(200000 * g.scale), g.parts from g
    union all select 'orders by customers', 10 * g.customers, g.orders from g

    union all select 'regions without five nations', 0,
        (select count(*) from (select r.id from sluice_tpch.region r left join sluice_tpch.nation n on n.region_id = r.id
                               group by r.id having count(n.id) <> 5) as x)
    union all select 'suppliers of no nation', 0,
        (select count(*) from sluice_tpch.supplier s where not exists (select from sluice_tpch.nation n where n.id = s.nation_id))
    union all select 'customers of no nation', 0,
        (select count(*) from sluice_tpch.customer c where not exists (select from sluice_tpch.nation n where n.id = c.nation_id))
    union all select 'parts without four suppliers', 0,
        (select count(*) from (select p.id from sluice_tpch.part p left join sluice_tpch.partsupp ps on ps.part_id = p.id
                               group by p.id having count(ps.supplier_id) <> 4) as x)
    union all select 'suppliers of parts that do not exist', 0,
        (select count(*) from sluice_tpch.partsupp ps
         where not exists (select from sluice_tpch.supplier s where s.id = ps.supplier_id)
             or not exists (select from sluice_tpch.part p where p.id = ps.part_id))
    union all select 'lines of a part from who does not supply it', 0,
        (select count(*) from sluice_tpch.lineitem l
         where not exists (select from sluice_tpch.partsupp ps where ps.part_id = l.part_id and ps.supplier_id = l.supplier_id))
    union all select 'lines without order or part', 0, (select count(*) from sluice_tpch.lineitem) - line.lines from line
    union all select 'orders of customers who do not order', 0, (select count(*) from sluice_tpch.orders o where o.customer_id % 3 = 0)
    union all select 'orders of no customer', 0,
        (select count(*) from sluice_tpch.orders o where not exists (select from sluice_tpch.customer c where c.id = o.customer_id))
    union all select 'orders with other than one to seven lines', 0, (select count(*) from per_order where lines not between 1 and 7)
    union all select 'orders with a gap in their lines', 0, (select count(*) from per_order where lines <> last_line)
    union all select 'orders with a wrong total', 0, (select count(*) from per_order where total <> sum)
    union all select 'orders with a wrong state', 0,
        (select count(*) from per_order where status <> case finished when lines then 'F' when 0 then 'O' else 'P' end)
    union all select 'orders on a wrong day', 0,
        (select count(*) from sluice_tpch.orders where ordered not between date '2018-01-01' and date '2024-08-02')

    union all select 'lines with a wrong price', 0, line.wrong_prices from line
    union all select 'lines shipped on a wrong day', 0, line.wrong_shipped from line
    union all select 'lines promised for a wrong day', 0, line.wrong_committed from line
    union all select 'lines received on a wrong day', 0, line.wrong_received from line
    union all select 'lines with a wrong return flag', 0, line.wrong_flags from line
    union all select 'lines with a wrong state', 0, line.wrong_states from line
    union all select 'lines with quantity, discount or tax out of range', 0, line.out_of_range from line
    union all select 'parts with a price out of range', 0, (select count(*) from sluice_tpch.part where price not between 900 and 2099)
    union all select 'parts with a size out of range', 0, (select count(*) from sluice_tpch.part where size not between 1 and 50)
    union all select 'parts of another maker''s brand', 0,
        (select count(*) from sluice_tpch.part where brand not like replace(maker, 'Maker', 'Brand') || '_')
    union all select 'parts without five colours in the name', 0,
        (select count(*) from sluice_tpch.part
         where (select count(distinct word) from unnest(string_to_array(name, ' ')) as word) <> 5)
    union all select 'balances out of range', 0,
        (select count(*) from (select balance from sluice_tpch.customer union all select balance from sluice_tpch.supplier) as b
         where balance not between -999.99 and 9999.99)
    union all select 'stocks out of range', 0,
        (select count(*) from sluice_tpch.partsupp where available not between 1 and 9999 or cost not between 1 and 1000)
    union all select 'comments on stocks that are too short or too long', 0,
        (select count(*) from sluice_tpch.partsupp where length(comment) not between 49 and 198)
    union all select 'phones of another country', 0,
        (select count(*) from (select phone, nation_id from sluice_tpch.customer union all select phone, nation_id from sluice_tpch.supplier) as p
         where left(phone, 2)::int <> nation_id + 10)
    union all select 'suppliers with complaints', (g.suppliers + 1993) / 2000,
        (select count(*) from sluice_tpch.supplier where comment like '%Customer%Complaints%') from g
    union all select 'segments', 5, (select count(distinct segment) from sluice_tpch.customer)
    union all select 'priorities', 5, (select count(distinct priority) from sluice_tpch.orders)
    union all select 'modes', 7, (select count(distinct mode) from sluice_tpch.lineitem)
    union all select 'instructions', 4, (select count(distinct instruction) from sluice_tpch.lineitem)
    union all select 'brands', 25, (select count(distinct brand) from sluice_tpch.part)
),
-- Of `cases`, each hit with probability `share`. Groups are named here, not found, so that one that is absent has a row.
shares (name, share, cases, hits) as (
    select 'customers in ' || s, 0.2, (select customers from g), count(c.id)
    from unnest('{FARMING,HOUSEHOLD,INDUSTRY,TRANSPORT,BUILDING}'::text[]) as s left join sluice_tpch.customer c on c.segment = s group by s
    union all select 'orders of priority ' || p, 0.2, (select orders from g), count(o.id)
    from unnest('{1-URGENT,2-HIGH,3-MEDIUM,4-UNSTATED,5-LOW}'::text[]) as p left join sluice_tpch.orders o on o.priority = p group by p
    union all select 'lines by ' || m, 1.0 / 7, (select lines from line), count(l.order_id)
    from unnest('{AIR,RAIL,ROAD,SEA,POST,COURIER,CANAL}'::text[]) as m left join sluice_tpch.lineitem l on l.mode = m group by m
    union all select 'orders of ' || n || ' lines', 1.0 / 7, (select orders from g), count(o.id)
    from generate_series(1, 7) as n left join per_order o on o.lines = n group by n
    union all select 'parts of ' || b, 0.04, (select parts from g), count(p.id)
    from (select 'Brand#' || maker || nth as b from generate_series(1, 5) as maker, generate_series(1, 5) as nth) as brands
        left join sluice_tpch.part p on p.brand = b
    group by b
    union all select 'parts of steel', 0.2, (select parts from g), (select count(*) from sluice_tpch.part where type like '%STEEL')
    union all select 'promoted parts', 1.0 / 6, (select parts from g), (select count(*) from sluice_tpch.part where type like 'PROMO%')
    union all select 'raw parts of medium size', 1.0 / 30, (select parts from g), (select count(*) from sluice_tpch.part where type like 'MEDIUM RAW%')
    union all select 'parts in large boxes', 1.0 / 40, (select parts from g), (select count(*) from sluice_tpch.part where container = 'LARGE BOX')
    union all select 'parts with green', 5.0 / 92, (select parts from g), (select count(*) from sluice_tpch.part where name like '%green%')
    union all select 'parts with forest first', 1.0 / 92, (select parts from g), (select count(*) from sluice_tpch.part where name like 'forest%')
    -- Adjective and noun in either sentence, or one in the first and the other in the second: 0.0104 and 0.0045.
    union all select 'orders with special requests', 0.0149, (select orders from g),
        (select count(*) from sluice_tpch.orders where comment like '%special%requests%')
    union all select 'customers with money', 10.0 / 11, (select customers from g), (select count(*) from sluice_tpch.customer where balance > 0)
    union all select 'returned of what came back', 0.5, came_back, returned from line
    union all select 'lines handed over in person', 0.25, lines, in_person from line
    union all select 'customers of the first region', 0.2, (select customers from g), (select count(*) from sluice_tpch.customer where nation_id % 5 = 0)
),
-- Of `cases`, each with standard deviation `deviation`.
means (name, mean, deviation, cases, found) as (
    select 'lines per order', 4.0, 2.0, (select orders from g), (select lines from line)::numeric / (select orders from g)
    union all select 'mean quantity', 25.5, 14.43, lines, quantity from line
    union all select 'mean discount', 0.05, 0.0317, lines, discount from line
    union all select 'mean tax', 0.04, 0.0259, lines, tax from line
    union all select 'mean days to ship', 61, 34.93, lines, to_ship from line
    union all select 'mean days on the way', 15.5, 8.66, lines, on_the_way from line
    union all select 'mean balance of customers', 4500, 3175, (select customers from g), (select avg(balance) from sluice_tpch.customer)
    union all select 'mean cost of parts', 500.5, 288.4, 4 * (select parts from g), (select avg(cost) from sluice_tpch.partsupp)
    union all select 'mean length of comments on stocks', 123.5, 43.3, 4 * (select parts from g), (select avg(length(comment)) from sluice_tpch.partsupp)
    union all select 'mean stock', 5000, 2886, 4 * (select parts from g), (select avg(available) from sluice_tpch.partsupp)
    union all select 'orders per customer who orders', 15, 3.873, customers - customers / 3,
        orders::numeric / (select count(distinct customer_id) from sluice_tpch.orders) from g
    union all select 'mean day of orders', 1202.5, 694.5, orders, (select avg(ordered - date '2018-01-01') from sluice_tpch.orders) from g
)
select name, expected::text as expected, found::text as found, expected is not distinct from found as ok
from exact
union all
select name, round(share * cases) || ' +- ' || ceil(5 * sqrt(cases * share * (1 - share))), hits::text,
    abs(hits - share * cases) <= ceil(5 * sqrt(cases * share * (1 - share)))
from shares
union all
select name, mean || ' +- ' || round(5 * deviation / sqrt(cases::numeric), 5), round(found, 5)::text, abs(found - mean) <= 5 * deviation / sqrt(cases::numeric)
from means
