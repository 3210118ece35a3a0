"""`sluice calibrate`: compute hosts and their pages measured, SELECT 1 merged from the hosts, N_serial counted by the router."""

import json
import os
import subprocess
import threading

import pytest
import yaml

from harness.http import ok
from harness.net import wait_until
from harness.postgres import PASSWORD
from harness.router import BINARY

# Calls to the database of each page.
PAGES = {"/feed": 3, "/feed-naive": 12, "/none": 0}
# Enough for an interval of the median; what a busy machine makes of it is not judged, hence --force.
QUICK = ["--warm-ups", 2, "--samples", 20]


class Application:
    """A web application on a compute host, whose pages ask the database through the router one call after another."""

    def __init__(self, router, host):
        self.connection = router.connect(options=f"'-c sluice.host={host}'")
        self.lock = threading.Lock()
        self.comment = ""
        self.pages = []

    def __call__(self, request):
        with self.lock, self.connection.cursor() as cursor:
            self.pages.append(request.target)
            for _ in range(PAGES[request.target]):
                cursor.execute("SELECT 1" + self.comment.format(len(self.pages)))
            return ok("page\n")


@pytest.fixture
def router(make_router, tmp_path):
    return make_router(
        hosts=[{"name": "a", "networks": ["127.0.0.0/8"]}, {"name": "b"}],
        trust_host_option_networks=["127.0.0.0/8"],
        profile_path=str(tmp_path / "profile"),
        profile_interval="100ms",
        trace_idle_timeout="300ms",
        calibration_file=str(tmp_path / "calibration.yaml"),
    )


@pytest.fixture
def applications(router):
    made = {name: Application(router, name) for name in ("a", "b")}
    yield made
    for application in made.values():
        application.connection.close()


@pytest.fixture
def hosts(applications, make_host):
    return [make_host(name, answer=answer) for name, answer in applications.items()]


@pytest.fixture
def configure(hosts, tmp_path):
    """Writes a placer's configuration with these routes and more; gives its file."""

    def write(routes, **more):
        file = tmp_path / "placer.yaml"
        config = {
            "compute_hosts": [host.config() for host in hosts],
            "calibration_file": str(tmp_path / "calibration.yaml"),
            "routes": [{"pattern": pattern, "target": "primary", **keys} for pattern, keys in routes.items()],
            **more,
        }
        file.write_text(json.dumps(config))
        return file

    return write


