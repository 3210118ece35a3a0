"""Routes: calls that carry sqlcommenter comments, grouped into requests, and N_serial."""

import asyncio
import json
import secrets
import threading
from urllib.parse import quote

import asyncpg
import psycopg
import pytest

from harness.messages import B, C, E, P, Q, S
from harness.net import wait_until
from harness.postgres import PASSWORD
from harness.router import DIRECT, Router


@pytest.fixture(scope="module")
def traced(workspace, base_config):
    """A router that closes requests soon. Each test uses routes of its own."""
    if DIRECT:
        pytest.skip("needs a router")
    router = Router(
        workspace / "routers",
        {
            **base_config,
            "hosts": [{"name": "here", "networks": ["127.0.0.0/8"]}],
            "trace_idle_timeout": "300ms",
            "threads": 2,
        },
        "traced",
    ).start()
    yield router
    router.stop()


class Request:
    """One request of a web application: the comment that its queries carry."""

    def __init__(self, route):
        self.route = route
        self.traceparent = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"

    def comment(self):
        return f"/*route='{quote(self.route, safe='')}',traceparent='{self.traceparent}'*/"

    def behind(self, sql):
        return f"{sql} {self.comment()}"

    def front(self, sql):
        return f"{self.comment()} {sql}"


def show(router, route):
    return next((row for row in router.console("SHOW ROUTES") if row["name"] == route), None)


def after(router, route, requests):
    """The route's row once that many requests of it have ended."""

    def ended():
        row = show(router, route)
        return row is not None and int(row["requests"]) >= requests

    wait_until(ended, 15, f"{requests} requests of {route} to end")
    return show(router, route)


def psycopg3(router, **options):
    return psycopg.connect(router.dsn(), **{"autocommit": True, **options})


@pytest.mark.short
@pytest.mark.parametrize("calls, route", [(3, "/feed"), (12, "/feed-naive")])
@pytest.mark.parametrize("place", ["behind", "front"])
@pytest.mark.parametrize("protocol", ["simple", "extended"])
def test_n_serial_is_the_number_of_calls_one_after_another(traced, calls, route, place, protocol):
    route = f"{route}/{place}/{protocol}"
    # Else psycopg prepares what it has seen often, in a call of its own.
    with psycopg3(traced, prepare_threshold=None) as client:
        for _ in range(3):
            request = Request(route)
            for number in range(calls):
                sql = getattr(request, place)("SELECT 1" if protocol == "simple" else "SELECT %s::int")
                if protocol == "simple":
                    client.execute(sql)
                else:
                    client.execute(sql.replace("%2F", "%%2F"), (number,))
    row = after(traced, route, 3)
    assert (row["n_serial_median"], row["n_serial_p90"], row["n_serial_mean"]) == (
        str(calls),
        str(calls),
        f"{calls}.00",
    )
    assert (row["untraced"], row["usable"], row["class"]) == ("0.00", "yes", "premium")
    assert (row["requests"], row["calls"], row["errors"]) == ("3", str(3 * calls), "0")
    assert int(row["median_us"]) > 0


def test_n_serial_does_not_depend_on_the_sessions_that_carried_the_calls(traced):
    clients = [psycopg3(traced) for _ in range(4)]
    request = Request("/spread")
    for number in range(8):
        clients[number % len(clients)].execute(request.behind("SELECT 1"))
    for client in clients:
        client.close()
    assert after(traced, "/spread", 1)["n_serial_median"] == "8"


def test_parallel_calls_count_once(traced):
    clients = [psycopg3(traced) for _ in range(3)]
    request = Request("/parallel")
    clients[0].execute(request.behind("SELECT 1"))
    # All three are under way at a time: each ends only when it is let go.
    locks = psycopg3(traced)
    locks.execute("SELECT pg_advisory_lock(74)")
    threads = [
        threading.Thread(target=c.execute, args=(request.behind("SELECT pg_advisory_lock_shared(74)"),))
        for c in clients
    ]
    for thread in threads:
        thread.start()
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 74 AND NOT granted"
    wait_until(lambda: locks.execute(waiting).fetchone()[0] == 3, 10, "three calls to wait")
    locks.execute("SELECT pg_advisory_unlock(74)")
    for thread in threads:
        thread.join()
    clients[0].execute(request.behind("SELECT 1"))
    for client in [*clients, locks]:
        client.close()
    row = after(traced, "/parallel", 1)
    assert (row["n_serial_median"], row["calls"]) == ("3", "5")


