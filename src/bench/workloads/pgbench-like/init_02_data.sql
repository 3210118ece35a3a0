insert into sluice_pgbench.branches
select n, 0 from generate_series(1, greatest(1, ceil(:scale)::integer)) as n;

insert into sluice_pgbench.tellers
select n, 1 + (n - 1) / 10, 0 from generate_series(1, 10 * greatest(1, ceil(:scale)::integer)) as n;

insert into sluice_pgbench.accounts
select n, 1 + (n - 1) / 100000, (n * 7919) % 10007 - 5003, repeat('x', 84)
from generate_series(1, floor(100000 * :scale)::integer) as n;

grant select on all tables in schema sluice_pgbench to public;
analyze sluice_pgbench.branches;
analyze sluice_pgbench.tellers;
analyze sluice_pgbench.accounts;
