#!/usr/bin/python3
"""How the one thread of `sluice bench run` bears thousands of terminals that are open at a time: how late it begins what is due,
and what that costs in CPU time. The router pools by transaction and the query is `select 1`, so that neither server nor router is
short of anything. Writes docs/bench/terminals.md. Asserts nothing of times; ends with 1 where sessions or queries were lost."""

import argparse
import contextlib
import csv
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import compare  # noqa: I001 - it finds the harness
import contenders
import report
from harness import leaks
from harness.router import BINARY

EDGE = 1  # seconds at both ends of the measured time that CPU time is not taken of, as the run's clock is not ours


class ByPassword(contenders.SluiceTransactions):
    name, title = "scram", "by SCRAM"


class Trusting(contenders.SluiceTransactions):
    name, title = "trust", "by trust"
    options = {"hba": [{"network": "127.0.0.0/8", "method": "trust"}], "server_user": "trusted"}


LOGINS = {router.name: router for router in (Trusting(), ByPassword())}

# key, what it is called, how it is written
ROWS = [
    ("mean_open", "terminals open at a time, mean", "{:,.0f}"),
    ("greatest_open", "... greatest", "{:,}"),
    ("sessions", "sessions in the whole run", "{:,}"),
    ("lost_sessions", "... lost", "{:,}"),
    ("queries", "queries in the whole run", "{:,}"),
    ("lost_queries", "... lost", "{:,}"),
    ("per_second", "queries a second", "{:,.0f}"),
    ("median", "response time, median, ms", "{:.2f}"),
    ("p99", "... p99, ms", "{:.2f}"),
    ("late", "starts of sessions and queries more than 10 ms late", "{:,}"),
    ("late_p50", "lateness of all starts, p50, ms", "{:.2f}"),
    ("late_p99", "... p99, ms", "{:.2f}"),
    ("late_worst", "... worst, ms", "{:.1f}"),
    ("cpu_percent", "CPU time of the bench, % of one core", "{:.1f}"),
    ("cpu_us", "... per query, us", "{:.0f}"),
    ("router_percent", "CPU time of the router, % of one core", "{:.1f}"),
    ("rss_mib", "RSS of the bench, MiB", "{:.1f}"),
    ("load", "load average of the machine at the end, one minute", "{:.1f}"),
]


def command(bench, router, options):
    files = bench.directory / "select"
    files.mkdir(exist_ok=True)
    (files / "one.sql").write_text("select 1\n", encoding="ascii")
    duration = options.lifetime + options.seconds
    words = {
        "--dsn": router.router.dsn(contenders.USER, contenders.DATABASE, sslmode="disable"),
        "--files": files,
        "--terminals": round(options.terminals * duration / options.lifetime),
        "--duration": duration,
        "--warm-up": options.lifetime,
        "--lifetime": f"{options.lifetime},{options.lifetime}",
        "--think": options.think,
        "--strategy": router.name,
        "--output": bench.directory,
    }
    return [str(word) for word in (BINARY, "bench", "run", "--transaction-mode", *(w for pair in words.items() for w in pair))]


