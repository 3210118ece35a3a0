"""Timers and limits: they fire when they should, say which one it was, and leave the server clean."""

import time

import pytest

from harness import messages as m
from harness.messages import Q
from harness.net import wait_until
from harness.relay import Relay
from harness.wire import LoginRefused


# B74
def test_idle_timers_count_from_the_last_activity_and_only_in_their_own_state(make_router, cluster):
    router = make_router(client_idle_timeout="2s", idle_transaction_timeout="1s")
    with router.session() as busy, router.session() as idle, router.session(
        parameters={"application_name": "idle_tx"}
    ) as in_transaction:
        in_transaction.run(Q("begin"))
        started = time.monotonic()
        answer = in_transaction.read_until("", timeout=5)
        assert answer[-1] is m.CLOSED and m.sqlstate(answer[-2]) == "25P03"
        assert 0.5 < time.monotonic() - started < 3
        for _ in range(6):
            time.sleep(0.5)
            assert busy.value("select 1") == "1"
        answer = idle.read_until("", timeout=5)
        assert answer[-1] is m.CLOSED and m.sqlstate(answer[-2]) in ("57P05", "57P01")
        busy.send(Q("select pg_sleep(3)"))
        assert m.kinds(busy.read_until("Z")) == "T D C Z", "a running query is not idle"
        count = "select count(*) from pg_stat_activity where application_name = 'idle_tx' and state like 'idle in%%'"
        wait_until(lambda: cluster.primary.value(count) == 0, 5, "the transaction to be rolled back")


# B74
def test_query_timeout_ends_one_query_by_its_total_time_and_nothing_else(make_router, cluster):
    router = make_router(query_timeout="2s")
    rows = """create or replace function trickle() returns setof int language plpgsql as $$
              begin for i in 1..10 loop return next i; perform pg_sleep(1); end loop; end $$"""
    with router.session() as in_transaction, router.session(
        parameters={"application_name": "trickling"}
    ) as client, router.session(parameters={"application_name": "copying"}) as copying:
        in_transaction.run(Q("begin") + Q("select 1"), ready=2)
        opened = time.monotonic()
        client.run(Q(rows))
        for query, one in (("select trickle()", client), ("copy (select pg_sleep(1) from generate_series(1, 9)) to stdout", copying)):
            started = time.monotonic()
            one.send(Q(query))
            answer = one.read_until("", timeout=8)
            assert answer[-1] is m.CLOSED and m.fields(answer[-2].body)["M"] == "query_timeout"
            assert m.sqlstate(answer[-2]) == "57014"
            assert 1.9 < time.monotonic() - started < 3.5
        left = "select count(*) from pg_stat_activity where application_name in ('trickling', 'copying')"
        wait_until(lambda: cluster.primary.value(left) == 0, 5, "the queries to be cancelled")
        time.sleep(max(0, 5 - (time.monotonic() - opened)))
        assert in_transaction.value("select 2") == "2", "idle in transaction is no query"
    assert router.metric("sluice_sessions_closed_total", reason="query_timeout") == 2


# B74
def test_query_wait_timeout_bounds_all_attempts_together(make_router, cluster):
    with Relay(cluster.primary.host, cluster.primary.port) as relay:
        relay.accept_only = True
        router = make_router(
            primary={"name": "primary", "host": relay.host, "port": relay.port},
            query_wait_timeout="1s",
            server_connect_timeout="30s",
            health_check_interval="60s",
        )
        started = time.monotonic()
        with pytest.raises(LoginRefused) as refusal:
            router.session()
        assert m.fields(refusal.value.message.body)["M"] == "query_wait_timeout"
        assert refusal.value.sqlstate == "57P03" and 0.9 < time.monotonic() - started < 3
        assert router.metric("sluice_sessions_rejected_total", reason="query_wait_timeout") == 1


def test_threads_may_share_one_listening_socket(make_router):
    router = make_router(so_reuseport=False, threads=3)
    sessions = [router.session() for _ in range(12)]
    for one in sessions:
        assert one.value("select 1") == "1"
        one.close()


@pytest.mark.parametrize("size", ["4kB", "1MB"])
def test_sessions_work_whatever_the_size_of_their_buffers(make_router, size):
    router = make_router(pkt_buf=size)
    with router.session() as client:
        assert client.value("select sum(length(x)) from (select repeat('y', 100) x from generate_series(1, 9999)) s") == "999900"
        assert client.value("select length('" + "z" * 300_000 + "')") == "300000"


# B74
@pytest.mark.short
def test_the_servers_statement_timeout_passes_through(judge):
    judge.same(
        lambda client: client.run(Q("set statement_timeout = '100ms'"))
        + client.run(Q("select pg_sleep(5)"))
        + client.run(Q("select 1"))
    )


@pytest.mark.parametrize(
    "limit",
    ["max_client_conn", "max_user_client_connections", "max_db_client_connections", "class", "database"],
)
def test_a_limit_refuses_with_53300_and_says_which(make_router, base_config, limit):
    changes = {limit: 5}
    if limit == "class":
        changes = {
            "classes": [
                {"name": "premium", "saturation": 10, "target": 2, "max_sessions": 5},
                {"name": "freemium", "target": 2},
            ],
            "query_wait_timeout": "1s",
        }
    elif limit == "database":
        changes = {"databases": [{"name": "app", "target": "primary", "max_sessions": 5}]}
    router = make_router(**changes)
    database = "app_read" if limit == "class" else "app"
    clients = [router.session(database=database) for _ in range(5)]
    with pytest.raises((LoginRefused, ConnectionError)) as refusal:
        for _ in range(3):
            clients.append(router.session(database=database))
    if isinstance(refusal.value, LoginRefused):
        found = m.fields(refusal.value.message.body)
        assert found["C"] == "53300", found
        named = {"class": "max_sessions of class premium", "database": "max_sessions of database app"}
        assert f"({named.get(limit, limit)})" in found["M"], "the limit as it was written"
        assert found.get("H") or found.get("D") or "connections" in found["M"], found
    for client in clients:
        client.terminate()
    wait_until(lambda: router.lets_in(database=database), 5, "room after the others left")


def test_sigterm_lets_sessions_end_and_then_the_process_ends(make_router):
    router = make_router(drain_timeout="8s")
    client = router.session()
    client.send(Q("select pg_sleep(1.5)"))
    time.sleep(0.3)
    router.process.terminate()
    wait_until(lambda: not router.lets_in(), 5, "new sessions to be refused")
    assert m.kinds(client.read_until("Z")) == "T D C Z", "the running query ends in peace"
    client.terminate()
    started = time.monotonic()
    router.stop()
    assert time.monotonic() - started < 6


def test_the_drain_deadline_ends_what_is_left_with_57p01(make_router):
    router = make_router(drain_timeout="1s")
    with router.session() as client:
        client.send(Q("select pg_sleep(60)"))
        time.sleep(0.3)
        router.process.terminate()
        answer = client.read_until("", timeout=8)
        assert answer[-1] is m.CLOSED and m.sqlstate(answer[-2]) == "57P01"
    router.stop()
