"""Response times and counters: each statement's own, and gauges that return to zero."""

import time

import pytest

from harness.messages import B, E, P, Q, S
from harness.net import wait_until
from harness.wire import LoginRefused


class Delta:
    """How much a router's numbers moved since this was made."""

    def __init__(self, router):
        self.router = router
        self.start = self._read()

    def _read(self):
        return {
            name: self.router.metric(f"sluice_{name}")
            for name in (
                "response_seconds_count",
                "response_seconds_sum",
                "queries_total",
                "errors_total",
                "sessions_opened_total",
                "cancels_total",
                "logins_total",
            )
        }

    def __getitem__(self, name):
        return self._read()[name] - self.start[name]


@pytest.fixture
def quiet(make_router):
    """A router of one's own: nobody else's queries are counted. Health checks are not clients' queries."""
    return make_router()


def samples(router, work):
    with router.session() as client:
        delta = Delta(router)
        work(client)
        wait_until(lambda: delta["response_seconds_count"] > 0, 3, "samples to be seen")
        time.sleep(0.1)
        return delta["response_seconds_count"], delta["response_seconds_sum"]


def group(sql):
    return P("", sql) + B() + E()


# B80
@pytest.mark.short
def test_time_idle_in_a_transaction_is_in_no_sample(quiet):
    def work(client):
        client.run(Q("begin"))
        time.sleep(1.5)
        client.run(Q("select 1"))
        client.run(Q("commit"))

    count, total = samples(quiet, work)
    assert count == 3 and total < 0.5


# B80
@pytest.mark.short
@pytest.mark.parametrize("syncs", ["one", "each"])
def test_pipelined_statements_have_one_sample_each_and_the_groups_time_in_all(quiet, syncs):
    parts = [group(f"select pg_sleep({t})") for t in (0.1, 0.2, 0.3)]

    def work(client):
        if syncs == "one":
            client.run(b"".join(parts) + S())
        else:
            client.run(b"".join(part + S() for part in parts), 3)

    count, total = samples(quiet, work)
    assert count == 3 and 0.6 <= total < 0.9


# B80
@pytest.mark.short
def test_multi_statement_queries_errors_and_copy_are_counted_once_each(quiet):
    assert samples(quiet, lambda client: client.run(Q("select pg_sleep(0.1); select pg_sleep(0.1)")))[0] == 2
    assert samples(quiet, lambda client: client.run(Q("select 1/0")))[0] == 1
    assert samples(quiet, lambda client: client.run(group("select 1/0") + group("select 2") + S()))[0] == 1
    assert samples(quiet, lambda client: client.run(Q("copy (select 1) to stdout")))[0] == 1
    assert samples(quiet, lambda client: client.run(Q("")))[0] == 1


# B80
def test_a_slow_reader_is_not_a_slow_server(quiet):
    def work(client):
        client.send(Q("select repeat('x', 1000) from generate_series(1, 30000)"))
        time.sleep(2)
        client.read_until("Z", timeout=20)

    count, total = samples(quiet, work)
    assert count == 1 and total < 1.5


# B80
@pytest.mark.short
def test_cancelled_queries_and_failed_logins_are_counted_and_gauges_return_to_zero(quiet):
    delta = Delta(quiet)
    with quiet.session() as client:
        client.send(Q("select pg_sleep(20)"))
        time.sleep(0.3)
        client.cancel()
        client.read_until("Z")
        assert delta["errors_total"] == 1
        client.terminate()
    for number in range(30):
        with pytest.raises(LoginRefused):
            quiet.session(user="alice" if number % 2 else "nobody", password="wrong")
    assert delta["logins_total"] == 31
    wait_until(lambda: quiet.metric("sluice_sessions") == 0, 3, "the gauge to return to zero")
    assert quiet.metric("sluice_unauthenticated_connections") == 0
    assert quiet.metric("sluice_sessions_opened_total") == quiet.metric("sluice_sessions_closed_total") == 1


def test_bytes_and_sessions_add_up(quiet):
    with quiet.session() as client:
        before = quiet.metric("sluice_client_sent_bytes_total")
        size = sum(5 + len(x.body) for x in client.run(Q("select repeat('x', 1000000)")))
        wait_until(
            lambda: quiet.metric("sluice_client_sent_bytes_total") - before >= size, 3, "bytes to be counted"
        )
        assert quiet.metric("sluice_client_sent_bytes_total") - before == size
