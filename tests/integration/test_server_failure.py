"""Servers that are killed, frozen, restarted or promoted: every client is told the truth, and the others
notice nothing."""

import os
import signal
import time

import pytest

from harness import fake_server as fake
from harness import messages as m
from harness.messages import Q
from harness.net import wait_until
from harness.relay import Relay
from harness.wire import LoginRefused
from harness.workload import Crowd

# What a client may be told when its server goes: the server's own FATAL (57P01, 57P02, 57P03), or ours.
TOLD = {"57P01", "57P02", "57P03", "08006", "08001", "08003"}


def replica_row(router, name):
    return next(row for row in router.console("show replicas") if row["name"] == name)


def session_on(router, name, user="bob"):
    """A session on the named replica: opened and closed until the router happens to choose it."""
    held = []
    try:
        for _ in range(60):
            client = router.session(user, "app_read")
            if client.value("show cluster_name") == name:
                return client
            held.append(client)
        raise AssertionError(f"no session came to {name}")
    finally:
        for client in held:
            client.close()


# B55
@pytest.mark.short
@pytest.mark.parametrize("state", ["idle", "idle in transaction", "active"])
def test_the_servers_own_fatal_is_relayed_once_and_then_the_connection_closes(front, cluster, state):
    with front.session(parameters={"application_name": "to_end"}) as client:
        if state == "idle in transaction":
            client.run(Q("begin"))
        elif state == "active":
            client.send(Q("select pg_sleep(20)"))
        find = "select pid from pg_stat_activity where application_name = 'to_end' and state = %s"
        pid = wait_until(lambda: cluster.primary.query(find, (state,)), 5, f"the backend to be {state}")[0][0]
        cluster.primary.query("select pg_terminate_backend(%s)", (pid,))
        answer = client.read_until("", timeout=5)
        errors = [x for x in answer if x.kind == "E"]
        assert [(m.fields(x.body)["S"], m.sqlstate(x)) for x in errors] == [("FATAL", "57P01")]
        assert answer[-1] is m.CLOSED and "Z" not in [x.kind for x in answer]


# B55
@pytest.mark.short
def test_idle_in_transaction_timeout_of_the_server_is_relayed(judge):
    def talk(client):
        client.run(Q("set idle_in_transaction_session_timeout = '200ms'"))
        return client.run(Q("begin")) + client.read_until("", timeout=5)

    assert m.sqlstate(judge.same(talk)[-2]) == "25P03"


# B68
@pytest.mark.short
@pytest.mark.parametrize(
    "place",
    ["inside a DataRow", "after CommandComplete", "in COPY OUT", "before any answer", "while idle", "by RST"],
)
def test_a_result_that_is_cut_off_never_looks_complete(make_router, place):
    head = fake.row_description("a") + fake.data_row("1")

    def script(peer):
        peer.greet()
        if place == "while idle":
            peer.send(b"")
            time.sleep(0.3)
            return
        peer.read_message()
        peer.send(
            {
                "inside a DataRow": head + fake.data_row("2" * 100)[:40],
                "after CommandComplete": head + fake.complete(),
                "in COPY OUT": fake.backend("H", b"\0\0\0") + fake.backend("d", b"row\n"),
                "before any answer": b"",
                "by RST": head,
            }[place]
        )
        time.sleep(0.1)
        peer.close(reset=place == "by RST")

    with fake.FakeServer(script) as server:
        router = make_router(primary={"name": "primary", "host": server.host, "port": server.port})
        with router.session() as client:
            if place != "while idle":
                client.send(Q("select a"))
            answer = client.read_until("", timeout=5)
            kinds = [x.kind for x in answer]
            assert answer[-1] is m.CLOSED and "Z" not in kinds
            if (
                place != "inside a DataRow"
            ):  # there the client is in the middle of a message: no ErrorResponse fits in
                assert kinds[-2] == "E", kinds
                assert m.fields(answer[-2].body)["S"] == "FATAL"
                assert m.sqlstate(answer[-2]) == ("57P01" if place == "while idle" else "08006")
            assert server.sessions == 1, "a query is never run again"


