"""Three machines in network namespaces: a (client, placer, Compute A), b (Compute B), d (router and PostgreSQL)."""

import contextlib
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
PG_BINDIR = Path(os.environ.get("PG_BINDIR", "/usr/lib/postgresql/15/bin"))

A_TO_B, B_TO_A = "10.88.1.1", "10.88.1.2"  # the addresses of a and of b on their link
A_TO_D, D_TO_A = "10.88.2.1", "10.88.2.2"
B_TO_D, D_TO_B = "10.88.3.1", "10.88.3.2"
APP_PORT, ROUTER_PORT, ADMIN_PORT, PG_PORT = 3000, 6432, 9632, 5432
PLACER_PORTS = {"user_first": 8081, "network_only": 8082, "profiled": 8083, "adaptive": 8084, "observed": 8085}
SCHEMA = """
create table accounts (id int primary key, name text not null);
create table articles (id int primary key, account int not null, title text not null);
create table feedback (id serial primary key, article int not null);
create index on articles (account);
create index on feedback (article);
insert into accounts select n, 'account ' || n from generate_series(1, 100) n;
insert into articles select n, 1 + (n - 1) / 10, 'article ' || n from generate_series(1, 1000) n;
insert into feedback (article) select 1 + n % 1000 from generate_series(1, 20000) n;
analyze;
"""


def sh(*words, **options):
    return subprocess.run([str(w) for w in words], check=True, text=True, capture_output=True, **options).stdout


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, subprocess.CalledProcessError, ValueError):
            if condition():
                return
        time.sleep(0.05)
    raise RuntimeError(f"waited {seconds} s in vain for {what}")


