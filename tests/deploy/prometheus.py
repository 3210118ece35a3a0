"""A Prometheus of one's own on loopback, with a configuration from the tree and another target."""

import json
import subprocess
import urllib.parse
import urllib.request
from contextlib import contextmanager

import yaml

from harness.net import end, free_port, wait_until
from promql import ROOT


class Prometheus:
    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}/api/v1/"

    def ask(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.base}{path}?{query}", timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, expr):
        return self.ask("query", query=expr)["result"]

    def scraped(self):
        try:
            return any(sample["value"][1] == "1" for sample in self.query("up"))
        except OSError:
            return False


@contextmanager
def prometheus(directory, configuration, admin_port):
    """Scrapes a router's admin port every second, with the tree's rules."""
    config = yaml.safe_load(configuration.read_text(encoding="utf-8"))
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(ROOT / "deploy/prometheus/sluice.rules.yaml")]
    config["scrape_configs"][0]["static_configs"] = [{"targets": [f"127.0.0.1:{admin_port}"]}]
    file = directory / "prometheus.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    port = free_port()
    command = ["prometheus", f"--config.file={file}", f"--storage.tsdb.path={directory / 'tsdb'}", f"--web.listen-address=127.0.0.1:{port}"]
    with open(directory / "prometheus.log", "wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        server = Prometheus(port)
        wait_until(server.scraped, 30, "Prometheus to scrape the router")
        yield server
    finally:
        end(process, 15)
