"""Thousands of sessions, failures and errors, and then nothing is left: descriptors, memory, backends,
sockets."""

import os

import pytest

from harness import messages as m
from harness.leaks import close_wait_count
from harness.messages import B, C, E, P, Q, S
from harness.net import wait_until
from harness.wire import LoginRefused
from harness.workload import in_threads

MIB = 1 << 20


def settle(router):
    """Descriptors once they have stopped to change."""
    last = [-1]

    def same():
        now = router.fd_count()
        was, last[0] = last[0], now
        return now if now == was else 0

    return wait_until(same, 20, "descriptors to settle", 0.3)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_five_thousand_sessions_leave_nothing(make_router, cluster):
    router = make_router(
        hba=[{"user": "trusted", "network": "127.0.0.1/32", "method": "trust"}, {"method": "scram-sha-256"}]
    )

    def session(number):
        user = "trusted" if number % 4 else "bob"
        with router.session(user, "app_read" if number % 2 else "app") as client:
            assert client.value("select 1") == "1"
            (client.terminate, client.close, client.reset, client.half_close)[number % 7 % 4]()

    in_threads(session, 8, 60)
    first_fds, first_rss = settle(router), router.rss_bytes()
    in_threads(session, 8, 600)
    second_fds, second_rss = settle(router), router.rss_bytes()
    assert second_fds <= first_fds + 12, (first_fds, second_fds)
    assert second_rss - first_rss < 6 * MIB, (first_rss, second_rss)
    assert close_wait_count(router.pid) == 0
    assert router.console("show clients") == [] or len(router.console("show clients")) <= 1
    assert sum(int(row["sessions"]) for row in router.console("show replicas")) == 0
    assert router.metric("sluice_sessions") == 0
    for server in cluster.servers:
        assert not [b for b in server.client_backends() if b[1] in ("trusted", "bob") and b[2] != "idle"]


# B77, B14
@pytest.mark.timeout(240)
def test_failed_logins_and_broken_starts_leave_nothing(router):
    def failure(number):
        kind = number % 6
        client = router.wire()
        with client:
            if kind == 0:
                with pytest.raises(LoginRefused):
                    client.login(password="wrong")
            elif kind == 1:
                with pytest.raises(LoginRefused):
                    client.login(user=f"nobody{number}")
            elif kind == 2:
                client.send(os.urandom(50))
            elif kind == 3:
                client.send(m.SSL_REQUEST).read_bytes(1)
                client.send(os.urandom(100))
            elif kind == 4:
                client.send(m.startup({"user": "alice"})).read()
            else:
                client.send(m.cancel_request(number + 1, os.urandom(4)))

    in_threads(failure, 6, 60)
    first_fds, first_rss = settle(router), router.rss_bytes()
    in_threads(failure, 6, 400)
    assert settle(router) <= first_fds + 4
    assert router.rss_bytes() - first_rss < 4 * MIB


# B77
@pytest.mark.timeout(240)
def test_statements_errors_and_notices_without_end_cost_no_memory(router):
    with router.session() as client:

        def work(rounds):
            for number in range(rounds):
                batch = (
                    b"".join(
                        P(f"s{number}_{i}", f"select {number * 100 + i}") + C("S", f"s{number}_{i}")
                        for i in range(50)
                    )
                    + S()
                )
                client.run(batch)
                client.run(b"".join(P("", "select 1/0") + B() + E() + S() for _ in range(50)), 50)
                client.run(Q("drop table if exists nosuch") * 20, 20)

        work(20)
        before = router.rss_bytes()
        work(200)
        assert router.rss_bytes() - before < 2 * MIB
