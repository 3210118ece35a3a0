#!/usr/bin/python3
"""What the dashboard costs the router: CPU time with viewers and without, on a router with many replicas, classes and compute
hosts. Writes docs/bench/dashboard.md. Asserts nothing."""

import argparse
import contextlib
import itertools
import os
import secrets
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
sys.path[:0] = [str(HERE), str(REPOSITORY / "tests/integration")]

import report  # noqa: E402 - the path comes first
from harness import postgres  # noqa: E402
from harness.messages import Q  # noqa: E402
from harness.postgres import Cluster  # noqa: E402
from harness.router import BINARY, Router  # noqa: E402
from harness.tls import Authority  # noqa: E402


def configuration(cluster, replicas, classes, hosts):
    """Every replica is the one standby, by another address of loopback."""
    port = cluster.standbys[0].port
    return {
        "hba": [{"network": "127.0.0.0/8", "method": "trust"}],
        "server_user": "trusted",
        "server_tls_sslmode": "disable",
        "primary": {"name": "primary", "host": "127.0.0.1", "port": cluster.primary.port},
        "replicas": [{"name": f"replica-{i:02}", "host": f"127.0.1.{i + 1}", "port": port} for i in range(replicas)],
        "databases": [{"name": "app", "target": "replicas"}],
        "classes": [
            {"name": f"class-{i}", "saturation": 20, "return_ratio": "0.60", "floor": 0, "target": replicas // (classes + 1)}
            for i in range(classes)
        ],
        "rules": [{"user": f"user-{i}", "class": f"class-{i}"} for i in range(classes)],
        "hosts": [{"name": f"host-{i:02}"} for i in range(hosts)],
        "trust_host_option_networks": ["127.0.0.0/8"],
        "health_check_user": "trusted",
        "client_idle_timeout": 0,
        "admin_addr": "127.0.0.1",
        "log_connections": False,
        "log_disconnections": False,
    }


class Load:
    """Sessions of all classes from all hosts; a query with a route every so often, and a session that ends and another that
    begins, so that there is always something new to show."""

    def __init__(self, router, classes, hosts, per_second):
        self.router, self.classes, self.hosts, self.per_second = router, classes, hosts, per_second
        self.sessions = [self.session(i) for i in range(2 * hosts)]
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def session(self, i):
        options = {"options": f"-c sluice.host=host-{i % self.hosts:02}"}
        return self.router.session(f"user-{i % self.classes}", "app", parameters=options)

    def run(self):
        begun = time.monotonic()
        for count in itertools.count():
            if self.ended.wait(max(0, begun + count / self.per_second - time.monotonic())):
                return
            place = count % len(self.sessions)
            trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
            self.sessions[place].run(Q(f"select 1 /*route='%2Fpage%2F{count % 20}',traceparent='{trace}'*/"))
            if count % self.per_second < 2:
                self.sessions[place].terminate()
                self.sessions[place] = self.session(place)

    def stop(self):
        self.ended.set()
        self.thread.join()
        for session in self.sessions:
            session.terminate()


class Viewers:
    """As many streams as that, read as they come. Bytes by kind of event."""

    def __init__(self, port, count):
        self.bytes, self.sockets = {}, []
        for _ in range(count):
            stream = socket.create_connection(("127.0.0.1", port))
            stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            self.sockets.append(stream)
        self.threads = [threading.Thread(target=self.read, args=(stream,)) for stream in self.sockets]
        for thread in self.threads:
            thread.start()

    def read(self, stream):
        kind = ""
        with stream.makefile("rb") as lines, contextlib.suppress(OSError, ValueError):
            for line in lines:
                if line.startswith(b"event: "):
                    kind = line[7:].strip().decode()
                elif line.startswith(b"data: "):
                    count, total = self.bytes.get(kind, (0, 0))
                    self.bytes[kind] = (count + 1, total + len(line))

    def stop(self):
        for stream in self.sockets:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        for stream in self.sockets:
            stream.close()


def cpu_seconds(pid):
    return sum(int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0]) for task in os.listdir(f"/proc/{pid}/task")) / 1e9


