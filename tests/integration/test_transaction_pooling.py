"""Transaction mode: many clients on few server connections, and each sees what it would see of a server of its
own. Threads: one, so that all clients share what there is."""

import random
import threading
import time

import psycopg2
import pytest

from harness import messages as m
from harness.leaks import fd_count
from harness.messages import B, C, D, E, H, P, Q, S
from harness.net import wait_until
from harness.workload import in_threads

BACKEND = "select pg_backend_pid()"


def backends(cluster, user="alice"):
    return cluster.primary.value(
        "select count(*) from pg_stat_activity where backend_type = 'client backend' "
        f"and datname = 'app' and usename = '{user}'"
    )


@pytest.fixture
def pooled(make_router, cluster):
    cluster.primary.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'alice' and datname = 'app'"
    )
    return make_router(pool_mode="transaction", threads=1)


def test_clients_share_one_server_connection(pooled, cluster):
    clients = [pooled.session() for _ in range(20)]
    seen = {client.value(BACKEND) for _ in range(3) for client in clients}
    assert len(seen) == 1
    assert backends(cluster) == 1
    for client in clients:
        client.terminate()


def test_a_transaction_has_its_server_to_itself(pooled, cluster):
    with pooled.session() as a, pooled.session() as b:
        a.query("begin")
        mine = a.value(BACKEND)
        assert b.value(BACKEND) != mine
        assert a.value(BACKEND) == mine
        a.query("commit")
        assert backends(cluster) == 2


@pytest.mark.parametrize("threads", [1, 2])
def test_a_burst_of_transactions_opens_no_more_connections_than_slots(make_router, cluster, threads):
    router = make_router(pool_mode="transaction", threads=threads, max_active=8)

    def work(number):
        with router.session() as client:
            for i in range(20):
                # Some longer than others, so that connections come back while others are being opened.
                client.query(f"select pg_sleep({0.001 * ((number + i) % 4)})")

    in_threads(work, 64, 1)
    assert 8 <= router.metric("sluice_server_connections_opened_total") <= 8 * threads
    assert backends(cluster) <= 8 * threads
    assert router.metric("sluice_sessions_opened_total") == 64


# B42: twenty groups, cut at every offset, beside a client that competes for the servers.
@pytest.mark.parametrize("size", [1, 3, 7, 64, 100_000])
def test_a_pipeline_gets_all_its_answers_in_order(pooled, size):
    stream = b""
    for i in range(10):
        stream += P("", f"select {i}") + B() + E() + S() + Q(f"select {i + 100}")
    stream += Q("begin") + P("", "select 55") + B() + E() + S() + Q("commit")
    with pooled.session() as a, pooled.session() as b:
        stop = threading.Event()
        others = []

        def compete():
            while not stop.is_set():
                others.append(b.value("select 'other'"))

        rival = threading.Thread(target=compete)
        rival.start()
        a.send_split(stream, size)
        answer = a.read_until("Z", count=23)
        stop.set()
        rival.join()
        values = [m.row(x)[0].decode() for x in answer if x.kind == "D"]
        assert values == [str(v) for i in range(10) for v in (i, i + 100)] + ["55"]
        assert set(others) <= {"other"}
        assert "".join(x.body.decode() for x in answer if x.kind == "Z") == "I" * 20 + "TTI"


# B64
@pytest.mark.parametrize("leave", ["terminate", "close", "reset"])
def test_what_a_client_leaves_open_is_rolled_back(pooled, cluster, leave):
    cluster.primary.query("create table if not exists left_open (a int)", database="app")
    cluster.primary.query("grant all on left_open to public", database="app")
    for _ in range(20):
        client = pooled.session()
        client.query("begin")
        client.query("insert into left_open values (1)")
        getattr(client, leave)()
    with pooled.session() as client:
        assert client.value("select count(*) from left_open") == "0"
        wait_until(
            lambda: cluster.primary.value("select count(*) from pg_stat_activity where state like 'idle in%'") == 0,
            5,
            "transactions to end",
        )


def test_half_a_query_then_a_reset_harms_nobody(pooled, cluster):
    whole = Q("select '" + "x" * 100_000 + "'")
    for cut in (1, 3, 5, 100, 50_000):
        for _ in range(10):
            client = pooled.session()
            client.send(whole[:cut])
            time.sleep(0.002)
            client.reset()
            with pooled.session() as other:
                assert other.value("select 1") == "1"


