#!/usr/bin/python3
"""Finds out by callgrind which functions of Sluice's a message passes through and writes src/cli/hot_functions.txt. The
linker lays them side by side in that order: a message passes through some hundred functions once each, and what it
costs is largely fetching them. Run it, on the release build, when those functions have changed; names that no longer
exist do no harm. Needs valgrind."""

import argparse
import collections
import re
import subprocess
import threading
import time

import compare  # noqa: I001 - it finds the harness
import compare_tracing
import contenders
from loads import run_pgbench

OUTPUT = compare.REPOSITORY / "src/cli/hot_functions.txt"
LOADS = [(16, "simple"), (16, "extended"), (16, "prepared")]
TRACED_LOADS = [(16, "simple")]
CALM_SECONDS = 8  # for pgbench to log in, under callgrind
SHARE_MIN = 2e-5  # of a load's instructions; what takes less is a timer's


def under_callgrind(contender):
    """A class as `contender`, whose router runs under callgrind, which counts when it is told to."""

    class Counted(contender):
        def prefix(self, bench):
            output = bench.directory / f"{self.name}.callgrind"
            return [
                "valgrind", "--tool=callgrind", "--instr-atstart=no", "--demangle=no", "--compress-strings=no",
                "--compress-pos=no", f"--callgrind-out-file={output}",
            ]

    return Counted()


def control(router, option):
    subprocess.run(["callgrind_control", option, str(router.pid)], check=True, capture_output=True)


def count(bench, router, clients, protocol, seconds, script):
    """Lets callgrind count while pgbench runs, and then write what it has counted."""
    options = ["-D", "scale=1", "-T", CALM_SECONDS + seconds + 2]
    load = threading.Thread(
        target=run_pgbench, args=(bench, router, clients, protocol, options), kwargs={"script": script}
    )
    load.start()
    time.sleep(CALM_SECONDS)
    control(router, "--instr=on")
    time.sleep(seconds)
    control(router, "--instr=off")
    control(router, "--dump")
    load.join()


def instructions(dump):
    """{mangled name: instructions of its own} of the program's own functions."""
    found, name, own, callee = collections.Counter(), None, False, False
    for line in dump.read_text().splitlines():
        if line.startswith("ob="):
            own = line.endswith("/sluice")
        elif line.startswith("fn="):
            name = line[3:].split("'")[0]
        elif line.startswith("calls="):
            callee = True  # the next line is what the callee took
        elif re.match(r"[0-9]+ ", line):
            if own and not callee:
                found[name] += int(line.split()[1])
            callee = False
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=5, help="of counting, for each load (default 5)")
    parser.add_argument("--output", default=OUTPUT, help="default src/cli/hot_functions.txt")
    options = parser.parse_args()
    options.idle, options.result_gib, options.threads, options.scale = 0, 0, 1, 1
    untraced = [under_callgrind(one) for one in (contenders.Sluice, contenders.SluiceOnRing, contenders.SluiceTransactions)]
    traced = under_callgrind(compare_tracing.Tracing)
    shares = collections.Counter()  # the largest of all loads
    with compare.running(options, [*untraced, traced]) as bench:
        commented = bench.directory / "commented.sql"
        commented.write_text(compare_tracing.LOADS["single"].script)
        runs = [(router, load, None) for router in untraced for load in LOADS]
        for router, (clients, protocol), script in runs + [(traced, load, commented) for load in TRACED_LOADS]:
            print(f"{router.title}: {clients} clients, {protocol}", flush=True)
            count(bench, router, clients, protocol, options.seconds, script)
        for dump in bench.directory.glob("*.callgrind.*"):
            found = instructions(dump)
            for name, own in found.items():
                shares[name] = max(shares[name], own / found.total())
    hot = [name for name, share in shares.most_common() if share >= SHARE_MIN and name.startswith("_Z")]
    with open(options.output, "w", encoding="ascii") as file:
        file.writelines(f"{name}\n" for name in hot)
    print(f"written: {options.output}, {len(hot)} functions")


if __name__ == "__main__":
    main()
