"""A server connection goes from one session to the next: clean, or not at all."""

import time

import pytest

from harness import fake_server as fake
from harness import messages as m
from harness.messages import B, E, P, Q, S, message
from harness.net import wait_until

BACKEND = "select pg_backend_pid()"


def backend_after(router, leave, **login):
    """Two sessions one after the other; `leave(client)` ends the first. Returns both backends' pids and the
    second client."""
    client = router.session(**login)
    first = client.value(BACKEND)
    leave(client)
    time.sleep(0.1)
    second = router.session(**login)
    return first, second.value(BACKEND), second


# B63
@pytest.mark.short
@pytest.mark.parametrize("leave", ["terminate", "close", "reset"])
def test_the_next_session_finds_a_clean_server(router, cluster, leave):
    dirt = [
        "set search_path to nosuch",
        "set work_mem to '9MB'",
        "set application_name to 'dirty'",
        "select set_config('x.y', 'z', false)",
        "create temp table leftover (a int)",
        "select pg_advisory_lock(4711)",
        "prepare leftover as select 1",
        "listen leftover",
        "declare c cursor with hold for select 1",
        "set role team",
        "set session characteristics as transaction isolation level serializable",
        "set default_transaction_read_only to on",
    ]

    def soil(client):
        for sql in dirt:
            client.query(sql)
        client.run(P("protocol_level", "select 1") + S())
        getattr(client, leave)()

    first, second, client = backend_after(router, soil, user="bob")
    with client:
        assert second == first, "the server connection should have been used again"
        assert client.query("select current_user, session_user") == [["bob", "bob"]]
        assert client.value("show search_path") == '"$user", public'
        assert client.value("show work_mem") == "4MB"
        assert client.value("show default_transaction_read_only") == "off"
        assert client.value("show application_name") == ""
        assert client.value("select current_setting('x.y', true)") in (None, "")
        assert client.value("show default_transaction_isolation") == "read committed"
        assert client.query("select * from pg_prepared_statements") == []
        assert client.query("select * from pg_cursors") == []
        assert client.query("select * from pg_listening_channels()") == []
        assert client.value("select count(*) from pg_locks where locktype = 'advisory'") == "0"
        assert client.value("select count(*) from pg_class where relname = 'leftover'") == "0"


# B63
@pytest.mark.short
def test_a_session_that_becomes_another_user_does_not_pass_that_on(router):
    def leave(client):
        client.query("set session authorization bob")
        client.terminate()

    _, _, client = backend_after(router, leave, user="postgres")
    with client:
        assert client.query("select current_user, session_user") == [["postgres", "postgres"]]


# B04, B63
@pytest.mark.short
def test_servers_are_shared_only_by_sessions_with_the_same_startup_settings(router):
    plain, other, client = None, None, None
    with router.session(parameters={"work_mem": "5MB", "application_name": "a"}) as one:
        plain = one.value(BACKEND)
        one.terminate()
    time.sleep(0.1)
    with router.session(parameters={"work_mem": "6MB", "application_name": "a"}) as client:
        other = client.value(BACKEND)
        assert client.value("show work_mem") == "6MB"
        client.terminate()
    time.sleep(0.1)
    assert plain != other
    with router.session(parameters={"work_mem": "5MB", "application_name": "a"}) as client:
        assert client.value(BACKEND) == plain
        assert client.value("show work_mem") == "5MB"
        client.query("set work_mem to '7MB'")
        client.terminate()
    time.sleep(0.1)
    with router.session(parameters={"work_mem": "5MB", "application_name": "a"}) as client:
        assert client.value("show work_mem") == "5MB", "startup settings survive DISCARD ALL"


# B64
@pytest.mark.parametrize(
    "how",
    [
        "X in BEGIN",
        "RST in BEGIN",
        "FIN in BEGIN",
        "3 bytes of a header",
        "half of a Parse",
        "rows unread",
        "idle FIN",
        "idle RST",
        "no Sync",
        "pipeline unread",
        "failed transaction",
        "Sync unread",
        "COPY IN",
        "COPY OUT",
        "portal open",
    ],
)
def test_a_client_that_leaves_mid_way_costs_the_next_one_nothing(router, cluster, how):
    def leave(client):
        if "BEGIN" in how:
            client.run(Q("begin; create temp table t (a int)"))
        elif how == "3 bytes of a header":
            client.send(b"Q\0\0")
        elif how == "half of a Parse":
            client.send(message("P", b"\0select 1" + b" " * 50000, 100000))
        elif how == "rows unread":
            client.send(Q("select repeat('x', 1000) from generate_series(1, 10000)"))
        elif how == "no Sync":
            client.send(P("", "select 1") + B() + E())
        elif how == "Sync unread":
            client.send(P("", "select pg_sleep(0.05)") + B() + E() + S())
        elif how == "pipeline unread":
            client.send(b"".join(Q(f"select {i}") for i in range(500)))
        elif how == "failed transaction":
            client.run(Q("begin; select 1/0"))
        elif how == "COPY IN":
            client.send(Q("copy (select 1) to stdout")).read_until("Z")
            client.send(Q("create temp table t (a int); copy t from stdin")).read_until("G")
            client.send(m.d(b"1\n2\n")[:-1])
        elif how == "COPY OUT":
            client.send(
                Q("copy (select repeat('x', 1000) from generate_series(1, 100000)) to stdout")
            ).read_until("d", 3)
        elif how == "portal open":
            client.run(Q("begin") + P("", "select generate_series(1, 100)") + B("p") + E("p", 3) + S(), 2)
        if how.startswith("X"):
            client.terminate()
        elif "RST" in how:
            client.reset()
        else:
            client.close()

    for _ in range(8):
        _, _, client = backend_after(router, leave, parameters={"application_name": "leaver"})
        with client:
            answer = client.run(Q("select 42"))
            assert [m.summary(x) for x in answer[-2:]] == [("C", "SELECT 1"), ("Z", "I")] and m.row(
                answer[1]
            ) == [b"42"]
            client.terminate()
    idle_in_transaction = (
        "select count(*) from pg_stat_activity where application_name = 'leaver' and state <> 'idle'"
    )
    wait_until(lambda: cluster.primary.value(idle_in_transaction) == 0, 5, "every backend to be idle or gone")


