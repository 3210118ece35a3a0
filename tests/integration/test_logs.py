"""The log: what its lines say, that repeats do not fill it, and that its file can be rotated."""

import json
import signal

import pytest

from harness import messages as m
from harness.net import wait_until
from harness.wire import LoginRefused


def events(path, name):
    """Lines of that event, as dictionaries; the log's format is JSON."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [event for event in map(json.loads, lines) if event["event"] == name]


@pytest.mark.short
@pytest.mark.parametrize("pool_mode", ["session", "transaction"])
def test_the_first_and_the_last_line_of_a_session_say_what_it_was(make_router, tmp_path, pool_mode):
    log = tmp_path / "log"
    router = make_router(
        log_file=str(log),
        log_format="json",
        pool_mode=pool_mode,
        hosts=[{"name": "here", "networks": ["127.0.0.0/8"]}],
    )
    with router.session("alice", "app", parameters={"application_name": "reports"}) as client:
        peer = "%s:%d" % client.socket.getsockname()
        client.query("select 1")
        client.query("begin")
        client.query("select repeat('x', 100000)")
        assert m.sqlstate(next(x for x in client.run(m.Q("select nothing")) if x.kind == "E")) == "42703"
        client.query("rollback")
        client.query("select pg_sleep(0.2)")
        client.terminate()
    [opened] = events(log, "session opened")
    wait_until(lambda: events(log, "session closed"), what="the last line")
    [closed] = events(log, "session closed")
    for line in (opened, closed):
        assert line["level"] == "info" and line["time"].endswith("Z")
        assert (line["user"], line["database"], line["class"], line["host"]) == ("alice", "app", "premium", "here")
        assert line["peer"] == peer and line["session"] == opened["session"]
        assert 0 <= line["start_seconds"] < 20
    assert (opened["application_name"], opened["tls"]) == ("reports", False)
    if pool_mode == "session":
        assert opened["server"] == closed["server"] == "primary"
    assert closed["reason"] == "terminate"
    assert (closed["queries"], closed["transactions"], closed["errors"]) == (6, 3, 1)
    assert 100 < closed["bytes_in"] < 1000 and 100000 < closed["bytes_out"] < 110000
    assert 0.2 <= closed["service_seconds"] <= closed["seconds"] < 60
    assert 0 <= closed["wait_seconds"] < closed["seconds"]


def test_a_session_that_is_ended_says_why(make_router, tmp_path):
    log = tmp_path / "log"
    router = make_router(log_file=str(log), log_format="json", client_idle_timeout="1s")
    with router.session("alice", "app") as client:
        client.read_to_close()
    wait_until(lambda: events(log, "session closed"), what="the last line")
    assert events(log, "session closed")[0]["reason"] == "terminating connection due to client_idle_timeout"


def test_refused_logins_do_not_fill_the_log_and_are_counted(make_router, tmp_path):
    log = tmp_path / "log"
    router = make_router(log_file=str(log), log_format="json")
    tries = 60
    for _ in range(tries):
        with pytest.raises(LoginRefused):
            router.session("alice", "app", password="wrong")
    assert 20 <= len(events(log, "login refused")) < tries
    wait_until(lambda: events(log, "repeats are over"), 20, what="the count of what was left out")
    shown = events(log, "login refused")
    left_out = sum(line.get("suppressed", 0) for line in shown) + events(log, "repeats are over")[0]["suppressed"]
    assert events(log, "repeats are over")[0]["of"] == "login refused"
    assert len(shown) + left_out == tries


@pytest.mark.parametrize("how", [signal.SIGUSR1, signal.SIGHUP])
def test_a_routers_log_file_is_opened_anew(make_router, tmp_path, how):
    log, old = tmp_path / "log", tmp_path / "log.1"
    router = make_router(log_file=str(log))
    router.session("alice", "app").terminate()
    wait_until(lambda: "session closed" in log.read_text(), what="a line")
    log.rename(old)
    router.process.send_signal(how)
    wait_until(log.exists, what="the file to be there again")
    router.session("bob", "app").terminate()
    wait_until(lambda: "session closed" in log.read_text(), what="a line")
    assert "user=bob" in log.read_text() and "user=bob" not in old.read_text()


def test_a_placers_log_file_is_opened_anew(make_placer, host, tmp_path):
    log, old = tmp_path / "log", tmp_path / "log.1"
    placer = make_placer(host, log_file=str(log))
    wait_until(lambda: "ready" in log.read_text(), what="a line")
    log.rename(old)
    placer.process.send_signal(signal.SIGUSR1)
    wait_until(log.exists, what="the file to be there again")
    placer.reload()
    wait_until(lambda: "reloaded" in log.read_text(), what="a line")


def test_a_log_file_that_cannot_be_opened_keeps_the_router_from_starting(make_router):
    router = make_router(start=False, log_file="/proc/no/such/file")
    router.expect_exit = 1
    with pytest.raises(AssertionError, match="cannot open the log"):
        router.start()
