-- What a year would have brought in without certain discounts on small quantities.
\set year random(2019, 2023)
\set percent random(2, 9)
\set quantity random(24, 25)
select sum(l.price * l.discount) as revenue
from sluice_tpch.lineitem l
where l.shipped >= make_date(:year::int, 1, 1)
    and l.shipped < make_date(:year::int + 1, 1, 1)
    and l.discount between (:percent::int - 1) / 100.0 and (:percent::int + 1) / 100.0
    and l.quantity < :quantity::int