# B68
@pytest.mark.slow
def test_a_killed_backend_cuts_its_result_and_harms_no_other_server(router, cluster):
    other = router.session("bob", "app_read")
    with other, router.session(parameters={"application_name": "cut"}) as client:
        client.send(Q("select generate_series(1, 10000000)")).read_until("D", 10000)
        pid = cluster.primary.value("select pid from pg_stat_activity where application_name = 'cut'")
        os.kill(pid, signal.SIGKILL)
        kinds, last = set(), None
        while (msg := client.read(20)) is not m.CLOSED:
            kinds.add(msg.kind)
            last = msg
        assert "C" not in kinds and "Z" not in kinds
        assert last.kind != "E" or m.sqlstate(last) in TOLD
        assert other.value("select 1") == "1"
    wait_until(cluster.primary.running, 20, "the primary to be back")
    wait_until(lambda: router.lets_in(), 20, "the primary to be used again")
    cluster.wait_for_replay()


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("how", ["kill", "stop fast", "stop immediate", "restart"])
def test_a_replica_that_goes_under_load_ends_its_own_sessions_with_the_truth(make_router, cluster, how):
    router = make_router()
    victim = cluster.standbys[1]
    with Crowd(router, each=8) as crowd:
        wait_until(lambda: crowd.done > 300, 20, "load")
        assert not crowd.errors, crowd.errors[:3]
        if how == "kill":
            victim.kill()
        elif how == "restart":
            victim.restart()
        else:
            victim.stop(how.split()[1])
        before = crowd.done
        wait_until(lambda: crowd.done > before + 500, 30, "the others to go on")
        if how != "restart":
            wait_until(lambda: replica_row(router, victim.name)["up"] == "no", 10, "the router to notice")
            errors = len(crowd.errors)
            before = crowd.done
            wait_until(lambda: crowd.done > before + 500, 30, "the others to go on")
            assert (
                len(crowd.errors) == errors
            ), f"new sessions still went to the dead one: {crowd.errors[errors:][:3]}"
            victim.start()
        wait_until(lambda: replica_row(router, victim.name)["up"] == "yes", 20, "the router to take it back")
    cluster.wait_for_replay()
    assert not crowd.silences
    lies = [error for error in crowd.errors if error[0] not in TOLD]
    assert not lies, lies[:5]
    assert len(crowd.errors) < 200


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_frozen_replica_leaves_the_pools_and_its_clients_are_told(make_router, cluster):
    router = make_router(health_check_interval="600ms", health_check_timeout="500ms")
    victim = cluster.standbys[2]
    client = session_on(router, victim.name)
    victim.signal_all(signal.SIGSTOP)
    try:
        client.send(Q("select 1"))
        wait_until(lambda: replica_row(router, victim.name)["up"] == "no", 10, "the router to notice")
        for _ in range(20):
            with router.session("bob", "app_read") as other:
                assert other.value("show cluster_name") != victim.name
                other.terminate()
        answer = client.read_until("", timeout=15)
        assert answer[-1] is m.CLOSED and m.sqlstate(answer[-2]) == "08006"
    finally:
        victim.signal_all(signal.SIGCONT)
        client.close()
    wait_until(lambda: replica_row(router, victim.name)["up"] == "yes", 20, "the router to take it back")


@pytest.mark.slow
def test_a_class_without_replicas_uses_any_live_one_and_none_left_is_refused_clearly(make_router, cluster):
    router = make_router(health_check_interval="300ms", health_check_timeout="200ms")
    victims = cluster.standbys
    with router.session("alice", "app_read") as first:
        home = first.value("show cluster_name")
    try:
        for victim in victims[:4]:
            victim.stop("fast")
        wait_until(
            lambda: [r["up"] for r in router.console("show replicas") if r["role"] == "replica"].count("yes")
            == 1,
            20,
            "four to be down",
        )
        for user in ("alice", "bob"):
            with router.session(user, "app_read") as client:
                assert client.value("show cluster_name") == victims[4].name, home
        victims[4].stop("fast")
        wait_until(
            lambda: "yes" not in [r["up"] for r in router.console("show replicas") if r["role"] == "replica"],
            20,
            "all to be down",
        )
        with pytest.raises(LoginRefused) as refusal:
            router.session("alice", "app_read")
        assert refusal.value.sqlstate == "57P03"
        with router.session() as client:
            assert client.value("select 1") == "1", "the primary is not concerned"
    finally:
        for victim in victims:
            if not victim.running():
                victim.start()
    wait_until(
        lambda: [r["up"] for r in router.console("show replicas")].count("no") == 0, 30, "all to be back"
    )
    with router.session("alice", "app_read") as client:
        assert client.value("select 1") == "1"
    cluster.wait_for_replay()


def test_waiting_for_a_replica_ends_in_a_session_or_in_57p03(make_router, cluster):
    with Relay(cluster.primary.host, cluster.primary.port) as relay:
        relay.accept_only = True
        server = {"name": "late", "host": relay.host, "port": relay.port}
        router = make_router(
            ready=False,
            replicas=[server],
            primary=None,
            no_replica="wait",
            no_replica_wait="2s",
            health_check_timeout="300ms",
            server_connect_timeout="1s",
            databases=[{"name": "*", "target": "replicas"}],
            classes=[{"name": "premium", "saturation": 10, "target": 1}],
            rules=None,
            default_class="premium",
        )
        started = time.monotonic()
        with pytest.raises(LoginRefused) as refusal:
            router.session()
        assert refusal.value.sqlstate in ("57P03", "08006", "08001") and time.monotonic() - started < 10


