"""Transaction mode with fewer slots than clients: who waits, who is next, and what they are told. A pool's
first client needs a server to be greeted: all log in before the slot is taken."""

import threading
import time

import pytest

from harness import messages as m
from harness.messages import Q
from harness.net import wait_until


class Asked:
    """A transaction that notes when it ran: its number in the order that the servers saw."""

    def __init__(self, client, name):
        self.client, self.name = client, name
        self.answer = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        self.answer = self.client.run(Q(f"insert into queue_log values ('{self.name}')"), timeout=30)

    def done(self, timeout=15):
        self.thread.join(timeout)
        assert not self.thread.is_alive(), f"{self.name} still waits"
        return self.answer


@pytest.fixture
def order(cluster):
    """The names of the transactions in the order in which they ran."""
    cluster.primary.query("drop table if exists queue_log", database="app")
    cluster.primary.query("create table queue_log (name text, id serial)", database="app")
    cluster.primary.query("grant all on queue_log, queue_log_id_seq to public", database="app")
    yield lambda: [
        row[0] for row in cluster.primary.query("select name from queue_log order by id", database="app")
    ]
    cluster.primary.query("drop table queue_log", database="app")


@pytest.fixture
def queue(make_router):
    def make(**config):
        return make_router(pool_mode="transaction", max_active=1, threads=1, **config)

    return make


def waiting(router, count):
    wait_until(lambda: router.metric("sluice_sessions_waiting") == count, 5, f"{count} transactions to wait")


def shown(router, key):
    return next(row["value"] for row in router.console("SHOW CONFIG") if row["key"] == key)


class Holder:
    """Has the only slot, and clients of these users in a queue behind it, one after the other."""

    def __init__(self, router, users):
        self.router = router
        self.clients = [router.session(user) for user in users]
        self.client = router.session()
        self.client.query("begin")
        self.asked = []
        for i, user in enumerate(users):
            self.asked.append(Asked(self.clients[i], f"{user}{i}"))
            waiting(router, i + 1)

    def commit(self):
        self.client.query("commit")

    def all_done(self):
        for one in self.asked:
            one.done()


def test_transactions_are_served_as_they_came(queue, order):
    router = queue()
    holder = Holder(router, ["bob"] * 8)
    holder.commit()
    holder.all_done()
    assert order() == [f"bob{i}" for i in range(8)]
    assert router.metric("sluice_sessions_waiting") == 0


def test_nobody_overtakes_under_saturation(queue, order):
    """Clients that ask again at once stand behind all that wait: each has its turn before any has its next."""
    router = queue()
    rounds, count = 10, 6
    start = threading.Barrier(count)

    def ask(number):
        with router.session("bob") as client:
            start.wait()
            for _ in range(rounds):
                client.query(f"insert into queue_log select '{number}' from pg_sleep(0.01)")

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    names = order()
    assert len(names) == rounds * count
    for name in set(names):
        places = [i for i, one in enumerate(names) if one == name]
        # In between the others have had one turn each, some of them two where a client was late.
        assert max(b - a for a, b in zip(places, places[1:])) <= 2 * count, names


def test_the_higher_class_goes_first_and_the_aged_before_it(queue, order):
    router = queue(queue_ageing="2s")
    holder = Holder(router, ["bob", "alice", "bob", "alice"])
    holder.commit()
    holder.all_done()
    assert order() == ["alice1", "alice3", "bob0", "bob2"]
    holder = Holder(router, ["bob"])
    time.sleep(2.2)
    late = Asked(router.session("alice"), "late")
    waiting(router, 2)
    holder.commit()
    late.done()
    assert order()[4:] == ["bob0", "late"]


def test_who_waits_too_long_is_told_and_goes_on(queue):
    router = queue(query_wait_notify="1s", query_wait_timeout="3s")
    with router.session() as holder, router.session("bob") as client:
        holder.query("begin")
        started = time.monotonic()
        answer = client.run(Q("select 1"), timeout=10)
        assert 2.5 < time.monotonic() - started < 6
        assert m.kinds(answer) == "N E Z"
        assert "being queued" in m.fields(answer[0].body)["M"]
        refusal = m.fields(answer[1].body)
        assert (refusal["S"], refusal["C"], refusal["M"]) == ("ERROR", "53300", "query_wait_timeout")
        assert "max_active" in refusal["D"]
        holder.query("commit")
        assert client.value("select 2") == "2"


def test_max_waiting_fails_fast_and_a_cancel_reaches_who_waits(queue):
    router = queue(max_waiting=1)
    with router.session() as holder, router.session("bob") as first, router.session("bob") as second:
        holder.query("begin")
        first.send(Q("select 1"))
        waiting(router, 1)
        refusal = m.fields(second.run(Q("select 2"))[0].body)
        assert refusal["C"] == "53300" and "(max_waiting)" in refusal["M"]
        first.cancel()
        answer = first.read_until("Z")
        assert m.sqlstate(answer[0]) == "57014"
        waiting(router, 0)
        holder.query("commit")
        assert second.value("select 3") == "3"


