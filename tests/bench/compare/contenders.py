"""The programs that are compared, each in front of the same PostgreSQL server: how they are configured,
started and stopped."""

import os
import shutil
import subprocess

from harness import leaks
from harness.net import as_postgres, end, free_port, wait_until
from harness.postgres import PASSWORD
from harness.router import BINARY, Router
from harness.wire import WireClient

USER, DATABASE, SESSIONS = "alice", "app", 2200


class Contender:
    """`name`, `host`, `port`, and the `pid` whose time and memory are measured (0: none, PostgreSQL
    itself)."""

    host, port, pid, process = "127.0.0.1", 0, 0, None
    # server_tls_sslmode of the next start(); None: it has no TLS of its own with the server.
    server_tls = None

    def start(self, bench):
        raise NotImplementedError

    def spawn(self, bench, command):
        self.log = bench.directory / f"{self.name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/"
            )
        self.pid = self.process.pid
        wait_until(self.answers, 10, f"{self.name} to accept")

    def answers(self):
        assert self.process.poll() is None, f"{self.name} ended at its start:\n{self.log.read_text()[-2000:]}"
        try:
            WireClient(self.host, self.port).login(USER, DATABASE).terminate()
            return True
        except (OSError, AssertionError):
            return False

    def stop(self):
        if self.process:
            end(self.process)

    def restart(self, bench):
        """A fresh process: memory that an earlier load left behind would hide what the next one needs."""
        self.stop()
        self.start(bench)

    def cpu_seconds(self):
        return leaks.cpu_seconds(self.pid) if self.pid else 0.0

    def rss_bytes(self):
        return leaks.rss_bytes(self.pid) if self.pid else 0


class Direct(Contender):
    name, title = "direct", "no proxy"

    def start(self, bench):
        self.port = bench.server.port


class PgBouncer(Contender):
    name, title, server_tls = "pgbouncer", "PgBouncer, session pooling", "disable"

    def start(self, bench):
        self.port = free_port()
        place = bench.directory / "pgbouncer"
        place.mkdir(exist_ok=True)
        users = place / "userlist.txt"
        users.write_text("".join(f'"{name}" "{secret}"\n' for name, secret in bench.cluster.secrets()))
        for name in ("certificate", "key"):
            shutil.copy(bench.files[name], place / name)
        (place / "pgbouncer.ini").write_text(
            f"""
[databases]
{DATABASE} = host=127.0.0.1 port={bench.server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = session
max_client_conn = 5000
default_pool_size = {SESSIONS}
server_tls_sslmode = {self.server_tls}
client_tls_sslmode = allow
client_tls_cert_file = {place / "certificate"}
client_tls_key_file = {place / "key"}
log_connections = 0
log_disconnections = 0
log_stats = 0
"""
        )
        if os.geteuid() == 0:
            for path in (place, *place.iterdir()):
                shutil.chown(path, "postgres", "postgres")
        self.spawn(bench, as_postgres(["/usr/sbin/pgbouncer", str(place / "pgbouncer.ini")]))

    @staticmethod
    def version():
        return subprocess.run(
            ["/usr/sbin/pgbouncer", "--version"], capture_output=True, text=True
        ).stdout.splitlines()[0]


class HAProxy(Contender):
    name, title = "haproxy", "HAProxy, tcp"

    def start(self, bench):
        self.port = free_port()
        config = bench.directory / "haproxy.cfg"
        config.write_text(
            f"""
global
    maxconn 5000
    nbthread {bench.threads}
defaults
    mode tcp
    timeout connect 5s
    timeout client 1h
    timeout server 1h
listen postgres
    bind 127.0.0.1:{self.port}
    server one 127.0.0.1:{bench.server.port}
"""
        )
        self.spawn(bench, ["/usr/sbin/haproxy", "-db", "-f", config])

    @staticmethod
    def version():
        return " ".join(
            subprocess.run(["/usr/sbin/haproxy", "-v"], capture_output=True, text=True).stdout.split()[:3]
        )


class Sluice(Contender):
    name, title, engine, server_tls = "sluice", "Sluice", "epoll", "disable"
    options = {}  # more of its configuration

    def __init__(self):
        self.router = None

    def start(self, bench):
        users = bench.directory / "sluice-users.txt"
        users.write_text("".join(f'"{name}" "{secret}"\n' for name, secret in bench.cluster.secrets()))
        server = {"name": "r0", "host": "127.0.0.1", "port": bench.server.port}
        config = {
            "threads": bench.threads,
            "io_engine": self.engine,
            "auth_type": "scram-sha-256",
            "auth_file": str(users),
            "max_client_conn": 5000,
            "max_unauthenticated": 1000,
            "max_idle_server_connections": SESSIONS,
            "server_tls_sslmode": self.server_tls,
            "client_tls_sslmode": "allow",
            "client_tls_cert_file": str(bench.files["certificate"]),
            "client_tls_key_file": str(bench.files["key"]),
            "log_connections": False,
            "log_disconnections": False,
            "health_check_user": "monitor",
            "health_check_password_file": str(bench.files["password"]),
            "drain_timeout": "1s",
            "replicas": [server],
            "classes": [
                {"name": "premium", "saturation": 10, "target": 1},
                {"name": "freemium", "saturation": 10, "target": 0},
            ],
            "rules": [{"user": USER, "class": "premium"}],
            "databases": [{"name": "*", "target": "replicas"}],
            **self.options,
        }
        self.router = Router(bench.directory, config, self.name).start()
        self.port, self.pid = self.router.port, self.router.pid

    def stop(self):
        if self.router:
            self.router.stop(30)

    @staticmethod
    def version():
        return (
            subprocess.run([BINARY, "--version"], capture_output=True, text=True)
            .stdout.strip()
            .splitlines()[0]
        )


class SluiceOnRing(Sluice):
    name, title, engine = "sluice-io_uring", "Sluice, io_uring", "io_uring"


ALL = {one.name: one for one in (Direct, PgBouncer, HAProxy, Sluice, SluiceOnRing)}


def password_environment():
    return {**os.environ, "PGPASSWORD": PASSWORD}
