"""A hostile client beside a victim on shared server connections: a thousand short random histories of all that leaves
state behind. PostgreSQL judges: what the victim sees of its session is what it saw before the other came."""

import os
import random
import time

import pytest

from harness import messages as m
from harness.messages import B, E, P, Q, S
from harness.workload import RUNS_HIDDEN

HISTORIES = 1000
SECONDS = 60

# All that another's statements could have changed in the session. Router's own statements belong to it; plpgsql's
# settings appear when somebody's DO loads it.
VIEW = """
select current_user, session_user, current_setting('my.own', true), coalesce(current_setting('my.evil', true), ''),
    (select count(*) from pg_prepared_statements where name not like 'sluice.%'),
    (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
    (select count(*) from pg_class where relnamespace = pg_my_temp_schema()),
    (select count(*) from pg_listening_channels()), (select count(*) from pg_cursors where is_holdable),
    current_schemas(false),
    (select md5(string_agg(name || '=' || setting, ',' order by name)) from pg_settings where name !~ '^plpgsql')
"""
BACKEND = "select pg_backend_pid()"

SETTINGS = {
    "search_path": ["evil", "pg_catalog", "public, evil"],
    "work_mem": ["64kB", "1MB"],
    "statement_timeout": ["1h", "77s"],
    "TimeZone": ["PST8PDT", "Asia/Tokyo"],
    "DateStyle": ["German", "SQL, DMY"],
    "application_name": ["evil", "it''s"],
    "default_transaction_read_only": ["on"],
    "extra_float_digits": ["0", "3"],
    "row_security": ["off"],
    "my.evil": ["1", "2"],
}


class Hostile:
    """Statements that leave something behind: one in `ways` by another one that does it; `hidden`: also by functions,
    which no wire shows."""

    def __init__(self, rng, ways, hidden):
        self.rng = rng
        self.ways = ways
        self.hidden = hidden
        self.number = 0

    def setting(self):
        name = self.rng.choice(list(SETTINGS))
        return name, self.rng.choice(SETTINGS[name])

    def plain(self):
        self.number += 1
        name, value = self.setting()
        return self.rng.choice(
            [
                f"set {name} to '{value}'",
                f"set session {name} = '{value}'",
                f"set local {name} to '{value}'",
                f"reset {name}",
                f"select set_config('{name}', '{value}', false)",
                f"select set_config('{name}', '{value}', true)",
                "set role team",
                "set role none",
                "reset role",
                "set session authorization bob",
                f"create temp table t{self.number} (a int)",
                f"select 1 as a into temp s{self.number}",
                f"select pg_advisory_lock({self.number})",
                f"select pg_try_advisory_lock_shared({self.number}, 1)",
                f"prepare p{self.number} as select 1",
                f"listen channel{self.number}",
                "unlisten *",
                f"declare c{self.number} cursor with hold for select 1",
                "reset all",
                "deallocate all",
                "select 1",
                "select 1/0",
            ]
        )

    def statement(self):
        sql = self.plain()
        way = self.rng.randrange(self.ways)
        if way == 0 and sql.startswith("select"):
            return "do $$ begin perform " + sql[len("select ") :].replace(" into temp", "; create temp table") + "; end $$"
        if way == 1 and self.hidden:
            return "select hidden.run($x$" + sql + "$x$)"
        if way < 3:
            return "do $$ begin execute $x$" + sql + "$x$; end $$"
        if way == 3:
            name, value = self.setting()
            return f"select set_config('{name[:3]}' || '{name[3:]}', '{value}', false)"
        return sql

    def messages(self):
        """[(bytes, count of ReadyForQuery)]"""
        some = [self.statement() for _ in range(self.rng.randint(1, 4))]
        way = self.rng.randrange(6)
        if way == 0:
            return [(Q("; ".join(some)), 1)]
        if way == 1:
            return [(b"".join(P("", sql) + B() + E() for sql in some) + S(), 1)]
        if way == 2:
            end = self.rng.choice(["commit", "rollback", "commit and chain"])
            inside = b"".join(Q(sql) for sql in ["begin", *some, end])
            return [(inside + Q("rollback"), len(some) + 3)]
        return [(Q(sql), 1) for sql in some]


@pytest.mark.parametrize("isolation", ["strict", "default"])
def test_a_thousand_histories_of_a_hostile_client_leave_no_trace(make_router, cluster, isolation):
    cluster.primary.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'bob'")
    cluster.primary.query(RUNS_HIDDEN, database="app")
    router = make_router(pool_mode="transaction", threads=1, isolation=isolation)
    seeds = [int(os.environ["SLUICE_SEED"])] if "SLUICE_SEED" in os.environ else range(HISTORIES)
    shared = 0
    began = time.monotonic()
    victim = router.session(user="bob")
    for sql in ("set my.own to 'mine'", "set work_mem to '3MB'", "set DateStyle to 'ISO, YMD'", "set search_path to public"):
        victim.query(sql)
    right = victim.query(VIEW)
    hostile = router.session(user="bob")
    for seed in seeds:
        rng = random.Random(seed)
        # What pins it keeps it off the victim's server.
        hidden = isolation == "strict"
        for data, count in Hostile(rng, 8 if hidden else 40, hidden).messages():
            hostile.run(data, count)
        last = hostile.value(BACKEND)
        leave = rng.choice(["stay", "discard all", "terminate", "close", "reset"])
        if leave == "discard all":
            hostile.query("discard all")
        elif leave != "stay":
            getattr(hostile, leave)()
            hostile = router.session(user="bob")
        assert victim.query(VIEW) == right, f"seed={seed}"
        shared += victim.value(BACKEND) == last
    took = time.monotonic() - began
    victim.terminate()
    hostile.terminate()
    assert took < SECONDS, f"{took:.1f} s"
    assert len(seeds) < 100 or shared > len(seeds) / 4, f"only {shared} histories met the victim's server"
