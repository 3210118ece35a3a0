"""Sluice with something and without it under the same loads: what it costs in CPU time. A run is short and a round has both, in random
order, for on a shared machine times drift; a ratio is taken within a round."""

import dataclasses
import random
import statistics
import sys
from pathlib import Path

import compare  # noqa: I001 - it finds the harness
import report
from loads import pgbench


@dataclasses.dataclass
class Load:
    title: str
    protocol: str = "simple"
    script: str | None = None  # for pgbench; none: its own -S
    calls: int = 1  # in a transaction of the script


def interval(values):
    """Of the median, at a confidence of 95%: order statistics, by the normal approximation of their binomial ranks."""
    ordered, spread = sorted(values), 0.98 * len(values) ** 0.5
    low = max(int(len(values) / 2 - spread), 0)
    return ordered[low], ordered[len(values) - 1 - low]


def measure(bench, routers, loads, options):
    """{load: [CPU microseconds per call, by router, of each round]}"""
    results = {key: [] for key in options.loads}
    scripts = {}
    for key in options.loads:
        if loads[key].script is not None:
            scripts[key] = bench.directory / f"{key}.sql"
            scripts[key].write_text(loads[key].script)
    for number in range(options.rounds):
        for key in options.loads:
            load, found = loads[key], {}
            for router in random.sample(routers, len(routers)):
                numbers = pgbench(
                    bench,
                    router,
                    options.clients,
                    load.protocol,
                    ["-D", f"scale={options.scale}"],
                    script=scripts.get(key),
                )
                found[router.name] = numbers["cpu_us"] / load.calls
                print(f"round {number + 1}  {load.title}  {router.title}: {found[router.name]:.2f} us", flush=True)
            results[key].append(found)
    return results


def markdown(title, about, command, results, loads, options, names):
    """`names`: of the router with it and of the one without."""
    lines = [
        f"# {title}\n",
        f"{about} A round is short and has both, in random order, for on a shared machine times drift; a ratio is taken within a round, "
        "and the table has the median of the ratios with its 95% interval.\n",
        f"    {command}\n",
        f"Machine: {report.machine()}. {options.clients} clients, scale {options.scale}, {options.seconds} s per run, {options.rounds} rounds.\n",
        "| load | with, us | without, us | ratio | 95% interval |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for key, rounds in results.items():
        ratios = [found[names[0]] / found[names[1]] for found in rounds]
        medians = [statistics.median(found[name] for found in rounds) for name in names]
        low, high = interval(ratios)
        lines.append(
            f"| {loads[key].title} | {medians[0]:.1f} | {medians[1]:.1f} | {statistics.median(ratios):.3f} "
            f"| {low:.3f} .. {high:.3f} |"
        )
    return "\n".join(lines) + "\n"


def run(doc, title, about, output, seconds, loads, routers, check=lambda bench: None):
    """The whole of such a comparison. `routers`: the one with it and the one without; `check` looks at what the runs left behind."""
    parser = compare.arguments(doc, loads, seconds, 40, output)
    parser.add_argument("--clients", type=int, default=16, help="of pgbench (default 16)")
    parser.add_argument("--threads", type=int, default=1, help="of the router (default 1)")
    parser.set_defaults(idle=100, result_gib=0.0)
    options = compare.parse(parser, loads)
    with compare.running(options, routers) as bench:
        results = measure(bench, routers, loads, options)
        check(bench)
    command = f"tests/bench/compare/{Path(sys.argv[0]).name} " + " ".join(sys.argv[1:])
    text = markdown(title, about, command, results, loads, options, [router.name for router in routers])
    compare.write(text, options.output)