# B67
def test_servers_that_died_while_idle_fail_no_query(pooled, cluster):
    clients = [pooled.session() for _ in range(10)]
    for client in clients:
        client.query("begin")
    for client in clients:
        client.query("commit")
    assert backends(cluster) == 10
    cluster.primary.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'alice'")
    wait_until(lambda: backends(cluster) == 0, 5, "the servers to end")
    for client in clients:
        assert client.value("select 1") == "1"
        client.terminate()


# B55, B68
def test_a_server_killed_within_a_transaction_says_so_once(pooled, cluster):
    with pooled.session() as client:
        client.query("begin")
        pid = client.value(BACKEND)
        cluster.primary.query(f"select pg_terminate_backend({pid})")
        assert m.sqlstate(client.read()) == "57P01"
        assert client.read_to_close() == b""


# B22: a cancel never finds another client's query.
def test_a_storm_of_cancels_hits_only_those_it_is_meant_for(pooled):
    stop = threading.Event()
    bad = []

    def bystander():
        with pooled.session() as client:
            while not stop.is_set():
                answer = client.run(Q("select pg_sleep(0.005)"))
                bad.extend(m.sqlstate(x) for x in answer if x.kind == "E")

    threads = [threading.Thread(target=bystander) for _ in range(3)]
    for thread in threads:
        thread.start()
    rng = random.Random(4)
    with pooled.session() as client:
        for _ in range(300):
            client.send(Q("select pg_sleep(0.003)"))
            time.sleep(rng.random() * 0.006)
            client.cancel()
            client.read_until("Z")
        assert client.value("select 1") == "1"
    stop.set()
    for thread in threads:
        thread.join()
    assert bad == []


# B48, B49, B52
def test_copy_goes_both_ways_and_leaves_the_server_in_step(pooled, cluster):
    cluster.primary.query("drop table if exists copied; create table copied (a int primary key)", database="app")
    cluster.primary.query("grant all on copied to public", database="app")
    row = lambda n: m.message("d", f"{n}\n".encode())
    done = m.message("c", b"")
    with pooled.session() as a, pooled.session() as b:
        for i in range(50):
            a.send(Q("copy copied from stdin") + b"".join(row(i * 100 + n) for n in range(100)) + done)
            assert m.kinds(a.read_until("Z")) == "G C Z"
            # Fails at its first row; the rest is still on its way.
            a.send(Q("copy copied from stdin") + b"".join(row(0) for _ in range(1000)) + done)
            assert m.kinds(a.read_until("Z")) == "G E Z"
            a.send(P("", "copy copied from stdin") + B() + E() + S() + row(100_000 + i) + done + S())
            assert m.kinds(a.read_until("Z")) == "1 2 G C Z"
            assert b.value("select 1") == "1"
        answer = a.run(Q("copy copied to stdout"))
        assert sum(x.kind == "d" for x in answer) == 5050
    assert pooled.metric("sluice_sessions") == 0


def test_large_messages_stream_both_ways(pooled):
    with pooled.session() as client:
        text = "x" * 5_000_000
        assert client.value(f"select length('{text}')") == "5000000"
        assert len(client.value("select repeat('y', 5000000)")) == 5_000_000
        assert client.value("select 1") == "1"


# B73
def test_a_slow_reader_holds_up_nobody(pooled):
    slow = pooled.session()
    slow.send(Q("select repeat('x', 1000) from generate_series(1, 50000)"))
    with pooled.session() as other:
        started = time.monotonic()
        for _ in range(100):
            assert other.value("select 1") == "1"
        assert time.monotonic() - started < 5
    assert sum(x.kind == "D" for x in slow.read_until("Z", timeout=30)) == 50_000
    assert slow.value("select 1") == "1"
    slow.terminate()


