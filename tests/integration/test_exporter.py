"""Debian's prometheus-pgbouncer-exporter reads the console unchanged."""

import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest

from harness.net import free_port, wait_until
from harness.postgres import PASSWORD

EXPORTER = shutil.which("prometheus-pgbouncer-exporter")


def scrape(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, OSError):
        return ""


def samples(text):
    """{(name, labels): value}"""
    out = {}
    for line in text.splitlines():
        found = re.match(r"(\w+)(?:\{(.*)\})? (\S+)$", line)
        if found:
            labels = tuple(sorted(re.findall(r'(\w+)="([^"]*)"', found.group(2) or "")))
            out[found.group(1), labels] = float(found.group(3))
    return out


@pytest.mark.skipif(EXPORTER is None, reason="prometheus-pgbouncer-exporter is not installed")
@pytest.mark.timeout(60)
def test_debians_exporter_finds_what_it_asks_for(make_router, tmp_path):
    router = make_router()
    port = free_port()
    log = open(tmp_path / "exporter.log", "w+")
    exporter = subprocess.Popen(
        [EXPORTER, "--host", "127.0.0.1", "--port", str(port), "--pgbouncer-host", "127.0.0.1", "--pgbouncer-port",
         str(router.port), "--pgbouncer-user", "stats"],
        env={**os.environ, "PGPASSWORD": PASSWORD}, stdout=log, stderr=subprocess.STDOUT,
    )
    try:
        with router.session() as client:
            for _ in range(10):
                client.value("select 1")
            wait_until(lambda: exporter.poll() is not None or "pgbouncer_databases" in scrape(port), 20, "a scrape")
            got = samples(scrape(port))

            def requests():
                return samples(scrape(port)).get(("pgbouncer_requests_total", (("database", "app"),)), 0)

            wait_until(lambda: requests() >= 10, 10, "the queries to be counted")
        pool = (("database", "app"), ("user", "alice"))
        assert got["pgbouncer_active_clients", pool] == 1
        assert got["pgbouncer_waiting_clients", pool] == 0
        for name in ("received_bytes_total", "sent_bytes_total", "query_microseconds_total"):
            assert (f"pgbouncer_{name}", (("database", "app"),)) in got, name
        for name in ("pool_size", "reserve_pool"):
            assert (f"pgbouncer_{name}", (("database", "app"),)) in got, name
        for name in ("databases", "users", "pools", "free_clients", "used_clients", "login_clients", "free_servers",
                     "used_servers", "dns_names", "dns_zones", "dns_queries", "dns_pending"):
            assert (f"pgbouncer_{name}", ()) in got, name
        assert got["pgbouncer_databases", ()] == 3 and got["pgbouncer_used_clients", ()] >= 1
    finally:
        exporter.terminate()
        exporter.wait(10)
        log.seek(0)
        text = log.read()
        log.close()
    assert "Traceback" not in text and "ERROR" not in text, text[-3000:]
