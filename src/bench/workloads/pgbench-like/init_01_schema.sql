-- Short look-ups in three tables, sized as pgbench sizes them: 100000 accounts, 10 tellers and a branch per unit of scale.
drop schema if exists sluice_pgbench cascade;
create schema sluice_pgbench;
grant usage on schema sluice_pgbench to public;

create table sluice_pgbench.branches (
  id integer primary key,
  balance bigint not null
);
create table sluice_pgbench.tellers (
  id integer primary key,
  branch integer not null references sluice_pgbench.branches,
  balance bigint not null
);
create table sluice_pgbench.accounts (
  id integer primary key,
  branch integer not null references sluice_pgbench.branches,
  balance bigint not null,
  filler text not null
);
