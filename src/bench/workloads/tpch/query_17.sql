-- What would be lost in a year without small quantities of some parts: those under a fifth of the part's mean.
\set maker random(1, 5)
\set brand random(1, 5)
\set kind choice('SMALL', 'MEDIUM', 'LARGE', 'JUMBO', 'WRAPPED')
\set form choice('BAG', 'BOX', 'CAN', 'CASE', 'DRUM', 'JAR', 'PACK', 'SACK')
select coalesce(sum(l.price), 0) / 7.0 as yearly
from sluice_tpch.part p
    join sluice_tpch.lineitem l on l.part_id = p.id
where p.brand = 'Brand#' || :maker::text || :brand::text
    and p.container = :kind::text || ' ' || :form::text
    and l.quantity < (
        select 0.2 * avg(same.quantity) from sluice_tpch.lineitem same where same.part_id = p.id
    )
