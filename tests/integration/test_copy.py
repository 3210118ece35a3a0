"""COPY in both directions, where proxies lose count: rejected data, ignored Syncs, buffer edges, dying
clients."""

import hashlib
import random
import struct

import pytest

from harness import messages as m
from harness.messages import B, E, P, Q, S, c, d, f
from harness.net import wait_until

TABLE = "drop table if exists copied; create table copied (a int primary key, b text); grant all on copied to public"


@pytest.mark.short
def test_copy_in_and_out(judge):
    judge.same(
        lambda client: client.send(Q("copy copied from stdin")).read_until("G")
        + client.run(d(b"1\tone\n2\ttwo\n") + d(b"3\t\\N\n") + c())
        + client.run(Q("copy copied to stdout"))
        + client.run(Q("copy (select * from copied where a > 1) to stdout (format binary)")),
        before=TABLE,
    )


@pytest.mark.short
def test_copy_in_one_write_with_what_follows(judge):
    judge.same(
        lambda client: client.run(
            Q("copy copied from stdin") + d(b"1\tone\n") + c() + Q("select count(*) from copied"), 2
        ),
        before=TABLE,
    )
    judge.same(
        lambda client: client.run(
            Q("copy copied from stdin; copy copied from stdin; select 7")
            + d(b"1\ta\n")
            + c()
            + d(b"2\tb\n")
            + c()
            + Q("select 8"),
            2,
        ),
        before=TABLE,
    )


# B48
@pytest.mark.short
@pytest.mark.parametrize("where", ["", "begin"])
@pytest.mark.parametrize("extended", [False, True], ids=["simple", "extended"])
def test_data_sent_after_the_server_rejected_the_copy_is_swallowed(judge, where, extended):
    start = P("", "copy copied from stdin") + B() + E() if extended else Q("copy copied from stdin")
    late = b"".join(d(b"5\tfive\n" * 1000) for _ in range(200))

    def talk(client):
        client.run(Q(where))
        head = client.send(start).read_until("G")
        error = (
            client.send(d(b"1\tx\n1\tdouble\nnonsense\n")).send(late).send(c() + (S() if extended else b""))
        )
        return head + error.read_until("Z") + client.run(Q("select 1")) + client.run(Q("rollback"))

    judge.same(talk, before=TABLE)


# B49
@pytest.mark.short
def test_syncs_inside_copy_are_ignored_as_the_server_ignores_them(judge):
    def twice(client):
        out = []
        for number in range(1000):
            out += client.run(
                P("", "copy copied from stdin")
                + B()
                + E()
                + S()
                + d(b"%d\tx\n" % number)
                + c()
                + S()
            )
        return out + client.run(Q("select count(*) from copied"))

    judge.same(twice, before=TABLE)
    judge.same(
        lambda client: client.run(
            P("", "copy nosuch from stdin") + B() + E() + S() + d(b"1\n") + c() + S(), 2
        )
        + client.run(Q("select 1"))
    )
    judge.same(
        lambda client: client.run(
            P("", "copy copied from stdin") + B() + E() + S() + S() + m.H() + d(b"1\tx\n") + f("enough") + S()
        )
        + client.run(Q("select 1")),
        before=TABLE,
    )


# B48, B49
def test_a_thousand_rejected_copies_leave_the_server_to_the_next_client(make_router, cluster):
    """The next session of the same settings gets the same server connection, and not a byte of what came late."""
    router = make_router()
    cluster.primary.query(TABLE, database="app")
    late = b"".join(d(b"5\tfive\n") for _ in range(20))
    servers = set()
    with router.session("trusted"):
        pass
    rss = 0
    for number in range(1000):
        extended, block = number % 2 == 1, number % 4 >= 2
        start = P("", "copy copied from stdin") + B() + E() if extended else Q("copy copied from stdin")
        with router.session("trusted") as client:
            if block:
                client.run(Q("begin"))
            client.send(start).read_until("G")
            client.send(d(b"1\tx\n1\tdouble\n") + late + c() + (S() if extended else b""))
            answer = client.read_until("Z")
            assert m.kinds(answer) == "E Z" and m.sqlstate(answer[0]) == "23505"
            assert m.kinds(client.run(Q("select pg_backend_pid()" if not block else "rollback"))) in ("T D C Z", "C Z")
            servers.add(client.value("select pg_backend_pid()"))
            client.terminate()
        if number == 100:
            rss = router.rss_bytes()
    assert len(servers) < 20, "connections are given back and used again"
    assert router.rss_bytes() - rss < 4 << 20
    with router.session("trusted") as client:
        assert client.value("select count(*) from copied") == "0"


