"""Transaction mode: what of a client's state follows it from server to server, what pins it, and what another
client never sees of it."""

import random

import psycopg
import pytest

from harness import messages as m
from harness.messages import B, C, D, E, P, Q, S
from harness.net import wait_until
from harness.workload import RUNS_HIDDEN

BACKEND = "select pg_backend_pid()"
# Without those of a library that somebody's DO loaded.
SETTINGS = "select name, setting from pg_settings where name !~ '^plpgsql\\.' order by name"


@pytest.fixture
def make_pooled(make_router, cluster):
    """A router whose clients all use one server connection, as long as they take turns."""

    def make(**changes):
        cluster.primary.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'alice'")
        return make_router(pool_mode="transaction", threads=1, **changes)

    return make


@pytest.fixture
def pooled(make_pooled):
    return make_pooled()


# B61
def test_settings_follow_their_client_byte_by_byte(pooled):
    values = {
        "application_name": ["", "it's", "a\\b", 'x"; drop table t; --', "\u00e9"],
        "search_path": ['"$user", public, "we ird"', "pg_catalog", "''"],
        "TimeZone": ["Europe/Zurich", "UTC", "PST8PDT"],
        "DateStyle": ["German", "SQL, DMY", "ISO"],
        "work_mem": ["1MB", "77kB"],
        "statement_timeout": ["0", "54321"],
        "extra_float_digits": ["0", "3", "-2"],
    }
    rng = random.Random(11)
    with pooled.session() as a, pooled.session() as b:
        for name, choices in values.items():
            for client in (a, b):
                value = rng.choice(choices)
                literal = value if name == "search_path" else "'" + value.replace("'", "''") + "'"
                client.query(f"set {name} to {literal}")
        want = {c: {n: c.value(f"show {n}") for n in values} for c in (a, b)}
        assert a.value(BACKEND) == b.value(BACKEND)
        for _ in range(50):
            client = rng.choice((a, b))
            name = rng.choice(list(values))
            assert client.value(f"show {name}") == want[client][name]


def test_settings_end_as_postgresql_would_have_it(pooled):
    with pooled.session() as a, pooled.session() as b:
        default = a.value("show work_mem")
        for sql in ("begin", "set work_mem = '9MB'", "rollback"):
            a.query(sql)
        b.query("select 1")
        assert a.value("show work_mem") == default
        for sql in ("begin", "set local work_mem = '9MB'", "commit"):
            a.query(sql)
        b.query("select 1")
        assert a.value("show work_mem") == default
        for sql in ("begin", "set work_mem = '9MB'", "commit"):
            a.query(sql)
        assert b.value("show work_mem") == default
        assert a.value("show work_mem") == "9MB"
        a.query("select set_config('work_mem', '8MB', false)")
        assert b.value("show work_mem") == default
        assert a.value("show work_mem") == "8MB"
        a.query("reset work_mem")
        b.query("select 1")
        assert a.value("show work_mem") == default
        a.query("set work_mem = '7MB'")
        a.query("reset all")
        b.query("select 1")
        assert a.value("show work_mem") == default


# B63. Was: the next client of that user had it, and this one had it no more elsewhere.
@pytest.mark.parametrize("is_local, pinned", [("false", True), ("true", False)])
def test_a_set_config_with_a_parameter_for_its_name_stays_with_its_client(pooled, is_local, pinned):
    sql = f"select set_config($1, $2, {is_local})"
    with pooled.session(user="bob") as a, pooled.session(user="bob") as b:
        for name, value in (("role", "team"), ("app.tenant", "7")):
            assert m.kinds(a.run(P("", sql, (25, 25)) + B(values=(name, value)) + E() + S())) == "1 2 D C Z"
        mine = a.value(BACKEND)
        found = "select current_user, coalesce(current_setting('app.tenant', true), '')"
        assert b.query(found) == [["bob", ""]]
        assert (b.value(BACKEND) != mine) == pinned
        assert a.query(found) == ([["team", "7"]] if pinned else [["bob", ""]])
        assert a.value(BACKEND) == mine or not pinned


