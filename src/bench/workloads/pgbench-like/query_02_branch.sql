-- An account with its branch and the tellers there.
\set account random(1, 100000 * :scale)
select a.id, a.balance, b.balance, count(t.id)
from sluice_pgbench.accounts a
join sluice_pgbench.branches b on b.id = a.branch
join sluice_pgbench.tellers t on t.branch = b.id
where a.id = :account::integer
group by a.id, a.balance, b.balance
