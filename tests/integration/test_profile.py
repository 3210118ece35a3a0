"""The profile: round trips of hosts and servers, published in shared memory, told over HTTP and copied by a mirror."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from harness.messages import Q
from harness.net import wait_until
from harness.relay import Relay
from harness.router import BINARY

HOSTS = [{"name": "here", "networks": ["127.0.0.0/8"]}, {"name": "elsewhere", "networks": ["192.0.2.0/24"]}]
READER = Path(__file__).resolve().parents[2] / "docs" / "examples" / "read_profile.py"


def sluice(*arguments):
    done = subprocess.run([BINARY, "profile", *map(str, arguments)], capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout, done.stderr


def exported(path):
    status, text, problem = sluice("export", path)
    return json.loads(text) if status == 0 else {"problem": problem}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "profile"


@pytest.fixture
def publisher(make_router, path):
    return make_router(hosts=HOSTS, profile_path=str(path), profile_mode="0640", profile_interval="100ms")


def measured(path):
    """True once the matrix has a round trip from here to the primary."""
    profile = exported(path)
    return "rtt" in profile and profile["rtt"][0][0] is not None


@pytest.mark.short
def test_all_queries_of_a_host_are_counted_with_a_route_or_without(publisher):
    with publisher.session() as client:
        for _ in range(6):
            client.run(Q("select pg_sleep(0.01)"))
        client.run(Q("select 1 /*route='%2Ffeed'*/"))
        client.run(Q("select 1/0"))
        here, elsewhere = (
            row for row in publisher.console("show hosts") if row["name"] in ("here", "elsewhere")
        )
    assert (int(here["calls"]), int(here["errors"])) == (8, 1)
    assert 9_000 < int(here["median_us"]) < 1_000_000
    assert (int(elsewhere["calls"]), int(elsewhere["errors"])) == (0, 0)
    assert publisher.metric("sluice_host_response_seconds_count", host="here") == 8
    assert publisher.metric("sluice_host_errors_total", host="here") == 1


# A client that thinks 50 ms between two queries acknowledges after up to 40 ms: what the kernel smooths is made of that.
@pytest.mark.short
def test_round_trips_of_hosts_and_servers_are_measured_without_delayed_acknowledgements(publisher, path):
    with publisher.session() as client:

        def asks():
            client.run(Q("select 1"))
            time.sleep(0.05)
            return measured(path)

        wait_until(asks, 20, "the matrix to be filled")
        for _ in range(40):
            asks()
        profile = exported(path)
    here, elsewhere = profile["hosts"]
    assert here["name"] == "here" and here["samples"] > 0 and here["sessions"] == 1
    assert 0 < here["client_leg_ns"] < 20e6
    assert here["client_leg_min_ns"] <= here["client_leg_ns"]
    assert elsewhere["samples"] == 0 and elsewhere["age_ms"] is None
    names = [server["name"] for server in profile["servers"]]
    assert profile["servers"][0]["role"] == "primary" and names[1:] == ["r0", "r1", "r2", "r3", "r4"]
    assert all(server["up"] and server["samples"] > 0 for server in profile["servers"])
    for server, rtt in zip(profile["servers"], profile["rtt"][0]):
        assert rtt["estimate_ns"] > server["minimum_ns"] and rtt["source"] == "measured"
    assert profile["rtt"][1] == [None] * 6
    assert {"calls", "errors", "median_us", "p95_us"} <= set(publisher.console("show hosts")[0])
    rows = publisher.console("show rtt")
    assert [(row["host"], row["server"]) for row in rows] == [
        (host, name) for host in ("here", "elsewhere") for name in names
    ]
    assert int(rows[0]["rtt_us"]) > int(rows[0]["client_leg_us"]) > 0
    assert int(publisher.console("show hosts")[0]["rtt_us"]) < 20000
    assert 0 < publisher.metric("sluice_host_rtt_seconds", host="here", statistic="estimate") < 0.02
    assert publisher.metric("sluice_rtt_seconds", host="here", replica="r0") > 0


def test_what_is_published_is_told_over_http_and_read_by_other_languages(publisher, path):
    with publisher.session("alice", "app_read") as client:
        client.run(Q("select 1"))
        wait_until(lambda: exported(path).get("shares", [[]])[0] == [0, 1, 0, 0, 0, 0], 10, "the share to show")
        status, text = publisher.http("/v1/profile")
        told = json.loads(text)
        python = json.loads(
            subprocess.run([sys.executable, READER, path], capture_output=True, text=True, check=True).stdout
        )
    assert status == 200
    assert told["shares"] == exported(path)["shares"] or told["shares"][0] == [0, 1, 0, 0, 0, 0]
    assert told["publication"]["writer_pid"] == publisher.pid == python["writer"]["pid"]
    assert told["publication"]["writer"] == "alive"
    assert told["classes"] == python["classes"] == ["premium", "freemium"]
    assert [s["name"] for s in told["servers"]] == [s["name"] for s in python["servers"]]
    assert python["writer"]["state"] == "alive"


def test_show_prints_tables_and_says_what_became_of_the_writer(publisher, path):
    wait_until(path.exists, 10, "the profile")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    status, text, problem = sluice("show", path)
    assert status == 0 and f"process {publisher.pid}, alive" in text and "here" in text and problem == ""
    first = exported(path)["publication"]["generation"]
    publisher.process.send_signal(signal.SIGKILL)
    publisher.process.wait()
    publisher.process = None
    wait_until(lambda: "dead" in sluice("show", path)[1], 10, "the writer to be found dead")
    assert "its writer is dead" in sluice("show", path)[2]
    publisher.start()
    wait_until(lambda: "alive" in sluice("show", path)[1], 10, "the restarted writer")
    assert exported(path)["publication"]["generation"] != first
    publisher.stop()
    assert "closed" in sluice("show", path)[1]
    os.truncate(path, 500)
    status, text, problem = sluice("show", path)
    assert (status, text) == (1, "") and "cut off" in problem


def test_a_second_writer_is_refused_and_routes_all_the_same(publisher, path, make_router):
    wait_until(path.exists, 10, "the profile")
    second = make_router(hosts=HOSTS, profile_path=str(path))
    wait_until(lambda: f"is written by process {publisher.pid}" in second.log_text(), 10, "the refusal")
    assert second.log_text().count("is written by process") == 1
    with second.session() as client:
        assert client.value("select 7") == "7"
    assert exported(path)["publication"]["writer_pid"] == publisher.pid


def test_a_reload_moves_the_profile(publisher, path, tmp_path):
    wait_until(path.exists, 10, "the profile")
    other = tmp_path / "other"
    publisher.write_config(profile_path=str(other), hosts=HOSTS[:1])
    publisher.console("reload")
    wait_until(lambda: [h["name"] for h in exported(other).get("hosts", [])] == ["here"], 10, "the other file")
    assert "closed" in sluice("show", path)[1]


def test_a_mirror_copies_it_and_lets_it_grow_old(publisher, path, tmp_path):
    wait_until(path.exists, 10, "the profile")
    copy = tmp_path / "copy"
    url = f"http://127.0.0.1:{publisher.config['admin_port']}"
    mirror = subprocess.Popen([BINARY, "profile", "mirror", url, "--to", copy, "--interval", "100"], stderr=subprocess.PIPE)
    try:
        wait_until(lambda: "hosts" in exported(copy), 10, "the copy")
        assert [h["name"] for h in exported(copy)["hosts"]] == ["here", "elsewhere"]
        assert exported(copy)["publication"]["writer_pid"] == mirror.pid
        publisher.stop()
        wait_until(lambda: exported(copy)["publication"]["contents_age_ms"] > 1500, 10, "the copy to grow old")
        assert exported(copy)["publication"]["writer"] == "alive"
    finally:
        mirror.terminate()
        log = mirror.stderr.read().decode()
        assert mirror.wait(10) == 0
    assert "the profile is not mirrored" in log and "cannot connect" in log
    assert exported(copy)["publication"]["writer"] == "closed"


def test_near_replicas_come_first_within_the_slack(make_router, base_config, path):
    def behind(relay, name):
        return {"name": name, "host": "127.0.0.1", "port": relay.port}

    replicas = base_config["replicas"]
    with Relay(replicas[0]["host"], replicas[0]["port"]) as far:
        far.to_client.delay = 0.03
        router = make_router(
            hosts=HOSTS,
            profile_path=str(path),
            profile_interval="100ms",
            replicas=[behind(far, "r0"), *replicas[1:]],
            order_within_pool="nearest",
            nearest_slack=3,
        )
        with router.session() as client:

            def known():
                client.run(Q("select 1"))
                profile = exported(path)
                rtt = profile["rtt"][0] if "rtt" in profile else [None]
                return all(rtt) and rtt[1]["estimate_ns"] > 20e6 > rtt[2]["estimate_ns"]

            wait_until(known, 30, "the round trips to be known")
        clients = [router.session("alice", "app_read") for _ in range(6)]
        # The fifth would have put the near one four above the far one.
        assert Counter(client.value("show cluster_name") for client in clients) == {"r1": 5, "r0": 1}
        for client in clients:
            client.terminate()
