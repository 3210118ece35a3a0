"""Restarts that no client notices: a new process takes the listening sockets over, the old one keeps its sessions."""

import os
import signal
import socket
import threading
import time

import pytest

from harness import leaks
from harness import messages as m
from harness.net import wait_until
from harness.router import Router
from harness.service import Manager
from harness.wire import LoginRefused


@pytest.fixture
def generations(tmp_path, base_config):
    """generation(**changes): the next process for the same addresses, started with --takeover. The first is like any."""
    made = []
    folder = tmp_path / "point"
    folder.mkdir()

    def start(expect_exit=0, environment=(), **changes):
        router = Router(tmp_path, {**base_config, **changes}, f"generation{len(made)}")
        first = not made
        if not first:
            router.port = made[0].port
            for key in ("listen_port", "admin_port"):
                router.config[key] = made[0].config[key]
        router.arguments = ["--takeover", str(folder / "point")]
        router.environment = dict(environment)
        router.expect_exit = expect_exit
        made.append(router)
        router.start(ready=first)
        # The one before answers too: what counts is what the process itself says.
        wait_until(lambda: router._accepts() and (first or said(router, "took over")), 20, "the takeover")
        return router

    yield start
    for router in made:
        router.stop()


def ended(router):
    return not router.alive()


def said(router, event):
    return event in router.log_text()


class Loop:
    """Connects, logs in and leaves, again and again, from several threads."""

    def __init__(self, router, threads=4):
        self.router = router
        self.failures, self.done = [], 0
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while not self.over.is_set():
            try:
                with self.router.session("alice", "app") as client:
                    assert client.value("select 1") == "1"
                self.done += 1
            except (OSError, AssertionError, LoginRefused) as trouble:
                self.failures.append(repr(trouble))

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


@pytest.mark.short
@pytest.mark.parametrize("reuseport", [True, False])
def test_nobody_is_refused_in_two_restarts_and_old_sessions_go_on(generations, reuseport):
    first = generations(so_reuseport=reuseport, threads=3)
    loop = Loop(first)
    old = first.session("alice", "app")
    old.query("create temporary table kept as select 41 as value")
    wait_until(lambda: loop.done > 20, what="connections before")
    # Fewer threads, then more.
    second = generations(so_reuseport=reuseport, threads=1)
    middle = second.session("alice", "app")
    middle.query("create temporary table kept as select 42 as value")
    before = loop.done
    wait_until(lambda: loop.done > before + 20, what="connections in between")
    third = generations(so_reuseport=reuseport, threads=4)
    before = loop.done
    wait_until(lambda: loop.done > before + 20, what="connections after")
    loop.stop()
    assert loop.failures == []
    assert old.value("select value from kept") == "41"
    assert middle.value("select value from kept") == "42"
    assert first.alive() and second.alive()
    old.terminate()
    wait_until(lambda: ended(first), what="the first to end behind its last session")
    middle.terminate()
    wait_until(lambda: ended(second), what="the second to end")
    assert third.lets_in()


def test_the_admin_port_changes_hands_and_old_consoles_end(generations):
    first = generations()
    with first.session("alice", "app") as kept, first.session("admin", "sluice") as console:
        scraper = socket.create_connection(("127.0.0.1", first.config["admin_port"]))
        scraper.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert scraper.recv(4096).startswith(b"HTTP/1.1 200")
        second = generations()
        scraper.settimeout(10)
        assert scraper.recv(4096) == b"", "a connection to the old process would be answered by it for ever"
        scraper.close()
        wait_until(lambda: second.http("/readyz")[0] == 200, what="the successor to find its servers")
        console.read_to_close()
        assert kept.value("select 1") == "1"
        # It is the old process's alone.
        assert [row for row in second.console("show clients") if row["user"] == "alice"] == []
    wait_until(lambda: ended(first), what="the old process to end")


def test_a_cancel_for_an_old_session_finds_it_two_restarts_later(generations):
    first = generations()
    client = first.session("alice", "app")
    second = generations()
    third = generations()
    # The process in between had nothing to stay for.
    wait_until(lambda: ended(second), what="the second to end")
    client.send(m.Q("select pg_sleep(20)"))
    begin = time.monotonic()

    def cancelled():  # it may have come before the query
        client.cancel()
        return not client.silent(0.2)

    wait_until(cancelled, what="the cancel to arrive")
    answer = client.read_until("Z", timeout=5)
    assert m.sqlstate(next(x for x in answer if x.kind == "E")) == "57014"
    assert time.monotonic() - begin < 15
    assert third.metric("sluice_cancels_total", result="forwarded") >= 1
    client.close()


