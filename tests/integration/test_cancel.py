"""Cancel: it reaches the query it was meant for, and nothing else."""

import random
import threading
import time

import psycopg2
import pytest

from harness import fake_server as fake
from harness import messages as m
from harness.leaks import fd_count
from harness.messages import B, E, P, Q, S
from harness.net import wait_until
from harness.relay import Relay
from harness.wire import WireClient


@pytest.mark.short
@pytest.mark.parametrize(
    "batch",
    [Q("select pg_sleep(20)"), P("", "select pg_sleep(20)") + B() + E() + S()],
    ids=["simple", "extended"],
)
def test_a_cancel_ends_the_running_query_with_57014(front, cluster, batch):
    with front.session(parameters={"application_name": "to_cancel"}) as client:
        client.send(batch)
        wait_until(
            lambda: cluster.primary.value(
                "select count(*) from pg_stat_activity where application_name = 'to_cancel' "
                "and state = 'active'"
            )
            == 1,
            5,
            "the query to run",
        )
        started = time.monotonic()
        client.cancel()
        answer = client.read_until("Z", timeout=5)
        assert m.sqlstate(next(x for x in answer if x.kind == "E")) == "57014"
        assert time.monotonic() - started < 2
        assert client.value("select 1") == "1"


@pytest.mark.short
def test_a_cancel_with_a_wrong_key_does_nothing(front):
    with front.session() as client:
        client.send(Q("select pg_sleep(0.5)"))
        for secret in (
            b"\0\0\0\0",
            client.secret[::-1] + b"x",
            client.secret + b"\0",
            client.secret[:3],
            b"y" * 256,
        ):
            with WireClient(*client.address) as other:
                assert other.send(m.cancel_request(client.process_id, secret)).read_to_close() == b""
        assert m.kinds(client.read_until("Z")) == "T D C Z"


# B26
@pytest.mark.short
def test_keys_are_positive_random_and_of_one_session(front):
    keys = set()
    for _ in range(60):
        with front.session() as client:
            assert 0 < client.process_id < 1 << 31
            assert len(client.secret) == 4
            keys.add((client.process_id, client.secret))
            client.terminate()
    assert len(keys) == 60
    assert len({secret for _, secret in keys}) >= 59


# B26
@pytest.mark.short
def test_a_server_without_a_key_serves_and_a_cancel_is_no_harm(make_router):
    def script(peer):
        peer.greet(key=False)
        peer.answer_until_end(fake.healthy)

    with fake.FakeServer(script) as server:
        router = make_router(primary={"name": "primary", "host": server.host, "port": server.port})
        with router.session() as client:
            assert client.value("select 1") == "1"
            client.cancel()
            assert client.value("select 1") == "1"


# B22
def test_a_cancel_never_hits_the_next_client_of_the_same_server(make_router, cluster):
    """Sessions with the same settings follow each other on the same server connection; late cancels of the first must
    not reach the second. Several such rows side by side, as many rounds as eight seconds allow."""
    with Relay(cluster.primary.host, cluster.primary.port) as relay:
        relay.connect_delay = 0.02
        router = make_router(primary={"name": "primary", "host": relay.host, "port": relay.port})
        deadline = time.monotonic() + 8
        hits, problems, rounds = [], [], [0] * 6

        def follow_each_other(lane):
            rng, threads = random.Random(22 + lane), []
            settings = {"application_name": f"lane{lane}"}
            while time.monotonic() < deadline:
                with router.session("trusted", parameters=settings) as first:
                    first.send(Q("select pg_sleep(0.003)"))
                    thread = threading.Thread(
                        target=lambda c=first, wait=rng.random() * 0.006: (time.sleep(wait), c.cancel())
                    )
                    thread.start()
                    threads.append(thread)
                    first.read_until("Z")
                    first.terminate()
                with router.session("trusted", parameters=settings) as second:
                    answer = second.run(Q("select pg_sleep(0.02)"))
                    hits.extend(m.sqlstate(x) for x in answer if x.kind == "E")
                    second.terminate()
                rounds[lane] += 1
            for thread in threads:
                thread.join(10)

        def lane_of(lane):
            try:
                follow_each_other(lane)
            except Exception as problem:  # noqa: BLE001 - the test fails with it, in its own thread
                problems.append(problem)

        lanes = [threading.Thread(target=lane_of, args=(lane,)) for lane in range(len(rounds))]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join(60)
        print(f"{sum(rounds)} rounds, {relay.accepted} connections")
        assert not problems, problems[:3]
        assert not hits
        assert sum(rounds) > 0 and relay.accepted < 4 * sum(rounds) + 20, "servers are used again"


