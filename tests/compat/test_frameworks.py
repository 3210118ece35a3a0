"""SQLAlchemy, Django and Rails in transaction mode: migrations, prepared statements, two processes at a time."""

import importlib.util
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.postgres import PASSWORD

HERE = Path(__file__).resolve().parent / "frameworks"
PROCESSES = 2


@pytest.fixture(scope="module")
def pooled(workspace, base_config, cluster):
    from harness.router import DIRECT, Direct, Router

    if DIRECT:
        yield Direct(cluster.primary)
        return
    made = Router(workspace / "routers", {**base_config, "pool_mode": "transaction", "threads": 2}, "frameworks")
    made.start()
    yield made
    made.stop()


def run(command, folder):
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


def whole_life(command, folder):
    """Migrations, then the work of several processes, then what it must have come to."""
    migrations = 2 if "django_client.py" in str(command) else 1
    for _ in range(migrations):
        run([*command, "migrate", 0], folder)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda n: run([*command, "work", n], folder), range(PROCESSES)))
    run([*command, "check", PROCESSES], folder)


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def arguments(front):
    return [front.host, front.port, "alice", PASSWORD, "app"]


def test_sqlalchemy(pooled, tmp_path):
    needs("sqlalchemy")
    address = f"alice:{PASSWORD}@{pooled.host}:{pooled.port}/app"
    whole_life([sys.executable, HERE / "sqlalchemy_client.py", address], tmp_path)


def test_django(pooled, tmp_path):
    needs("django")
    whole_life([sys.executable, HERE / "django_client.py", *arguments(pooled)], tmp_path)


def test_rails(pooled, tmp_path):
    ruby = shutil.which("ruby")
    if ruby is None or subprocess.run([ruby, "-e", 'require "active_record"; require "pg"'], check=False).returncode:
        pytest.skip("Rails is not installed")
    whole_life([ruby, HERE / "rails_client.rb", *arguments(pooled)], tmp_path)
