"""Drivers that people have, against the console: usage console_drivers.py CONSOLE_SERVER.

Each client that is not installed is skipped and named; with none at all the exit status is 77.
"""

import asyncio
import shutil
import subprocess
import sys


def check_psql(port):
    if shutil.which("psql") is None:
        return False

    def psql(*arguments, user="operator"):
        return subprocess.run(
            ["psql", "-X", "-At", "-h", "127.0.0.1", "-p", str(port), "-U", user, "-d", "sluice", *arguments],
            capture_output=True, text=True, timeout=30)

    assert psql("-c", "SHOW VERSION").stdout == "Sluice 0.1.0\n"
    assert len(psql("-c", "show pools;").stdout.splitlines()) == 5000
    done = psql("-c", "DRAIN r0", "-c", "RELOAD", "-c", "KILL")
    assert (done.returncode, done.stdout) == (0, "DRAIN\nRELOAD\nKILL\n"), done
    denied = psql("-v", "VERBOSITY=verbose", "-c", "KILL", user="stats")
    assert denied.returncode == 1 and "42501" in denied.stderr, denied
    assert "Did you mean SHOW POOLS?" in psql("-c", "show polls").stderr
    return True


def check_psycopg(port):
    try:
        import psycopg
        from psycopg.rows import dict_row
    except ImportError:
        return False
    dsn = f"host=127.0.0.1 port={port} user=operator dbname=sluice"
    for autocommit in (True, False):
        with psycopg.connect(dsn, autocommit=autocommit, row_factory=dict_row) as connection:
            for binary in (False, True):
                row = connection.execute("SHOW REPLICAS", prepare=True, binary=binary).fetchone()
                assert (row["name"], row["sessions"]) == ("r0", 5), row
            try:
                connection.execute("SHOW nosuch")
                raise AssertionError("no error")
            except psycopg.errors.UndefinedObject:
                connection.rollback()
            assert connection.execute("SELECT 1").fetchone() == {"?column?": 1}
            with connection.pipeline():
                cursors = [connection.execute("SHOW LISTS") for _ in range(10)]
                assert all(len(c.fetchall()) == 18 for c in cursors)
    return True


def check_psycopg2(port):
    try:
        import psycopg2
    except ImportError:
        return False
    connection = psycopg2.connect(host="127.0.0.1", port=port, user="operator", dbname="pgbouncer")
    cursor = connection.cursor()
    cursor.execute("SHOW STATS_TOTALS")
    assert [c.name for c in cursor.description][:2] == ["database", "server_assignment_count"]
    assert cursor.fetchone()[3] == 100
    connection.commit()
    connection.close()
    return True


def check_asyncpg(port):
    try:
        import asyncpg
    except ImportError:
        return False

    async def run():
        pool = await asyncpg.create_pool(host="127.0.0.1", port=port, user="operator", database="sluice",
                                         ssl=False, min_size=1, max_size=1)
        for _ in range(3):
            async with pool.acquire() as connection:
                rows = await connection.fetch("SHOW DECISIONS")
                assert (rows[0]["number"], rows[0]["replica"]) == (1, "r0")
                assert await connection.execute("RELOAD") == "RELOAD"
                async with connection.transaction():
                    assert len([r async for r in connection.cursor("SHOW POOLS", prefetch=700)]) == 5000
        await pool.close()

    asyncio.run(run())
    return True


def main():
    server = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline())
        ran = 0
        for check in (check_psql, check_psycopg, check_psycopg2, check_asyncpg):
            done = check(port)
            ran += done
            print(f"{check.__name__}: {'ok' if done else 'skipped, not installed'}", flush=True)
    finally:
        server.stdin.close()
        status = server.wait(timeout=30)
    assert status == 0, status
    sys.exit(0 if ran else 77)


main()