# B25
def test_many_cancels_at_once_all_arrive_and_leave_nothing(front, router, cluster):
    with router.session():
        pass
    before = fd_count(router.pid)
    clients = [router.session(parameters={"application_name": "storm"}) for _ in range(60)]
    for client in clients:
        client.send(Q("select pg_sleep(60)"))
    wait_until(
        lambda: cluster.primary.value(
            "select count(*) from pg_stat_activity where application_name = 'storm' and state = 'active'"
        )
        == 60,
        10,
        "all queries to run",
    )
    threads = [threading.Thread(target=client.cancel) for client in clients]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for client in clients:
        answer = client.read_until("Z", timeout=10)
        assert m.sqlstate(next(x for x in answer if x.kind == "E")) == "57014"
    assert time.monotonic() - started < 5
    for thread in threads:
        thread.join(10)
    for client in clients:
        client.terminate()
    wait_until(lambda: fd_count(router.pid) <= before + 62, 5, "cancel connections to be closed")


# B25
def test_as_many_cancels_as_there_are_sessions_arrive_by_default(make_router, cluster):
    """On one thread and with the limit that holds where none is configured, which is for keys that nobody has."""
    count = 160
    router = make_router(cancel_rate_limit=None, threads=1, pool_mode="session")
    clients = [router.session("trusted", parameters={"application_name": "flood"}) for _ in range(count)]
    for client in clients:
        client.send(Q("select pg_sleep(60)"))
    wait_until(
        lambda: cluster.primary.value(
            "select count(*) from pg_stat_activity where application_name = 'flood' and state = 'active'"
        )
        == count,
        20,
        "all queries to run",
    )
    cancels = [
        WireClient(router.host, router.port).send(m.cancel_request(client.process_id, client.secret))
        for client in clients
    ]
    for client in clients:
        answer = client.read_until("Z", timeout=20)
        assert [m.sqlstate(x) for x in answer if x.kind == "E"] == ["57014"]
    for cancel in cancels:
        assert cancel.read_to_close() == b""
        cancel.close()
    assert router.metric("sluice_cancels_total", result="forwarded") == count
    assert router.metric("sluice_cancels_total", result="rate_limited") == 0

    guesses = [
        WireClient(router.host, router.port).send(m.cancel_request(client.process_id, b"none"))
        for client in clients + clients
    ]
    for guess in guesses:
        assert guess.read_to_close() == b""
        guess.close()
    assert router.metric("sluice_cancels_total", result="rate_limited") > 0
    for client in clients:
        client.terminate()


# B25
def test_a_server_that_never_closes_its_cancel_connection_costs_no_slot_for_ever(make_router, cluster):
    with Relay(cluster.primary.host, cluster.primary.port, keep_client_open=True) as relay:
        router = make_router(
            primary={"name": "primary", "host": relay.host, "port": relay.port}, cancel_wait_timeout="1s"
        )
        with router.session(parameters={"application_name": "patient"}) as client:
            for sent in range(1, 4):
                client.send(Q("select pg_sleep(60)"))
                wait_until(
                    lambda: cluster.primary.value(
                        "select count(*) from pg_stat_activity where query = 'select pg_sleep(60)' "
                        "and application_name = 'patient' and state = 'active'"
                    )
                    == 1,
                    10,
                    "the query to run",
                )
                client.cancel()
                answer = client.read_until("Z", timeout=10)
                assert m.sqlstate(next(x for x in answer if x.kind == "E")) == "57014"
                assert client.value("select 1") == "1"
                assert relay.cancels == sent
            wait_until(lambda: relay.cancels_open == 0, 10, "cancel connections to time out")


@pytest.mark.short
def test_libpq_cancels_through_the_front(front):
    connection = front.connect()
    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    with pytest.raises(psycopg2.errors.QueryCanceled):
        connection.cursor().execute("select pg_sleep(20)")
    timer.join()
    cursor = connection.cursor()
    cursor.execute("select 1")
    assert cursor.fetchone() == (1,)
    connection.close()


@pytest.mark.short
def test_a_cancel_of_an_idle_session_or_of_a_finished_one_does_nothing(front):
    with front.session() as client:
        client.cancel()
        assert client.value("select 1") == "1"
        client.run(Q("begin"))
        client.cancel()
        assert m.kinds(client.run(Q("select 1"))) == "T D C Z"
        client.terminate()
    with WireClient(*client.address) as late:
        assert late.send(m.cancel_request(client.process_id, client.secret)).read_to_close() == b""


# B26
@pytest.mark.short
def test_longer_keys_under_protocol_3_2_cancel_as_well(router):
    with router.session(version=0x00030002) as client:
        granted = [x for x in client.login_messages if x.kind == "v"]
        assert 4 <= len(client.secret) <= 256
        assert len(client.secret) == 4 or not granted, "a 3.0 session has a key of 4 bytes"
        client.send(Q("select pg_sleep(20)"))
        time.sleep(0.2)
        client.cancel()
        assert m.sqlstate(next(x for x in client.read_until("Z", timeout=5) if x.kind == "E")) == "57014"
