"""A real Patroni cluster of three nodes, with its switchover and failover, under load. What is asked of the router: new
sessions are right within a second of Patroni's answer, and no session for the primary is ever sent to a standby."""

import threading
import time

import psycopg2
import pytest

from harness.net import wait_until
from harness.patroni import PatroniCluster, missing
from harness.postgres import PASSWORD
from harness.wire import LoginRefused

# What a client may be told when its server goes, or while there is no primary.
TOLD = {"57P01", "57P02", "57P03", "08006", "25006", None}
RIGHT_AFTER = 1.0  # seconds from Patroni's answer


class Clients(threading.Thread):
    """Opens a session, looks where it is, works a little, and again. Each session is remembered: when it began and
    was placed, and what it found."""

    def __init__(self, router, database, write, names):
        super().__init__(daemon=True)
        self.names = names  # of nodes, by their ports
        self.router, self.database, self.write = router, database, write
        self.sessions, self.refusals, self.faults = [], [], []
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.is_set():
            began = time.monotonic()
            try:
                self.one(began)
            except LoginRefused as refused:
                self.refusals.append((began, time.monotonic(), refused.sqlstate))
                time.sleep(0.02)
            except (AssertionError, OSError, IndexError, TimeoutError) as fault:
                # The server went while the session was there: the client has an error or an end.
                self.faults.append((began, time.monotonic(), str(fault)))
                time.sleep(0.02)

    def one(self, began):
        with self.router.session("app", self.database) as client:
            port, standby = client.query("select current_setting('port'), pg_is_in_recovery()")[0]
            self.sessions.append((began, self.names[port], standby == "t"))
            if self.write and standby == "f":
                client.query("insert into written default values")
            client.terminate()


