"""Where requests go: the way to the hosts, routes, degradation, and what explain says of it."""

import socket
import subprocess
import threading
import time

import pytest

from harness.http import ok
from harness.messages import Q
from harness.net import wait_until
from harness.relay import Relay
from harness.router import BINARY


def served_by(placer, target="/", count=5):
    return {placer.get(target).get("X-Sluice-Host") for _ in range(count)}


def calibration(path, hosts, routes):
    """Writes a calibration file. hosts: {name: (health, select_1)}; routes: {route: (n_serial, {host: median})}, ms."""

    def value(median):
        ms = f"median_ms: {median}, low_ms: {median}, high_ms: {median}"
        return "{" + ms + ", samples: 500, measured_at: 2026-01-01T00:00:00Z}"

    lines = ["version: 1", "hosts:"]
    for name, (health, sql) in hosts.items():
        lines += [f"  - name: {name}", f"    health: {value(health)}", f"    select_1: {value(sql)}"]
    lines.append("routes:" if routes else "routes: []")
    for name, (n_serial, medians) in routes.items():
        lines += [f"  - name: {name}", f"    n_serial: {n_serial}", "    n_serial_source: counted", "    hosts:"]
        for host, median in medians.items():
            lines += [f"      - name: {host}", f"        response: {value(median)}"]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.short
def test_the_way_to_each_host_is_measured_and_counts(make_placer, make_host, tmp_path):
    near, far = make_host("near"), make_host("far")
    file = calibration(tmp_path / "calibration.yaml", {"near": (0.5, 0.1), "far": (0.5, 0.1)}, {})
    with Relay("127.0.0.1", far.port) as relay:
        relay.to_server.delay = relay.to_client.delay = 0.02
        placer = make_placer(
            near,
            compute_hosts=[{"name": "far", "address": relay.host, "port": relay.port}, near.config()],
            policy="network_only",
            calibration_file=file,
            routes=[{"pattern": "/feed", "n_serial": 2}],
        )
        wait_until(lambda: all(h["samples"] > 1 for h in placer.json("/v1/hosts")["hosts"]), 10, "both measured")
        far_seen, near_seen = placer.json("/v1/hosts")["hosts"]
        assert far_seen["path_ms"] > 30 > near_seen["path_ms"]
        assert far_seen["connect_ms"] < 30, "the connect apart: this relay delays bytes alone"
        wait_until(lambda: served_by(placer, "/feed") == {"near"}, 5, "the near one to be taken")
        assert placer.metric("sluice_placer_path_seconds", host="far") > 0.03


@pytest.mark.short
def test_explain_shows_every_term_of_every_host(make_placer, make_host, tmp_path):
    a, b = make_host("a"), make_host("b")
    file = calibration(
        tmp_path / "calibration.yaml",
        {"a": (0.741, 100.0), "b": (1.480, 1.0)},
        {"/feed": (3, {"a": 301.0, "b": 5.0}), "/thin": (1, {"a": 2.0})},
    )
    placer = make_placer(
        a,
        b,
        policy="profiled",
        calibration_file=file,
        routes=[
            {"pattern": "/feed", "n_serial": "calibrated"},
            {"pattern": "/thin", "n_serial": "calibrated"},
            {"pattern": "/fixed/:id", "n_serial": 2},
            {"pattern": "/unseen"},
        ],
        dependencies=[{"name": "redis", "rtt": {"a": "1ms", "b": "2ms"}, "n_serial": {"/feed": 4}}],
    )
    wait_until(lambda: all(h["samples"] > 1 for h in placer.json("/v1/hosts")["hosts"]), 10, "both measured")
    feed = placer.json("/v1/explain?route=/feed")
    assert (feed["policy"], feed["missing"], feed["chosen"], feed["n_serial"]) == ("profiled", "nothing", "b", 3)
    terms = {host["name"]: host["score_ms"] for host in feed["hosts"]}
    assert terms["a"]["database"] == pytest.approx(300) and terms["b"]["database"] == pytest.approx(3)
    assert terms["a"]["dependencies"] == pytest.approx(4) and terms["b"]["dependencies"] == pytest.approx(8)
    assert terms["a"]["residual"] == pytest.approx(301 - 0.741 - 300, abs=1e-6)
    for each in terms.values():
        assert each["total"] == pytest.approx(sum(v for k, v in each.items() if k != "total"))
    assert served_by(placer, "/feed") == {"b"}
    thin = placer.json("/v1/explain?route=/thin")
    assert (thin["policy"], thin["missing"]) == ("network_only", "residual") and "b" in thin["why"]
    fixed = placer.json("/v1/explain?route=/fixed/17%3Fx=1")
    assert (fixed["route"], fixed["policy"], fixed["n_serial"]) == ("/fixed/:id", "network_only", 2)
    assert served_by(placer, "/fixed/17") == {"b"}, "a hundred milliseconds per call are worth the way"
    unseen = placer.json("/v1/explain?route=/unseen")
    assert (unseen["policy"], unseen["missing"]) == ("user_first", "n_serial")
    unknown = placer.json("/v1/explain?route=/nowhere")
    assert (unknown["route"], unknown["policy"]) == (None, "user_first")
    health = placer.http("/healthz")
    assert health[0] == 200 and "degraded: /thin" in health[1] and "user_first for 1" in health[1]
    assert placer.metric("sluice_placer_routes", policy="network_only") == 2
    placer.get("/nowhere")
    wait_until(lambda: placer.metric("sluice_placer_route_requests_total", route="other") == 1, 5, "it to be counted")
    assert placer.metric("sluice_placer_decisions_total", policy="profiled") >= 5


