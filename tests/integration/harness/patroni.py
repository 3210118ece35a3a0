"""A real Patroni cluster: etcd and three PostgreSQL servers, each kept by a Patroni of its own, on loopback."""

import json
import os
import shutil
import signal
import subprocess
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg2

from .net import as_postgres, free_port, wait_until
from .postgres import BINDIR, PASSWORD

ETCD, PATRONI = "/usr/bin/etcd", "/usr/bin/patroni"

POST_BOOTSTRAP = """#!/bin/sh
exec {psql} -X -q -v ON_ERROR_STOP=1 "$1" <<'SQL'
create role app login password '{password}';
create role monitor login password '{password}' in role pg_monitor;
create database app owner app;
SQL
"""


def missing():
    """What the cluster needs and is not here, or None."""
    for program in (ETCD, PATRONI):
        if not Path(program).exists():
            return f"{program} is missing: deploy/install-deps.sh test"
    return None


class Process:
    """A child in a session of its own; it and what it started is ended by process id."""

    def __init__(self, command, log):
        with open(log, "ab") as out:
            self.popen = subprocess.Popen(
                as_postgres(map(str, command)),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd="/",
                start_new_session=True,
            )

    def alive(self):
        return self.popen.poll() is None

    def send(self, number):
        if self.alive():
            os.kill(self.popen.pid, number)

    def kill(self):
        self.send(signal.SIGKILL)
        self.popen.wait()


class Node:
    def __init__(self, cluster, name, tags):
        self.cluster, self.name, self.tags = cluster, name, tags
        self.directory = cluster.directory / name
        self.data = self.directory / "data"
        self.port, self.rest_port = free_port(), free_port()
        self.config_file = self.directory / "patroni.json"
        self.log_file = self.directory / "patroni.log"
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.rest_port}"

    def write_config(self):
        config = {
            "scope": "sluice",
            "name": self.name,
            "restapi": {
                "listen": f"127.0.0.1:{self.rest_port}",
                "connect_address": f"127.0.0.1:{self.rest_port}",
            },
            "etcd3": {"host": f"127.0.0.1:{self.cluster.etcd_port}"},
            "bootstrap": {
                "dcs": {
                    "ttl": 10,
                    "loop_wait": 1,
                    "retry_timeout": 3,
                    "master_start_timeout": 0,
                    "postgresql": {
                        "use_pg_rewind": True,
                        "parameters": {
                            "wal_keep_size": "128MB",
                            "max_connections": 200,
                            "wal_log_hints": "on",
                        },
                    },
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "no-sync"],
                "post_bootstrap": str(self.cluster.directory / "post_bootstrap.sh"),
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self.data),
                "bin_dir": str(BINDIR),
                "basebackup": [{"checkpoint": "fast"}, "no-sync"],
                "pgpass": str(self.directory / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres", "password": PASSWORD},
                    "replication": {"username": "replicator", "password": PASSWORD},
                    "rewind": {"username": "postgres", "password": PASSWORD},
                },
                "pg_hba": [
                    "local all all trust",
                    "host replication replicator 127.0.0.1/32 trust",
                    "host all postgres 127.0.0.1/32 trust",
                    "host all all 127.0.0.1/32 scram-sha-256",
                ],
                "parameters": {
                    "unix_socket_directories": str(self.directory),
                    "fsync": "off",
                    "shared_buffers": "16MB",
                    "wal_retrieve_retry_interval": "200ms",
                    "cluster_name": self.name,
                },
            },
            "tags": self.tags,
        }
        self.cluster.install(self.config_file, json.dumps(config, indent=1))

    def start(self):
        self.directory.mkdir(exist_ok=True)
        self.cluster.own(self.directory)
        self.write_config()
        self.process = Process([PATRONI, self.config_file], self.log_file)

    def retag(self, **tags):
        """Patroni reads its tags again, and tells them with its next round."""
        self.tags = tags
        self.write_config()
        self.process.send(signal.SIGHUP)

    def postmaster(self):
        try:
            return int((self.data / "postmaster.pid").read_text().split("\n")[0])
        except (OSError, ValueError):
            return 0

    def kill_postgres(self):
        """SIGKILL to the postmaster and its children, as a crash of the machine's memory would."""
        pid = self.postmaster()
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
        for one in [pid, *map(int, children.stdout.split())]:
            try:
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def value(self, sql, database="app"):
        connection = psycopg2.connect(
            host="127.0.0.1", port=self.port, user="postgres", dbname=database, connect_timeout=5
        )
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchone()[0]
        finally:
            connection.close()

    def stop(self):
        # Not by a request: a leader that ends in order first waits for the others to catch up.
        if self.process is not None:
            self.process.kill()
        pid = self.postmaster()
        if pid and Path(f"/proc/{pid}").exists():
            os.kill(pid, signal.SIGQUIT)
            wait_until(lambda: not Path(f"/proc/{pid}").exists(), 10, f"{self.name}'s PostgreSQL to end")


