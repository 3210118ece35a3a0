"""A server whose link dies without a packet: noticed within the configured limits in whatever state it meets a
session, and every client is told."""

import threading
import time

import pytest

from harness import messages as m
from harness import namespace as ns
from harness.messages import Q
from harness.net import wait_until
from harness.wire import LoginRefused

# What notices: the health checks, or the kernel by keepalives and unacknowledged data.
HEALTH = {"health_check_interval": "500ms", "health_check_timeout": "400ms", "health_check_fall": 3}
KERNEL = {
    "health_check_interval": "60s",
    "tcp_keepidle": "1s",
    "tcp_keepintvl": "1s",
    "tcp_keepcnt": 2,
    "tcp_user_timeout": "3s",
}


@pytest.fixture(scope="module")
def space():
    reason = ns.unavailable()
    if reason:
        pytest.skip(reason)
    made = ns.Namespace()
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.fixture(scope="module")
def server(space, workspace, authority, cluster):
    directory = workspace / "pg-namespace"
    directory.mkdir()
    made = ns.NamespaceServer(space, directory, authority)
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.fixture
def mended(space):
    space.mend()
    yield space
    space.mend()


def users_of(server, tmp_path):
    """The verifiers of that server: its roles have salts of their own."""
    users = tmp_path / "namespace-users.txt"
    users.write_text("".join(f'"{name}" "{secret}"\n' for name, secret in server.cluster.secrets()))
    users.chmod(0o600)
    return {"auth_file": str(users), "admin_users": ["postgres"], "stats_users": None}


def primary_at(port):
    return {"name": "primary", "host": ns.ADDRESS, "port": port}


# B71
@pytest.mark.parametrize("limits", [HEALTH, KERNEL], ids=["health checks", "kernel"])
@pytest.mark.parametrize("state", ["idle", "query"])
def test_a_dead_link_ends_the_session_and_says_so(make_router, mended, server, tmp_path, state, limits):
    router = make_router(**users_of(server, tmp_path), primary=primary_at(server.port), **limits)
    with router.session() as client:
        if state == "query":
            client.send(Q("select pg_sleep(60)"))
            time.sleep(0.3)
        started = time.monotonic()
        mended.cut()
        answer = client.read_until("", timeout=15)
        assert answer[-1] is m.CLOSED
        assert m.sqlstate(answer[-2]) == ("08006" if state == "query" else "57P01")
        assert time.monotonic() - started < 12
    wait_until(lambda: router.metric("sluice_sessions") == 0, 10, "the session to be given up")


# B71
@pytest.mark.parametrize("state", ["connecting", "SASL answer"])
def test_a_link_that_dies_during_the_login_is_given_up_in_time(make_router, mended, server, tmp_path, state):
    with mended.silent_at_sasl() as (port, somebody_waits):
        router = make_router(
            **users_of(server, tmp_path),
            primary=primary_at(port if state == "SASL answer" else server.port),
            health_check_interval="60s",
            health_check_user=None,
            health_check_password_file=None,
            server_connect_timeout="2s",
        )
        seen = []

        def log_in():
            try:
                router.session().close()
            except (LoginRefused, OSError) as problem:
                seen.append(problem)

        if state == "connecting":
            mended.cut()
        client = threading.Thread(target=log_in)
        started = time.monotonic()
        client.start()
        if state == "SASL answer":
            somebody_waits()
            mended.cut()
        client.join(15)
        assert not client.is_alive() and seen, "the login hangs, or went through"
        assert seen[0].sqlstate in ("08006", "57P03"), seen
        assert time.monotonic() - started < 8
