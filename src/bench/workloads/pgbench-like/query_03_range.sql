-- A hundred neighbours.
\set account random(1, 100000 * :scale)
select sum(balance), count(*) from sluice_pgbench.accounts
where id between :account::integer and :account::integer + 99
