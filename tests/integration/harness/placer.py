"""The placer as a process, and pytest fixtures for it."""

import json

import pytest

from . import http
from .net import free_port
from .router import SANITIZED, Router


class Placer(Router):
    """One placer process. `config` is the whole configuration but for the ports."""

    command = "placer"

    def __init__(self, directory, config, name="placer"):
        super().__init__(directory, config, name)
        self.config["access_log"] = str(directory / f"{name}.access.log")

    def client(self, **options):
        return http.connect(self.port, **options)

    def get(self, target="/", fields="", **options):
        """One GET on a connection of its own."""
        with self.client(**options) as client:
            client.send(f"GET {target} HTTP/1.1\r\nHost: test\r\n{fields}\r\n")
            return client.response()

    def json(self, path):
        status, text = self.http(path)
        assert status == 200, text
        return json.loads(text)

    def access_lines(self):
        path = self.directory / f"{self.name}.access.log"
        return path.read_text(errors="replace").splitlines() if path.exists() else []


@pytest.fixture
def make_host():
    """Makes compute hosts that end with the test."""
    made = []

    def make(name="a", **options):
        made.append(http.ComputeHost(name, **options))
        return made[-1]

    yield make
    for host in made:
        host.close()


@pytest.fixture
def make_placer(tmp_path):
    """Starts placers that are stopped, and judged, after the test. Hosts come first; the rest is configuration."""
    made = []

    def make(*hosts, start=True, ready=True, **config):
        whole = {
            "compute_hosts": [host.config() for host in hosts],
            "path_interval": "50ms",
            "decision_interval": "50ms",
            "health_check_timeout": "5s" if SANITIZED else "1s",
            "drain_timeout": "1s",
            "threads": 2,
            **config,
        }
        placer = Placer(tmp_path, whole, f"placer{len(made)}")
        made.append(placer)
        return placer.start(ready) if start else placer

    yield make
    for placer in made:
        placer.stop()


@pytest.fixture
def host(make_host):
    return make_host("a")


@pytest.fixture
def placer(make_placer, host):
    """The usual one: a single host."""
    return make_placer(host)


__all__ = ["Placer", "free_port", "host", "make_host", "make_placer", "placer"]
