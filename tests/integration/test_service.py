"""What the service manager is told by a router and by a placer."""

import signal
import time

import pytest

from harness.net import wait_until
from harness.service import Manager


@pytest.fixture
def manager(tmp_path):
    made = Manager(tmp_path / "notify")
    yield made
    made.close()


@pytest.mark.short
def test_a_router_tells_when_it_serves_reloads_and_stops(make_router, manager):
    router = make_router(start=False)
    router.environment = {"NOTIFY_SOCKET": manager.address}
    router.start()
    assert manager.order() == ["READY"]
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    router.reload()
    wait_until(lambda: manager.order() == ["READY", "RELOADING", "READY"], what="the reload to be told")
    [told] = manager.said("RELOADING")
    assert before <= int(told["MONOTONIC_USEC"]) / 1e6 <= time.clock_gettime(time.CLOCK_MONOTONIC)
    router.write_config(listen_port=1)  # needs a restart, so it is refused; the router is as ready as before
    router.reload()
    wait_until(lambda: manager.order()[3:] == ["RELOADING", "READY"], what="the refused reload to be told")
    router.stop()
    assert manager.order()[5:] == ["STOPPING"]
    assert not manager.said("WATCHDOG"), "nobody asked for signs of life"


def test_the_status_line_counts_sessions_and_replicas(make_router, manager):
    router = make_router(start=False)
    router.environment = {"NOTIFY_SOCKET": manager.address}
    router.start()

    def shown(text):
        wait_until(lambda: manager.said("STATUS")[-1]["STATUS"] == text, what=f"the status {text!r}")

    shown("0 sessions, 5 of 5 replicas up, primary up")
    with router.session("alice", "app"), router.session("bob", "app_read"):
        shown("2 sessions, 5 of 5 replicas up, primary up")
    shown("0 sessions, 5 of 5 replicas up, primary up")
    with router.session("alice", "app"):
        router.process.send_signal(signal.SIGTERM)
        wait_until(lambda: manager.said("STOPPING"), what="the end to be told")
        assert manager.said("STOPPING")[0]["STATUS"].startswith("Shutting down: 1 sessions")


@pytest.mark.short
def test_signs_of_life_come_twice_a_period_by_an_abstract_name_too(make_router, tmp_path):
    manager = Manager(f"@sluice-test{tmp_path}")
    router = make_router(start=False, threads=3)
    router.environment = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "1000000"}
    router.start()
    begin = time.monotonic()
    known = len(manager.said("WATCHDOG"))
    wait_until(lambda: len(manager.said("WATCHDOG")) >= known + 6, what="six signs of life")
    # Half a second apart; a busy machine makes them later, never sooner.
    assert time.monotonic() - begin >= 2.0
    router.stop()
    manager.close()


def test_a_watchdog_that_is_meant_for_another_process_is_not_fed(make_router, manager):
    router = make_router(start=False)
    router.environment = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"}
    router.start()
    router.stop()
    assert manager.order() == ["READY", "STOPPING"]
    assert not manager.said("WATCHDOG")


def test_a_manager_that_is_gone_does_not_keep_a_router_from_serving(make_router, tmp_path):
    router = make_router(start=False)
    router.environment = {"NOTIFY_SOCKET": str(tmp_path / "nobody"), "WATCHDOG_USEC": "100000"}
    router.start()
    assert router.lets_in()


def test_a_placer_tells_the_same(make_placer, host, manager):
    placer = make_placer(host, start=False)
    placer.environment = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "200000"}
    placer.start()
    wait_until(lambda: len(manager.said("WATCHDOG")) >= 3, what="signs of life")
    wait_until(
        lambda: "1 of 1 compute hosts up" in manager.said("STATUS")[-1]["STATUS"], what="the host in the status"
    )
    placer.reload()
    wait_until(lambda: manager.order() == ["READY", "RELOADING", "READY"], what="the reload to be told")
    placer.stop()
    assert manager.order()[3:] == ["STOPPING"]
