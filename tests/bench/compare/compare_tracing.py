#!/usr/bin/python3
"""Runs Sluice with and without trace_comments under the same loads and writes docs/bench/tracing.md: what it costs to
read comments and to group calls into requests. Asserts nothing."""

import random
import statistics
import sys

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
    parser = compare.arguments(__doc__, LOADS, 1, 40, "docs/bench/tracing.md")
    parser.add_argument("--clients", type=int, default=16, help="of pgbench (default 16)")
    parser.add_argument("--threads", type=int, default=1, help="of the router (default 1)")
    options = compare.parse(parser, LOADS)
    options.idle, options.result_gib = 100, 0.0
    routers = [Tracing(), Untraced()]
    with compare.running(options, routers) as bench:
        for key, (_, text, _) in LOADS.items():
            (bench.directory / f"{key}.sql").write_text(text)
        results = measure(bench, routers, options)
    command = "tests/bench/compare/compare_tracing.py " + " ".join(sys.argv[1:])
    compare.write(markdown(command, results, options), options.output)


if __name__ == "__main__":
    main()