class Observer(threading.Thread):
    """Asks Patroni itself, more often than the router: who leads since when."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.leaders = cluster, []
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.is_set():
            leader = self.cluster.leader()
            if leader and (not self.leaders or self.leaders[-1][1] != leader):
                self.leaders.append((time.monotonic(), leader))
            time.sleep(0.05)

    def since(self, leader):
        return next((when for when, name in self.leaders if name == leader), None)


@pytest.fixture
def patroni(tmp_path_factory, workspace):
    assert missing() is None, missing()
    made = PatroniCluster(
        workspace / "patroni", {"n1": {}, "n2": {"sluice_weight": 2}, "n3": {"clonefrom": True}}
    )
    try:
        made.start()
        yield made
    except AssertionError:
        print(made.log_text())
        raise
    finally:
        made.stop()


def up(router):
    rows = router.console("show replicas")
    return {r["name"] for r in rows if r["role"] == "replica" and r["up"] == "yes"}


def follow(patroni, router, observer, act, timeout=30):
    """Runs `act`, which makes another node lead; the new leader and when Patroni first said so and it wrote."""
    old = patroni.leader()
    act()
    leader = wait_until(
        lambda: patroni.leader() not in (old, None) and patroni.leader(), timeout, "a new leader"
    )
    wait_until(lambda: observer.since(leader) is not None, 5, "the observer to see it")

    def writes():
        try:
            return not patroni.nodes[leader].value("select pg_is_in_recovery()")
        except psycopg2.Error:
            return False

    wait_until(writes, timeout, "the new leader to be out of recovery", 0.01)
    ready = max(time.monotonic(), observer.since(leader))
    wait_until(
        lambda: any(began > ready and where == leader for began, where, _ in router.writers.sessions),
        RIGHT_AFTER * 10,
        "writers to reach the new leader",
    )
    return leader, ready


@pytest.mark.slow
@pytest.mark.timeout(150)
def test_switchover_and_failover_under_load(make_router, patroni, tmp_path):
    users = tmp_path / "users.txt"
    users.write_text("".join(f'"{name}" "{PASSWORD}"\n' for name in ("app", "admin")))
    router = make_router(
        auth_file=str(users),
        hba=None,
        stats_users=None,
        rules=None,
        server_user=None,
        patroni_urls=[node.url for node in patroni.nodes.values()],
        patroni_interval="250ms",
        primary=None,
        replicas=None,
        classes=None,
        default_class=None,
        health_check_interval="500ms",
        health_check_timeout="3s",
        databases=[
            {"name": "app", "target": "primary"},
            {"name": "app_read", "server_database": "app"},
        ],
    )
    wait_until(lambda: router.lets_in("app", "app"), 10, "the leader to be the primary")
    names = {str(node.port): node.name for node in patroni.nodes.values()}
    with router.session("app", "app") as client:
        assert names[client.value("show port")] == patroni.leader() == "n1"
        client.query("create table written (id bigserial primary key)")
    wait_until(lambda: up(router) == {"n2", "n3"}, 10, "the replicas")
    wait_until(
        lambda: patroni.nodes["n3"].value("select to_regclass('written') is not null"), 10, "the table there"
    )

    router.writers, router.readers = Clients(router, "app", True, names), Clients(
        router, "app_read", False, names
    )
    observer = Observer(patroni)
    threads = [router.writers, router.readers, observer]
    for thread in threads:
        thread.start()
    try:
        # A tag that comes and goes.
        patroni.nodes["n3"].retag(noloadbalance=True)
        wait_until(lambda: up(router) == {"n2"}, 10, "the tag to be followed")
        patroni.nodes["n3"].retag(clonefrom=True)
        wait_until(lambda: up(router) == {"n2", "n3"}, 10, "it to be followed back")

        held = router.session("app", "app")
        changes = [follow(patroni, router, observer, lambda: patroni.switch_over("n2"))]
        assert changes[0][0] == "n2"
        end = held.read_until("", timeout=10)
        assert end[-1].kind == "closed", "the session on the demoted primary is ended"
        held.close()
        wait_until(lambda: patroni.settled(3), 30, "the old leader to be a replica")
        wait_until(lambda: up(router) == {"n1", "n3"}, 15, "the replicas after the switchover")

        changes.append(follow(patroni, router, observer, patroni.nodes["n2"].kill_postgres))
        wait_until(lambda: patroni.settled(3), 40, "the crashed one to be a replica")
        wait_until(
            lambda: len(up(router)) == 2 and changes[1][0] not in up(router),
            15,
            "the replicas after the failover",
        )
        settled = time.monotonic()
        wait_until(
            lambda: any(began > settled for began, *_ in router.readers.sessions), 5, "readers to go on"
        )
    finally:
        for thread in threads:
            thread.stopping.set()
        for thread in threads:
            thread.join(20)

    writers, readers = router.writers, router.readers
    assert len(writers.sessions) > 50 and len(readers.sessions) > 50
    # Never guessed: whoever was let in as a writer was on a server out of recovery.
    assert not [s for s in writers.sessions if s[2]]
    for leader, ready in changes:
        after = [s for s in writers.sessions if s[0] > ready]
        first = min(s[0] for s in after if s[1] == leader)
        print(f"{leader}: right {first - ready:.3f} s after Patroni's answer and the end of recovery")
        assert first - ready <= RIGHT_AFTER
    # A second after Patroni's answer no new session is on a server of the other kind, nor refused.
    ends = [ready for _, ready in changes[1:]] + [float("inf")]
    for (leader, ready), end in zip(changes, ends):
        # Up to the next change, which begins some time before it is known.
        quiet = [s for s in writers.sessions if ready + RIGHT_AFTER < s[0] < end - 8]
        assert {s[1] for s in quiet} <= {leader}
        wrong = [s for s in readers.sessions if ready + RIGHT_AFTER < s[0] < end - 8 and not s[2]]
        assert not wrong, wrong[:5]
    assert {code for *_, code in writers.refusals} <= TOLD, writers.refusals
    assert {code for *_, code in readers.refusals} <= TOLD, readers.refusals
    assert router.metric("sluice_primary_changes_total") >= 3
    timelines = {row["timeline"] for row in router.console("show replicas")}
    assert len(timelines) == 1 and int(timelines.pop()) >= 3
    new_leader = changes[1][0]
    assert patroni.nodes[new_leader].value("select count(*) from written") > 0
