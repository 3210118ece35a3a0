"""Transaction mode: a client that goes at any point leaves its server to others, nothing half done, and nothing undone of
what it had said to the end."""

import time

import pytest

from harness.messages import B, E, H, P, Q, S, d
from harness.net import wait_until
from harness.relay import Relay

INSERT = "insert into ends values (1)"


@pytest.fixture
def ends(cluster):
    cluster.primary.query(
        "drop table if exists ends; create table ends (a int); grant all on ends to public", database="app"
    )
    return lambda: cluster.primary.value("select count(*) from ends", database="app")


@pytest.fixture
def pooled(make_router):
    return make_router(pool_mode="transaction", threads=1)


def gone(router, cluster):
    """No client is left, no server is taken, and none has a transaction open."""
    wait_until(lambda: not [c for c in router.console("show clients") if c["user"] == "alice"], 5, "the client to be gone")
    wait_until(
        lambda: cluster.primary.value(
            "select count(*) from pg_stat_activity where usename = 'alice' and state <> 'idle'"
        )
        == 0,
        5,
        "its server to be at rest",
    )


# B64, B52: what PostgreSQL does with the same bytes and then the end.
POINTS = {
    "a batch without its Sync": (P("", INSERT) + B() + E(), 0),
    "a batch that was flushed": (P("", INSERT) + B() + E() + H(), 0),
    "half a header": (Q("begin")[:3], 0),
    "half a message": (Q(f"/*{'x' * 50_000}*/ {INSERT}")[:30_000], 0),
    "half a message behind a query": (Q(INSERT) + Q("select 1")[:7], 1),
    "half a message behind a slow query": (Q(f"select pg_sleep(0.2); {INSERT}") + Q("select 1")[:7], 1),
    "half a batch behind a query": (Q(f"select pg_sleep(0.2); {INSERT}") + P("", INSERT) + B() + E(), 1),
    "a batch behind a batch": (P("", INSERT) + B() + E() + S() + P("", INSERT) + B() + E(), 1),
    "within a transaction": (Q("begin") + Q(INSERT), 0),
    "within a failed transaction": (Q("begin") + Q(INSERT) + Q("select 1/0"), 0),
    "in the middle of a COPY": (Q("copy ends from stdin") + d(b"1\n"), 0),
    "in the middle of a row of a COPY": (Q("copy ends from stdin") + d(b"1\n" * 1000)[:500], 0),
    "behind a query": (Q(INSERT), 1),
    "behind a slow query": (Q(f"select pg_sleep(0.2); {INSERT}"), 1),
}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("leave", ["terminate", "close"])
def test_what_was_said_to_the_end_is_done_and_nothing_else(pooled, cluster, ends, direct, point, leave):
    stream, rows = POINTS[point]
    for where in (direct, pooled):
        client = where.session()
        if leave == "terminate":
            client.send(stream)
            client.terminate()  # Terminate behind half a message is more of that message, and then the end
        else:
            client.send(stream)
            client.close()
        wait_until(lambda: ends() == rows, 5, f"{rows} rows")
        if where is pooled:
            gone(pooled, cluster)
        time.sleep(0.05)
        assert ends() == rows
        cluster.primary.query("truncate ends", database="app")
    with pooled.session() as other:
        assert other.value("select 1") == "1"


@pytest.mark.parametrize("point", POINTS)
def test_a_reset_leaves_nothing_half_done(pooled, cluster, ends, point):
    stream, rows = POINTS[point]
    for pause in (0, 0.02):
        client = pooled.session()
        client.send(stream)
        time.sleep(pause)
        client.reset()
        gone(pooled, cluster)
        assert ends() <= rows
        cluster.primary.query("truncate ends", database="app")
    with pooled.session() as other:
        assert other.value("select 1") == "1"


# Between a client and its server the router may have to set what the client wants set, or to open a connection: what the
# client has said by then is not lost with its end.
@pytest.mark.parametrize("cold", [False, True], ids=["hand-over", "opening"])
def test_what_is_said_while_the_server_is_made_ready_is_done(make_router, cluster, ends, cold):
    with Relay(cluster.primary.host, cluster.primary.port) as relay:
        router = make_router(
            pool_mode="transaction",
            threads=1,
            primary={"name": "primary", "host": relay.host, "port": relay.port},
            health_check_timeout="5s",
        )
        for i in range(10):
            client, other = router.session(), router.session()
            client.query("set timezone to 'Asia/Tokyo'")
            other.query("set timezone to 'America/Lima'")
            for _ in range(12):  # a client that has said this much is received from by io_uring, where there is one
                client.query("select 1")
            other.query("select 1")
            if cold:
                router.console("reconnect app")
            relay.to_client.delay = 0.05
            client.send(Q(INSERT))
            time.sleep(0.01 * (i % 4))
            client.close()
            wait_until(lambda i=i: ends() == i + 1, 5, "the row")
            relay.to_client.delay = 0.0
            other.terminate()