# B63. Was: the next client of that user had it.
@pytest.mark.parametrize("sql", ["set role team", "execute 'set role team'", "perform set_config('role', 'team', false)"])
def test_what_a_do_block_sets_follows_its_client(pooled, sql):
    with pooled.session(user="bob") as a, pooled.session(user="bob") as b:
        a.query(f"do $$ begin {sql}; end $$")
        mine = a.value(BACKEND)
        assert b.query("select current_user, pg_backend_pid()") == [["bob", mine]]
        assert a.query("select current_user, pg_backend_pid()") == [["team", mine]]


# B61. Was: sent in the encoding that another client had left, so it became another text, or an error that ended its client.
def test_settings_follow_in_the_encoding_of_their_client(pooled):
    name = "Jos\u00e9"
    encodings = {"UTF8": "utf-8", "LATIN1": "latin-1"}
    with pooled.session() as a, pooled.session() as b:

        def check(client, encoding):
            answer = client.run(Q("select current_setting('app.who'), current_setting('client_encoding')"))
            rows = [m.row(x) for x in answer if x.kind == "D"]
            assert rows == [[name.encode(encodings[encoding]), encoding.encode()]]

        def both(of_a, of_b):
            for _ in range(3):
                check(a, of_a)
                check(b, of_b)

        for client, encoding in ((a, "UTF8"), (b, "LATIN1")):
            client.query(f"set client_encoding to '{encoding}'")
            assert m.kinds(client.run(Q(f"set app.who to '{name}'".encode(encodings[encoding])))) == "C Z"
        both("UTF8", "LATIN1")
        a.query("set client_encoding to 'LATIN1'")
        b.query("set client_encoding to 'UTF8'")
        both("LATIN1", "UTF8")
        for sql in ("begin", "set client_encoding to 'UTF8'", "rollback"):
            a.query(sql)
        both("LATIN1", "UTF8")
        assert a.value(BACKEND) == b.value(BACKEND)


# Was: one that was larger than the router's buffer for it ended its client.
@pytest.mark.parametrize("size, pinned", [(8_000, False), (50_000, True), (300_000, True)])
def test_a_setting_that_is_too_large_to_follow_pins(pooled, size, pinned):
    with pooled.session() as a, pooled.session() as b:
        a.query(f"select length(set_config('my.ctx', repeat('\u00e9', {size}), false))")
        mine = a.value(BACKEND)
        assert (b.value(BACKEND) != mine) == pinned
        assert b.value("select coalesce(current_setting('my.ctx', true), '')") == ""
        assert a.value(f"select current_setting('my.ctx') = repeat('\u00e9', {size})") == "t"
        shown = [r["pinned"] or "" for r in pooled.console("show clients") if r["user"] == "alice"]
        assert sorted(shown) == ["", "set" if pinned else ""]
        a.query("discard all")
        assert a.value("select coalesce(current_setting('my.ctx', true), '')") == ""
        shown = [r["pinned"] or "" for r in pooled.console("show clients") if r["user"] == "alice"]
        assert shown == ["", ""]


# Drivers try settings that a server may not have.
@pytest.mark.parametrize("sql", ["set nosuch to 1", "select set_config('nosuch', '1', false)", "set work_mem to 'much'"])
def test_a_set_that_failed_is_not_tried_again_elsewhere(pooled, sql):
    with pooled.session() as a, pooled.session() as b:
        assert m.kinds(a.run(Q(sql))).endswith("E Z")
        mine = a.value(BACKEND)
        b.query("begin")
        assert b.value(BACKEND) == mine
        assert a.value(BACKEND) != mine
        b.query("commit")


def test_roles_follow_their_client_alone(pooled):
    with pooled.session(user="bob") as a, pooled.session(user="bob") as b:
        a.query("set role team")
        assert b.value("select current_user") == "bob"
        assert a.value("select current_user") == "team"
        a.query("reset role")
        assert b.value("select current_user") == "bob"
        assert a.value("select current_user") == "bob"


