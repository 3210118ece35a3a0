"""Runs pg_regress directly and through the router, each on a fresh primary, and compares which tests
passed. See regress.sh."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import postgres
from harness.net import as_postgres, free_port, wait_until
from harness.postgres import Cluster
from harness.router import BINARY, Router
from harness.tls import Authority

PG_REGRESS = postgres.BINDIR.parent / "lib/pgxs/src/test/regress/pg_regress"
TRUSTING = "local all all trust\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"
# What the suite expects of a server: nearly the defaults. The harness's own choices that would show are
# taken back.
DEFAULTS = {
    "jit": "on",
    "max_parallel_workers_per_gather": "2",
    "wal_level": "replica",
    "shared_buffers": "128MB",
    "max_wal_senders": "10",
}


def run_suite(name, work, directory, through_router):
    """One run on a fresh primary. Returns {test: passed} and the folder with the outputs."""
    place = directory / name
    for folder in ("pg", "tls", "out", "router"):
        (place / folder).mkdir(parents=True)
    cluster = Cluster(place / "pg", 0, Authority(place / "tls"))
    router = None
    try:
        cluster.start()
        port = cluster.primary.port
        if through_router:
            router = Router(
                place / "router",
                {
                    "hba": [{"network": "127.0.0.1/32", "method": "trust"}],
                    "server_user": "postgres",
                    "server_reuse": False,
                    "server_tls_sslmode": "disable",
                    "drain_timeout": "1s",
                    "admin_port": free_port(),
                    "max_client_conn": 500,
                    "max_unauthenticated": 200,
                    "primary": {"name": "primary", "host": "127.0.0.1", "port": port},
                    "replicas": [{"name": "r0", "host": "127.0.0.1", "port": port}],
                    "classes": [{"name": "all", "target": 1}],
                    "databases": [{"name": "*", "target": "primary"}],
                },
            ).start(ready=False)
            wait_until(lambda: router.lets_in("postgres", "postgres"), 20, "the router to let sessions in")
            port = router.port
        if os.geteuid() == 0:
            shutil.chown(place / "out", "postgres", "postgres")
        command = [
            PG_REGRESS,
            f"--inputdir={work / 'suite'}",
            f"--outputdir={place / 'out'}",
            f"--bindir={postgres.BINDIR}",
            f"--dlpath={work}",
            f"--schedule={work / 'suite/parallel_schedule'}",
            "--max-connections=20",
            "--host=127.0.0.1",
            f"--port={port}",
            "--user=postgres",
            "--dbname=regression",
            "--no-locale",
            "--encoding=UTF8",
        ]
        started = time.monotonic()
        done = subprocess.run(
            as_postgres(map(str, command)),
            capture_output=True,
            text=True,
            cwd=place / "out",
            timeout=900,
            check=False,
        )
        results = {
            test: word == "ok"
            for test, word in re.findall(r"^(?:test|    ) *(\S+) +\.\.\. (ok|FAILED)", done.stdout, re.M)
        }
        print(
            f"{name}: {sum(results.values())} of {len(results)} tests pass, {time.monotonic() - started:.0f} s",
            flush=True,
        )
        if not results:
            print(done.stdout[-3000:], done.stderr[-3000:])
        return results, place / "out"
    finally:
        if router:
            router.stop()
        cluster.stop()


def main():
    work, keep = Path(sys.argv[1]), "--keep" in sys.argv
    postgres.HBA = TRUSTING
    postgres.SETTINGS.update(DEFAULTS)
    directory = Path(tempfile.mkdtemp(prefix="sluice-regress-"))
    directory.chmod(0o755)
    # The server's user reads the suite: the repository may lie where it cannot go.
    copy = directory / "suite"
    shutil.copytree(work / "suite", copy / "suite")
    shutil.copy(work / "regress.so", copy / "regress.so")
    try:
        direct, _ = run_suite("direct", copy, directory, False)
        if "--direct-only" in sys.argv:
            return 0 if direct else 1
        print(f"program under test: {BINARY}")
        routed, out = run_suite("router", copy, directory, True)
        differ = sorted(
            test for test in direct.keys() | routed.keys() if direct.get(test) != routed.get(test)
        )
        for test in differ:
            print(f"  {test}: directly {direct.get(test)}, through the router {routed.get(test)}")
            expected, seen = directory / "direct/out/results" / f"{test}.out", out / "results" / f"{test}.out"
            if expected.exists() and seen.exists():
                print(
                    subprocess.run(
                        ["diff", expected, seen], capture_output=True, text=True, check=False
                    ).stdout[:3000]
                )
        print("the same result" if not differ and direct else f"{len(differ)} tests differ")
        return 0 if direct and not differ else 1
    finally:
        if keep:
            print(f"outputs in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