class PatroniCluster:
    def __init__(self, directory: Path, tags):
        """`tags`: name of a node -> its tags, in the order in which they start."""
        self.directory = directory
        self.etcd_port = free_port()
        self.etcd = None
        self.nodes = {name: Node(self, name, of_it) for name, of_it in tags.items()}

    def own(self, path):
        if os.geteuid() == 0:
            shutil.chown(path, "postgres", "postgres")

    def install(self, path, text, mode=0o600):
        path.write_text(text)
        path.chmod(mode)
        self.own(path)

    def start(self):
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)
        self.own(self.directory)
        script = POST_BOOTSTRAP.format(psql=BINDIR / "psql", password=PASSWORD)
        self.install(self.directory / "post_bootstrap.sh", script, 0o700)
        self.start_etcd()
        first, *others = self.nodes.values()
        first.start()
        wait_until(lambda: self.leader() == first.name, 40, "the first node to lead")
        for node in others:
            node.start()
        wait_until(lambda: self.settled(len(self.nodes)), 60, "all nodes to run", 0.1)

    def start_etcd(self):
        url = f"http://127.0.0.1:{self.etcd_port}"
        peer = f"http://127.0.0.1:{free_port()}"
        command = [
            ETCD, "--name", "sluice", "--data-dir", self.directory / "etcd", "--listen-client-urls", url,
            "--advertise-client-urls", url, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"sluice={peer}", "--unsafe-no-fsync",
        ]  # fmt: skip
        self.etcd = Process(command, self.directory / "etcd.log")

        def healthy():
            assert self.etcd.alive(), (self.directory / "etcd.log").read_text()[-2000:]
            try:
                with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
                    return b"true" in answer.read()
            except OSError:
                return False

        wait_until(healthy, 20, "etcd to be healthy")

    def members(self):
        """What the first node that answers says of the cluster."""
        for node in self.nodes.values():
            try:
                with urllib.request.urlopen(f"{node.url}/cluster", timeout=2) as answer:
                    return json.load(answer)["members"]
            except (OSError, ValueError):
                continue
        return []

    def leader(self):
        return next(
            (m["name"] for m in self.members() if m["role"] == "leader" and m["state"] == "running"), None
        )

    def settled(self, count):
        """`count` members run, on one timeline, one of them as the leader."""
        members = self.members()
        return (
            len(members) == count
            and all(m["state"] in ("running", "streaming") and "timeline" in m for m in members)
            and len({m["timeline"] for m in members}) == 1
            and self.leader() is not None
        )

    def switch_over(self, candidate):
        leader = self.leader()
        request = urllib.request.Request(
            f"{self.nodes[leader].url}/switchover",
            json.dumps({"leader": leader, "candidate": candidate}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 200, answer.read()

    def log_text(self):
        return "\n".join(
            f"--- {path}\n{path.read_text(errors='replace')[-3000:]}"
            for path in self.directory.glob("*/patroni.log")
        )

    def stop(self):
        # All at once, so that no node takes the time to follow another one that is about to end.
        with ThreadPoolExecutor() as pool:
            list(pool.map(Node.stop, self.nodes.values()))
        if self.etcd is not None:
            self.etcd.kill()
