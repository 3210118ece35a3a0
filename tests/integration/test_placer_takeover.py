"""Restarts of the placer that no client notices."""

import os
import signal
import socket
import threading
import time

import pytest

from harness.http import Ended, ok, wait_for
from harness.net import wait_until
from harness.service import Manager
from harness.takeover import FakePredecessor, FakeSuccessor

GET = "GET /{} HTTP/1.1\r\nHost: test\r\n\r\n"


@pytest.fixture
def generations(make_placer, tmp_path):
    """generation(host, ...): the next process for the same addresses."""
    made = []

    def start(*hosts, expect_exit=0, environment=(), **config):
        placer = make_placer(*hosts, start=False, **config)
        if made:
            placer.port = made[0].port
            for key in ("listen_port", "admin_port"):
                placer.config[key] = made[0].config[key]
        placer.arguments = ["--takeover", str(tmp_path / "point")]
        placer.environment = dict(environment)
        placer.expect_exit = expect_exit
        made.append(placer)
        placer.start(ready=len(made) == 1)
        wait_until(lambda: placer._accepts() and (len(made) == 1 or said(placer, "took over")), 20, "the takeover")
        return placer

    return start


def said(placer, event):
    return event in placer.log_text()


def ended(placer):
    return not placer.alive()


class Loop:
    """Requests without end from several threads: on connections of their own, and on one that is kept."""

    def __init__(self, placer):
        self.placer, self.failures, self.done = placer, [], 0
        self.over = threading.Event()
        self.threads = [threading.Thread(target=run) for run in (self.fresh, self.fresh, self.kept)]
        for thread in self.threads:
            thread.start()

    def fresh(self):
        while not self.over.is_set():
            self.ask(lambda: self.placer.get().status)

    def kept(self):
        client = None

        def ask():
            nonlocal client
            client = client or self.placer.client()
            client.send(GET.format("kept"))
            response = client.response()
            if response.get("Connection") == "close":
                client.close()
                client = None
            return response.status

        while not self.over.is_set():
            self.ask(ask)
            time.sleep(0.01)
        if client:
            client.close()

    def ask(self, request):
        try:
            status = request()
            if status != 200:
                self.failures.append(status)
            self.done += 1
        except (OSError, Ended, AssertionError) as trouble:
            self.failures.append(repr(trouble))

    def go_on(self):
        before = self.done
        wait_until(lambda: self.done > before + 30, 20, "requests")

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


@pytest.mark.short
def test_no_request_is_lost_in_two_restarts(generations, host):
    first = generations(host, threads=3)
    loop = Loop(first)
    loop.go_on()
    second = generations(host, threads=1)
    loop.go_on()
    third = generations(host, threads=4)
    loop.go_on()
    loop.stop()
    assert loop.failures == []
    wait_until(lambda: ended(first) and ended(second), 20, "the old processes to end")
    assert third.get().status == 200
    assert third.json("/v1/hosts")


@pytest.mark.short
def test_what_is_under_way_goes_on_and_an_idle_connection_has_one_more_request(generations, make_host):
    begun = threading.Event()
    go = threading.Event()

    def answer(request):
        if "/slow" in request.line:
            begun.set()
            go.wait(20)
        return ok("done\n")

    host = make_host(answer=answer)
    first = generations(host, drain_timeout="20s")
    with first.client() as slow, first.client() as idle, first.client() as new:
        idle.send(GET.format(1))
        assert idle.response().get("Connection") != "close"
        slow.send(GET.format("slow"))
        assert begun.wait(10)
        generations(host)
        wait_until(lambda: said(first, "taken over"), what="the takeover")
        assert not idle.closed(0.3)
        for client in (idle, new):
            client.send(GET.format(2))
            answered = client.response()
            assert answered.status == 200 and answered.get("Connection") == "close"
            assert client.closed()
        assert first.alive()
        go.set()
        assert slow.response().body == b"done\n"
    wait_until(lambda: ended(first), 10, "the old process to end")


