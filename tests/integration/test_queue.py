"""More clients than slots: who waits, who is next, and what they are told."""

import threading
import time

import psycopg2
import pytest

from harness import messages as m
from harness.net import wait_until
from harness.wire import LoginRefused


class Waiting:
    """A psycopg2 connection that is being opened, in a thread of its own."""

    def __init__(self, router, user="alice", database="app"):
        self.connection = self.error = self.at = None
        self.thread = threading.Thread(target=self._open, args=(router.dsn(user, database),))
        self.thread.start()

    def _open(self, dsn):
        try:
            self.connection = psycopg2.connect(dsn)
        except psycopg2.Error as error:
            self.error = error
        self.at = time.monotonic()

    def result(self, timeout=10):
        self.thread.join(timeout)
        assert not self.thread.is_alive(), "still waits"
        return self.connection

    def waits(self):
        return self.thread.is_alive()


def queued(router, count):
    wait_until(lambda: router.metric("sluice_sessions_waiting") == count, 5, f"{count} sessions to wait")


def test_slots_are_given_by_class_and_then_by_arrival(make_router):
    router = make_router(max_active=1, queue_ageing=0)
    holder = router.connect()
    clients = []
    for user in ("bob", "alice", "bob", "alice"):
        clients.append(Waiting(router, user))
        queued(router, len(clients))
    left = {0, 1, 2, 3}
    for expected in (1, 3, 0, 2):
        holder.close()
        holder = clients[expected].result()
        left.remove(expected)
        assert {i for i, client in enumerate(clients) if client.waits()} == left
    holder.close()
    wait_until(lambda: router.metric("sluice_wait_seconds_count") >= 5, 5, "the waits to be recorded")


def test_ageing_lets_the_lower_class_have_its_turn(make_router):
    router = make_router(max_active=1, queue_ageing="1s")
    holder = router.connect()
    low = Waiting(router, "bob")
    queued(router, 1)
    time.sleep(1.2)
    high = Waiting(router, "alice")
    queued(router, 2)
    holder.close()
    assert low.result() and high.waits()
    low.connection.close()
    high.result().close()


def test_replicas_have_a_slot_each(make_router):
    router = make_router(max_active=1, policy="least_loaded")
    holders = [router.connect(database="app_read") for _ in range(5)]
    waits = Waiting(router, database="app_read")
    queued(router, 1)
    holders[3].close()
    connection = waits.result()
    with connection.cursor() as cursor:
        cursor.execute("select 1")
    for one in [connection, *holders]:
        one.close()


def test_who_waits_too_long_is_told_first_and_then_refused(make_router, capfd):
    router = make_router(max_active=1, query_wait_notify="1s", query_wait_timeout="3s")
    with router.session():
        started = time.monotonic()
        client = router.wire()
        with pytest.raises(LoginRefused) as refusal:
            client.login("alice", "app")
        assert 2.5 < time.monotonic() - started < 6
        fields = m.fields(refusal.value.message.body)
        assert fields["C"] == "53300" and fields["M"] == "query_wait_timeout" and "max_active" in fields["D"]
        client.close()
        waits = Waiting(router)
        queued(router, 1)
        time.sleep(1.5)
    waits.result().close()
    # libpq prints what it hears before there is a connection.
    assert capfd.readouterr().err.count("NOTICE:  No server connection available in postgres backend, client being queued") == 1
    assert router.metric("sluice_sessions_rejected_total", reason="query_wait_timeout") == 1


def test_max_waiting_fails_fast(make_router):
    router = make_router(max_active=1, max_waiting=1)
    with router.session():
        waits = Waiting(router)
        queued(router, 1)
        with pytest.raises(psycopg2.OperationalError, match=r"\(max_waiting\)"):
            router.connect()
        assert router.metric("sluice_sessions_rejected_total", reason="max_waiting") == 1
    waits.result().close()


def test_max_user_connections_makes_one_user_wait_and_no_other(make_router):
    router = make_router(max_user_connections=1)
    with router.session("alice"):
        waits = Waiting(router, "alice")
        queued(router, 1)
        router.connect("bob").close()
        assert waits.waits()
    waits.result().close()


def test_a_tls_client_that_leaves_gives_up_its_place(make_router):
    router = make_router(max_active=1)
    with router.session():
        leaves = router.wire()
        leaves.start_tls()
        thread = threading.Thread(target=lambda: pytest.raises(Exception, leaves.login, "alice", "app"))
        thread.start()
        queued(router, 1)
        leaves.half_close()
        queued(router, 0)
        thread.join(10)
        leaves.close()