@pytest.mark.short
def test_without_its_profile_the_policy_comes_down_and_says_so(make_placer, make_host, tmp_path):
    placer = make_placer(
        make_host("a"),
        make_host("b"),
        policy="adaptive",
        profile_path=str(tmp_path / "no.profile"),
        routes=[{"pattern": "/feed"}],
    )
    feed = placer.json("/v1/explain?route=/feed")
    assert (feed["wanted_policy"], feed["policy"], feed["missing"]) == ("adaptive", "user_first", "n_serial")
    text = placer.http("/healthz")[1]
    assert "no.profile" in text and "adaptive is wanted" in text
    assert "policy" in placer.log_text()


def test_a_calibration_that_comes_later_is_taken_up(make_placer, make_host, tmp_path):
    path = tmp_path / "calibration.yaml"
    hosts, routes = {"a": (0.5, 0.1), "b": (0.5, 0.1)}, {"/feed": (3, {"a": 3.0, "b": 4.0})}
    placer = make_placer(
        make_host("a"),
        make_host("b"),
        policy="profiled",
        calibration_file=str(path),
        routes=[{"pattern": "/feed", "n_serial": "calibrated"}],
    )

    def policy():
        return placer.json("/v1/explain?route=/feed")["policy"]

    checked = subprocess.run([BINARY, "check", "-c", placer.config_file], capture_output=True, text=True)
    assert checked.returncode == 0 and f"{path}: warning" in checked.stdout, checked.stdout
    assert policy() == "user_first"
    text = placer.http("/healthz")[1]
    assert f"degraded: calibration: {path}" in text and "sluice calibrate" in text
    assert placer.log_text().count("no calibration") == 1
    calibration(path, hosts, routes)
    wait_until(lambda: policy() == "profiled", 10, "the file to be read")
    assert "degraded" not in placer.http("/healthz")[1]
    checked = subprocess.run([BINARY, "check", "-c", placer.config_file], capture_output=True, text=True)
    assert checked.returncode == 0 and " 0 warnings" in checked.stdout, checked.stdout
    path.write_text("version: 7\n")
    wait_until(lambda: "degraded: calibration" in placer.http("/healthz")[1], 10, "the mistake to be told")
    assert policy() == "profiled", "by what was read before"
    placer.reload()
    wait_until(lambda: "reloaded" in placer.log_text(), 10, "the reload, which that does not spoil")
    path.unlink()
    placer.stop()
    placer.start()
    assert policy() == "user_first"


@pytest.mark.short
def test_routes_are_found_by_the_most_specific_pattern(make_placer, host):
    patterns = ["/a/*", "/a/:id", "/a/:id/edit", "/a/new", "/"]
    placer = make_placer(host, routes=[{"pattern": p} for p in patterns] + [{"pattern": "/a/:id", "method": "POST"}])

    def route(path, method="GET"):
        return placer.json(f"/v1/explain?method={method}&route={path}")["route"]

    assert route("/a/7") == "/a/:id"
    assert route("/a/new?x=1") == "/a/new"
    assert route("/a/7/edit/") == "/a/*"
    assert route("/a/b/%252e%252e/%256e%2565w") == "/a/new", "encoded as it would come in a request"
    assert route("/a/b%252Fc") == "/a/:id", "an encoded slash separates nothing"
    assert route("/b") is None


