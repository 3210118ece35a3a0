#!/usr/bin/python3
"""Runs Sluice in transaction mode with one thread and with two and writes docs/bench/threads.md: what a second thread
costs in CPU time per transaction, and, each thread under a quota of its own so that the machine is not what is short,
how much more it carries. Asserts nothing. The quotas need root and the cpu controller of cgroup v1."""

import contextlib
import random
import statistics
import sys
from pathlib import Path

import compare  # noqa: I001 - it finds the harness
import contenders
import report
from loads import pgbench

sys.path.append(str(compare.REPOSITORY / "tests/experiments"))

import quotas  # noqa: E402 - the path comes first

PROTOCOLS = ["simple", "prepared", "extended"]
CLIENTS = 64
NAMES = ["one", "two"]
LIGHT = "SELECT 1;\n"  # on two processors a larger query leaves too little to two threads of the router


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
def held(router, cores):
    """Each worker thread of the router in a group of its own, with that many cores."""
    with contextlib.ExitStack() as stack:
        for number, thread in enumerate(router.workers()):
            group = stack.enter_context(quotas.Quota(f"sluice_bench_{router.pid}_{number}", cores, made_by=quotas.thread_controller()))
            group.add_thread(thread)
        yield


def measure(bench, routers, options):
    """{protocol: [per round: {router: (CPU us without quota, transactions per second under quotas)}]}"""
    results = {protocol: [] for protocol in options.loads}
    light = bench.directory / "light.sql"
    light.write_text(LIGHT, encoding="ascii")
    for number in range(options.rounds):
        for protocol in options.loads:
            found = {}
            for router in random.sample(routers, len(routers)):
                free = pgbench(bench, router, CLIENTS, protocol)
                with held(router, options.quota):
                    limited = pgbench(bench, router, CLIENTS, protocol, script=light)
                found[router.name] = (free["cpu_us"], limited["tps"])
                print(
                    f"round {number + 1}  {protocol}  {router.name}: {free['cpu_us']:.1f} us, "
                    f"under quotas {limited['tps']:,.0f} transactions/s",
                    flush=True,
                )
            results[protocol].append(found)
    return results


def markdown(command, results, options):
    lines = [
        "# Two threads beside one\n",
        "Sluice in transaction mode, 50 connections to one server. CPU time is the process's, per transaction of pgbench -S, without quotas; transactions per "
        f"second are of `{LIGHT.strip()}` with each relaying thread in a control group of its own that allows {options.quota:g} of a processor, so that a second "
        "thread is a second capacity, as long as PostgreSQL and pgbench find what they need on the rest of the machine. Medians of the rounds; ratios are taken "
        "within a round.\n",
        f"    {command}\n",
        f"Machine: {report.machine()}. {options.seconds} s per run, {options.rounds} rounds, {CLIENTS} clients, scale {options.scale}.\n",
        "| protocol | CPU us, one thread | two | ratio | transactions/s under quotas, one thread | two | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for protocol, rounds in results.items():
        cells = []
        for index, form in ((0, "{:.1f}"), (1, "{:,.0f}")):
            cells += [form.format(statistics.median(found[name][index] for found in rounds)) for name in NAMES]
            cells.append(f"{statistics.median(found['two'][index] / found['one'][index] for found in rounds):.2f}")
        lines.append(f"| {protocol} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = compare.arguments(__doc__, PROTOCOLS, 4, 5, "docs/bench/threads.md")
    parser.add_argument("--quota", type=float, default=0.3, help="processors per thread (default 0.3)")
    options = compare.parse(parser, PROTOCOLS)
    try:
        quotas.check_quota(options.quota)
        quotas.thread_controller()
    except quotas.NoQuotas as reason:
        parser.error(str(reason))
    options.idle, options.result_gib, options.threads = 100, 0.0, 1
    routers = [Router(name, number + 1) for number, name in enumerate(NAMES)]
    with compare.running(options, routers) as bench:
        results = measure(bench, routers, options)
    command = "tests/bench/compare/compare_threads.py " + " ".join(sys.argv[1:])
    compare.write(markdown(command, results, options), options.output)


if __name__ == "__main__":
    main()