def test_takeover_drain_timeout_ends_what_is_left_behind(generations, make_host):
    host = make_host(serve=lambda request: wait_for(30))
    first = generations(host, takeover_drain_timeout="300ms")
    with first.client() as client:
        client.send(GET.format(1))
        wait_until(lambda: first.metric("sluice_placer_requests_in_flight") == 1, 5, "the request")
        generations(host)
        wait_until(lambda: ended(first), 10, "the old process to end")
        assert client.closed()


def test_sigterm_drains_what_is_left_behind_and_closes_what_is_idle(generations, make_host):
    host = make_host(answer=lambda request: ok("a\n"))
    first = generations(host, drain_timeout="20s")
    with first.client() as idle:
        generations(host)
        wait_until(lambda: said(first, "taken over"), what="the takeover")
        assert not idle.closed(0.2)
        first.process.send_signal(signal.SIGTERM)
        assert idle.closed(5)
    wait_until(lambda: ended(first), 10, "the old process to end")


def test_a_router_is_no_successor_of_a_placer(generations, host, tmp_path):
    first = generations(host)
    stranger = FakeSuccessor(tmp_path / "point", b"takeover 1")
    assert stranger.descriptors == []
    stranger.close()
    assert first.get().status == 200


def test_a_successor_that_was_given_up_ends(make_placer, host, tmp_path):
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as tcp:
        former = FakePredecessor(tmp_path / "point", [tcp])
        placer = make_placer(host, start=False)
        placer.port = placer.config["listen_port"] = tcp.getsockname()[1]
        placer.arguments = ["--takeover", str(tmp_path / "point")]
        placer.expect_exit = 1
        placer.start(ready=False)
        former.give()
        former.give_up()
        placer.process.wait(20)
        assert said(placer, "the former process goes on"), placer.log_text()
        former.close()


@pytest.mark.short
def test_whom_a_given_up_successor_has_accepted_it_answers_once_more(make_placer, host, tmp_path):
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as tcp:
        former = FakePredecessor(tmp_path / "point", [tcp])
        placer = make_placer(host, start=False, drain_timeout="20s")
        placer.port = placer.config["listen_port"] = tcp.getsockname()[1]
        placer.arguments = ["--takeover", str(tmp_path / "point")]
        placer.expect_exit = 1
        placer.start(ready=False)
        former.give()
        with placer.client() as client:
            client.send(GET.format(1))
            assert client.response().get("Connection") != "close"
            former.give_up()
            wait_until(lambda: said(placer, "the former process goes on"), what="the end of the takeover")
            wait_until(lambda: placer.http("/readyz")[0] == 0, what="the admin port to be left to the other process")
            assert not client.closed(0.3) and placer.alive()
            client.send(GET.format(2))
            answered = client.response()
            assert answered.status == 200 and answered.get("Connection") == "close"
        placer.process.wait(10)
        former.close()


def test_a_successor_that_does_not_come_is_told_of(generations, host, tmp_path):
    first = generations(host)
    FakeSuccessor(tmp_path / "point", b"takeover 1 placer").close()
    wait_until(lambda: said(first, "a successor has not come to serve"), what="the placer to notice")
    assert first.get().status == 200


def test_sigusr2_starts_the_successor_and_the_manager_follows(generations, host, tmp_path):
    manager = Manager(tmp_path / "notify")
    first = generations(host, environment={"NOTIFY_SOCKET": manager.address})
    first.process.send_signal(signal.SIGUSR2)
    wait_until(lambda: manager.order() == ["READY", "READY"], 20, "the successor to be ready")
    [told] = manager.said("MAINPID")
    successor = int(told["MAINPID"])
    assert successor != first.pid
    wait_until(lambda: ended(first), 10, "the old process to end")
    assert first.get().status == 200
    assert not manager.said("STOPPING"), "the service goes on"
    os.kill(successor, signal.SIGTERM)
    wait_until(lambda: manager.said("STOPPING"), what="the successor to end")
    manager.close()
