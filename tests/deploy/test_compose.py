"""docker/compose.yaml: valid, and its scripts do what they should, run here on this machine's PostgreSQL. No image is pulled
and no container started: what is in the images is not tested."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg2
import pytest
import yaml

from harness.net import as_postgres, end, free_port, wait_until
from harness.postgres import BINDIR
from harness.router import BINARY, Router
from prometheus import prometheus
from promql import ROOT, expressions, without_variables
from tools import run_tool
from units import allowed_calls, traced_calls

DOCKER = ROOT / "docker"
COMPOSE = DOCKER / "compose"


@pytest.fixture(scope="module")
def services():
    done = run_tool("docker-compose", "docker-compose", "-f", str(DOCKER / "compose.yaml"), "config")
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return yaml.safe_load(done.stdout)["services"]


def test_everything_is_there(services):
    assert set(services) == {"credentials", "primary", "standby1", "standby2", "sluice", "prometheus", "grafana"}


def test_what_is_mounted_exists(services):
    for name, service in services.items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0] if isinstance(volume, str) else volume["source"]
            assert not source.startswith("/") or Path(source).exists(), (name, source)
    build = services["sluice"]["build"]
    assert (Path(build["context"]) / build["dockerfile"]).exists()


def test_nothing_is_published_beyond_loopback(services):
    for name, service in services.items():
        for port in service.get("ports", []):
            text = port if isinstance(port, str) else f"{port.get('host_ip', '')}:"
            assert text.startswith("127.0.0.1:"), (name, port)


def test_no_password_stands_in_the_tree(services):
    for name, service in services.items():
        environment = service.get("environment") or {}
        assert not any(re.search("PASSWORD$|SECRET$", key) for key in environment), name
    for file in (DOCKER / "compose.yaml", *COMPOSE.rglob("*.yaml")):
        assert not re.search(r"password: |password=\w", file.read_text(encoding="utf-8")), file


def test_the_router_waits_for_its_drain(services):
    grace = services["sluice"]["stop_grace_period"]
    assert grace in ("70s", "1m10s"), "drain_timeout is a minute, and some time for what follows"


def test_prometheus_reads_its_configuration(tmp_path, services):
    for volume in services["prometheus"]["volumes"]:
        source, target = volume.split(":")[:2] if isinstance(volume, str) else (volume["source"], volume["target"])
        if target.startswith("/etc/prometheus/"):
            shutil.copy(source, tmp_path / Path(target).name)
    done = run_tool("promtool", "prometheus", "check", "config", str(tmp_path / "prometheus.yml"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_grafana_gets_datasource_and_dashboard(services):
    source = yaml.safe_load((COMPOSE / "grafana/datasource.yaml").read_text(encoding="utf-8"))["datasources"][0]
    assert source["type"] == "prometheus" and source["isDefault"] and source["url"] == "http://prometheus:9090"
    folder = yaml.safe_load((COMPOSE / "grafana/dashboards.yaml").read_text(encoding="utf-8"))["providers"][0]["options"]["path"]
    assert any(f"{folder}/sluice.json" in str(volume) for volume in services["grafana"]["volumes"])
    scrape = yaml.safe_load((COMPOSE / "prometheus.yaml").read_text(encoding="utf-8"))["scrape_configs"][0]
    assert "sluice" in scrape["job_name"], "SluiceDown knows jobs by their name"


@pytest.fixture
def place():
    """A directory that the servers' user owns."""
    directory = Path(tempfile.mkdtemp(prefix="sluice-compose-"))
    if os.geteuid() == 0:
        shutil.chown(directory, "postgres", "postgres")
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


def run(*command, **environment):
    done = subprocess.run(
        as_postgres([str(word) for word in command]), env=surroundings(**environment), capture_output=True, text=True, timeout=60, check=False, cwd="/"
    )
    assert done.returncode == 0, f"{command[0]} {command[1]}: {done.stdout}{done.stderr}"


def surroundings(**more):
    return {"PATH": f"{BINDIR}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", **{key: str(value) for key, value in more.items()}}


@contextmanager
def running(*command, **environment):
    server = subprocess.Popen(as_postgres([str(word) for word in command]), env=surroundings(**environment), stderr=subprocess.DEVNULL, cwd="/")
    try:
        yield server
    finally:
        end(server, 20)


def listening(place, port):
    return ["-p", port, "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={place}", "-c", "fsync=off"]


def secret(place, name):
    return (place / f"credentials/{name}.password").read_text(encoding="utf-8").strip()


def answers(place, port):
    return subprocess.run([BINDIR / "pg_isready", "-q", "-h", place, "-p", str(port)], check=False).returncode == 0


def test_credentials_are_made_once(place):
    run("bash", COMPOSE / "credentials.sh", place)
    first = {file.name: file.read_text(encoding="utf-8") for file in place.iterdir()}
    assert len(first) == 7 and len(set(first.values())) == 7
    assert all(re.fullmatch("[A-Za-z0-9]{24}\n", text) for text in first.values())
    run("bash", COMPOSE / "credentials.sh", place)
    assert first == {file.name: file.read_text(encoding="utf-8") for file in place.iterdir()}