# B71
@pytest.mark.parametrize("when", ["connecting", "login", "idle", "query"])
def test_a_server_that_falls_silent_is_detected_within_the_limits(make_router, cluster, when):
    with Relay(cluster.primary.host, cluster.primary.port) as relay:
        router = make_router(
            primary={"name": "primary", "host": relay.host, "port": relay.port},
            server_connect_timeout="1s",
            query_wait_timeout="2s",
            health_check_interval="500ms",
            health_check_timeout="400ms",
        )
        if when in ("connecting", "login"):
            relay.accept_only = when == "connecting"
            relay.to_client.drop = when == "login"
            started = time.monotonic()
            with pytest.raises(LoginRefused) as refusal:
                router.session()
            assert refusal.value.sqlstate[:2] in ("08", "57") and time.monotonic() - started < 8
            return
        with router.session() as client:
            if when == "query":
                client.send(Q("select pg_sleep(30)"))
                time.sleep(0.2)
            relay.to_client.drop = relay.to_server.drop = True
            answer = client.read_until("", timeout=12)
            assert answer[-1] is m.CLOSED and m.sqlstate(answer[-2]) == (
                "08006" if when == "query" else "57P01"
            )


def test_a_refused_connect_moves_the_session_to_another_replica(make_router, cluster):
    dead = {"name": "dead", "host": "127.0.0.1", "port": 1}
    alive = cluster.standbys[0]
    router = make_router(
        replicas=[dead, {"name": "r0", "host": alive.host, "port": alive.port}],
        health_check_interval="60s",
        classes=[{"name": "premium", "saturation": 10, "target": 2}],
        rules=None,
        default_class="premium",
    )
    for _ in range(10):
        with router.session(database="app_read") as client:
            assert client.value("show cluster_name") == "r0"
            client.terminate()


def test_a_server_that_refuses_with_its_own_error_is_quoted(make_router):
    def script(peer):
        peer.send(fake.error("FATAL", "53300", "sorry, too many clients already"))

    with fake.FakeServer(script) as server:
        router = make_router(primary={"name": "primary", "host": server.host, "port": server.port})
        with pytest.raises(LoginRefused) as refusal:
            router.session()
        assert refusal.value.sqlstate in ("53300", "08006", "57P03")


# B70
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_promoted_replica_is_no_replica_any_more(
    make_router, workspace, authority, base_config, files, tmp_path
):
    from harness.postgres import Cluster

    place = workspace / "promoted"
    place.mkdir()
    pair = Cluster(place, 2, authority)
    try:
        pair.start()
        users = tmp_path / "users.txt"
        users.write_text(
            "".join(f'"{n}" "{s}"\n' for n, s in pair.secrets())
            + f'"admin" "{files["password"].read_text().strip()}"\n'
        )
        servers = [{"name": s.name, "host": s.host, "port": s.port} for s in pair.standbys]
        router = make_router(
            auth_file=str(users),
            primary={"name": "primary", "host": "127.0.0.1", "port": pair.primary.port},
            replicas=servers,
            health_check_interval="300ms",
            health_check_timeout="200ms",
            stats_users=None,
            classes=[
                {"name": "premium", "saturation": 10, "target": 1},
                {"name": "freemium", "saturation": 10, "target": 1},
            ],
        )
        with router.session(database="app_read") as client:
            assert client.parameters["in_hot_standby"] == "on"
        pair.standbys[0].query("select pg_promote()")
        wait_until(
            lambda: replica_row(router, "r0")["in_recovery"] == "no", 10, "the router to see the promotion"
        )
        for _ in range(10):
            with router.session(database="app_read") as client:
                assert (
                    client.value("show cluster_name") == "r1"
                ), "a server out of recovery serves no reads that want a replica"
                assert client.parameters["in_hot_standby"] == "on"
                client.terminate()
    finally:
        pair.stop()


def test_without_a_user_health_checks_only_ask_whether_connections_are_accepted(make_router, cluster):
    router = make_router(health_check_user=None, health_check_password_file=None)
    assert all(row["up"] == "yes" for row in router.console("show replicas")), router.console("show replicas")
    victim = cluster.standbys[2]
    victim.stop("immediate")
    try:
        wait_until(lambda: replica_row(router, victim.name)["up"] == "no", 10, "the replica to be down")
    finally:
        victim.start()
    wait_until(lambda: replica_row(router, victim.name)["up"] == "yes", 10, "the replica to be up again")


def test_a_listener_that_never_answers_a_start_up_is_down_without_a_user_too(make_router, cluster):
    @fake.raw
    def script(peer):
        peer.socket.recv(1000)
        peer.close()

    with fake.FakeServer(script) as server:
        router = make_router(
            health_check_user=None,
            health_check_password_file=None,
            primary={"name": "primary", "host": server.host, "port": server.port},
        )
        with pytest.raises(LoginRefused):
            router.session()
        log = router.log_text()
        assert "without an answer" in log, log[-2000:]