def calibrate(*arguments, **environment):
    done = subprocess.run(
        [BINARY, "calibrate", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )
    assert PASSWORD not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr


def read(path):
    """The file's hosts and routes by name, and of each route its hosts by name."""
    content = yaml.safe_load(path.read_text())
    routes = {route["name"]: route for route in content.get("routes") or []}
    for route in routes.values():
        route["hosts"] = {host["name"]: host for host in route["hosts"]}
    return {host["name"]: host for host in content["hosts"]}, routes


@pytest.mark.short
def test_select_1_of_the_hosts_is_merged_and_makes_the_residuals(router, configure, applications, tmp_path):
    url = f"postgresql://alice:{PASSWORD}@{router.host}:{router.port}/app"
    for name, where in (("a", ["--database-url", url]), ("b", [])):
        file = tmp_path / f"{name}.yaml"
        sql_only = ["--sql-only", "--host", name, *QUICK, "--force", "-o", file]
        status, told, problem = calibrate(*sql_only, *where, DATABASE_URL=url)
        assert (status, problem) == (0, ""), told
        assert f"Written: {file}" in told and "SELECT 1" in told
        measured, routes = read(file)
        assert list(measured) == [name] and not routes
        assert measured[name]["select_1"]["samples"] == 20
    assert not any(application.pages for application in applications.values()), "nothing but SELECT 1 was sent"

    # Two arms: one route as configured, one that nobody has said N_serial of.
    config = configure({"/feed": {"n_serial": 3}, "/none": {}})
    merge = ["--merge", tmp_path / "a.yaml", tmp_path / "b.yaml"]
    status, told, problem = calibrate("-c", config, *QUICK, *merge, "--force")
    assert (status, problem) == (0, ""), told
    measured, routes = read(tmp_path / "calibration.yaml")
    assert list(measured) == ["a", "b"] and list(routes) == ["/feed", "/none"]
    assert (routes["/feed"]["n_serial"], routes["/feed"]["n_serial_source"]) == (3, "configured")
    assert "n_serial" not in routes["/none"] and "N_serial unknown" in told
    for name, application in applications.items():
        rounds = [application.pages[i : i + 2] for i in range(0, len(application.pages), 2)]
        assert len(rounds) == 22 and all(sorted(each) == ["/feed", "/none"] for each in rounds), "warm-ups included"
        assert ["/feed", "/none"] in rounds and ["/none", "/feed"] in rounds, "in no fixed order"
        for kind in ("health", "connect", "select_1"):
            assert 0 < measured[name][kind]["low_ms"] <= measured[name][kind]["high_ms"], kind
            assert measured[name][kind]["samples"] == 20, kind
        feed = routes["/feed"]["hosts"][name]
        rest = measured[name]["health"]["median_ms"] + 3 * measured[name]["select_1"]["median_ms"]
        assert feed["residual_ms"] == pytest.approx(feed["response"]["median_ms"] - rest, abs=1e-4)
        assert "residual_ms" not in routes["/none"]["hosts"][name]

    # The router puts it into the profile.
    def residuals():
        done = subprocess.run([BINARY, "profile", "export", tmp_path / "profile"], capture_output=True, text=True)
        profile = json.loads(done.stdout) if done.returncode == 0 else {"routes": []}
        names = [route["name"] for route in profile["routes"]]
        return [row[names.index("/feed")] for row in profile["residuals"]] if "/feed" in names else []

    wait_until(lambda: len(residuals()) == 2 and all(residuals()), 15, "the residuals to be published")
    for name, published in zip(("a", "b"), residuals()):
        written = routes["/feed"]["hosts"][name]["residual_ms"]
        assert published["residual_ns"] == pytest.approx(written * 1e6, abs=100) and published["samples"] == 20


@pytest.mark.short
def test_a_dry_run_says_what_would_be_sent_and_sends_nothing(router, configure, applications, tmp_path):
    config = configure({"/feed": {"n_serial": 3}, "/articles/:id": {}})
    queries = router.metric("sluice_queries_total")
    page = ["--request", "/articles/:id=/articles/7"]
    status, told, problem = calibrate("-c", config, "--dry-run", *page)
    assert (status, problem) == (0, ""), told
    assert "20 warm-ups and 500 samples of each, 4160 requests and connects in all; nothing was sent" in told
    for host in ("a", "b"):
        assert f"{host} at 127.0.0.1:" in told
    assert told.count("GET /feed for /feed: N_serial 3") == 2
    assert told.count("GET /articles/7 for /articles/:id: N_serial unknown") == 2
    assert not any(application.pages for application in applications.values())
    assert router.metric("sluice_queries_total") == queries
    assert not (tmp_path / "calibration.yaml").exists()

    status, told, problem = calibrate("-c", config, "--dry-run")
    assert status == 1 and "--request '/articles/:id=/a/path'" in problem


@pytest.mark.short
def test_what_is_too_noisy_is_named_and_not_written(configure, make_host, hosts, tmp_path):
    gate = threading.Event()
    seen = []

    def answer(request):
        # As many slow ones as quick ones: the median is anywhere between.
        seen.append(request.target)
        gate.wait(0.02 if len(seen) % 2 else 0)
        return ok("page\n")

    noisy = make_host("noisy", answer=answer)
    config = configure({"/feed": {"n_serial": 3}}, compute_hosts=[noisy.config()])
    file = tmp_path / "calibration.yaml"
    status, told, problem = calibrate("-c", config, *QUICK)
    assert status == 1 and not file.exists()
    assert "too noisy to place requests by" in problem and "noisy /feed: median" in problem
    assert "of 20 samples" in problem and "Nothing was written" in problem and "--force" in problem
    assert "/feed" in told, "what was measured is shown all the same"

    status, told, problem = calibrate("-c", config, *QUICK, "--force")
    assert (status, problem) == (0, "") and "Written all the same, as --force says" in told
    response = read(file)[1]["/feed"]["hosts"]["noisy"]["response"]
    assert response["high_ms"] - response["low_ms"] > 10


@pytest.mark.short
def test_n_serial_of_silent_applications_is_counted_by_the_router(router, configure, applications, tmp_path):
    admin = f"127.0.0.1:{router.config['admin_port']}"
    config = configure({"/feed": {}, "/feed-naive": {}, "/none": {"n_serial": 5}})
    status, told, problem = calibrate("-c", config, *QUICK, "--count-queries", admin, "--force")
    assert (status, problem) == (0, ""), told
    routes = read(tmp_path / "calibration.yaml")[1]
    found = {name: (route["n_serial"], route["n_serial_source"]) for name, route in routes.items()}
    assert found == {"/feed": (3, "counted"), "/feed-naive": (12, "counted"), "/none": (5, "configured")}
    assert "N_serial 12 (counted)" in told
    assert applications["b"].pages.count("/feed") == 22, "counted on the first host alone"


def test_counting_notices_that_somebody_else_uses_the_router(router, configure, make_host, tmp_path):
    with router.connect() as other:
        seen = []

        def answer(request):
            seen.append(request.target)
            with other.cursor() as cursor:
                for _ in range(1 + len(seen) % 2):
                    cursor.execute("SELECT 1")
            return ok("page\n")

        config = configure({"/feed": {}}, compute_hosts=[make_host("busy", answer=answer).config()])
        admin = f"127.0.0.1:{router.config['admin_port']}"
        status, told, problem = calibrate("-c", config, *QUICK, "--count-queries", admin, "--force")
    assert status == 1 and "1.50 queries per request; somebody else uses the router" in problem
    assert not (tmp_path / "calibration.yaml").exists()


def test_with_the_profile_nothing_has_to_be_said(router, configure, applications, tmp_path):
    """N_serial as the router observes it, SELECT 1 as its matrix has it."""
    config = configure({"/feed": {}}, profile_path=str(tmp_path / "profile"), min_route_requests=20)
    for number, application in enumerate(applications.values()):
        application.comment = f" /*route='%2Ffeed',traceparent='00-{number + 1:016x}{{:016x}}-00000000000000ff-01'*/"
    # First the pages are seen by the router, uncalibrated; then it knows them.
    calibrate("-c", config, *QUICK, "--force")

    def known():
        _, told, _ = calibrate("-c", config, "--dry-run")
        return told.count("N_serial 3, SELECT 1 0.") == 2

    wait_until(known, 20, "the router to know route and round trips")
    status, told, problem = calibrate("-c", config, *QUICK, "--force", "--raw", tmp_path / "raw.csv")
    assert (status, problem) == (0, ""), told
    measured, routes = read(tmp_path / "calibration.yaml")
    feed = routes["/feed"]
    assert (feed["n_serial"], feed["n_serial_source"]) == (3, "observed")
    for name in ("a", "b"):
        on_host = feed["hosts"][name]
        rest = measured[name]["health"]["median_ms"] + 3 * on_host["sql_ms"]
        assert on_host["residual_ms"] == pytest.approx(on_host["response"]["median_ms"] - rest, abs=1e-4)
    lines = (tmp_path / "raw.csv").read_text().splitlines()
    assert lines[0] == "host,what,ms" and len(lines) == 1 + 2 * 3 * 20


@pytest.mark.short
def test_a_host_that_does_not_answer_ends_the_calibration(configure, hosts, tmp_path):
    config = configure({"/feed": {"n_serial": 3}})
    hosts[1].close()
    status, told, problem = calibrate("-c", config, *QUICK, "--force")
    assert status == 1 and problem.startswith("sluice calibrate: ") and "b" in problem
    assert not (tmp_path / "calibration.yaml").exists()
