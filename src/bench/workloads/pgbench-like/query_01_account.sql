-- What pgbench --select-only asks.
\set account random(1, 100000 * :scale)
select balance from sluice_pgbench.accounts where id = :account::integer