def test_scripts_and_configuration_make_a_cluster_that_works(place, tmp_path):
    ports = {name: free_port() for name in ("primary", "standby1", "standby2")}
    credentials = place / "credentials"
    run("mkdir", credentials)
    run("bash", COMPOSE / "credentials.sh", credentials)

    # As the image's entrypoint does it: initdb, a start, the database, the scripts; options as in the compose file.
    options = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))["services"]["primary"]["command"][1:]
    data = place / "primary"
    run("initdb", "-D", data, "-U", "postgres", "--auth-host=scram-sha-256", "--auth-local=trust", "-N")
    with (data / "pg_hba.conf").open("a", encoding="utf-8") as rules:
        rules.write("host all all all scram-sha-256\n")
    with running("postgres", "-D", data, *options, *listening(place, ports["primary"])):
        wait_until(lambda: answers(place, ports["primary"]), 30, "the primary")
        run("createdb", "-h", place, "-p", ports["primary"], "-U", "postgres", "app")
        run("bash", COMPOSE / "primary.sh", PGHOST=place, PGPORT=ports["primary"], PGDATA=data, POSTGRES_DB="app", CREDENTIALS=credentials)
        run("pg_ctl", "-D", data, "reload")

        def standby(name):
            folder = place / name
            folder.mkdir(exist_ok=True)
            if os.geteuid() == 0:
                shutil.chown(folder, "postgres", "postgres")
            environment = {"STANDBY": name, "PGDATA": folder, "PRIMARY_HOST": "127.0.0.1", "PRIMARY_PORT": ports["primary"]}
            return running("bash", COMPOSE / "standby.sh", *listening(place, ports[name]), CREDENTIALS=credentials, PASSFILE=place / f"{name}.pgpass", **environment)

        with standby("standby2"):
            wait_until(lambda: answers(place, ports["standby2"]), 30, "standby2")
        # A copy that was interrupted: files, no PG_VERSION, and the slot is taken.
        (place / "standby2/PG_VERSION").unlink()

        with standby("standby1"), standby("standby2"):
            for name in ("standby1", "standby2"):
                wait_until(lambda name=name: answers(place, ports[name]), 30, name)
            assert secret(place, "replicator") not in (place / "standby1/postgresql.auto.conf").read_text(encoding="utf-8")
            use_through_the_router(place, tmp_path, ports)


def may_trace():
    """Whether strace is there and allowed: a container may forbid it."""
    return shutil.which("strace") and subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], check=False).returncode == 0


def use_through_the_router(place, tmp_path, ports):
    config = yaml.safe_load((COMPOSE / "sluice.yaml").read_text(encoding="utf-8").replace("/credentials/", f"{place}/credentials/"))
    for server in (config["primary"], *config["replicas"]):
        server.update(host="127.0.0.1", port=ports[server["host"]])
    for fixed in ("listen_addr", "listen_port", "admin_addr"):
        del config[fixed]
    router = Router(tmp_path, config)
    checked = subprocess.run([BINARY, "check", "-c", str(COMPOSE / "sluice.yaml")], capture_output=True, text=True, timeout=30, check=False)
    errors = [line for line in (checked.stdout + checked.stderr).splitlines() if "error:" in line and "/credentials/" not in line]
    assert not errors
    # -D: strace is the child, so that the router is what was started.
    trace = tmp_path / "trace"
    traced = shutil.which("systemd-analyze") and may_trace()
    router.prefix = ["strace", "-D", "-f", "-qq", "-o", str(trace)] if traced else []
    router.start()
    try:
        def ask(database, sql, user="app"):
            with psycopg2.connect(host="127.0.0.1", port=router.port, dbname=database, user=user, password=secret(place, user)) as link:
                link.autocommit = True
                with link.cursor() as cursor:
                    cursor.execute(sql)
                    return cursor.fetchall() if cursor.description else None

        wait_until(lambda: all(router.metric("sluice_replica_up", replica=name) == 1 for name in ports), 20, "all servers to be up")
        assert ask("app", "SELECT pg_is_in_recovery()") == [(True,)]
        assert ask("app_rw", "SELECT pg_is_in_recovery()") == [(False,)]
        ask("app_rw", "CREATE TABLE seen (at timestamptz DEFAULT now())")
        with pytest.raises(psycopg2.OperationalError, match="password|authentication"):
            psycopg2.connect(host="127.0.0.1", port=router.port, dbname="app", user="app", password="wrong")
        with pytest.raises(psycopg2.OperationalError):
            ask("app", "SELECT 1", user="postgres")  # a superuser's verifier is not given out
        if shutil.which("prometheus"):
            with prometheus(tmp_path, COMPOSE / "prometheus.yaml", router.config["admin_port"]) as server:
                watch(server, lambda: ask("app", "SELECT 1"))
    finally:
        router.stop()
    if traced:
        calls = traced_calls(trace)
        assert {"epoll_wait", "accept4", "accept", "connect", "sendto"} & calls, "nothing was traced"
        assert not calls - allowed_calls("sluice"), "the unit's filter refuses what the router does"


def watch(server, work):
    """Dashboard and rules on what this router and Prometheus say, not on what the tables promise."""
    work()
    wait_until(lambda: len(server.query("sluice_uptime_seconds[1m]")[0]["values"]) > 2, 20, "a few scrapes")
    dashboard = json.loads((ROOT / "deploy/grafana/sluice.json").read_text(encoding="utf-8"))
    answered = {title for title, expr in expressions(dashboard) if server.query(without_variables(expr))}
    for title in ("Replicas that take sessions", "Sessions by class", "Sessions now, class by replica", "Replicas in each pool", "Response time by class, p99",
                  "Health", "Replay lag, bytes", "Round trip of SELECT 1", "Server connections opened and reused", "Turned away", "Uptime", "class", "replica"):
        assert title in answered, title
    rules = [rule for group in server.ask("rules")["groups"] for rule in group["rules"]]
    assert len(rules) > 40 and not [rule["name"] for rule in rules if rule["health"] == "err"]
    firing = [alert["labels"]["alertname"] for alert in server.ask("alerts")["alerts"] if alert["state"] == "firing"]
    assert not firing, "nothing is wrong"
