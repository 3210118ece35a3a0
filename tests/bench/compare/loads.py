"""What the contenders are put through. Each load returns a dictionary of numbers; SI units unless the key
says otherwise."""

import contextlib
import subprocess
import time

from contenders import DATABASE, SERVERS, USER, password_environment
from harness.messages import Q
from harness.postgres import BINDIR
from harness.wire import WireClient

GIB = 1 << 30
SLEEP_SECONDS = 0.02


def pgbench(
    bench, contender, clients, protocol, options=(), sslmode="disable", seconds=None, script=None
):
    """pgbench -S, or a script: transactions per second, response-time quantiles, and the proxy's CPU time per
    transaction."""
    seconds = seconds or bench.seconds
    length = ["-T", seconds]
    before = contender.cpu_seconds()
    ended = run_pgbench(bench, contender, clients, protocol, [*length, *options], sslmode, script)
    used = contender.cpu_seconds() - before
    times = sorted(micros for _, micros in ended)
    return {
        "tps": len(ended) / seconds,
        **quantiles(times),
        "cpu_us": used / len(ended) * 1e6,
        "rss_mib": contender.rss_bytes() / (1 << 20),
    }


def quantiles(times):
    return {"p50_us": times[len(times) // 2], "p99_us": times[len(times) * 99 // 100]}


def run_pgbench(bench, contender, clients, protocol, options, sslmode="disable", script=None):
    """When each transaction ended (seconds since the epoch) and after how many microseconds."""
    prefix = bench.directory / "transactions"
    command = [
        BINDIR / "pgbench",
        "-n",
        *(["-f", script] if script else ["-S"]),
        "-M",
        protocol,
        "-c",
        clients,
        "-j",
        min(clients, 2),
        "-l",
        f"--log-prefix={prefix}",
        *options,
        f"host={contender.host} port={contender.port} user={USER} dbname={DATABASE} sslmode={sslmode}",
    ]
    subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, env=password_environment()
    )
    ended = []
    for log in bench.directory.glob("transactions.*"):
        with open(log, encoding="ascii") as lines:
            for line in lines:
                _, _, micros, _, at_seconds, at_micros = line.split()[:6]
                ended.append((int(at_seconds) + int(at_micros) / 1e6, int(micros)))
        log.unlink()
    return ended


class Unsupported(Exception):
    """The contender cannot do this load."""


def saturated(bench, contender, clients):
    """More clients than there are servers for, each asking again at once: whether the first to come is the first
    served, in the quantiles of the response time, which is nearly all waiting. A transaction is 20 ms of sleep on
    the server, so that it is the servers that are short, not processors: the waits differ by their order alone.
    Without the first round, in which all come at once, and the last, in which the queue runs dry."""
    if contender.pool_mode != "transaction":
        raise Unsupported
    contender.restart(bench)
    script = bench.directory / "sleep.sql"
    script.write_text(f"select pg_sleep({SLEEP_SECONDS});\n", encoding="ascii")
    rounds = max(4, bench.seconds * SERVERS / SLEEP_SECONDS // clients)
    ended = sorted(run_pgbench(bench, contender, clients, "simple", ["-t", int(rounds)], script=script))
    steady = ended[clients:-clients]
    times = quantiles(sorted(micros for _, micros in steady))
    return {
        "tps": len(steady) / (steady[-1][0] - steady[0][0]),
        **times,
        "p99_to_p50": times["p99_us"] / times["p50_us"],
        "rss_mib": contender.rss_bytes() / (1 << 20),
    }


def tls_both_ways(bench, contender, clients, options=()):
    """pgbench over TLS, with a contender that speaks TLS to the server too."""
    if contender.server_tls is None:
        raise Unsupported
    contender.server_tls = "require"
    try:
        contender.restart(bench)
        return pgbench(bench, contender, clients, "simple", options, sslmode="require")
    finally:
        contender.server_tls = "disable"
        contender.restart(bench)


def idle_sessions(bench, contender, tls=False):
    """Opens `bench.idle` sessions that each ran one query, and looks at what they cost in memory and, doing
    nothing, in CPU time."""
    contender.restart(bench)
    with contextlib.ExitStack() as stack:

        def open_one():
            client = stack.enter_context(WireClient(contender.host, contender.port, timeout=60))
            if tls:
                client.start_tls()
            client.login(USER, DATABASE).query("select 1")

        for _ in range(20):  # what a first session costs once is no cost per session
            open_one()
        time.sleep(1)
        before = contender.rss_bytes()
        for _ in range(bench.idle - 20):
            open_one()
        time.sleep(3)
        after, cpu = contender.rss_bytes(), contender.cpu_seconds()
        time.sleep(3)
        result = {
            "kib_per_session": (after - before) / (bench.idle - 20) / 1024,
            "idle_cpu_percent": (contender.cpu_seconds() - cpu) / 3 * 100,
        }
    bench.server.end_backends(USER)  # what a contender keeps must not use up the next one's
    time.sleep(1)
    return result


def large_result(bench, contender, rate=None, tls=False):
    """A result of `bench.result_gib` GiB to one reader, at full speed or at `rate` bytes per second; the
    proxy's memory meanwhile."""
    size = int(bench.result_gib * GIB)
    with WireClient(contender.host, contender.port, timeout=600) as client:
        if tls:
            client.start_tls()
        client.login(USER, DATABASE).query("select 1")
        time.sleep(0.5)
        rss, peak, cpu, started = contender.rss_bytes(), 0, contender.cpu_seconds(), time.monotonic()
        client.send(Q(f"select repeat('x', 1048576) from generate_series(1, {size >> 20})"))
        buffer, seen, looked = bytearray(1 << 20), 0, 0.0
        while seen < size:
            seen += client.socket.recv_into(buffer)
            now = time.monotonic()
            if now - looked > 0.05:
                peak, looked = max(peak, contender.rss_bytes()), now
            if rate and (ahead := seen / rate - (now - started)) > 0:
                time.sleep(min(ahead, 1))
        elapsed = time.monotonic() - started
        return {
            "mib_per_second": (seen >> 20) / elapsed,
            "cpu_s_per_gib": (contender.cpu_seconds() - cpu) / (seen / GIB),
            "rss_growth_mib": max(peak - rss, 0) / (1 << 20),
        }


# key -> (title, function of (bench, contender)). Groups share a table of the report.
LOADS = {
    "pgbench": {
        "simple-1": ("1 client, simple", lambda b, c: pgbench(b, c, 1, "simple")),
        "simple-16": ("16 clients, simple", lambda b, c: pgbench(b, c, 16, "simple")),
        "prepared-16": ("16 clients, prepared", lambda b, c: pgbench(b, c, 16, "prepared")),
        "extended-64": ("64 clients, extended", lambda b, c: pgbench(b, c, 64, "extended")),
        "connect": (
            "new connection, SCRAM, one query (2 clients)",
            lambda b, c: pgbench(b, c, 2, "simple", ["-C"]),
        ),
        "tls-16": (
            "16 clients, simple, TLS with the client",
            lambda b, c: pgbench(b, c, 16, "simple", sslmode="require"),
        ),
        "tls-connect": (
            "new TLS connection, SCRAM, one query",
            lambda b, c: pgbench(b, c, 2, "simple", ["-C"], sslmode="require"),
        ),
        "tls-both-16": (
            "16 clients, simple, TLS with client and server",
            lambda b, c: tls_both_ways(b, c, 16),
        ),
    },
    "saturated": {
        "saturated-1000": ("1,000 clients, 50 servers", lambda b, c: saturated(b, c, 1000)),
        "saturated-10000": ("10,000 clients, 50 servers", lambda b, c: saturated(b, c, 10000)),
    },
    "idle": {
        "idle-plain": ("idle sessions, plain", idle_sessions),
        "idle-tls": ("idle sessions, TLS", lambda b, c: idle_sessions(b, c, tls=True)),
    },
    "result": {
        "result-fast": ("large result, fast reader", large_result),
        "result-slow": ("large result, reader at 64 MiB/s", lambda b, c: large_result(b, c, 64 << 20)),
        "result-tls": ("large result, TLS, fast reader", lambda b, c: large_result(b, c, tls=True)),
    },
}
