"""What operators tell the router to do: each command has its effect on sessions, and only admins may give it."""

import threading
import time

import pytest

from harness import messages as m
from harness.messages import Q
from harness.net import wait_until
from harness.wire import LoginRefused


def row(router, view, key, name):
    return next(r for r in router.console(f"show {view}") if r[key] == name)


class Background(threading.Thread):
    """Runs a function beside the test; join() gives what it returned or raises what it raised."""

    def __init__(self, function):
        super().__init__(daemon=True)
        self.function, self.value, self.fault = function, None, None
        self.start()

    def run(self):
        try:
            self.value = self.function()
        except BaseException as fault:  # noqa: BLE001 - raised again by result()
            self.fault = fault

    def result(self, timeout=15):
        self.join(timeout)
        assert not self.is_alive(), "still at it"
        if self.fault:
            raise self.fault
        return self.value


def test_disable_refuses_new_sessions_and_leaves_those_that_are_there(make_router):
    router = make_router()
    with router.session() as client:
        router.console("disable app")
        assert row(router, "databases", "name", "app")["disabled"] == "1"
        with pytest.raises(LoginRefused, match='database "app" is disabled') as refusal:
            router.session()
        assert refusal.value.sqlstate == "57P03"
        router.session(database="app_read").terminate()
        assert client.value("select 1") == "1"
        assert router.metric("sluice_sessions_rejected_total", reason="database_disabled") == 1
        router.console("enable app")
        router.session().terminate()


@pytest.mark.timeout(60)
def test_pause_waits_for_sessions_and_holds_new_ones_until_resume(make_router):
    router = make_router()
    client = router.session()
    pause = Background(lambda: router.console("pause app"))
    wait_until(lambda: row(router, "databases", "name", "app")["paused"] == "1", 10, "the pause")
    newcomer = Background(lambda: router.session().value("select 1"))
    wait_until(lambda: router.console("show pools") and row(router, "pools", "database", "app")["cl_waiting"] == "1",
               10, "the newcomer to wait")
    router.session(database="app_read").terminate()
    assert client.value("select 1") == "1" and pause.is_alive()
    client.terminate()
    assert pause.result() == []
    assert newcomer.is_alive(), "it waits for RESUME"
    on_primary = [r for r in router.console("show servers") if not r["replica"].startswith("r")]
    assert not on_primary, "no server is kept"
    router.console("resume app")
    assert newcomer.result() == "1"


@pytest.mark.timeout(60)
def test_pause_of_all_and_resume_before_they_are_at_rest(make_router):
    router = make_router()
    with router.session(), router.session("bob", "app_read"):
        with router.session("admin", "sluice") as console:
            console.send(Q("pause"))
            wait_until(lambda: ["paused", "yes"] in router.session("admin", "sluice").query("show state"), 10, "the pause")
            assert console.silent(0.3)
            router.console("resume")
            answer = console.read_until("Z")
            assert m.sqlstate(answer[0]) == "57014"
        router.session().terminate()
    with router.session("admin", "sluice") as console:
        assert m.sqlstate(console.run(Q("resume"))[0]) == "55000"
        assert m.sqlstate(console.run(Q("resume app"))[0]) == "55000"


@pytest.mark.timeout(60)
def test_whoever_waits_at_a_pause_is_bounded_by_query_wait_timeout_and_can_be_killed(make_router):
    router = make_router(query_wait_timeout=2)
    router.console("pause app")
    start = time.monotonic()
    with pytest.raises(LoginRefused, match="query_wait_timeout"):
        router.session()
    assert 1.5 < time.monotonic() - start < 15
    router.console("set query_wait_timeout = 60")
    waiting = Background(router.session)
    wait_until(lambda: [r for r in router.console("show clients") if r["state"] == "waiting"], 10, "a client to wait")
    router.console("kill_client " + next(r["id"] for r in router.console("show clients") if r["state"] == "waiting"))
    with pytest.raises(LoginRefused) as end:
        waiting.result()
    assert end.value.sqlstate == "57P01"
    router.console("resume app")
    router.session().terminate()


@pytest.mark.timeout(60)
def test_kill_ends_sessions_and_pauses(make_router):
    router = make_router()
    with router.session() as client, router.session("bob", "app_read") as other:
        router.console("kill app")
        answer = client.read_until("", timeout=5)
        assert answer[-1] is m.CLOSED and m.sqlstate(answer[-2]) == "57P01"
        assert other.value("select 1") == "1"
        newcomer = Background(lambda: router.session().value("select 2"))
        wait_until(lambda: [r for r in router.console("show clients") if r["state"] == "waiting"], 10, "it to wait")
        router.console("resume app")
        assert newcomer.result() == "2"


@pytest.mark.timeout(60)
def test_reconnect_closes_idle_servers_now_and_busy_ones_when_they_are_free(make_router):
    router = make_router()
    with router.session() as client:
        with router.session() as second:
            second.value("select 1")
            second.terminate()
        pid = client.value("select pg_backend_pid()")

        def servers():
            return {r["remote_pid"]: r for r in router.console("show servers") if r["database"] == "app"}

        wait_until(lambda: [r for r in servers().values() if r["state"] == "idle"], 10, "an idle server")
        router.console("reconnect app")
        assert set(servers()) == {pid}
        assert servers()[pid]["close_needed"] == "1"
        waiting = Background(lambda: router.console("wait_close app"))
        assert client.value("select 1") == "1" and waiting.is_alive()
        client.terminate()
        assert waiting.result() == []
        assert servers() == {}
    with router.session() as another:
        assert another.value("select pg_backend_pid()") != pid
        assert servers()[another.value("select pg_backend_pid()")]["close_needed"] == "0"
    assert router.console("wait_close") == []