def test_pipelined_calls_count_once(traced):
    request = Request("/pipelined")
    with traced.session() as client:
        client.run(b"".join(Q(request.behind("SELECT 1")) for _ in range(5)), 5)
        client.run(Q(request.behind("SELECT 1")))
    assert after(traced, "/pipelined", 1)["n_serial_median"] == "2"


@pytest.mark.short
def test_uncommented_calls_of_a_commented_transaction_join_it(traced):
    request = Request("/transaction")
    with psycopg3(traced, autocommit=False) as client:
        client.execute(request.behind("SELECT 1"))  # psycopg sends BEGIN before it
        client.execute("SELECT 2")
        client.execute("SELECT %s::int", (3,))
        client.commit()
        client.execute("SELECT 4")  # of another transaction, nobody's
        client.rollback()
    row = after(traced, "/transaction", 1)
    assert (row["n_serial_median"], row["calls"], row["untraced"]) == ("5", "5", "0.00")


@pytest.mark.short
def test_a_prepared_statement_is_of_the_request_that_prepared_it(traced):
    request = Request("/prepared")
    with psycopg3(traced) as client:
        for number in range(10):
            client.execute(request.behind("SELECT %s::int").replace("%2F", "%%2F"), (number,), prepare=True)
    row = after(traced, "/prepared", 1)
    assert (row["n_serial_median"], row["untraced"]) == ("11", "0.00")  # and one to prepare it


def test_a_statement_executed_for_a_later_request_is_untraced_and_makes_its_route_too_thin(traced):
    first, second = Request("/stale"), Request("/stale")
    with traced.session() as client:
        client.run(P("s", first.behind("SELECT 1")) + B(statement="s") + E() + S())
        client.run(Q(second.behind("SELECT 1")))
        for _ in range(3):
            client.run(B(statement="s") + E() + S())
        client.run(C("S", "s") + S())
        client.run(P("s", second.behind("SELECT 1")) + S())
        client.run(B(statement="s") + E() + S())
    row = after(traced, "/stale", 2)
    assert (row["calls"], row["untraced"], row["usable"]) == ("7", "0.43", "no")
    assert row["n_serial_p90"] == "3"


def test_asyncpg_ends_preparing_with_a_flush_so_that_it_is_one_call(traced):
    request = Request("/asyncpg")

    async def work():
        client = await asyncpg.connect(
            host=traced.host, port=traced.port, user="alice", password=PASSWORD, database="app"
        )
        for number in range(3):
            await client.fetchval(request.behind(f"SELECT $1::int + {number}"), number)
        await client.fetchval(request.behind("SELECT $1::int + 0"), 5)  # prepared already
        async with client.transaction():
            await client.fetchval(request.behind("SELECT $1::int + 1"), 6)
        await client.close()

    asyncio.run(work())
    row = after(traced, "/asyncpg", 1)
    assert (row["n_serial_median"], row["untraced"]) == ("7", "0.00")  # with BEGIN and COMMIT


def test_a_route_may_be_a_controller_and_its_action(traced):
    request = Request("-")
    sql = f"SELECT 1 /*action='show',controller='articles',traceparent='{request.traceparent}'*/;"
    with psycopg3(traced) as client:
        client.execute(sql)
    assert after(traced, "articles#show", 1)["n_serial_median"] == "1"


def test_a_route_without_a_traceparent_has_calls_and_no_n_serial(traced):
    with psycopg3(traced) as client:
        client.execute("SELECT 1 /*route='/no-trace'*/")
    wait_until(lambda: show(traced, "/no-trace"), 10, "the route to be seen")
    row = show(traced, "/no-trace")
    assert (row["requests"], row["n_serial_median"], row["untraced"], row["usable"]) == ("0", None, "1.00", "no")


