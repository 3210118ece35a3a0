"""The admin console: whatever is typed gets an answer and ReadyForQuery, and only those who may do so
change things."""

import asyncio
import subprocess
import threading

import asyncpg
import psycopg
import psycopg2
import pytest

from harness import messages as m
from harness.messages import B, D, E, P, Q, S
from harness.net import wait_until
from harness.postgres import BINDIR, PASSWORD

VIEWS = [
    "help",
    "version",
    "config",
    "pools",
    "replicas",
    "classes",
    "clients",
    "servers",
    "hosts",
    "decisions",
    "stats",
    "stats_totals",
    "lists",
    "databases",
]


@pytest.mark.short
@pytest.mark.parametrize("view", VIEWS)
def test_each_view_has_well_formed_rows(router, view):
    with router.session("stats", "sluice") as client:
        answer = client.run(Q(f"show {view}"))
        assert m.kinds(answer) in ("T D C Z", "T C Z", "N C Z"), m.kinds(answer)
        if answer[0].kind == "T":
            width = len(m.columns(answer[0]))
            assert all(len(m.row(x)) == width for x in answer if x.kind == "D")


# B76
@pytest.mark.short
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b";",
        b";;;;",
        b"show",
        b"show nosuch",
        b"SHOW\tPools ;",
        b"x" * 1000000,
        b"\xff\xfe\x00",
        b"show pools; show lists",
        b"set extra_float_digits = 3",
        b"begin",
        b"rollback",
        b"select 1",
        b"kill",
        b"drain",
        b"drain nosuch",
        b"'",
        b'"',
        b"/*",
        b"show clients where 1=1 or '",
    ],
)
def test_any_input_is_answered_and_the_console_lives(router, text):
    with router.session("admin", "sluice") as client:
        answer = client.run(m.message("Q", text.replace(b"\0", b"") + b"\0"))
        if text == b"kill":
            client.run(Q("resume"))
        assert answer[-1].kind == "Z"
        assert m.kinds(client.run(Q("show version"))).endswith("C Z")


# B76
@pytest.mark.short
def test_the_extended_protocol_works_on_the_console(router):
    with router.session("admin", "sluice") as client:
        answer = client.run(P("", "show lists") + D("S") + B() + D("P") + E() + S())
        assert m.kinds(answer) in ("1 t T 2 T D C Z", "1 t n 2 n D C Z")
        assert client.run(P("", "nonsense") + B() + E() + S())[-1].kind == "Z"
        assert client.run(S())[-1].kind == "Z"


# B76
@pytest.mark.short
@pytest.mark.parametrize("command", ["reload", "shutdown", "kill app", "drain r0", "undrain r0", "kill"])
def test_those_who_may_only_look_change_nothing(router, command):
    with router.session("stats", "sluice") as client:
        answer = client.run(Q(command))
        assert m.sqlstate(answer[0]) == "42501" and answer[-1].kind == "Z"
    assert router.alive()


@pytest.mark.short
def test_others_do_not_get_into_the_console(router):
    from harness.wire import LoginRefused

    for database in ("sluice", "pgbouncer"):
        with pytest.raises(LoginRefused) as refusal:
            router.session("alice", database)
        assert refusal.value.sqlstate in ("28000", "42501", "3D000")


