"""Takeovers that come to nothing, or in the middle of something else: whoever goes on has all it had."""

import os
import signal
import socket

import pytest

from harness import messages as m
from harness.net import wait_until
from harness.router import Router
from harness.takeover import FakePredecessor, FakeSuccessor
from harness.wire import LoginRefused, WireClient

SOCKET = ".s.PGSQL.7002"


@pytest.fixture
def point(tmp_path):
    return tmp_path / "point"


@pytest.fixture
def first(tmp_path, base_config, point):
    """A router that can be taken over from, also with a socket file."""
    router = Router(tmp_path, base_config, "first")
    router.config.update(listen_addr=["127.0.0.1", str(tmp_path / SOCKET)], drain_timeout="1s")
    router.arguments = ["--takeover", str(point)]
    router.start()
    yield router
    router.stop()


@pytest.fixture
def listening(tmp_path):
    """A TCP socket and one with a file, that another process has opened."""
    tcp, file = socket.socket(), socket.socket(socket.AF_UNIX)
    tcp.bind(("127.0.0.1", 0))
    file.bind(str(tmp_path / SOCKET))
    for each in (tcp, file):
        each.listen(64)
    yield tcp, file
    tcp.close()
    file.close()


def successor(tmp_path, base_config, point, tcp, expect_exit=0, **changes):
    router = Router(tmp_path, base_config, "successor")
    router.port = router.config["listen_port"] = tcp.getsockname()[1]
    router.config.update(listen_addr=["127.0.0.1", str(tmp_path / SOCKET)], **changes)
    router.arguments = ["--takeover", str(point)]
    router.expect_exit = expect_exit
    return router.start(ready=False)


@pytest.mark.short
def test_a_successor_that_was_given_up_ends_and_takes_nothing_away(tmp_path, base_config, point, listening):
    former = FakePredecessor(point, listening)
    router = successor(tmp_path, base_config, point, listening[0], expect_exit=1)
    former.give()
    former.give_up()
    router.process.wait(20)
    router.stop()
    assert "the former process goes on" in router.log_text()
    assert "took over" not in router.log_text()
    assert (tmp_path / SOCKET).exists() and point.exists()
    former.close()


@pytest.mark.short
def test_whom_a_given_up_successor_has_accepted_it_serves(tmp_path, base_config, point, listening):
    profile = tmp_path / "profile"
    former = FakePredecessor(point, listening)
    router = successor(
        tmp_path, base_config, point, listening[0], expect_exit=1, drain_timeout="20s", profile_path=str(profile)
    )
    former.give()
    with WireClient(router.host, router.port) as client:
        client.send(m.SSL_REQUEST)
        assert client.read_bytes(1) == b"S"
        former.give_up()
        wait_until(lambda: "the former process goes on" in router.log_text(), what="the end of the takeover")
        wait_until(lambda: router.http("/readyz")[0] == 0, what="the admin port to be left to the other process")
        assert client.silent(0.2) and router.alive()
        client.start_tls(request=False).login("alice", "app")
        assert client.value("select 1") == "1"
        assert not profile.exists(), "the former process publishes"
    router.process.wait(10)
    former.close()


def test_a_successor_serves_when_the_former_process_is_gone(tmp_path, base_config, point, listening):
    former = FakePredecessor(point, listening)
    router = successor(tmp_path, base_config, point, listening[0])
    former.give()
    former.leave()
    former.give_up()
    wait_until(lambda: "took over" in router.log_text(), 20, "it to serve")
    wait_until(router.lets_in, 20, "a login")
    assert point.exists(), "it waits for the next one"
    router.stop()
    assert not (tmp_path / SOCKET).exists(), "and the socket file was its own"


@pytest.mark.short
def test_nothing_is_paused_while_a_successor_starts(first, point):
    starting = FakeSuccessor(point)
    for command in ("pause", "pause app", "kill app"):
        with pytest.raises(AssertionError, match="55000.*about to serve"):
            first.console(command)
    assert first.lets_in()
    starting.close()
    wait_until(lambda: "a successor has not come to serve" in first.log_text(), what="the router to notice")
    first.console("pause")
    first.console("resume")


@pytest.mark.parametrize("ends_within", [True, False])
def test_a_socket_file_is_left_to_a_successor_until_that_has_failed(first, point, tmp_path, ends_within):
    starting = FakeSuccessor(point)
    if not ends_within:
        starting.close()
        wait_until(lambda: "a successor has not come to serve" in first.log_text(), what="the router to notice")
    first.stop()
    assert (tmp_path / SOCKET).exists() == ends_within
    if ends_within:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / SOCKET))
        starting.close()


@pytest.mark.short
def test_sigterm_in_the_turn_of_the_takeover_is_not_lost(first, point):
    client = first.session("alice", "app")
    starting = FakeSuccessor(point)
    first.process.send_signal(signal.SIGSTOP)
    starting.say_serving()
    first.process.send_signal(signal.SIGTERM)
    first.process.send_signal(signal.SIGCONT)
    assert starting.receive() == b"released"
    # drain_timeout, where takeover_drain_timeout would let the session go on for ever.
    assert m.sqlstate(client.read_until("E", timeout=10)[-1]) == "57P01"
    first.process.wait(10)
    assert os.path.exists(first.config["listen_addr"][1]), "the socket file is the successor's"
    starting.close()
    client.close()


@pytest.mark.short
def test_what_is_behind_a_successor_takes_cancels_alone_and_not_without_end(first, point, tmp_path, base_config):
    kept = first.session("alice", "app")
    second = Router(tmp_path, base_config, "second")
    second.port = first.port
    second.config.update(
        {key: first.config[key] for key in ("listen_addr", "listen_port", "admin_port")}, cancel_rate_limit=5, threads=1
    )
    second.arguments = first.arguments
    second.start(ready=False)
    wait_until(lambda: "took over" in second.log_text(), 20, "the takeover")
    path = f"{point}.cancel.{first.pid}"
    wait_until(lambda: os.path.exists(path), what="the old process to wait for cancels")
    with pytest.raises(LoginRefused, match="lets nobody in"):
        with WireClient(path, 0) as client:
            client.login("alice", "app")
    for _ in range(60):
        with WireClient(second.host, second.port) as client:
            assert client.send(m.cancel_request(1, b"none")).read_to_close() == b""
    assert second.metric("sluice_cancels_total", result="rate_limited") > 20
    # They take nobody's turn but each other's.
    with second.session("alice", "app") as client:
        client.send(m.Q("select pg_sleep(20)"))

        def cancelled():
            client.cancel()
            return not client.silent(0.2)

        wait_until(cancelled, what="a cancel of its own session")
    assert kept.value("select 1") == "1"
    kept.terminate()
    second.stop()
