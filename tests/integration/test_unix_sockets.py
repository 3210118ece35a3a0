"""Clients that come by a Unix socket, of which there is one whatever the number of threads."""

import os
import subprocess

import pytest

from harness.net import free_port, wait_until
from harness.postgres import PASSWORD
from harness.router import BINARY, SANITIZED
from harness.wire import LoginRefused


@pytest.fixture
def folder(tmp_path):
    """A folder that clients of other users can enter, and whose paths are short enough for a socket."""
    tmp_path.chmod(0o755)
    return tmp_path


def psql(folder, port, sql, user="alice", database="app"):
    command = ["psql", "-XAtq", "-h", str(folder), "-p", str(port), "-U", user, "-d", database, "-c", sql]
    environment = {**os.environ, "PGPASSWORD": PASSWORD, "PGCONNECT_TIMEOUT": "10"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, env=environment)
    return done.stdout.strip() or done.stderr.strip()


@pytest.mark.short
@pytest.mark.parametrize("reuseport", [True, False])
def test_psql_comes_in_by_a_socket_file_that_all_threads_accept_from(make_router, folder, reuseport):
    path = folder / ".s.PGSQL.7001"
    router = make_router(
        listen_addr=["127.0.0.1", str(path)],
        threads=3,
        so_reuseport=reuseport,
        hba=[
            {"network": "unix", "user": "trusted", "method": "trust"},
            {"network": "unix", "user": "alice", "method": "scram-sha-256"},
            {"network": "127.0.0.0/8", "user": "admin", "method": "scram-sha-256"},
        ],
    )
    assert psql(folder, 7001, "select current_user, inet_client_addr() is not null") == "alice|t"
    assert psql(folder, 7001, "select current_user", user="trusted") == "trusted"
    for _ in range(30):
        assert psql(folder, 7001, "select 1", user="trusted") == "1"
    with pytest.raises(LoginRefused) as refused:
        router.session("alice", "app")
    assert refused.value.sqlstate == "28000", "its rule is for Unix sockets alone"
    kept = subprocess.Popen(
        ["psql", "-XAtq", "-h", str(folder), "-p", "7001", "-U", "trusted", "-d", "app"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    kept.stdin.write("select 7;\n")
    kept.stdin.flush()
    assert kept.stdout.readline() == "7\n"
    shown = [row for row in router.console("show clients") if row["user"] == "trusted"]
    assert [row["addr"] for row in shown] == ["unix"]
    kept.communicate("\\q\n", timeout=10)
    router.stop()
    assert not path.exists()


def test_a_router_takes_the_file_of_one_that_was_killed(make_router, folder):
    path = folder / ".s.PGSQL.7002"
    router = make_router(listen_addr=["127.0.0.1", str(path)], threads=2)
    router.process.kill()
    router.process.wait()
    router.process = None
    assert path.exists()
    router.start()
    assert psql(folder, 7002, "select 1") == "1"


@pytest.mark.parametrize("command", ["router", "placer"])
def test_a_folder_in_place_of_the_file_is_refused_with_words_that_help(folder, command):
    config = folder / "config.yaml"
    if command == "router":
        users = folder / "users"
        users.write_text("")
        users.chmod(0o600)
        config.write_text(f"listen_addr: {folder}\nreplicas: [{{host: 127.0.0.1}}]\nauth_file: {users}\n")
    else:
        config.write_text(f"listen_addr: {folder}\ncompute_hosts: [{{name: a, address: 127.0.0.1, port: 1}}]\n")
    done = subprocess.run([BINARY, command, "-c", config], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert str(folder) in done.stderr and "folder" in done.stderr and ".s.PGSQL." in done.stderr, done.stderr


@pytest.mark.short
def test_the_placer_serves_by_a_socket_file_with_more_than_one_thread(make_placer, make_host, folder):
    path = folder / "placer.sock"
    host = make_host("a")
    placer = make_placer(host, listen_addr=["127.0.0.1", str(path)], threads=3)

    def fetch():
        command = ["curl", "-sS", "-i", "--max-time", "10", "--unix-socket", str(path), "http://placer/x"]
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout

    for _ in range(3 if SANITIZED else 20):
        assert "200 OK" in fetch()
    wait_until(lambda: any("/x" in line for line in placer.access_lines()), 5, "the access log")
    placer.stop()
    assert not path.exists()


@pytest.mark.short
def test_an_abstract_name_is_listened_on_and_leads_to_servers(make_router, tmp_path, cluster):
    """One router in front of another, which has no file and no port in between."""
    name = f"@sluice{tmp_path}"
    behind = make_router(
        listen_addr=["127.0.0.1", f"{name}/.s.PGSQL.7003"],
        threads=2,
        hba=[{"network": "unix", "method": "scram-sha-256"}, {"user": "admin", "method": "scram-sha-256"}],
    )
    assert psql(name, 7003, "select current_user") == "alice"
    front = make_router(
        primary={"name": "primary", "host": name, "port": 7003},
        health_check_user=None,
        health_check_password_file=None,
    )
    with front.session("alice", "app") as client:
        assert client.value("select 1") == "1"
        [row] = [row for row in behind.console("show clients") if row["user"] == "alice"]
        assert row["addr"] == "unix"


def test_listeners_have_rules_of_their_own(make_router, folder):
    """IPv4, IPv6, a file and an abstract name, told apart by their listeners' names in rules, and by network in hba."""
    path = folder / ".s.PGSQL.7004"
    port6 = free_port()
    router = make_router(
        listeners=[
            {"name": "six", "address": "::1", "port": port6},
            {"name": "file", "address": str(path)},
            {"name": "hidden", "address": f"@{path}"},
        ],
        rules=[
            {"listener": "six", "class": "premium"},
            {"listener": "file", "class": "freemium"},
            {"listener": "hidden", "class": "premium"},
        ],
        hba=[
            {"network": "::1/128", "user": ["alice", "bob"], "method": "scram-sha-256"},
            {"network": "unix", "user": "alice", "method": "scram-sha-256"},
            {"network": "127.0.0.0/8", "user": "admin", "method": "scram-sha-256"},
        ],
    )

    def held(host, port, user):
        process = subprocess.Popen(
            ["psql", "-XAtq", "-h", host, "-p", str(port), "-U", user, "-d", "app"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PGPASSWORD": PASSWORD},
        )
        process.stdin.write("select 7;\n")
        process.stdin.flush()
        assert process.stdout.readline() == "7\n"
        return process

    for host, port, user, addr, priority in (
        ("::1", port6, "bob", "::1", "premium"),
        (str(folder), 7004, "alice", "unix", "freemium"),
        (f"@{folder}", 7004, "alice", "unix", "premium"),
    ):
        process = held(host, port, user)
        [row] = [row for row in router.console("show clients") if row["user"] == user]
        assert (row["addr"], row["class"]) == (addr, priority)
        process.communicate("\\q\n", timeout=10)
        wait_until(
            lambda: not [row for row in router.console("show clients") if row["user"] == user], what="it to be gone"
        )
    assert "connection rejected" in psql(folder, 7004, "select 1", user="bob"), "his rule is for IPv6"