@pytest.mark.short
def test_a_comment_at_the_end_of_a_statement_of_many_reads_is_found(traced):
    request = Request("/long")
    with traced.session() as client:
        client.run(Q(request.behind("SELECT length('" + "x" * 1_000_000 + "')")))
        client.run(P("", request.front("SELECT length('" + "y" * 1_000_000 + "')")) + B() + E() + S())
    assert after(traced, "/long", 1)["n_serial_median"] == "2"


def test_what_looks_like_a_comment_in_a_literal_is_none(traced):
    with psycopg3(traced) as client:
        client.execute("SELECT '/*route=''/literal''*/'")
        client.execute("SELECT '/*route=''/literal''*/' /* plain */")
        client.execute(Request("/real").behind("SELECT '/*route=''/literal''*/'"))
    after(traced, "/real", 1)
    assert show(traced, "/literal") is None


@pytest.mark.short
def test_metrics_and_json_say_the_same(traced):
    request = Request("/metrics-too")
    with psycopg3(traced) as client:
        client.execute(request.behind("SELECT 1"))
        with pytest.raises(psycopg.errors.DivisionByZero):
            client.execute(request.behind("SELECT 1/0"))
    after(traced, "/metrics-too", 1)
    where = {"route": "/metrics-too", "host": "here"}
    assert traced.metric("sluice_route_calls_total", **where) == 2
    assert traced.metric("sluice_route_errors_total", **where) == 1
    assert traced.metric("sluice_route_response_seconds_count", **where) == 2
    assert traced.metric("sluice_route_requests_total", route="/metrics-too") == 1
    assert traced.metric("sluice_route_serial_calls", route="/metrics-too", statistic="median") == 2
    assert traced.metric("sluice_trace_calls_dropped_total") == 0
    status, body = traced.http("/v1/routes")
    row = next(r for r in json.loads(body)["routes"] if r["name"] == "/metrics-too")
    assert status == 200 and row["n_serial_median"] == 2 and row["errors"] == 1 and row["usable"] is True


def test_routes_beyond_the_limit_are_other(make_router):
    router = make_router(route_labels_max=2, trace_idle_timeout="100ms")
    with psycopg3(router) as client:
        for number in range(20):
            client.execute(f"SELECT 1 /*route='/many/{number}'*/")
    wait_until(lambda: router.metric("sluice_route_calls_total") == 20, 10, "all calls to be counted")
    assert router.metric("sluice_route_calls_total", route="other", host="other") == 18
    assert len(router.console("SHOW ROUTES")) == 2


def test_comments_can_be_left_unread(make_router):
    router = make_router(trace_comments=False)
    with psycopg3(router) as client:
        client.execute(Request("/unread").behind("SELECT 1"))
    router.write_config(trace_comments=True)
    router.reload()
    wait_until(lambda: "reloaded" in router.log_text(), 5, "the reload")
    with psycopg3(router) as client:
        client.execute(Request("/read").behind("SELECT 1"))
    wait_until(lambda: show(router, "/read"), 10, "the route to be seen")
    assert show(router, "/unread") is None


@pytest.mark.short
def test_hostile_comments_do_no_harm(traced):
    with traced.session() as client:
        for comment in (
            "/*route='",
            "/*route='%'*/",
            "/*route='%00'*/",
            "/*route='%FF'*/",
            "/*route='a\nb'*/",
            "/*" * 1000,
            "/*" + "route='/flood'," * 500 + "*/",
            "/*route='" + "x" * 100_000 + "'*/",
            "/*traceparent='00-" + "0" * 32 + "-" + "0" * 16 + "-00'*/",
            "/*/",
        ):
            client.run(Q(f"SELECT 1 {comment}"))
            client.run(Q(f"{comment} SELECT 1"))
        for number in range(2000):
            client.send(P(f"s{number}", Request("/hostile").behind("SELECT 1")))
        client.run(S())
        client.run(Q(Request("/after").behind("SELECT 1")))
    assert after(traced, "/after", 1)["n_serial_median"] == "1"
    assert show(traced, "/flood") is None
