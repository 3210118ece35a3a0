"""The programs that are compared, each in front of the same PostgreSQL server: how they are configured,
started and stopped."""

import os
import shutil
import subprocess
from pathlib import Path

from harness import leaks
from harness.net import as_postgres, end, free_port, wait_until
from harness.postgres import PASSWORD
from harness.router import BINARY, Router
from harness.wire import WireClient

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[2] / "build/pgbouncer"  # what is built for the bench
USER, DATABASE, SESSIONS = "alice", "app", 2200
CLIENTS_MAX = 12000
SERVERS = 50  # connections to the server in transaction mode


class Contender:
    """`name`, `host`, `port`, and the `pid` whose time and memory are measured (0: none, PostgreSQL
    itself)."""

    host, port, pid, process = "127.0.0.1", 0, 0, None
    # server_tls_sslmode of the next start(); None: it has no TLS of its own with the server.
    server_tls = None
    pool_mode = "session"

    @property
    def base(self):
        """The name of the contender that its numbers are divided by."""
        return "pgbouncer-transaction" if self.pool_mode == "transaction" else "pgbouncer"

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
    program, pool_size, options = Path("/usr/sbin/pgbouncer"), SESSIONS, ""

    def start(self, bench):
        self.port = free_port()
        place = bench.directory / self.name
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
pool_mode = {self.pool_mode}
max_client_conn = {CLIENTS_MAX}
default_pool_size = {self.pool_size}
{self.options}
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
        self.spawn(bench, as_postgres([str(self.program), str(place / "pgbouncer.ini")]))

    def version(self):
        return subprocess.run([self.program, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


class PgBouncerTransactions(PgBouncer):
    """Debian 12's has no named prepared statements in transaction mode; this one is built from Debian 13's source."""

    name, title = "pgbouncer-transaction", "PgBouncer, transaction pooling"
    program, pool_mode, pool_size = BUILT / "pgbouncer", "transaction", SERVERS
    options = "max_prepared_statements = 200"

    def start(self, bench):
        subprocess.run([HERE / "build_pgbouncer.sh", BUILT], check=True, stdout=subprocess.DEVNULL)
        super().start(bench)


class HAProxy(Contender):
    name, title = "haproxy", "HAProxy, tcp"

    def start(self, bench):
        self.port = free_port()
        config = bench.directory / "haproxy.cfg"
        config.write_text(
            f"""
global
    maxconn {CLIENTS_MAX}
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
    options, server_options = {}, {}  # more of its configuration

    def __init__(self):
        self.router = None

    def start(self, bench):
        users = bench.directory / "sluice-users.txt"
        users.write_text("".join(f'"{name}" "{secret}"\n' for name, secret in bench.cluster.secrets()))
        server = {"name": "r0", "host": "127.0.0.1", "port": bench.server.port, **self.server_options}
        config = {
            "threads": bench.threads,
            "io_engine": self.engine,
            "auth_type": "scram-sha-256",
            "auth_file": str(users),
            "pool_mode": self.pool_mode,
            "max_client_conn": CLIENTS_MAX,
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
        self.router = Router(bench.directory, config, self.name)
        self.router.prefix = self.prefix(bench)
        self.router.start()
        self.port, self.pid = self.router.port, self.router.pid

    def prefix(self, bench):
        """Words before the command."""
        return []

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


class SluiceTransactions(Sluice):
    name, title, engine = "sluice-transaction", "Sluice, transaction mode", "auto"
    pool_mode = "transaction"
    server_options = {"max_active": SERVERS}


ALL = {
    one.name: one
    for one in (Direct, PgBouncer, HAProxy, Sluice, SluiceOnRing, PgBouncerTransactions, SluiceTransactions)
}


def password_environment():
    return {**os.environ, "PGPASSWORD": PASSWORD}
