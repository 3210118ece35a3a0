"""pytest fixtures: one cluster per run, one router with the usual configuration per run, and a maker of
special ones."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from .judge import Judge
from .postgres import PASSWORD, Cluster
from .router import DIRECT, SANITIZED, Direct, Router
from .tls import Authority


@pytest.fixture(scope="session")
def workspace():
    """A directory that the servers' user can enter; removed at the end."""
    directory = Path(tempfile.mkdtemp(prefix="sluice-test-"))
    directory.chmod(0o755)
    for name in ("tls", "pg", "routers"):
        (directory / name).mkdir()
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def authority(workspace):
    return Authority(workspace / "tls")


@pytest.fixture(scope="session")
def cluster(workspace, authority):
    """A primary and five standbys. A test that harms one puts it right again."""
    made = Cluster(workspace / "pg", 5, authority)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def files(workspace, authority, cluster):
    """The files a configuration names: user list, certificates, the monitor's password."""
    directory = workspace / "routers"
    userlist = directory / "userlist.txt"
    lines = [f'"{name}" "{secret}"' for name, secret in cluster.secrets()] + [
        f'"admin" "{PASSWORD}"',
        f'"stats" "{PASSWORD}"',
    ]
    userlist.write_text("\n".join(lines) + "\n")
    password = directory / "password"
    password.write_text(PASSWORD + "\n")
    for private in (userlist, password):
        private.chmod(0o600)
    certificate, key = authority.issue("router", "localhost", ["localhost", "127.0.0.1"])
    client = authority.issue("client", "cert_user")
    return {
        "userlist": userlist,
        "password": password,
        "certificate": certificate,
        "key": key,
        "ca": authority.ca_file,
        "client": client,
    }


@pytest.fixture(scope="session")
def base_config(cluster, files):
    """The usual configuration: `app` on the primary, `app_read` on the five replicas, in the classes
    premium and freemium."""

    def server(one):
        return {"name": one.name, "host": one.host, "port": one.port}

    return {
        "auth_type": "scram-sha-256",
        "hba": [
            {"user": "mia", "method": "md5"},
            {"user": "trusted", "network": "127.0.0.1/32", "method": "trust"},
            {"user": "cert_user", "tls": "required", "method": "cert"},
            {"method": "scram-sha-256"},
        ],
        "auth_file": str(files["userlist"]),
        "admin_users": ["admin"],
        "stats_users": ["stats"],
        "server_user": "trusted",
        "client_tls_sslmode": "allow",
        "client_tls_cert_file": str(files["certificate"]),
        "client_tls_key_file": str(files["key"]),
        "client_tls_ca_file": str(files["ca"]),
        "server_tls_sslmode": "disable",
        "primary": server(cluster.primary),
        "replicas": [server(one) for one in cluster.standbys],
        "databases": [
            {"name": "app", "target": "primary"},
            {"name": "app_read", "server_database": "app", "target": "replicas"},
            {"name": "*", "target": "primary"},
        ],
        "classes": [
            {"name": "premium", "saturation": 10, "return_ratio": "0.60", "floor": 0, "target": 2},
            {"name": "freemium", "saturation": 10, "return_ratio": "0.80", "floor": 1, "target": 2},
        ],
        "rules": [{"user": "alice", "class": "premium"}],
        "default_class": "freemium",
        "health_check_user": "monitor",
        "health_check_password_file": str(files["password"]),
        "health_check_interval": "500ms",
        # A busy machine takes long for everything, also for a check. Tests of silent servers set their own.
        "health_check_timeout": "5s",
        "max_client_conn": 4000,
        # The compatibility suites run in both.
        "pool_mode": os.environ.get("SLUICE_TEST_POOL_MODE", "session"),
        "cancel_rate_limit": 0,
        "drain_timeout": "1s",
        **({"threads": 4} if SANITIZED else {}),
        "log_level": "info",
    }


@pytest.fixture(scope="session")
def shared_routers(workspace, base_config):
    """The router most tests use, as a function that gives it: started once, and again after a test that ended it."""
    made = []

    def current():
        if not made or not made[-1].alive():
            if made:
                made[-1].process = None  # the test that ended it has been told
            made.append(Router(workspace / "routers", base_config, f"shared{len(made)}"))
            made[-1].start()
        return made[-1]

    yield current
    if made:
        made[-1].stop()


@pytest.fixture
def router(request):
    """The shared router; the test that ends it is the test that fails."""
    if DIRECT:
        pytest.skip("needs a router")
    current = request.getfixturevalue("shared_routers")()
    yield current
    assert current.alive(), f"the router ended during this test:\n{current.log_text()[-4000:]}"
    current.check_log()


@pytest.fixture
def make_router(tmp_path, base_config):
    """make_router(**changes): a router of the test's own, started; a change to None removes the key.
    `start=False` only
    prepares it, `ready=False` does not wait until a server is alive."""
    if DIRECT:
        pytest.skip("needs a router")
    made = []

    def make(start=True, ready=True, name=None, **changes):
        config = {**base_config, **changes}
        router = Router(
            tmp_path, {k: v for k, v in config.items() if v is not None}, name or f"router{len(made)}"
        )
        made.append(router)
        return router.start(ready) if start else router

    yield make
    for router in made:
        router.stop()


@pytest.fixture
def direct(cluster):
    return Direct(cluster.primary)


@pytest.fixture
def front(request, direct):
    """What the clients under test connect to: the shared router, or PostgreSQL itself when that is to be
    tried."""
    return direct if DIRECT else request.getfixturevalue("router")


@pytest.fixture
def judge(cluster, direct, front):
    return Judge(cluster.primary, direct, front)
