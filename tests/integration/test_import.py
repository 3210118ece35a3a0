"""`sluice import`: a PgBouncer set-up becomes one of the router's, and the router runs with it."""

import subprocess

import pytest

from harness.postgres import PASSWORD
from harness.router import BINARY

INI = """;; a set-up as people have it
[databases]
app = host={primary_host} port={primary_port}
app_read = host={replica_hosts} port={replica_ports} dbname=app
* = host={primary_host} port={primary_port} connect_query='select 1'

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = 6432
auth_type = scram-sha-256
auth_file = {userlist}
admin_users = admin
stats_users = stats
logfile = /var/log/pgbouncer/pgbouncer.log
max_client_conn = 200
server_tls_sslmode = disable
ignore_startup_parameters = extra_float_digits
%include more.ini
"""


def run(*arguments, cwd=None):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=30, cwd=cwd)


def test_an_imported_configuration_passes_check_and_serves(make_router, cluster, files, tmp_path):
    ini = tmp_path / "pgbouncer.ini"
    ini.write_text(
        INI.format(
            primary_host=cluster.primary.host,
            primary_port=cluster.primary.port,
            replica_hosts=",".join(s.host for s in cluster.standbys),
            replica_ports=",".join(str(s.port) for s in cluster.standbys),
            userlist=files["userlist"],
        )
    )
    (tmp_path / "more.ini").write_text("query_wait_timeout = 30\ndefault_pool_size = 5\n")
    made = run("import", ini, cwd="/")
    assert made.returncode == 0, made.stderr
    lines = made.stderr.splitlines()
    assert any(line.startswith(f"{ini}:14: logfile: ") for line in lines), made.stderr
    assert any("more.ini:2: default_pool_size: " in line for line in lines), made.stderr
    assert PASSWORD not in made.stdout + made.stderr
    config = tmp_path / "sluice.yaml"
    config.write_text(made.stdout)
    checked = run("check", "-c", config)
    assert checked.returncode == 0, checked.stdout

    router = make_router(start=False)
    text = made.stdout.replace("listen_port: 6432", f"listen_port: {router.port}")
    router.write_config = lambda **changes: router.config_file.write_text(
        text + f"admin_port: {router.config['admin_port']}\n"
    )
    router.start()
    with router.session() as client:
        assert client.value("select pg_is_in_recovery()") == "f"
    with router.session(database="app_read") as client:
        assert client.value("select pg_is_in_recovery()") == "t"
    assert len(router.console("show replicas")) == 6


@pytest.mark.parametrize(
    "text, message",
    [
        ("[databases\n", ":1: a section without ]"),
        ("[databases]\nfoo\n", ":2: neither a section nor key = value"),
        ("%include gone.ini\n", ":1: gone.ini"),
        ("", "holds no settings"),
    ],
)
def test_a_file_that_cannot_be_read_translates_nothing(tmp_path, text, message):
    ini = tmp_path / "pgbouncer.ini"
    ini.write_text(text)
    made = run("import", ini)
    assert (made.returncode, made.stdout) == (1, "")
    assert message in made.stderr


def test_a_missing_file_and_a_missing_argument_are_told_apart(tmp_path):
    assert run("import", tmp_path / "nosuch.ini").returncode == 1
    assert run("import").returncode == 2
