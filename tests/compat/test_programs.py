"""Programs and drivers in other languages: psql, pgbench, libpq's pipeline mode in C, node's two drivers,
JDBC."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.postgres import BINDIR, PASSWORD
from harness.router import REPOSITORY

HERE = Path(__file__).resolve().parent
MODES = {"plain": "disable", "tls": "require"}


def run(command, timeout=100, stdin=None, **environment):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=timeout,
        input=stdin,
        env={**os.environ, "PGPASSWORD": PASSWORD, **environment},
        check=False,
    )
    assert (
        done.returncode == 0
    ), f"exit status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def driver_arguments(front, mode):
    return [front.host, front.port, "alice", PASSWORD, "app", mode]


@pytest.fixture(scope="module", params=MODES)
def mode(request):
    return request.param


def psql(front, mode, *arguments, stdin=None):
    return run(
        [BINDIR / "psql", "-X", "-v", "ON_ERROR_STOP=1", "-At", *arguments, front.dsn(sslmode=MODES[mode])],
        stdin=stdin,
    )


def test_psql_runs_a_script(front, mode, tmp_path):
    data = tmp_path / "data"
    data.write_text("".join(f"{i}\trow {i}\n" for i in range(5000)))
    out = psql(
        front,
        mode,
        stdin=f"""
        \\conninfo
        create temp table t (a int, b text);
        \\copy t from '{data}'
        select count(*) from t;
        \\copy t to '{tmp_path / "back"}'
        begin; \\set ON_ERROR_STOP 0
        select 1/0;
        \\echo :LAST_ERROR_SQLSTATE
        rollback; \\set FETCH_COUNT 100
        select count(b) from t; select a from t where a > 4990;
        \\d t
        """,
    )
    assert "5000" in out and "22012" in out and "4999" in out
    assert (tmp_path / "back").read_text() == data.read_text()


def test_psql_notices_and_notifications(front, mode):
    out = psql(
        front,
        mode,
        stdin="listen c;\nnotify c, 'heard';\nselect pg_sleep(0.3);\nselect 1;\ndo $$ begin raise notice 'seen'; end $$;",
    )
    assert 'Asynchronous notification "c" with payload "heard"' in out


def test_pg_dump_and_restore(front, cluster, mode, tmp_path):
    cluster.primary.query(
        "drop table if exists dumped; create table dumped as select i, repeat('x', i % 50) t from generate_series(1, 5000) i; "
        "alter table dumped owner to alice",
        database="app",
    )
    dump = tmp_path / "dump.sql"
    run([BINDIR / "pg_dump", "-t", "dumped", "-f", dump, front.dsn(sslmode=MODES[mode])])
    cluster.primary.query("drop table dumped", database="app")
    psql(front, mode, "-q", "-f", dump)
    assert cluster.primary.value("select count(*) from dumped", database="app") == 5000


@pytest.fixture(scope="module")
def pgbench_tables(cluster):
    run([BINDIR / "pgbench", "-i", "-q", "-s", "1", cluster.primary.dsn()])


@pytest.mark.parametrize("script", ["tpcb-like", "simple-update", "select-only"])
@pytest.mark.parametrize("protocol", ["simple", "extended", "prepared"])
def test_pgbench_builtin_scripts(front, pgbench_tables, mode, script, protocol):
    out = run(
        [
            BINDIR / "pgbench",
            "-n",
            "-b",
            script,
            "-M",
            protocol,
            "-c",
            "8",
            "-j",
            "2",
            "-t",
            "60",
            front.dsn(sslmode=MODES[mode]),
        ]
    )
    assert "number of transactions actually processed: 480/480" in out
    assert "number of failed transactions: 0" in out


def test_pgbench_new_connection_per_transaction(front, pgbench_tables, mode):
    out = run([BINDIR / "pgbench", "-n", "-S", "-C", "-c", "4", "-t", "50", front.dsn(sslmode=MODES[mode])])
    assert "number of transactions actually processed: 200/200" in out


def test_pgbench_pipelines(front, pgbench_tables, mode, tmp_path):
    script = tmp_path / "pipeline.sql"
    script.write_text("\\startpipeline\n" + "".join(f"select {i};\n" for i in range(20)) + "\\endpipeline\n")
    out = run(
        [
            BINDIR / "pgbench",
            "-n",
            "-f",
            script,
            "-M",
            "extended",
            "-c",
            "4",
            "-t",
            "100",
            front.dsn(sslmode=MODES[mode]),
        ]
    )
    assert "number of transactions actually processed: 400/400" in out


@pytest.fixture(scope="module")
def pipeline_client(tmp_path_factory):
    program = tmp_path_factory.mktemp("libpq") / "pipeline_client"
    flags = run(["pkg-config", "--cflags", "--libs", "libpq"]).split()
    run(["cc", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "libpq/pipeline_client.c", *flags])
    return program


def test_libpq_pipeline_mode(front, mode, pipeline_client):
    out = run([pipeline_client, front.dsn(sslmode=MODES[mode])])
    assert out.count("ok ") == 4


@pytest.fixture(scope="module")
def node_modules():
    """The drivers as the lock file pins them, installed beside the scripts in the build folder; kept from
    run to run."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    folder = REPOSITORY / "build/compat-node"
    folder.mkdir(parents=True, exist_ok=True)
    lock = HERE / "node/package-lock.json"
    fresh = (folder / "package-lock.json").exists() and (
        folder / "package-lock.json"
    ).read_bytes() == lock.read_bytes()
    for file in (HERE / "node").iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    if not (fresh and (folder / "node_modules/.package-lock.json").exists()):
        try:
            subprocess.run(
                ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
                timeout=110,
            )
        except subprocess.CalledProcessError as fault:
            pytest.fail(f"npm ci: {fault.stderr[-2000:]}")
    return folder


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "script, checks", [("pg_client.mjs", 9), ("postgres_client.mjs", 10)], ids=["pg", "postgres"]
)
def test_node_drivers(front, mode, node_modules, script, checks):
    out = run(["node", node_modules / script, *driver_arguments(front, mode)])
    assert out.count("ok ") == checks, out


def test_jdbc(front, mode):
    jar = Path("/usr/share/java/postgresql.jar")
    if not jar.exists() or not shutil.which("java"):
        pytest.skip("java or its PostgreSQL driver is not installed")
    jars = [
        jar,
        *sorted(Path("/usr/share/java").glob("scram-*.jar")),
        *sorted(Path("/usr/share/java").glob("*stringprep*.jar")),
        *sorted(Path("/usr/share/java").glob("saslprep*.jar")),
    ]
    out = run(
        [
            "java",
            "-cp",
            ":".join(map(str, jars)),
            HERE / "jdbc/JdbcClient.java",
            *driver_arguments(front, mode),
        ]
    )
    assert out.count("ok ") == 10, out