# B63. Was: what one client had set and another may not set back ended the other.
def test_a_setting_that_only_its_client_may_set_ends_nobody_else(pooled, cluster):
    cluster.primary.query("drop role if exists boss; create role boss superuser; grant boss to bob")
    with pooled.session(user="bob") as a, pooled.session(user="bob") as b:
        backend = b.value(BACKEND)
        for sql in ("set role boss", "set session_replication_role to replica", "reset role"):
            a.query(sql)
        assert a.value(BACKEND) == backend
        assert b.query("select current_setting('session_replication_role'), pg_backend_pid()") == [["origin", backend]]
    cluster.primary.query("revoke boss from bob; drop role boss")


# B04
def test_each_sees_its_own_start_up_parameters(pooled):
    mine = {"search_path": "pg_catalog", "extra_float_digits": "3"}
    theirs = {"search_path": "public", "extra_float_digits": "1", "application_name": "theirs"}
    with pooled.session(parameters=mine) as a, pooled.session(parameters=theirs) as b:
        for _ in range(10):
            for client, parameters in ((a, mine), (b, theirs)):
                for name, value in parameters.items():
                    assert client.value(f"show {name}") == value


@pytest.mark.parametrize(
    "sql, reason",
    [
        ("create temp table t (a int)", "temporary_table"),
        ("select pg_advisory_lock(4711)", "advisory_lock"),
        ("prepare p as select 1", "prepare"),
        ("select 1; listen channel", "listen"),
        ("declare c cursor with hold for select 1", "hold_cursor"),
        ("set search_path to pg_temp, public", "temporary_table"),
        ("begin; set local search_path to pg_temp; create table secret as select 1; commit", "temporary_table"),
        ("do $$ begin create temp table t (a int); end $$", "temporary_table"),
        ("do $$ begin execute 'prepare p as select 1'; end $$", "prepare"),
    ],
)
def test_what_cannot_follow_pins_visibly(pooled, sql, reason):
    with pooled.session() as a, pooled.session() as b:
        mine = a.value(BACKEND)
        a.query(sql)
        assert b.value(BACKEND) != mine
        assert a.value(BACKEND) == mine
        shown = [r["pinned"] for r in pooled.console("show clients") if r["user"] == "alice"]
        assert sorted(x or "" for x in shown) == ["", reason]
        assert pooled.metric("sluice_sessions_pinned_total", reason=reason) == 1
        assert reason in pooled.log_text()
        a.query("discard all")
        assert b.value("select count(*) from pg_locks where locktype = 'advisory'") == "0"
        shown = [r["pinned"] for r in pooled.console("show clients") if r["user"] == "alice"]
        assert [x or "" for x in shown] == ["", ""]


def test_what_pins_can_be_refused(make_pooled):
    router = make_pooled(on_pin="refuse")
    with router.session() as client:
        answer = client.run(Q("create temp table t (a int)"))
        assert m.sqlstate(next(x for x in answer if x.kind == "E")) == "0A000"
        assert client.value("select to_regclass('t')") is None
        assert router.metric("sluice_sessions_pinned_total") == 0


# B63
@pytest.mark.parametrize("leave", ["terminate", "close", "reset"])
def test_nothing_of_a_pinned_client_is_left(pooled, cluster, leave):
    client = pooled.session()
    for sql in (
        "create temp table leftover (a int)",
        "select pg_advisory_lock(4711)",
        "set search_path to nosuch",
        "prepare leftover as select 1",
        "set default_transaction_read_only to on",
    ):
        client.query(sql)
    getattr(client, leave)()
    wait_until(
        lambda: cluster.primary.value("select count(*) from pg_locks where locktype = 'advisory'") == 0, 5, "the lock"
    )
    with pooled.session() as other:
        assert other.value("select to_regclass('pg_temp.leftover')") is None
        assert other.value("select count(*) from pg_prepared_statements where name = 'leftover'") == "0"
        assert other.value("show search_path") == '"$user", public'
        assert other.value("show default_transaction_read_only") == "off"