def test_a_socket_file_stays_with_the_newest(generations, tmp_path):
    path = tmp_path / ".s.PGSQL.7002"
    first = generations(listen_addr=["127.0.0.1", str(path)])
    second = generations(listen_addr=["127.0.0.1", str(path)])
    wait_until(lambda: ended(first), what="the old process to end")
    assert path.exists()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    # One that the newest does not serve goes.
    generations(listen_addr="127.0.0.1")
    wait_until(lambda: ended(second), what="the old process to end")
    assert not path.exists()


def test_a_successor_that_cannot_start_leaves_all_as_it_was(generations):
    first = generations()
    with pytest.raises(AssertionError, match="/nowhere/at/all"):
        generations(expect_exit=1, listen_addr=["127.0.0.1", "/nowhere/at/all"])
    assert first.lets_in() and first.http("/readyz")[0] == 200
    assert not said(first, "taken over")
    second = generations()
    wait_until(lambda: ended(first), what="the old process to end")
    assert second.lets_in()


def test_a_paused_router_is_not_taken_over_from(generations):
    first = generations()
    first.console("pause")
    with pytest.raises(AssertionError, match="RESUME it first"):
        generations(expect_exit=1)
    first.console("resume")
    generations()
    wait_until(lambda: ended(first), what="the old process to end")


def test_sigterm_drains_what_is_left_behind_and_a_second_one_ends_it(generations):
    first = generations(drain_timeout="60s")
    client = first.session("alice", "app")
    generations()
    wait_until(lambda: said(first, "taken over"), what="the takeover")
    first.process.send_signal(signal.SIGTERM)
    # Two signals before the first is taken are one.
    wait_until(lambda: said(first, "ending what was left behind"), what="the first signal to be taken")
    assert client.value("select 1") == "1", "it drains"
    first.process.send_signal(signal.SIGTERM)
    wait_until(lambda: ended(first), what="the end")
    client.close()


def test_takeover_drain_timeout_ends_what_is_left_behind(generations):
    first = generations(takeover_drain_timeout="1s")
    client = first.session("alice", "app")
    generations()
    wait_until(lambda: ended(first), what="the old process to end")
    assert m.sqlstate(client.read()) == "57P01"
    client.close()


def test_the_profile_is_the_successors(generations, tmp_path):
    settings = {"profile_path": str(tmp_path / "profile"), "profile_interval": "100ms"}
    first = generations(**settings)
    kept = first.session("alice", "app")
    second = generations(**settings)
    wait_until(
        lambda: second.metric("sluice_profile_publications_total", result="ok") > 2, what="the successor to publish"
    )
    kept.terminate()


@pytest.mark.short
def test_sigusr2_starts_the_successor_and_the_manager_follows(generations, tmp_path):
    manager = Manager(tmp_path / "notify")
    first = generations(environment={"NOTIFY_SOCKET": manager.address})
    with first.session("alice", "app") as kept:
        first.process.send_signal(signal.SIGUSR2)
        wait_until(lambda: manager.order() == ["READY", "READY"], 20, what="the successor to be ready")
        [told] = manager.said("MAINPID")
        successor = int(told["MAINPID"])
        assert successor != first.pid
        words = [word for said in manager.heard for word in said if word in ("READY", "MAINPID")]
        assert words == ["READY", "MAINPID", "READY"], "it speaks once it is known"
        assert first.lets_in()
        assert kept.value("select 1") == "1"
        wait_until(
            lambda: not leaks.sockets(first.pid) & leaks.sockets(successor),
            what="each socket to be one process's: sessions of the old, listening ones of the new",
        )
    wait_until(lambda: ended(first), what="the old process to end")
    assert not manager.said("STOPPING"), "the service goes on"
    os.kill(successor, signal.SIGTERM)
    wait_until(lambda: manager.said("STOPPING"), what="the successor to end")
    wait_until(lambda: not os.path.exists(f"/proc/{successor}") or zombie(successor), what="the successor to be gone")
    manager.close()


def zombie(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_sigusr2_without_takeover_changes_nothing(make_router):
    router = make_router()
    router.process.send_signal(signal.SIGUSR2)
    wait_until(lambda: "there is no --takeover" in router.log_text(), what="the log to say so")
    assert router.lets_in()
