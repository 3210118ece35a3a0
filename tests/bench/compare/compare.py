#!/usr/bin/python3
"""Runs Sluice, PgBouncer and HAProxy on the same PostgreSQL server and writes docs/bench/compare.md.
Asserts nothing."""

import argparse
import contextlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
sys.path[:0] = [str(HERE), str(REPOSITORY / "tests/integration")]

import contenders as candidates  # noqa: E402 - the path comes first
import report  # noqa: E402
from harness import postgres  # noqa: E402
from harness.postgres import BINDIR, PASSWORD, Cluster  # noqa: E402
from harness.router import BINARY  # noqa: E402
from harness.tls import Authority  # noqa: E402
from harness.wire import LoginRefused  # noqa: E402
from loads import LOADS, Unsupported  # noqa: E402


class Bench:
    """The server under load, the scratch folder, and the options."""

    def __init__(self, options):
        self.seconds, self.idle, self.result_gib, self.threads = (
            options.seconds,
            options.idle,
            options.result_gib,
            options.threads,
        )
        self.directory = Path(tempfile.mkdtemp(prefix="sluice-bench-"))
        self.directory.chmod(0o755)
        for name in ("tls", "pg"):
            (self.directory / name).mkdir()
        authority = Authority(self.directory / "tls")
        certificate, key = authority.issue("proxy", "localhost", ["localhost", "127.0.0.1"])
        password = self.directory / "password"
        password.write_text(PASSWORD)
        self.files = {"certificate": certificate, "key": key, "password": password}
        postgres.SETTINGS.update({"max_connections": str(options.idle + 200), "shared_buffers": "256MB"})
        self.cluster = Cluster(self.directory / "pg", 1, authority)
        self.server = self.cluster.standbys[0]

    def start(self, scale):
        self.cluster.start()
        subprocess.run(
            [str(BINDIR / "pgbench"), "-i", "-q", "-s", str(scale), self.cluster.primary.dsn()],
            check=True,
            capture_output=True,
        )
        self.cluster.wait_for_replay()

    def stop(self):
        self.cluster.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


def measure(bench, contenders, keys, rounds):
    """{load: [one dictionary per round: {contender: numbers}]}"""
    functions = {key: entry for group in LOADS.values() for key, entry in group.items()}
    results = {key: [] for key in keys}
    for number in range(rounds):
        for key in keys:
            title, load = functions[key]
            found = {}
            for contender in random.sample(contenders, len(contenders)):
                try:
                    found[contender.name] = load(bench, contender)
                    numbers = ", ".join(
                        f"{name} {value:,.1f}" for name, value in found[contender.name].items()
                    )
                    print(f"round {number + 1}  {title}  {contender.name}: {numbers}", flush=True)
                except Unsupported:
                    continue
                except (
                    subprocess.CalledProcessError,
                    OSError,
                    AssertionError,
                    IndexError,
                    LoginRefused,
                ) as fault:
                    detail = getattr(fault, "stderr", b"") or str(fault)
                    print(
                        f"round {number + 1}  {title}  {contender.name}: FAILED {detail!r:.300}", flush=True
                    )
            results[key].append(found)
    return results


@contextlib.contextmanager
def running(options, contenders):
    """A Bench with all contenders in front of its server."""
    bench, started = Bench(options), []
    try:
        bench.start(options.scale)
        for contender in contenders:
            started.append(contender)
            contender.start(bench)
        yield bench
    finally:
        for contender in started:
            contender.stop()
        bench.stop()


def arguments(doc, loads, seconds, rounds, output, groups=None):
    """What all comparisons with pgbench are asked: parse() reads it."""
    parser = argparse.ArgumentParser(description=doc)
    of_groups = f"; or a group: {', '.join(groups)}" if groups else ""
    parser.add_argument(
        "--loads", default=",".join(loads), help=f"comma separated, of: {', '.join(loads)}{of_groups}"
    )
    parser.add_argument(
        "--seconds", type=int, default=seconds, help=f"of each pgbench run (default {seconds})"
    )
    parser.add_argument(
        "--rounds", type=int, default=rounds, help=f"how often everything is repeated (default {rounds})"
    )
    parser.add_argument("--scale", type=int, default=10, help="of pgbench's tables (default 10)")
    parser.add_argument(
        "--output", type=Path, default=REPOSITORY / output, help=f"default {output}; - only prints"
    )
    return parser


def parse(parser, loads, groups=None):
    """The options; `loads` is then a list of known ones."""
    options = parser.parse_args()
    options.loads = [key for word in options.loads.split(",") for key in (groups or {}).get(word, [word])]
    if unknown := set(options.loads) - set(loads):
        parser.error(f"unknown load: {', '.join(sorted(unknown))}")
    return options


def write(text, output):
    if str(output) == "-":
        print(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
        print(f"written: {output}")


def raise_descriptor_limit():
    """As far as it goes, for ourselves and for what we start, which inherits it."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def main():
    keys = [key for group in LOADS.values() for key in group]
    parser = arguments(__doc__, keys, 8, 3, "docs/bench/compare.md", LOADS)
    parser.add_argument(
        "--contenders",
        default="direct,pgbouncer,haproxy,sluice,sluice-io_uring",
        help=f"comma separated, of: {', '.join(candidates.ALL)}; default those with session pooling",
    )
    parser.add_argument("--idle", type=int, default=2000, help="idle sessions (default 2000)")
    parser.add_argument("--result-gib", type=float, default=1.0, help="size of the large result (default 1)")
    parser.add_argument(
        "--threads", type=int, default=1, help="of Sluice and HAProxy (default 1, as PgBouncer has)"
    )
    options = parse(parser, keys, LOADS)

    subprocess.run(["bash", str(REPOSITORY / "deploy/install-deps.sh"), "bench"], check=True)
    raise_descriptor_limit()
    contenders = [
        candidates.ALL[name]()
        for name in options.contenders.split(",")
        if not name.startswith("sluice") or BINARY.exists()
    ]
    with running(options, contenders) as bench:
        results = measure(bench, contenders, options.loads, options.rounds)
    versions = [contender.version() for contender in contenders if hasattr(contender, "version")]
    notes = (
        f"pgbench scale {options.scale}, {options.seconds} s per run, {options.rounds} rounds; {options.idle:,} idle sessions; a result of "
        f"{options.result_gib:g} GiB; Sluice and HAProxy with {options.threads} thread{'s' if options.threads > 1 else ''}."
    )
    text = report.markdown(
        "tests/bench/compare/compare.py " + " ".join(sys.argv[1:]),
        versions,
        results,
        contenders,
        LOADS,
        notes,
    )
    write(text, options.output)


if __name__ == "__main__":
    main()