# B31, B32, B34
def test_prepared_statements_follow_their_client(pooled):
    with pooled.session() as a, pooled.session() as b:
        a.run(P("s1", "select 1") + S())
        b.query("begin")  # has the server now
        assert m.kinds(a.run(D("S", "s1") + S())) == "t T Z"
        assert m.kinds(a.run(B("", "s1") + E() + S())) == "2 D C Z"
        assert m.kinds(a.run(C("S", "s1") + S())) == "3 Z"
        assert m.kinds(a.run(P("s1", "select 2") + B("", "s1") + E() + S())) == "1 2 D C Z"
        assert m.kinds(a.run(P("s1", "select 3") + S())) == "E Z"
        assert m.kinds(a.run(B("", "nope") + E() + S())) == "E Z"
        assert m.kinds(a.run(C("S", "nope") + C("P", "nope") + S())) == "3 3 Z"
        b.query("commit")
        b.run(P("s1", "select 'of b'") + S())
        assert [m.row(x)[0] for x in a.run(B("", "s1") + E() + S()) if x.kind == "D"] == [b"2"]
        assert [m.row(x)[0] for x in b.run(B("", "s1") + E() + S()) if x.kind == "D"] == [b"of b"]


# B35
def test_discard_all_in_front_of_a_parse(pooled):
    with pooled.session() as a:
        for text in ("deallocate all", "discard all"):
            a.run(P("s0", "select 0") + S())
            a.run(P("", text) + B() + E() + P("s2", "select 7") + B("", "s2") + E() + S())
            answer = a.run(B("", "s2") + E() + S())
            assert [m.row(x)[0] for x in answer if x.kind == "D"] == [b"7"]
            assert m.kinds(a.run(B("", "s0") + E() + S())) == "E Z"
            a.run(C("S", "s2") + S())


# B40
def test_a_stale_plan_is_prepared_again(pooled, cluster):
    cluster.primary.query("drop table if exists stale; create table stale (a int)", database="app")
    cluster.primary.query("grant select on stale to public; insert into stale values (1)", database="app")
    with pooled.session() as a, pooled.session() as b:
        a.run(P("s", "select * from stale") + B("", "s") + E() + S())
        cluster.primary.query("alter table stale add c int", database="app")
        assert m.kinds(b.run(P("s", "select * from stale") + B("", "s") + E() + S())) == "1 2 D C Z"


# B77
def test_a_server_keeps_a_bounded_number_of_statements(make_pooled):
    router = make_pooled(max_prepared_statements=20)
    with router.session() as a:
        for i in range(500):
            a.run(P(f"s{i}", f"select {i}") + S())
        assert int(a.value("select count(*) from pg_prepared_statements")) <= 22
        for i in (0, 250, 499):
            assert [m.row(x)[0] for x in a.run(B("", f"s{i}") + E() + S()) if x.kind == "D"] == [b"%d" % i]


def test_psycopg3_prepares_at_once_on_shared_servers(pooled):
    connections = [psycopg.connect(pooled.dsn(), autocommit=True, prepare_threshold=0) for _ in range(10)]
    for n in range(100):
        connection = connections[n % 10]
        assert connection.execute("select %s::int * 2", (n,)).fetchone() == (2 * n,)
        assert connection.execute("select %s::text", (str(n),)).fetchone() == (str(n),)
    for connection in connections:
        connection.close()


# A hostile client in front of a victim on one server: what no wire shows.
def test_strict_isolation_cuts_off_what_no_wire_shows(make_pooled, cluster):
    router = make_pooled(isolation="strict")
    cluster.primary.query(RUNS_HIDDEN, database="app")
    hidden = [
        "set search_path to evil",
        "prepare hidden as select 1",
        "do $do$ begin perform pg_advisory_lock(666); end $do$",
        "create temp table victim_table (a int)",
        "set role none",
        "listen spy",
    ]
    dirt = [f"select hidden.run($x${sql}$x$)" for sql in hidden] + ["select set_config('TimeZone', 'PST8PDT', false)"]
    rng = random.Random(5)
    with router.session() as hostile, router.session() as victim:
        clean = victim.query(SETTINGS)
        for _ in range(100):
            for sql in rng.sample(dirt, rng.randint(1, len(dirt))):
                hostile.query(sql)
            assert victim.value("select count(*) from pg_prepared_statements where name = 'hidden'") == "0"
            assert victim.value("select count(*) from pg_locks where locktype = 'advisory'") == "0"
            assert victim.value("select to_regclass('pg_temp.victim_table')") is None
            assert victim.value("select count(*) from pg_listening_channels()") == "0"
            assert victim.query(SETTINGS) == clean