def test_set_changes_a_reloadable_option_until_the_next_reload(make_router):
    router = make_router()

    def shown(key):
        return row(router, "config", "key", key)["value"]

    router.console("set max_db_client_connections = 1")
    assert shown("max_db_client_connections") == "1"
    with router.session():
        with pytest.raises(LoginRefused, match="max_db_client_connections"):
            router.session()
    router.console("reload")
    assert shown("max_db_client_connections") == "0"
    with router.session("admin", "sluice") as console:
        for text, sqlstate in (
            ("set listen_port = 5", "55P02"),
            ("set nosuch = 5", "42704"),
            ("set query_timeout = fast", "22023"),
            ("set auth_file = '/nonexistent'", "22023"),
            ("set client_tls_cert_file = '/dev/null'", "22023"),
        ):
            answer = console.run(Q(text))
            assert m.sqlstate(answer[0]) == sqlstate, (text, m.fields(answer[0].body))
    with router.session(), router.session():
        pass


def test_stats_users_may_look_and_nobody_else_comes_in(make_router):
    router = make_router()
    with router.session("stats", "pgbouncer") as client:
        for command in ("pause", "resume", "disable app", "enable app", "reconnect", "wait_close", "kill app",
                        "kill_client 1", "set query_timeout = 1", "reload", "shutdown", "drain r0"):
            answer = client.run(Q(command))
            assert m.sqlstate(answer[0]) == "42501" and m.kinds(answer) == "E Z", command
        for view in client.query("show help"):
            if view[0].startswith("SHOW "):
                assert client.run(Q(view[0]))[-1].kind == "Z", view
    for user in ("alice", "bob"):
        for database in ("sluice", "pgbouncer"):
            with pytest.raises(LoginRefused) as refusal:
                router.session(user, database)
            assert refusal.value.sqlstate == "42501"
    router.console("set stats_users = 'stats, bob'")
    router.session("bob", "sluice").terminate()
    router.console("set stats_users = ''")
    with pytest.raises(LoginRefused):
        router.session("stats", "sluice")


@pytest.mark.timeout(60)
def test_shutdown_wait_for_servers_lets_transactions_end_and_ends_idle_sessions(make_router):
    router = make_router(drain_timeout="30s")
    with router.session() as idle, router.session() as busy:
        busy.query("begin")
        idle.value("select 1")
        router.console("shutdown wait_for_servers")
        answer = idle.read_until("", timeout=5)
        assert answer[-1] is m.CLOSED and m.sqlstate(answer[-2]) == "57P01"
        assert busy.value("select 1") == "1"
        busy.run(Q("commit"))
        wait_until(lambda: not router.alive(), 10, "the router to end")
    router.stop()


@pytest.mark.timeout(60)
def test_shutdown_wait_for_clients_waits_for_idle_sessions_too(make_router):
    router = make_router(drain_timeout="30s")
    with router.session() as idle:
        router.console("shutdown wait_for_clients")
        wait_until(lambda: not router.lets_in(), 10, "new clients to be refused")
        assert idle.value("select 1") == "1"
        idle.terminate()
        wait_until(lambda: not router.alive(), 10, "the router to end")
    router.stop()


@pytest.mark.timeout(60)
def test_a_paused_router_ends_when_told_to(make_router):
    router = make_router(drain_timeout="30s")
    with router.session() as client:
        pause = Background(lambda: router.session("admin", "sluice").send(Q("pause")).read_until("Z", timeout=15))
        wait_until(lambda: ["paused", "yes"] in router.session("admin", "sluice").query("show state"), 10, "the pause")
        router.console("shutdown")
        pause.result()
        wait_until(lambda: not router.alive(), 10, "the router to end")
        client.close()
    router.stop()


def test_sockets_memory_and_averages_are_filled_in(make_router):
    router = make_router(stats_period=1)
    with router.session() as client, router.session() as at_work:
        at_work.query("begin")
        client.value("select 1")
        sockets = router.console("show sockets")
        assert {r["type"] for r in sockets} == {"C", "S"}
        active = [r for r in router.console("show active_sockets") if r["database"] == "app"]
        assert len(active) == 2 and {r["state"] for r in active} == {"cl_active", "sv_active"}
        descriptors = router.console("show fds")
        assert all(int(r["fd"]) > 2 for r in descriptors) and all(r["password"] is None for r in descriptors)
        memory = {r["name"]: r for r in router.console("show mem")}
        assert int(memory["sessions"]["used"]) >= 2 and int(memory["process_pages"]["memtotal"]) > 1_000_000

        def average():
            for _ in range(50):
                client.value("select 1")
            stats = row(router, "stats", "database", "app")
            assert stats["total_requests"] == stats["total_query_count"]
            return int(stats["avg_query_count"]) > 0 and int(stats["avg_query_time"]) > 0

        wait_until(average, 10, "averages")
