#!/usr/bin/env python3
"""Sluice's placer, HAProxy and nginx as reverse proxies in front of the same origin server: CPU time per request.

usage: tests/bench/compare/compare_http.py [--rounds N] [--seconds N] [--threads N] [--output FILE]

Each round runs every load through every contender in random order; ratios are taken within a round. wrk asks with 64
keep-alive connections for pages of 1 KiB and 100 KiB that another nginx serves from memory. Installs wrk, nginx and haproxy
where they are missing. Reports, and asserts nothing: times are not for tests.
"""

import argparse
import datetime
import os
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "integration"))

from harness import leaks  # noqa: E402
from harness.net import free_port, wait_until  # noqa: E402
from harness.router import BINARY, REPOSITORY  # noqa: E402

CONNECTIONS = 64
LOADS = {"1 KiB": "/1k", "100 KiB": "/100k"}

NGINX = """
daemon off; worker_processes {threads}; error_log {directory}/{name}.error.log warn; pid {directory}/{name}.pid;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {directory}; proxy_temp_path {directory}; fastcgi_temp_path {directory};
  uwsgi_temp_path {directory}; scgi_temp_path {directory}; keepalive_requests 1000000000; tcp_nodelay on; {body}
}}
"""
ORIGIN = """
  root {directory}/pages; open_file_cache max=10; open_file_cache_valid 1h; sendfile on; types {{ }}
  default_type text/plain; etag off;
  server {{ listen 127.0.0.1:{port} backlog=4096; location = /health {{ return 200 well; }} }}
"""
PROXY = """
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 128; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} backlog=4096 reuseport;
    location / {{ proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Request-Id $request_id; }} }}
"""
HAPROXY = """
global
  nbthread {threads}
  maxconn 4096
defaults
  mode http
  option http-keep-alive
  option forwardfor
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen front
  bind 127.0.0.1:{port}
  unique-id-format %[uuid]
  http-request set-header X-Request-Id %[unique-id]
  server origin 127.0.0.1:{origin} pool-max-conn 256
"""
PLACER = """
listen_port: {port}
threads: {threads}
admin_port: {admin}
max_idle_upstream: 256
compute_hosts: [{{name: origin, address: 127.0.0.1, port: {origin}}}]
"""


class Program:
    def __init__(self, name, directory, command, text, port):
        self.name, self.port = name, port
        (directory / f"{name}.conf").write_text(text)
        with open(directory / f"{name}.log", "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait_until(self.answers, 10, f"{name} to answer; see {directory / name}.log")

    def answers(self):
        assert self.process.poll() is None, f"{self.name} ended at its start"
        asked = subprocess.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"http://127.0.0.1:{self.port}/1k"],
            capture_output=True, text=True,
        )
        return asked.stdout == "200"

    def pids(self):
        """The process and its children: nginx works in those."""
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [self.process.pid] + [int(pid) for pid in children.stdout.split()]

    def cpu_seconds(self):
        return sum(leaks.cpu_seconds(pid) for pid in self.pids())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


def start(directory, threads):
    pages = directory / "pages"
    pages.mkdir()
    (pages / "1k").write_bytes(b"x" * 1024)
    (pages / "100k").write_bytes(b"x" * 102400)
    directory.chmod(0o755)
    origin = free_port()
    programs = []

    def add(name, command, template, **values):
        port = values.pop("port", None) or free_port()
        text = template.format(port=port, origin=origin, threads=threads, directory=directory, name=name, **values)
        command = [str(word).replace("FILE", str(directory / f"{name}.conf")) for word in command]
        programs.append(Program(name, directory, command, text, port))

    nginx = ["nginx", "-c", "FILE", "-p", str(directory)]
    body = ORIGIN.format(directory=directory, port=origin)
    add("origin", nginx, NGINX.replace("{body}", body.replace("{", "{{").replace("}", "}}")), port=origin)
    add("haproxy", ["haproxy", "-db", "-f", "FILE"], HAPROXY)
    port = free_port()
    body = PROXY.format(origin=origin, port=port)
    add("nginx", nginx, NGINX.replace("{body}", body.replace("{", "{{").replace("}", "}}")), port=port)
    add("placer", [BINARY, "placer", "-c", "FILE"], PLACER, admin=free_port())
    return programs


def measure(program, path, seconds, attempts=3):
    """Requests per second, CPU microseconds per request, and the 99% quantile in ms. A run with errors, which a busy
    machine brings about in any of them, is told and repeated."""
    url = f"http://127.0.0.1:{program.port}{path}"
    before = program.cpu_seconds()
    run = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", url], capture_output=True, text=True, check=True
    )
    cpu = program.cpu_seconds() - before
    requests = int(re.search(r"(\d+) requests in", run.stdout).group(1))
    errors = re.findall(r"(?:Non-2xx|Socket errors).*", run.stdout)
    if errors:
        print(f"{program.name} {path}: {'; '.join(errors)}, after {requests} requests", file=sys.stderr, flush=True)
        assert attempts > 1, f"{program.name}: {run.stdout}"
        return measure(program, path, seconds, attempts - 1)
    tail = re.search(r"99%\s+([\d.]+)(us|ms|s)", run.stdout)
    millis = float(tail.group(1)) * {"us": 1e-3, "ms": 1, "s": 1e3}[tail.group(2)]
    return requests / seconds, cpu / requests * 1e6, millis


def report(results, arguments, load_average):
    names = list(results)
    lines = [
        "# The placer beside HAProxy and nginx",
        "",
        f"Written by `tests/bench/compare/compare_http.py` on {datetime.date.today()}: {os.cpu_count()} processors, "
        f"{platform.system()} {platform.release()}, {arguments.threads} thread(s) each,",
        f"{arguments.rounds} rounds of {arguments.seconds} s; load average before: {load_average:.1f}. "
        f"wrk with {CONNECTIONS} keep-alive connections; the origin is an nginx of its own.",
        "CPU time is of the proxy alone, user and system; ratios are taken within a round, then the median. "
        "All of them set X-Forwarded-For and a request id; none writes an access log.",
        "",
        "| page | proxy | CPU per request, us | ratio to HAProxy | requests/s | 99% within, ms |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for load in LOADS:
        for name in names:
            runs = results[name][load]
            ratios = [run[1] / base[1] for run, base in zip(runs, results["haproxy"][load])]
            rate, cpu, tail = (statistics.median(values) for values in zip(*runs))
            lines.append(
                f"| {load} | {name} | {cpu:.1f} | {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}) "
                f"| {rate:,.0f} | {tail:.1f} |"
            )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", default=str(REPOSITORY / "docs/bench/placer.md"), help="- for the terminal")
    arguments = parser.parse_args()
    subprocess.run(["bash", str(REPOSITORY / "deploy/install-deps.sh"), "bench"], check=True)
    load_average = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        programs = start(Path(folder), arguments.threads)
        try:
            contenders = programs[1:]
            results = {program.name: {load: [] for load in LOADS} for program in contenders}
            for _ in range(arguments.rounds):
                for load, path in LOADS.items():
                    for program in random.sample(contenders, len(contenders)):
                        results[program.name][load].append(measure(program, path, arguments.seconds))
                        time.sleep(0.2)
        finally:
            for program in reversed(programs):
                program.stop()
    text = report(results, arguments, load_average)
    if arguments.output == "-":
        print(text, end="")
    else:
        Path(arguments.output).write_text(text)
        print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