@pytest.mark.timeout(120)
def test_adaptive_leaves_a_host_that_became_slow(make_placer, make_host, tmp_path):
    delays = {"a": 0.001, "b": 0.010}

    def host(name):
        def answer(request):
            time.sleep(delays[name])
            return ok(name)

        return make_host(name, answer=answer)

    a, b = host("a"), host("b")
    file = calibration(
        tmp_path / "calibration.yaml", {"a": (0.5, 0.1), "b": (0.5, 0.1)}, {"/feed": (0, {"a": 1.5, "b": 10.5})}
    )
    placer = make_placer(
        a, b, policy="adaptive", calibration_file=file, routes=[{"pattern": "/feed", "n_serial": "calibrated"}]
    )
    stop = threading.Event()
    recent = []

    def load():
        with placer.client() as client:
            while not stop.is_set():
                client.send("GET /feed HTTP/1.1\r\nHost: t\r\n\r\n")
                recent.append(client.response().get("X-Sluice-Host"))

    threads = [threading.Thread(target=load) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(2)
        assert recent[-200:].count("a") > 150, "the one that is faster"
        delays["a"], delays["b"] = 0.020, 0.001
        wait_until(lambda: recent[-200:].count("b") > 150, 20, "the other one to be found")
        explained = placer.json("/v1/explain?route=/feed")
        assert explained["chosen"] == "b"
        assert {h["name"]: h["score_ms"]["correction"] for h in explained["hosts"]}["a"] > 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_check_tells_the_placers_file_apart(host, tmp_path):
    file = tmp_path / "placer.yaml"
    file.write_text(f"compute_hosts:\n  - {{name: a, address: 127.0.0.1, port: {host.port}}}\n")
    good = subprocess.run([BINARY, "check", "-c", file], capture_output=True, text=True)
    assert good.returncode == 0 and "compute_hosts:" in good.stdout and "policy: user_first" in good.stdout
    file.write_text(file.read_text() + "polcy: profiled\n")
    bad = subprocess.run([BINARY, "check", "-c", file], capture_output=True, text=True)
    assert bad.returncode == 1 and "did you mean policy?" in bad.stdout


def comment(route, trace):
    return f"/*route='{route.replace('/', '%2F')}',traceparent='00-{trace:032x}-00000000000000ff-01'*/"


@pytest.mark.timeout(120)
def test_what_the_router_observes_places_requests(make_router, make_placer, make_host, tmp_path):
    profile = str(tmp_path / "profile")
    router = make_router(
        hosts=[{"name": "a", "networks": ["127.0.0.0/8"]}, {"name": "b"}],
        trust_host_option_networks=["127.0.0.0/8"],
        profile_path=profile,
        profile_interval="100ms",
        trace_idle_timeout="300ms",
    )
    placer = make_placer(
        make_host("a"),
        make_host("b"),
        policy="network_only",
        profile_path=profile,
        min_route_requests=3,
        routes=[{"pattern": "/feed", "target": "primary"}, {"pattern": "/read", "n_serial": 2}],
    )

    def explain(route="/feed"):
        return placer.json(f"/v1/explain?route={route}")

    from_b = {"options": "-c sluice.host=b"}
    with router.session() as a, router.session(parameters=from_b) as b, router.session("alice", "app_read") as read:
        traces = iter(range(1, 10_000))

        def three_calls():
            for client in (a, b):
                trace = next(traces)
                for _ in range(3):
                    client.run(Q("select 1 " + comment("/feed", trace)))
            read.run(Q("select 1"))
            time.sleep(0.05)
            return explain()["policy"] == "network_only" and explain("/read")["policy"] == "network_only"

        assert explain()["policy"] == "user_first", "nothing has been observed yet"
        wait_until(three_calls, 30, "the route to be known")
        feed = explain()
        assert feed["n_serial"] == 3
        for host in feed["hosts"]:
            assert 0 < host["known_ms"]["sql"] < 20
            assert host["score_ms"]["database"] == pytest.approx(3 * host["known_ms"]["sql"])
        assert "network_only for 2 of 2 routes" in placer.http("/healthz")[1]
    router.stop()
    wait_until(lambda: explain()["policy"] == "user_first", 10, "the policy to come down")
    assert "has ended" in placer.http("/healthz")[1]
    assert placer.metric("sluice_placer_routes", policy="user_first") == 2
    router.start()
    with router.session() as a, router.session(parameters=from_b) as b:

        def calls():
            for client in (a, b):
                client.run(Q("select 1"))
            time.sleep(0.05)
            return explain("/read")["policy"] == "network_only"

        wait_until(calls, 30, "it to come back by itself")


def test_a_copy_that_is_asked_for_does_not_hide_why_nobody_can_listen(make_placer, make_host, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        placer = make_placer(
            make_host("a"), start=False, profile_path=str(tmp_path / "ours"), profile_url="http://127.0.0.1:1"
        )
        placer.write_config(listen_port=taken.getsockname()[1])
        ended = subprocess.run(
            [BINARY, "placer", "-c", placer.config_file], capture_output=True, text=True, timeout=20, check=False
        )
    assert ended.returncode == 1, ended.stderr
    assert "in use" in ended.stderr + ended.stdout


def test_the_profile_of_a_router_elsewhere_is_copied(make_router, make_placer, make_host, tmp_path):
    router = make_router(profile_path=str(tmp_path / "theirs"), profile_interval="100ms")
    ours = tmp_path / "ours"
    placer = make_placer(
        make_host("a"),
        policy="profiled",
        profile_path=str(ours),
        profile_url=f"http://{router.host}:{router.config['admin_port']}",
        routes=[{"pattern": "/feed"}],
    )
    wait_until(lambda: f"profile: read from {ours}" in placer.http("/healthz")[1], 15, "the copy to be read")
    assert 0 <= placer.metric("sluice_placer_profile_age_seconds") < 10
