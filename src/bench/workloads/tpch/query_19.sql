-- Revenue of parts of three kinds, each with containers, sizes and quantities of its own, that went by air or post.
\set small random(1, 10)
\set medium random(10, 20)
\set large random(20, 30)
\set b1 choice('Brand#11', 'Brand#14', 'Brand#22', 'Brand#25', 'Brand#33')
\set b2 choice('Brand#12', 'Brand#21', 'Brand#34', 'Brand#42', 'Brand#55')
\set b3 choice('Brand#13', 'Brand#31', 'Brand#43', 'Brand#44', 'Brand#51')
select coalesce(sum(l.price * (1 - l.discount)), 0) as revenue
from sluice_tpch.lineitem l
    join sluice_tpch.part p on p.id = l.part_id
where l.mode in ('AIR', 'POST')
    and l.instruction = 'HAND OVER IN PERSON'
    and (
        (
            p.brand = :b1::text and p.size between 1 and 5
            and p.container in ('SMALL CASE', 'SMALL BOX', 'SMALL PACK', 'SMALL BAG')
            and l.quantity between :small::int and :small::int + 10
        )
        or (
            p.brand = :b2::text and p.size between 1 and 10
            and p.container in ('MEDIUM BAG', 'MEDIUM BOX', 'MEDIUM PACK', 'MEDIUM SACK')
            and l.quantity between :medium::int and :medium::int + 10
        )
        or (
            p.brand = :b3::text and p.size between 1 and 15
            and p.container in ('LARGE CASE', 'LARGE BOX', 'LARGE PACK', 'LARGE SACK')
            and l.quantity between :large::int and :large::int + 10
        )
    )
