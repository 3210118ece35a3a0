#!/usr/bin/python3
"""Runs Sluice with and without trace_comments under the same loads and writes docs/bench/tracing.md: what it costs to
read comments and to group calls into requests. Asserts nothing."""

import argparse
import random
import statistics
import sys
from pathlib import Path

import compare  # noqa: I001 - it finds the harness
import contenders
import report
from loads import pgbench

SELECT = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid"
COMMENT = (
    " /*action='show',controller='articles',framework='rails',route='%2Farticles%2F%3Aid',"
    "traceparent='00-5bd66ef5095369c7b0d1f8:trace-c532cb4098ac3dd2-01'*/"
)


def script(calls, comment=COMMENT):
    """A request: calls one after another, under a trace of their own. Ten random digits end the trace-id."""
    return (
        "\\set aid random(1, 100000 * :scale)\n\\set trace random(1000000000, 9999999999)\n"
        + f"{SELECT}{comment};\n" * calls
    )


# key: (title, script, calls in it)
LOADS = {
    "plain": ("no comments", script(1, ""), 1),
    "single": ("every call a request of its own", script(1), 1),
    "chain": ("twelve calls per request", script(12), 12),
}


class Tracing(contenders.Sluice):
    name, title, options = "traced", "trace_comments: true", {"trace_comments": True}


class Untraced(contenders.Sluice):
    name, title, options = "untraced", "trace_comments: false", {"trace_comments": False}


def interval(values):
    """Of the median, at a confidence of 95%: order statistics, by the normal approximation of their binomial ranks."""
    ordered, spread = sorted(values), 0.98 * len(values) ** 0.5
    low = max(int(len(values) / 2 - spread), 0)
    return ordered[low], ordered[len(values) - 1 - low]


def measure(bench, routers, options):
    """{load: [CPU microseconds per call, by router, of each round]}"""
    results = {key: [] for key in options.loads}
    for number in range(options.rounds):
        for key in options.loads:
            title, _, calls = LOADS[key]
            found = {}
            for router in random.sample(routers, len(routers)):
                numbers = pgbench(
                    bench,
                    router,
                    options.clients,
                    "simple",
                    ["-D", f"scale={options.scale}"],
                    script=bench.directory / f"{key}.sql",
                )
                found[router.name] = numbers["cpu_us"] / calls
                print(f"round {number + 1}  {title}  {router.title}: {found[router.name]:.2f} us", flush=True)
            results[key].append(found)
    return results


def markdown(command, results, options):
    lines = [
        "# What tracing costs\n",
        "The router's CPU time per call, all its threads, with `trace_comments` and without, under the same load: pgbench, one SELECT by primary "
        "key per call. A round is short and has both, in random order, for on a shared machine times drift; a ratio is taken within a round, "
        "and the table has the median of the ratios with its 95% interval.\n",
        f"    {command}\n",
        f"Machine: {report.machine()}. {options.clients} clients, simple protocol, scale {options.scale}, {options.seconds} s per run, {options.rounds} rounds.\n",
        "| load | with, us | without, us | ratio | 95% interval |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for key, rounds in results.items():
        ratios = [found["traced"] / found["untraced"] for found in rounds]
        medians = [statistics.median(found[name] for found in rounds) for name in ("traced", "untraced")]
        low, high = interval(ratios)
        lines.append(
            f"| {LOADS[key][0]} | {medians[0]:.1f} | {medians[1]:.1f} | {statistics.median(ratios):.3f} "
            f"| {low:.3f} .. {high:.3f} |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loads", default=",".join(LOADS), help=f"comma separated, of: {', '.join(LOADS)}")
    parser.add_argument("--seconds", type=int, default=1, help="of each pgbench run (default 1)")
    parser.add_argument("--rounds", type=int, default=40, help="how often everything is repeated (default 40)")
    parser.add_argument("--clients", type=int, default=16, help="of pgbench (default 16)")
    parser.add_argument("--scale", type=int, default=10, help="of pgbench's tables (default 10)")
    parser.add_argument("--threads", type=int, default=1, help="of the router (default 1)")
    parser.add_argument(
        "--output",
        type=Path,
        default=compare.REPOSITORY / "docs/bench/tracing.md",
        help="default docs/bench/tracing.md; - only prints",
    )
    options = parser.parse_args()
    options.loads = options.loads.split(",")
    if unknown := set(options.loads) - set(LOADS):
        parser.error(f"unknown load: {', '.join(sorted(unknown))}")
    options.idle, options.result_gib = 100, 0.0
    bench, routers, started = compare.Bench(options), [Tracing(), Untraced()], []
    for key, (_, text, _) in LOADS.items():
        (bench.directory / f"{key}.sql").write_text(text)
    try:
        bench.start(options.scale)
        for router in routers:
            started.append(router)
            router.start(bench)
        results = measure(bench, routers, options)
    finally:
        for router in started:
            router.stop()
        bench.stop()
    text = markdown(
        "tests/bench/compare/compare_tracing.py " + " ".join(sys.argv[1:]), results, options
    )
    if str(options.output) == "-":
        print(text)
    else:
        options.output.write_text(text)
        print(f"written: {options.output}")


if __name__ == "__main__":
    main()