def test_psql_psycopg_and_asyncpg_can_read_the_console(router):
    out = subprocess.run(
        [
            BINDIR / "psql",
            "-X",
            "-At",
            router.dsn("admin", "sluice"),
            "-c",
            "show pools",
            "-c",
            "show replicas",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "r4" in out
    connection = router.connect("admin", "pgbouncer")
    cursor = connection.cursor()
    cursor.execute("show replicas")
    assert {row[0] for row in cursor.fetchall()} >= {"r0", "r4"}
    connection.close()
    with psycopg.connect(router.dsn("admin", "sluice"), autocommit=True) as three:
        assert len(three.execute("show classes").fetchall()) == 2

    async def read():
        client = await asyncpg.connect(
            host=router.host, port=router.port, user="admin", password=PASSWORD, database="sluice", ssl=False
        )
        rows = await client.fetch("show lists")
        await client.close()
        return rows

    assert len(asyncio.run(read())) > 5


def test_clients_and_servers_show_who_is_there(router):
    with router.session(database="app_read", parameters={"application_name": "visible"}) as client:
        client.value("select 1")
        row = next(r for r in router.console("show clients") if r["application_name"] == "visible")
        assert (row["user"], row["database"], row["class"]) == ("alice", "app_read", "premium") and row[
            "replica"
        ].startswith("r")
        server = next(r for r in router.console("show servers") if r["ptr"] == row["link"])
        assert server["remote_pid"] == client.value("select pg_backend_pid()")


def test_kill_client_ends_that_session_alone(router):
    with router.session(parameters={"application_name": "to_kill"}) as client, router.session() as other:
        client.value("select 1")
        row = next(r for r in router.console("show clients") if r["application_name"] == "to_kill")
        router.console(f"kill_client {row['id']}")
        answer = client.read_until("", timeout=5)
        assert answer[-1] is m.CLOSED and m.sqlstate(answer[-2]) == "57P01"
        assert other.value("select 1") == "1"


def test_kill_of_a_database_that_nobody_knows_is_an_error(router):
    with router.session("admin", "sluice") as console:

        def state_of(command):
            answer = console.run(Q(command))
            return next((m.sqlstate(x) for x in answer if x.kind == "E"), None)

        assert state_of("kill nosuch") == "42704" == state_of("drain nosuch")
        assert state_of("kill app_read") is None, "it is configured"
        assert state_of("resume app_read") is None, "KILL pauses"
        with router.session("postgres", "postgres") as client:
            assert client.value("select 1") == "1"
            assert state_of("kill postgres") is None, "a session has it, by the entry *"
            assert m.sqlstate(client.read_until("")[-2]) == "57P01"
        assert state_of("resume postgres") is None


def test_readyz_tells_draining_from_dead(make_router, base_config):
    databases = [{"name": "app_read", "server_database": "app", "target": "replicas"}]
    router = make_router(primary=None, databases=databases)
    for replica in base_config["replicas"]:
        router.console(f"drain {replica['name']}")
    assert router.http("/readyz") == (503, "every replica that is alive is draining\n")
    router.console(f"undrain {base_config['replicas'][0]['name']}")
    assert router.http("/readyz")[0] == 200


def test_drain_keeps_sessions_and_sends_new_ones_elsewhere(make_router):
    router = make_router()
    with router.session("bob", "app_read") as client:
        name = client.value("show cluster_name")
        router.console(f"drain {name}")
        for _ in range(20):
            with router.session("bob", "app_read") as other:
                assert other.value("show cluster_name") != name
                other.terminate()
        assert client.value("select 1") == "1"
        router.console(f"undrain {name}")
        assert next(r for r in router.console("show replicas") if r["name"] == name)["draining"] == "no"


# B76
def test_views_stay_well_formed_while_clients_come_and_go(router):
    stop, faults = threading.Event(), []

    def churn():
        while not stop.is_set():
            try:
                with router.session("bob", "app_read") as client:
                    client.value("select 1")
                    client.terminate()
            except Exception as fault:  # noqa: BLE001 - told below
                faults.append(fault)
                return

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        with router.session("admin", "sluice") as client:
            for number in range(150):
                assert client.run(Q(f"show {VIEWS[number % len(VIEWS)]}"))[-1].kind == "Z"
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)
    assert not faults


def test_shutdown_ends_the_router(make_router):
    router = make_router()
    with router.session("admin", "sluice") as client:
        client.send(Q("shutdown"))
        wait_until(lambda: not router.alive(), 10, "the router to end")
    router.stop()


def test_http_pages_answer(router):
    assert router.http("/healthz")[0] == 200
    assert router.http("/readyz")[0] == 200
    status, text = router.http("/metrics")
    assert status == 200 and "sluice_sessions" in text and "# HELP" in text
    assert router.http("/v1/replicas")[0] == 200
    assert router.http("/nosuch")[0] == 404
    assert router.http("/metrics", "POST")[0] == 405


def test_a_wrong_password_does_not_open_the_console(router):
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(router.dsn("admin", "sluice", password="'wrong'"))