BACKEND = "select pg_backend_pid()"

# How a COPY FROM STDIN fails behind a Sync, and how many ReadyForQuery come: the COPY drops that Sync, unless it fails
# before it reads anything.
FAILED_COPIES = {
    "bad row": ("copied", d(b"1\tx\nnonsense\n") + c(), 1),
    "CopyFail": ("copied", d(b"1\tx\n") + f("enough"), 1),
    "view": ("no_table", d(b"1\tx\n") + c(), 2),
}


def fail_to_copy(client, how):
    table, end, ready = FAILED_COPIES[how]
    client.send(P("", f"copy {table} from stdin") + B() + E() + S()).read_until("G")
    answer = client.send(end + S()).read_until("Z", ready)
    assert m.kinds(answer) == "E" + " Z" * ready, how


@pytest.fixture
def copied(cluster):
    cluster.primary.query(TABLE, database="app")
    cluster.primary.query(
        "create or replace view no_table as select 1 as a, 'x' as b; grant all on no_table to public", database="app"
    )


# B48, B49. Was: one more ReadyForQuery might have come, so the server stayed with a client that said no more.
@pytest.mark.short
@pytest.mark.parametrize("how", FAILED_COPIES)
def test_a_copy_that_failed_behind_a_sync_keeps_no_server(make_router, copied, how):
    router = make_router(pool_mode="transaction", max_active=1, threads=1)
    with router.session() as client, router.session() as other:
        backend = other.value(BACKEND)
        for _ in range(20):
            fail_to_copy(client, how)
            assert other.value(BACKEND, timeout=5) == backend
            assert client.silent(0.01)
        assert client.value(BACKEND) == backend
        fail_to_copy(client, how)
        client.terminate()
        assert other.value(BACKEND, timeout=5) == backend
    table, end, _ = FAILED_COPIES[how]
    for last in (m.X(), b""):  # with its last words
        with router.session() as client, router.session() as other:
            client.send(P("", f"copy {table} from stdin") + B() + E() + S()).read_until("G")
            client.send(end + S() + last).half_close()
            client.read_to_close()
            assert other.value(BACKEND, timeout=5) == backend


# B64. Was: that server connection was closed behind its session.
@pytest.mark.short
@pytest.mark.parametrize("how", FAILED_COPIES)
def test_a_session_that_ends_with_a_failed_copy_leaves_its_server(make_router, copied, how):
    router = make_router(pool_mode="session", threads=1)
    backends = set()
    for number in range(20):
        with router.session() as client:
            backends.add(client.value(BACKEND))
            fail_to_copy(client, how)
            client.terminate()
        wait_until(
            lambda: router.metric("sluice_server_resets_total", result="clean") > number, 5, "the server to be reset"
        )
    assert len(backends) == 1


# B49
@pytest.mark.short
def test_copy_fail_and_strange_messages_inside_copy(judge):
    judge.same(
        lambda client: client.run(Q("copy copied from stdin") + d(b"1\tx\n") + f("enough"))
        + client.run(Q("select count(*) from copied")),
        before=TABLE,
    )
    judge.same(
        lambda client: client.run(Q("copy copied from stdin") + d(b"1\tx\n") + Q("select 1"), 1)
        + client.run(Q("select 2")),
        before=TABLE,
    )
    judge.same(lambda client: client.run(d(b"outside") + c() + f() + Q("select 3")))