# B29, B30
def test_flush_and_errors_within_a_batch(pooled):
    with pooled.session() as client, pooled.session() as rival:
        client.send(P("", "select $1::int") + D("S", "") + H())
        assert [client.read().kind for _ in range(3)] == ["1", "t", "T"]
        assert rival.value("select 1") == "1"
        client.send(B("", "", [b"7"]) + E() + S())
        assert m.kinds(client.read_until("Z")) == "2 D C Z"
        client.send(P("", "select 1/0") + B() + E() + C("S", "x") + Q("select 2") + D("P", ""))
        client.send(S())
        assert m.kinds(client.read_until("Z")) in ("1 E Z", "1 2 E Z")
        client.send(H() + S())
        assert m.kinds(client.read_until("Z")) == "Z"


# A Flush has no body; one that has fails as any other message of the extended protocol.
def test_a_flush_with_a_body_is_refused_as_by_postgresql(pooled, direct):
    flush = m.message("H", b"body")
    stream = flush + P("", "select 1") + Q("select 2") + S() + Q("select 3") + P("", "select 4") + flush + S()
    with direct.session() as right_client, pooled.session() as client:
        right = [m.summary(x) for x in right_client.run(stream, 3)]
        for size in (1, 3, 1000):
            client.send_split(stream, size)
            assert [m.summary(x) for x in client.read_until("Z", count=3)] == right
        wait_until(lambda: pooled.metric("sluice_sessions") == 0, 5, "the server to be free")


def test_psycopg2_as_applications_use_it(pooled):
    connections = [pooled.connect(autocommit=False) for _ in range(5)]
    for n, connection in enumerate(connections):
        with connection, connection.cursor() as cursor:
            cursor.execute("select %s, pg_backend_pid()", (n,))
            assert cursor.fetchone()[0] == n
    for connection in connections:
        with pytest.raises(psycopg2.errors.DivisionByZero), connection, connection.cursor() as cursor:
            cursor.execute("select 1/0")
        connection.close()


def test_the_console_shows_the_mode_and_the_connections(pooled):
    with pooled.session() as client:
        client.query("select 1")
        row = next(r for r in pooled.console("show pools") if r["user"] == "alice")
        assert (row["pool_mode"], row["sv_idle"], row["sv_active"]) == ("transaction", "1", "0")
        client.query("begin")
        row = next(r for r in pooled.console("show pools") if r["user"] == "alice")
        assert (row["sv_idle"], row["sv_active"]) == ("0", "1")
        assert all(r["pool_mode"] == "transaction" for r in pooled.console("show databases"))


def test_nothing_is_left_behind(pooled):
    with pooled.session() as client:
        client.query("select 1")
    before = fd_count(pooled.pid)
    for _ in range(200):
        client = pooled.session()
        client.query("select 1")
        client.close()
    wait_until(lambda: fd_count(pooled.pid) <= before + 2, 5, "descriptors to be closed")


def test_pause_lets_transactions_end_and_holds_back_new_ones(pooled):
    with pooled.session() as a, pooled.session() as b:
        a.query("begin")
        paused = threading.Thread(target=pooled.console, args=("pause app",))
        paused.start()
        wait_until(lambda: any(r["name"] == "app" and r["paused"] == "1" for r in pooled.console("show databases")))
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(b.value("select 'through'")))
        waiting.start()
        assert a.value("select 'mine'") == "mine"
        assert paused.is_alive() and not answers
        a.query("commit")
        paused.join(10)
        assert not paused.is_alive() and not answers
        pooled.console("resume app")
        waiting.join(10)
        assert answers == ["through"]


def test_pause_closes_the_servers_of_that_database_alone(pooled, cluster):
    def open_to(database):
        return cluster.primary.value(
            "select count(*) from pg_stat_activity where usename = 'alice' and datname = %s", (database,)
        )

    with pooled.session() as a, pooled.session() as b, pooled.session(database="postgres") as other:
        other.query("select 1")
        a.query("begin")
        b.query("select 1")
        paused = threading.Thread(target=pooled.console, args=("pause app",))
        paused.start()
        wait_until(lambda: open_to("app") == 1, 5, "the idle connection to be closed")
        a.query("commit")
        wait_until(lambda: open_to("app") == 0, 5, "the connection of the transaction to be closed")
        paused.join(10)
        assert open_to("postgres") == 1
        pooled.console("resume app")
        assert b.value("select 1") == "1"


def test_reconnect_gives_the_next_transaction_a_new_server(pooled):
    with pooled.session() as client:
        before = client.value(BACKEND)
        pooled.console("reconnect app")
        assert client.value(BACKEND) != before
