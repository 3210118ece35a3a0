#!/usr/bin/python3
"""Runs Sluice in transaction mode with one thread and with two and writes docs/bench/threads.md: what a second thread
costs in CPU time per transaction, and, each thread under a quota of its own so that the machine is not what is short,
how much more it carries. Asserts nothing. The quotas need root and the cpu controller of cgroup v1."""

import argparse
import contextlib
import random
import statistics
import sys
from pathlib import Path

import compare  # noqa: I001 - it finds the harness
import contenders
import report
from loads import pgbench

CGROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD_US = 10_000
# key: (title, clients, protocol)
LOADS = {
    "simple": ("simple", 64, "simple"),
    "prepared": ("prepared", 64, "prepared"),
    "extended": ("extended", 64, "extended"),
}
NAMES = ["one", "two"]


class Router(contenders.SluiceTransactions):
    def __init__(self, name, threads):
        super().__init__()
        self.name, self.threads = name, threads

    def start(self, bench):
        bench.threads = self.threads
        super().start(bench)

    def workers(self):
        """Of the threads, those that relay."""
        tasks = Path(f"/proc/{self.pid}/task")
        return [task.name for task in tasks.iterdir() if (task / "comm").read_text().startswith("worker")]


@contextlib.contextmanager
def quotas(router, cores):
    """A group of its own for each worker thread of the router, with that many cores."""
    groups = []
    try:
        for number, thread in enumerate(router.workers()):
            group = CGROUPS / f"sluice-bench-{router.pid}-{number}"
            group.mkdir()
            groups.append(group)
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(int(cores * PERIOD_US)))
            (group / "tasks").write_text(thread)
        yield
    finally:
        for group in groups:
            for thread in (group / "tasks").read_text().split():
                (CGROUPS / "tasks").write_text(thread)
            group.rmdir()


def measure(bench, routers, options):
    """{load: [per round: {router: (CPU us without quota, transactions per second under quotas)}]}"""
    results = {key: [] for key in options.loads}
    for number in range(options.rounds):
        for key in options.loads:
            title, clients, protocol = LOADS[key]
            found = {}
            for router in random.sample(routers, len(routers)):
                free = pgbench(bench, router, clients, protocol)
                with quotas(router, options.quota):
                    held = pgbench(bench, router, clients, protocol)
                found[router.name] = (free["cpu_us"], held["tps"])
                print(
                    f"round {number + 1}  {title}  {router.name}: {free['cpu_us']:.1f} us, "
                    f"under quotas {held['tps']:,.0f} transactions/s",
                    flush=True,
                )
            results[key].append(found)
    return results


def markdown(command, results, options):
    lines = [
        "# Two threads beside one\n",
        "Sluice in transaction mode, 50 connections to one server. CPU time is the process's, per transaction, without quotas; transactions per "
        f"second are with each relaying thread in a control group of its own that allows {options.quota:g} of a processor, so that a second thread is a second "
        "capacity however many processors the machine has. Medians of the rounds; ratios are taken within a round.\n",
        f"    {command}\n",
        f"Machine: {report.machine()}. {options.seconds} s per run, {options.rounds} rounds, 64 clients, pgbench -S, scale {options.scale}.\n",
        "| protocol | CPU us, one thread | two | ratio | transactions/s under quotas, one thread | two | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for key, rounds in results.items():
        cells = []
        for index, form in ((0, "{:.1f}"), (1, "{:,.0f}")):
            cells += [form.format(statistics.median(found[name][index] for found in rounds)) for name in NAMES]
            cells.append(f"{statistics.median(found['two'][index] / found['one'][index] for found in rounds):.2f}")
        lines.append(f"| {LOADS[key][0]} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loads", default=",".join(LOADS), help=f"comma separated, of: {', '.join(LOADS)}")
    parser.add_argument("--seconds", type=int, default=4, help="of each pgbench run (default 4)")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is repeated (default 5)")
    parser.add_argument("--scale", type=int, default=10, help="of pgbench's tables (default 10)")
    parser.add_argument("--quota", type=float, default=0.3, help="processors per thread (default 0.3)")
    parser.add_argument(
        "--output",
        type=Path,
        default=compare.REPOSITORY / "docs/bench/threads.md",
        help="default docs/bench/threads.md; - only prints",
    )
    options = parser.parse_args()
    options.loads = options.loads.split(",")
    if unknown := set(options.loads) - set(LOADS):
        parser.error(f"unknown load: {', '.join(sorted(unknown))}")
    if not (CGROUPS / "tasks").exists():
        parser.error(f"no cpu controller of cgroup v1 at {CGROUPS}")
    options.idle, options.result_gib, options.threads = 100, 0.0, 1
    bench, routers, started = compare.Bench(options), [Router(name, n + 1) for n, name in enumerate(NAMES)], []
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
    text = markdown("tests/bench/compare/compare_threads.py " + " ".join(sys.argv[1:]), results, options)
    if str(options.output) == "-":
        print(text)
    else:
        options.output.write_text(text)
        print(f"written: {options.output}")


if __name__ == "__main__":
    main()