# B50
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_copy_data_of_any_size_keeps_its_bytes(front, cluster, tls):
    rng = random.Random(7)
    cluster.primary.query(
        "drop table if exists big; create unlogged table big (a int, b text); grant all on big to public",
        database="app",
    )
    lines = (
        b"".join(b"%d\t%s\n" % (i, b"abcdefghij" * (i % 13)) for i in range(150000))
        + b"150000\t"
        + b"y" * 3000000
        + b"\n"
    )
    pieces, at = [], 0
    while at < len(lines):
        size = rng.choice([rng.randint(1, 9000)] * 30 + [2 << 20])
        pieces.append(d(lines[at : at + size]))
        at += size
    stream = b"".join(pieces)
    with (front.tls_session if tls else front.session)() as client:
        assert client.send(Q("copy big from stdin")).read_until("G")[-1].kind == "G"
        at = 0
        while at < len(stream):  # segments that end anywhere, inside the 5-byte headers too
            size = rng.randint(1, 200000)
            client.send(stream[at : at + size])
            at += size
        assert m.summary(client.run(c(), timeout=60)[0]) == ("C", "COPY 150001")
        seen = hashlib.sha256()
        for msg in client.run(Q("copy (select * from big order by a) to stdout"), timeout=60):
            if msg.kind == "d":
                seen.update(msg.body)
        assert seen.digest() == hashlib.sha256(lines).digest()


# B52
@pytest.mark.parametrize("how", ["close", "reset", "half_close"])
def test_a_client_that_dies_in_copy_in_commits_nothing(front, cluster, how):
    cluster.primary.query(TABLE, database="app")
    client = front.session(parameters={"application_name": "dies_in_copy"})
    client.send(Q("copy copied from stdin")).read_until("G")
    client.send(b"".join(d(b"%d\tx\n" % i) for i in range(10000)))
    getattr(client, how)()

    def gone():
        return (
            cluster.primary.value(
                "select count(*) from pg_stat_activity where application_name = 'dies_in_copy' "
                "and query like 'copy%' and state = 'active'"
            )
            == 0
        )

    wait_until(gone, 3, "the backend to give up the COPY")
    assert cluster.primary.value("select count(*) from copied", database="app") == 0
    client.close()


# B52
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_client_that_dies_in_copy_out_frees_its_backend(front, cluster, how):
    client = front.session(parameters={"application_name": "dies_in_copy_out"})
    client.send(Q("copy (select repeat('x', 1000) from generate_series(1, 5000000)) to stdout")).read_until(
        "d", 100
    )
    getattr(client, how)()

    def gone():
        return (
            cluster.primary.value(
                "select count(*) from pg_stat_activity where application_name = 'dies_in_copy_out' "
                "and state = 'active'"
            )
            == 0
        )

    wait_until(gone, 5, "the backend to stop")


# B53
@pytest.mark.short
def test_a_failed_copy_does_not_cost_the_session(judge):
    judge.same(
        lambda client: client.run(Q("create temp table tmp (a int)"))
        + client.run(Q("copy tmp(nosuch) from stdin"))
        + client.run(Q("insert into tmp values (1); select * from tmp"))
    )


@pytest.mark.short
def test_a_half_close_after_the_last_message_still_gets_the_answers(judge):
    def talk(client):
        client.send(Q("select pg_sleep(0.1)") + Q("select generate_series(1, 1000)"))
        client.half_close()
        out = client.read_until("Z", 2)
        return out + [client.read_to_close()]

    judge.same(talk)


@pytest.mark.short
def test_copy_both_of_a_replication_session_is_relayed_or_refused(front, cluster):
    from harness.wire import LoginRefused

    try:
        client = front.session("postgres", "app", parameters={"replication": "database"})
    except LoginRefused as refusal:
        assert refusal.sqlstate in ("0A000", "28000")
        return
    with client:
        slot = "copy_both"
        client.run(Q(f"CREATE_REPLICATION_SLOT {slot} TEMPORARY LOGICAL test_decoding"))
        answer = client.send(Q(f"START_REPLICATION SLOT {slot} LOGICAL 0/0")).read_until("WE")
        if answer[-1].kind == "E":
            pytest.skip("no test_decoding on this server")
        cluster.primary.query(
            "create table if not exists decoded (a int); insert into decoded values (1)", database="app"
        )
        seen = client.read_until("d", 3)
        assert all(x.kind == "d" for x in seen)
        now = struct.pack("!cQQQQB", b"r", 0, 0, 0, 0, 1)
        assert client.send(d(now)).read(5).kind == "d"
        assert m.kinds(client.send(c()).read_until("Z")).endswith("C Z")
