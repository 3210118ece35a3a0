select 'branches' as name, greatest(1, ceil(:scale))::text as expected, count(*)::text as found,
       count(*) = greatest(1, ceil(:scale)) as ok
from sluice_pgbench.branches
union all
select 'tellers', (10 * greatest(1, ceil(:scale)))::text, count(*)::text, count(*) = 10 * greatest(1, ceil(:scale))
from sluice_pgbench.tellers
union all
select 'accounts', floor(100000 * :scale)::text, count(*)::text, count(*) = floor(100000 * :scale)
from sluice_pgbench.accounts
union all
select 'accounts of another branch than theirs', '0', count(*)::text, count(*) = 0
from sluice_pgbench.accounts where branch <> 1 + (id - 1) / 100000