class Testbed:
    """Everything is started by start() and ended, and the namespaces removed, by stop()."""

    def __init__(self, folder, sluice, relay, a_to_d_us=100):
        self.folder, self.sluice, self.relay_binary, self.a_to_d_us = Path(folder), sluice, relay, a_to_d_us
        self.spaces = {name: f"sluice-{name}-{os.getpid()}" for name in "abd"}
        self.processes, self.relay, self.pg_started = [], None, False

    # Namespaces and links

    def within(self, space, *words):
        return ["ip", "netns", "exec", self.spaces[space], *map(str, words)]

    def spawn(self, space, *words, **options):
        log = open(self.folder / f"{options.pop('log')}.log", "ab")
        process = subprocess.Popen(
            self.within(space, *words), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, **options
        )
        self.processes.append(process)
        return process

    def start_network(self):
        for space in self.spaces.values():
            sh("ip", "netns", "add", space)
            sh("ip", "-n", space, "link", "set", "dev", "lo", "up")
        b, d = self.spaces["b"], self.spaces["d"]
        sh("ip", "-n", b, "link", "add", "bd", "type", "veth", "peer", "name", "bd", "netns", d)
        for space, address in ((b, B_TO_D), (d, D_TO_B)):
            sh("ip", "-n", space, "address", "add", f"{address}/30", "dev", "bd")
            sh("ip", "-n", space, "link", "set", "dev", "bd", "up")
        a = self.spaces["a"]
        self.relay = subprocess.Popen(
            [str(self.relay_binary), f"ab:{a}:{A_TO_B}:{b}:{B_TO_A}", f"ad:{a}:{A_TO_D}:{d}:{D_TO_A}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )
        if self.relay.stdout.readline().strip() != "ready":
            raise RuntimeError("the relay did not start")
        self.delay("ad", self.a_to_d_us)

    def delay(self, link, micros):
        """One-way delay, both directions."""
        self.relay.stdin.write(f"{link} {micros}\n")
        self.relay.stdin.flush()
        answer = self.relay.stdout.readline().strip()
        if answer != "ok":
            raise RuntimeError(f"relay: {answer}")

    def ping(self, space, address, count=300):
        """Median round trip in ms, by ICMP."""
        text = sh(*self.within(space, "ping", "-i", "0.002", "-c", count, address))
        return statistics.median(float(t) for t in re.findall(r"time=([\d.]+)", text))

    def tcp_info(self, space, address, port):
        """The kernel's least round trip of a connection of ours, in ms: TCP_INFO's tcpi_min_rtt, or its smoothed one."""
        script = (
            "import socket, struct, sys, time\n"
            "s = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
            "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n"
            "for i in range(100):\n"
            "    s.sendall(b'GET /health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); s.recv(65536)\n"
            "info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)\n"
            "print(struct.unpack_from('I', info, 148)[0] / 1000)\n"
        )
        return float(sh(*self.within(space, sys.executable, "-c", script, address, port)))

    # Services

    def start_postgres(self):
        data = self.folder / "pg"
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
        if as_postgres:
            os.chmod(self.folder, 0o755)
            data.mkdir()
            sh("chown", "postgres", data)
        sh(*as_postgres, PG_BINDIR / "initdb", "-D", data, "-A", "trust", "-N", cwd="/")
        hba = "local all all trust\nhost all all 127.0.0.1/32 trust\n"
        (data / "pg_hba.conf").write_text(hba)
        with open(data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"listen_addresses='127.0.0.1'\nport={PG_PORT}\nfsync=off\nunix_socket_directories='{data}'\n"
                       "shared_buffers='64MB'\njit=off\nautovacuum=off\nlogging_collector=off\n")
        pg_ctl = [*as_postgres, PG_BINDIR / "pg_ctl", "-D", data, "-l", data / "log", "-w", "-s"]
        self.pg_stop = self.within("d", *pg_ctl, "-m", "fast", "stop")
        subprocess.run(self.within("d", *pg_ctl, "start"), check=True, stdout=subprocess.DEVNULL, cwd="/")
        self.pg_started = True
        psql = self.within("d", *as_postgres, "psql", "-h", "127.0.0.1", "-v", "ON_ERROR_STOP=1", "-q")
        sh(*psql, "-d", "postgres", "-c", "create role app login superuser", "-c", "create database app owner app", cwd="/")
        sh(*psql, "-d", "app", "-U", "app", input=SCHEMA, cwd="/")

    def start_router(self):
        self.profile = self.folder / "profile"
        server = {"name": "primary", "host": "127.0.0.1", "port": PG_PORT}
        config = {
            "listen_addr": "*", "listen_port": ROUTER_PORT, "admin_addr": "127.0.0.1", "admin_port": ADMIN_PORT,
            "trust_anywhere": True, "hba": [{"method": "trust", "network": "10.88.0.0/16"}], "server_user": "app", "server_tls_sslmode": "disable",
            "health_check_user": "app", "primary": server, "replicas": [{**server, "name": "r1"}],
            "databases": [{"name": "app", "target": "primary"}], "threads": 1,
            "hosts": [{"name": "a", "networks": [f"{A_TO_D}/32"]}, {"name": "b", "networks": [f"{B_TO_D}/32"]}],
            "profile_path": str(self.profile), "profile_interval": "200ms", "log_level": "warning",
        }
        path = self.folder / "router.yaml"
        path.write_text(json.dumps(config, indent=1))
        self.spawn("d", self.sluice, "router", "-c", path, log="router")
        wait_until(lambda: self.admin("/readyz"), 8, "the router (see router.log)")

    def admin(self, path):
        return sh(*self.within("d", sys.executable, "-c",
                               "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())",
                               f"http://127.0.0.1:{ADMIN_PORT}{path}"))

    def database_url(self, space):
        return f"postgresql://app@{D_TO_A if space == 'a' else D_TO_B}:{ROUTER_PORT}/app"

    def start_app(self, space):
        environment = {**os.environ, "DATABASE_URL": self.database_url(space), "RAILS_ENV": "production"}
        self.spawn(space, "puma", "-e", "production", "-t", "5:5", "-w", "0", "-b", f"tcp://0.0.0.0:{APP_PORT}",
                   HERE / "app.ru", log=f"app-{space}", env=environment)

    def wait_for_apps(self):
        for address in ("127.0.0.1", B_TO_A):
            wait_until(lambda where=address: self.get(where, APP_PORT, "/feed-naive"), 60, f"the application at {address}")

    def get(self, address, port, path):
        return sh(*self.within("a", sys.executable, "-c",
                               "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())",
                               f"http://{address}:{port}{path}"))

    # The placer

    def placer_config(self, policy, routes, port, calibration, n_serial_from=None, keepalive=False):
        """routes: {path: n}; n_serial_from: "profile" or None for the configured number."""
        return {
            "listen_addr": "127.0.0.1", "listen_port": port, "admin_addr": "127.0.0.1", "admin_port": port + 1000,
            "threads": 1, "policy": policy, "upstream_keepalive": keepalive, "profile_path": str(self.profile),
            "calibration_file": str(calibration), "path_interval": "400ms",
            "compute_hosts": [{"name": "a", "address": "127.0.0.1", "port": APP_PORT},
                              {"name": "b", "address": B_TO_A, "port": APP_PORT}],
            "routes": [{"pattern": path, "n_serial": n_serial_from or n, "target": "primary"} for path, n in routes.items()],
            "log_level": "warning",
        }

    def write_placer(self, name, **options):
        path = self.folder / f"placer-{name}.yaml"
        path.write_text(json.dumps(self.placer_config(**options), indent=1))
        return path

    def start_placer(self, name, port, config):
        self.spawn("a", self.sluice, "placer", "-c", config, log=f"placer-{name}")
        wait_until(lambda: self.get("127.0.0.1", port, "/health"), 20, f"the placer {name} (see placer-{name}.log)")

    def start(self):
        self.start_network()
        self.start_postgres()
        self.start_router()
        for space in "ab":
            self.start_app(space)
        self.wait_for_apps()

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
        if self.pg_started:
            subprocess.run(self.pg_stop, check=False, capture_output=True, cwd="/")
        if self.relay:
            self.relay.stdin.close()
            self.relay.wait(5)
        for space in self.spaces.values():
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)