@pytest.mark.parametrize("tls", [False, True])
def test_a_client_that_leaves_gives_up_its_place(queue, order, tls):
    router = queue()
    leaves = router.tls_session("bob") if tls else router.session("bob")
    with router.session() as holder:
        holder.query("begin")
        leaves.send(Q("insert into queue_log values ('gone')"))
        waiting(router, 1)
        leaves.close()
        waiting(router, 0)
        holder.query("commit")
        with router.session("bob") as client:
            client.query("insert into queue_log values ('there')")
        assert order() == ["there"]


def test_pause_keeps_the_queue_and_its_order(queue, order):
    router = queue()
    holder = Holder(router, ["bob"] * 3)
    paused = threading.Thread(target=router.console, args=("PAUSE",))
    paused.start()
    time.sleep(0.5)
    holder.commit()
    paused.join(10)
    assert not paused.is_alive(), "PAUSE waits for nobody who only waits"
    assert order() == []
    router.console("RESUME")
    holder.all_done()
    assert order() == ["bob0", "bob1", "bob2"]


def test_a_reload_that_raises_max_active_serves_who_waits(queue):
    router = queue()
    with router.session() as holder, router.session("bob") as client:
        holder.query("begin")
        client.send(Q("select 1"))
        waiting(router, 1)
        router.write_config(max_active=2)
        router.reload()
        assert m.kinds(client.read_until("Z")).endswith("C Z")
        client.query("begin")
        router.write_config(max_active=1)
        router.reload()
        wait_until(lambda: shown(router, "max_active") == "1", 5, "the reload")
        with router.session("bob") as third:
            third.send(Q("select 1"))
            waiting(router, 1)
            client.query("commit")
            time.sleep(0.5)
            waiting(router, 1)
            holder.query("commit")
            third.read_until("Z")


def test_show_pools_tells_how_long_the_oldest_has_waited(queue):
    router = queue()
    holder = Holder(router, ["bob"])
    time.sleep(1.2)
    row = next(row for row in router.console("SHOW POOLS") if row["user"] == "bob")
    assert row["cl_waiting"] == "1" and row["maxwait"] == "1" and 0 <= int(row["maxwait_us"]) < 1_000_000
    holder.commit()
    holder.all_done()
    row = next(row for row in router.console("SHOW POOLS") if row["user"] == "bob")
    assert row["cl_waiting"] == "0" and row["maxwait"] == "0"


def test_a_budget_keeps_a_route_from_waiting_for_more_than_its_share(make_router):
    """Enforced it refuses, and with warn it counts what it would have refused."""
    # One of the twelve slots of a primary and five replicas.
    budget = {"name": "reports", "route": "/report*", "active_share": 0.1, "mode": "enforce"}
    router = make_router(pool_mode="transaction", max_active=2, threads=1, budgets=[budget])
    report = "/*route='%2Freport%2F1'*/"
    sessions = [router.session("bob") for _ in range(4)]
    for holder in sessions[:2]:
        holder.query(f"begin {report}")  # idle slots are borrowed
    refusal = m.fields(sessions[2].run(Q(f"select 1 {report}"))[0].body)
    assert refusal["C"] == "53300" and "(budget reports)" in refusal["M"]
    sessions[3].send(Q("select 'other'"))
    waiting(router, 1)
    row = router.console("SHOW BUDGETS")[0]
    assert (row["name"], row["mode"], row["active"], row["refused"]) == ("reports", "enforce", "2", "1")
    assert router.metric("sluice_budget_refusals_total", budget="reports", verdict="refused") == 1
    assert router.metric("sluice_budget_active", budget="reports") == 2
    sessions[0].query("commit")
    assert m.kinds(sessions[3].read_until("Z")).endswith("C Z")
    sessions[1].query("commit")

    router.write_config(budgets=[{**budget, "mode": "warn"}])
    router.reload()
    wait_until(lambda: router.console("SHOW BUDGETS")[0]["mode"] == "warn", 5, "the reload")
    for holder in sessions[:2]:
        holder.query(f"begin {report}")
    sessions[2].send(Q(f"select 1 {report}"))
    waiting(router, 1)
    assert router.metric("sluice_budget_refusals_total", budget="reports", verdict="would_be_refused") == 1
    sessions[0].query("commit")
    assert m.kinds(sessions[2].read_until("Z")).endswith("C Z")
    sessions[1].query("commit")
    assert router.console("SHOW BUDGETS")[0]["would_be_refused"] == "1"