# B64
@pytest.mark.short
@pytest.mark.parametrize("leave", ["terminate", "close", "reset"])
def test_an_orderly_end_and_an_idle_kill_keep_the_server(router, leave):
    first, second, client = backend_after(
        router, lambda c: getattr(c, leave)(), parameters={"application_name": f"idle_{leave}"}
    )
    client.close()
    assert first == second


# B65
def test_a_failing_reset_is_never_ignored(make_router):
    router = make_router(server_reset_query="select 1/0")
    first, second, client = backend_after(router, lambda c: c.terminate())
    client.close()
    assert first != second


# B65
@pytest.mark.short
def test_a_session_that_leaves_in_a_transaction_is_rolled_back_before_the_reset(router, cluster):
    cluster.primary.query(
        "drop table if exists never; create table never (a int); grant all on never to public", database="app"
    )

    def leave(client):
        client.run(Q("begin; insert into never values (1); select 1/0"))
        client.terminate()

    first, second, client = backend_after(router, leave)
    with client:
        assert first == second
        assert client.value("select count(*) from never") == "0"


# B65
def test_servers_that_answer_the_reset_strangely_are_not_used_again(make_router):
    for strange in (
        fake.complete("DISCARD ALL") + fake.ready("T"),
        fake.complete("DISCARD ALL") + fake.ready("E"),
        fake.ready(),
        fake.error("ERROR", "XX000", "no") + fake.ready(),
        fake.complete("DISCARD ALL"),
        b"",
        b"garbage",
    ):
        pids = []

        def script(peer, strange=strange):
            pids.append(peer)
            peer.greet()
            peer.answer_until_end(
                lambda kind, body: strange if body and b"DISCARD" in body else fake.healthy(kind, body)
            )

        with fake.FakeServer(script) as server:
            router = make_router(
                primary={"name": "primary", "host": server.host, "port": server.port},
                server_reset_timeout="1s",
            )
            for _ in range(3):
                with router.session() as client:
                    assert client.value("select 1") == "1"
                    client.terminate()
                time.sleep(0.05)
            assert server.sessions == 3, strange
            router.stop()


# B67
def test_a_server_that_died_while_idle_is_not_handed_out(make_router, cluster):
    router = make_router()
    for _ in range(3):
        clients = [router.session() for _ in range(10)]
        for client in clients:
            client.query("select 1")
            client.terminate()
        time.sleep(0.2)
        cluster.primary.end_backends("alice")
        for _ in range(10):
            with router.session() as client:
                assert client.value("select 1") == "1"
                client.terminate()


def test_a_new_session_costs_no_new_backend(make_router, cluster):
    router = make_router()
    pids = set()
    for _ in range(100):
        with router.session() as client:
            pids.add(client.value(BACKEND))
            client.terminate()
        time.sleep(0.002)
    assert len(pids) <= 3


def test_reuse_can_be_turned_off(make_router):
    router = make_router(server_reuse=False)
    first, second, client = backend_after(router, lambda c: c.terminate())
    client.close()
    assert first != second


def test_idle_servers_are_closed_after_the_idle_limit_and_at_their_lifetime(make_router, cluster):
    for limit in ({"server_idle_timeout": "1s"}, {"server_lifetime": "1s"}):
        router = make_router(**limit)
        with router.session(parameters={"application_name": "limited"}) as client:
            client.query("select 1")
            client.terminate()
        count = "select count(*) from pg_stat_activity where application_name = 'limited'"
        wait_until(
            lambda: cluster.primary.value(count) == 0, 8, f"the server connection to be closed by {limit}"
        )
        router.stop()


# B53
def test_a_copy_over_tls_leaves_the_server_connection_usable(make_router, cluster):
    cluster.primary.query("drop table if exists tls_copy; create table tls_copy (a int)", database="app")
    cluster.primary.query("grant all on tls_copy to public", database="app")
    router = make_router(server_tls_sslmode="require")
    for _ in range(30):
        with router.session() as first:
            first.send(Q("copy tls_copy from stdin")).read_until("G")
            assert m.kinds(first.run(m.d(b"1\n" * 5000) + m.c())) == "C Z"
            first.terminate()
        with router.session() as second:
            assert second.value("select 1", timeout=2) == "1"
            second.terminate()