def share_of_a_core(router, viewers, seconds):
    """(percent of one core over all threads, {kind: (events, bytes)}) with so many viewers."""
    watching = Viewers(router.config["admin_port"], viewers)
    try:
        time.sleep(3)  # the first look, with all documents
        begun, before = time.monotonic(), cpu_seconds(router.pid)
        time.sleep(seconds)
        after = cpu_seconds(router.pid)
        return 100 * (after - before) / (time.monotonic() - begun), watching.bytes
    finally:
        watching.stop()


def page(options, found, sizes, sessions):
    lines = [
        "# What the dashboard costs",
        "",
        f"The router's CPU time, all its threads, in percent of one core: {options.replicas} replicas, {options.classes} classes, {options.hosts} compute hosts, "
        f"{sessions} sessions, {options.queries} queries a second with routes, two sessions a second that end and begin anew. Viewers read the stream of events as it comes. "
        "What viewers cost is the difference to none within a round; the table has the median over the rounds, and the range.",
        "",
        f"    tests/bench/compare/measure_dashboard.py --rounds {options.rounds} --seconds {options.seconds}",
        "",
        f"Machine: {report.machine()}. {options.seconds} s per figure, {options.rounds} rounds.",
        "",
        "| viewers | all of the router, % | for the viewers, % of one core | range |",
        "| ---: | ---: | ---: | --- |",
    ]
    for viewers in options.viewers:
        whole = statistics.median(one[viewers] for one in found)
        extra = sorted(one[viewers] - one[0] for one in found)
        cost = "" if viewers == 0 else f"{statistics.median(extra):.2f}"
        spread = "" if viewers == 0 else f"{extra[0]:.2f} .. {extra[-1]:.2f}"
        lines.append(f"| {viewers} | {whole:.2f} | {cost} | {spread} |")
    lines += ["", "| event | bytes | per viewer and minute |", "| --- | ---: | ---: |"]
    for kind, (count, total, seconds) in sorted(sizes.items()):
        lines.append(f"| {kind} | {total / count:.0f} | {60 * count / seconds:.0f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("replicas", 64), ("classes", 8), ("hosts", 64), ("queries", 100), ("rounds", 5), ("seconds", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--viewers", type=int, nargs="*", default=[0, 1, 10])
    parser.add_argument("--output", default=str(REPOSITORY / "docs/bench/dashboard.md"), help="- is standard output")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="sluice-bench-"))
    directory.chmod(0o755)
    postgres.SETTINGS.update({"listen_addresses": "*"})
    for name in ("tls", "pg"):
        (directory / name).mkdir()
    cluster = Cluster(directory / "pg", 1, Authority(directory / "tls"))
    found, sizes = [], {}
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, True)
        stack.callback(cluster.stop)
        cluster.start()
        router = Router(directory, configuration(cluster, options.replicas, options.classes, options.hosts), "router")
        stack.callback(router.stop)
        router.start()
        load = Load(router, options.classes, options.hosts, options.queries)
        stack.callback(load.stop)
        for number in range(options.rounds):
            one = {}
            for viewers in options.viewers:
                one[viewers], seen = share_of_a_core(router, viewers, options.seconds)
                for kind, (count, total) in seen.items():
                    sizes[kind] = (count / max(viewers, 1), total / max(viewers, 1), options.seconds + 3)
            found.append(one)
            print(f"round {number + 1}: " + ", ".join(f"{viewers} viewers {share:.2f} %" for viewers, share in one.items()), file=sys.stderr)
        sessions = len(load.sessions)
    text = page(options, found, sizes, sessions)
    print(text) if options.output == "-" else Path(options.output).write_text(text)


if __name__ == "__main__":
    if not BINARY.exists():
        sys.exit(f"no program under test at {BINARY}; set SLUICE_BINARY")
    main()