def wait(process, router, seconds):
    """For so long, as it goes on; tells how many connections there are."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(left, 10))
            sys.exit(f"the run ended too soon, with {process.returncode}")
        print(f"{router.title}: {leaks.fd_count(process.pid) // 2:,} connections", file=sys.stderr, flush=True)


def clocks(process, router):
    return time.monotonic(), leaks.cpu_seconds(process.pid), leaks.cpu_seconds(router.pid)


def lines(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def open_at_a_time(sessions, begin, end):
    """(mean between two moments of the run, greatest) of how many were connected."""
    stays = [(float(s["arrives"]) + float(s["waiting"]), float(s["ended"])) for s in sessions if s["served"] == "yes"]
    inside = sum(max(0.0, min(left, end) - max(came, begin)) for came, left in stays)
    steps = sorted([(came, 1) for came, _ in stays] + [(left, -1) for _, left in stays])
    return inside / (end - begin), max(itertools.accumulate(step for _, step in steps))


def lost(sessions, duration):
    """Of the sessions: not those that came in the last second, as the run may be over before they are connected."""
    return [s for s in sessions if s["error"] and not (s["error"] == "cut" and float(s["arrives"]) > duration - 1)]


def findings(folder, options):
    """What a run wrote, by the keys of ROWS."""
    info, sessions, queries = json.loads((folder / "run.json").read_text()), lines(folder / "sessions.csv"), lines(folder / "queries.csv")
    duration = options.lifetime + options.seconds
    late = sorted(float(one["late"]) for one in [*sessions, *queries])
    mean_open, greatest_open = open_at_a_time(sessions, options.lifetime, duration)
    return {
        "mean_open": mean_open,
        "greatest_open": greatest_open,
        "sessions": len(sessions),
        "lost_sessions": len(lost(sessions, duration)),
        "queries": len(queries),
        "lost_queries": sum(q["error"] != "" for q in queries),
        "per_second": info["all"]["queries"] / info["measured_seconds"],
        "median": info["all"]["median"] * 1e3,
        "p99": info["all"]["p99"] * 1e3,
        "late": info["late"]["sessions"] + info["late"]["queries"],
        "late_p50": late[len(late) // 2] * 1e3,
        "late_p99": late[len(late) * 99 // 100] * 1e3,
        "late_worst": late[-1] * 1e3,
    }


def measure(bench, router, options):
    """One run, by the keys of ROWS. CPU time is of the measured time, while all terminals are there."""
    without_bar = {**os.environ, "TERM": "dumb"}
    process = subprocess.Popen(command(bench, router, options), stdout=subprocess.DEVNULL, env=without_bar)
    try:
        wait(process, router, options.lifetime + EDGE)
        before = clocks(process, router)
        wait(process, router, options.seconds - 2 * EDGE)
        elapsed, used, used_by_router = (b - a for a, b in zip(before, clocks(process, router)))
        rss, load = leaks.rss_bytes(process.pid), os.getloadavg()[0]
        if process.wait(120) != 0:
            sys.exit(f"the run ended with {process.returncode}")
    finally:
        process.kill()
        process.wait()
    found = findings(next((bench.directory / "runs").glob(f"{router.name}-*")), options)
    return {
        **found,
        "cpu_percent": 100 * used / elapsed,
        "cpu_us": used / elapsed / found["per_second"] * 1e6,
        "router_percent": 100 * used_by_router / elapsed,
        "rss_mib": rss / (1 << 20),
        "load": load,
    }


def markdown(results, options):
    routers = [LOGINS[name] for name in results]
    rows = [["login"] + [router.title for router in routers], ["---"] + ["---:"] * len(routers)]
    for key, title, form in ROWS:
        rows.append([title] + [form.format(found[key]) for found in results.values()])
    return "\n".join(
        [
            f"# {options.terminals:,} terminals at a time on one thread\n",
            f"`sluice bench run` while about {options.terminals:,} sessions are open: each stays for {options.lifetime} s and pauses for {options.think:g} s in the mean between "
            "two queries, `select 1`, and as many arrive as leave. The router has one thread too and pools by transaction over "
            f"{contenders.SERVERS} connections to one server. Sessions log in by a password (SCRAM) or are trusted, without TLS. A start is late by what passed between the moment at "
            "which a session or a query was due and when the bench began it, which is inside the response time. CPU time is all of the process, logins among it, while "
            "all terminals are there.\n",
            "    " + " ".join(["tests/bench/compare/measure_terminals.py", *sys.argv[1:]]) + "\n",
            f"Machine, which bench, router and server share: {report.machine()}. {options.seconds} s measured behind a warm-up of {options.lifetime} s, a run of each.\n",
            *("| " + " | ".join(row) + " |" for row in rows),
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default, what in (
        ("terminals", 2500, "open at a time"),
        ("lifetime", 45, "seconds that each stays, which is also the warm-up"),
        ("seconds", 45, "of the measured time behind that"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} (default {default})")
    parser.add_argument("--think", type=float, default=1.5, help="mean pause between two queries, seconds (default 1.5)")
    parser.add_argument(
        "--nice", type=int, default=0, help="niceness of all that is measured, below 0 where others use the machine too (default 0)"
    )
    parser.add_argument("--logins", default=",".join(LOGINS), help=f"comma separated, of: {', '.join(LOGINS)}")
    parser.add_argument(
        "--output", type=Path, default=compare.REPOSITORY / "docs/bench/terminals.md", help="default docs/bench/terminals.md; - only prints"
    )
    parser.set_defaults(idle=100, result_gib=0.0, threads=1, scale=1)
    options = parser.parse_args()
    names = options.logins.split(",")
    if unknown := set(names) - set(LOGINS):
        parser.error(f"unknown login: {', '.join(sorted(unknown))}")
    if options.seconds <= 2 * EDGE or options.lifetime <= 0 or options.terminals <= 0:
        parser.error(f"--seconds is above {2 * EDGE}, --lifetime and --terminals are above 0")

    os.nice(options.nice)
    compare.raise_descriptor_limit()
    results = {}
    with compare.running(options, []) as bench:
        for name in names:
            router = LOGINS[name]
            try:
                router.start(bench)
                results[name] = measure(bench, router, options)
            finally:
                router.stop()
    compare.write(markdown(results, options), options.output)
    return any(found["lost_sessions"] + found["lost_queries"] > 0 for found in results.values())


if __name__ == "__main__":
    if not BINARY.exists():
        sys.exit(f"no program under test at {BINARY}; set SLUICE_BINARY")
    sys.exit(main())
