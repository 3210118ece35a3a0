"""The router as a process: writes its configuration, starts it, waits until it is ready, and judges how it
ended."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import psycopg2

from . import leaks
from .net import free_port, wait_until
from .postgres import PASSWORD
from .wire import LoginRefused, WireClient

REPOSITORY = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("SLUICE_BINARY", REPOSITORY / "build/release/src/cli/sluice"))
DIRECT = os.environ.get("SLUICE_TEST_DIRECT") == "1"
SANITIZER = re.compile(
    r"ERROR: \w+Sanitizer|runtime error:|WARNING: ThreadSanitizer|LeakSanitizer|SLUICE_ASSERT|assertion failed",
    re.I,
)
SANITIZED = any(word in str(BINARY) for word in ("/asan/", "/tsan/"))


class Front:
    """Anything that speaks PostgreSQL at host:port: the router, or a server for comparison."""

    host = "127.0.0.1"
    port = 0

    def wire(self, **options):
        """A raw client, connected, nothing sent."""
        return WireClient(self.host, self.port, **options)

    def session(self, user="alice", database="app", **options):
        """A raw client, logged in."""
        client = self.wire()
        try:
            return client.login(user, database, **options)
        except BaseException:
            client.close()
            raise

    def tls_session(self, user="alice", database="app", context=None, **options):
        client = self.wire()
        try:
            return client.start_tls(context).login(user, database, **options)
        except BaseException:
            client.close()
            raise

    def dsn(self, user="alice", database="app", **more):
        words = {
            "host": self.host,
            "port": self.port,
            "user": user,
            "dbname": database,
            "password": f"'{PASSWORD}'",
            "connect_timeout": 10,
            **more,
        }
        return " ".join(f"{name}={value}" for name, value in words.items())

    def connect(self, user="alice", database="app", autocommit=True, **more):
        """A psycopg2 connection."""
        connection = psycopg2.connect(self.dsn(user, database, **more))
        connection.autocommit = autocommit
        return connection


class Direct(Front):
    """A PostgreSQL server without anything in front."""

    def __init__(self, server):
        self.host, self.port = server.host, server.port


class Router(Front):
    """One router process. `config` is the whole configuration but for the listener, which is added here."""

    command = "router"

    def __init__(self, directory: Path, config, name="router"):
        self.directory = directory
        self.name = name
        self.config = dict(config)
        self.port = free_port()
        self.config.setdefault("listen_addr", "127.0.0.1")
        self.config.setdefault("listen_port", self.port)
        self.config.setdefault("admin_port", free_port())
        self.config_file = directory / f"{name}.yaml"
        self.log_file = directory / f"{name}.log"
        self.process = None
        self.prefix = []  # words before the command: a program that becomes the router
        self.arguments = []  # words behind it
        self.environment = {}  # on top of our own
        self.expect_exit = 0

    def write_config(self, **changes):
        """Writes the configuration with `changes` on top; a value of None removes the key. JSON is YAML."""
        self.config.update(changes)
        self.config = {key: value for key, value in self.config.items() if value is not None}
        self.config_file.write_text(json.dumps(self.config, indent=1) + "\n")

    def start(self, ready=True):
        """Starts the process and waits until it listens and, with `ready`, until /readyz says that a server
        is alive."""
        if not BINARY.exists():
            raise AssertionError(f"no program under test at {BINARY}; set SLUICE_BINARY")
        self.write_config()
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, BINARY, self.command, "-c", self.config_file, *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env={**os.environ, **self.environment},
            )
        wait_until(self._accepts, 20, f"{self.name} to listen")
        if ready:
            wait_until(lambda: self.http("/readyz")[0] == 200, 20, f"{self.name} to be ready")
        return self

    def lets_in(self, user="alice", database="app", **options):
        """True if a login succeeds now; for wait_until()."""
        try:
            self.session(user, database, **options).terminate()
            return True
        except (LoginRefused, OSError):
            return False

    def http(self, path, method="GET"):
        """(status, body) of a request to the admin port; status 0 if nobody answers."""
        request = urllib.request.Request(
            f"http://{self.host}:{self.config['admin_port']}{path}", method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()
        except OSError:
            return 0, ""

    def metric(self, name, **labels):
        """The sum of the samples of `name` whose labels include `labels`."""
        total = 0.0
        for line in self.http("/metrics")[1].splitlines():
            found = re.match(r"(\w+)(\{(.*)\})? (\S+)$", line)
            if found and found.group(1) == name:
                have = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found.group(3) or ""))
                if all(have.get(key) == value for key, value in labels.items()):
                    total += float(found.group(4))
        return total

    def _accepts(self):
        if self.process.poll() is not None:
            raise AssertionError(
                f"{self.name} ended at start-up with {self.process.returncode}:\n{self.log_text()[-3000:]}"
            )
        with socket.socket() as probe:
            return probe.connect_ex((self.host, self.port)) == 0

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def log_text(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def console(self, sql, user="admin", database="sluice"):
        """Rows of an admin console command, as dictionaries; an empty list for a command without rows."""
        with self.session(user, database) as client:
            from . import messages as m

            answer = client.run(m.Q(sql))
            errors = [m.fields(x.body) for x in answer if x.kind == "E"]
            assert not errors, f"{sql!r}: {errors}"
            names = next((m.columns(x) for x in answer if x.kind == "T"), [])
            return [
                dict(zip(names, (v if v is None else v.decode() for v in m.row(x))))
                for x in answer
                if x.kind == "D"
            ]

    def fd_count(self):
        return leaks.fd_count(self.pid)

    def rss_bytes(self):
        """Resident memory; 0 under a sanitizer, which keeps freed memory and judges leaks by itself."""
        return 0 if SANITIZED else leaks.rss_bytes(self.pid)

    def stop(self, timeout=20):
        """SIGTERM; asserts that it ends by itself, with the expected status, and that no sanitizer had
        anything to say."""
        if self.process is None:
            return
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            raise AssertionError(
                f"{self.name} did not end within {timeout} s of SIGTERM:\n{self.log_text()[-3000:]}"
            )
        finally:
            self.process_status, self.process = self.process.returncode, None
        self.check_log()
        assert status == self.expect_exit, f"{self.name} ended with {status}:\n{self.log_text()[-3000:]}"

    def signal_taken(self, number, give_up_at):
        """Sends a signal and waits until the process has taken it, which may be before it acts on it. False: it has
        ended without, as at its very end it holds them back."""
        self.process.send_signal(number)
        bit = 1 << (number - 1)
        while time.monotonic() < give_up_at:
            try:
                text = Path(f"/proc/{self.process.pid}/status").read_text()
            except (FileNotFoundError, ProcessLookupError):
                return False
            pending = re.search(r"^ShdPnd:\s*(\w+)", text, re.M)
            if pending is None or re.search(r"^State:\s*[ZX]", text, re.M):
                return False
            if not int(pending[1], 16) & bit:
                return True
        raise AssertionError(f"{self.name} has not taken signal {number}")

    def stop_amid_reloads(self):
        """SIGTERM between reloads that go on until it has ended: each as soon as the one before was taken, so that
        hardly a turn of the event loop is without one. As stop()."""
        give_up_at = time.monotonic() + 30
        self.signal_taken(signal.SIGHUP, give_up_at)
        self.process.send_signal(signal.SIGTERM)
        while self.signal_taken(signal.SIGHUP, give_up_at):
            pass
        self.stop()

    def check_log(self):
        """Fails if a sanitizer or an assertion reported something, or if a password stands in the log."""
        text = self.log_text()
        found = SANITIZER.search(text)
        assert not found, f"{self.name} reported:\n{text[max(found.start() - 200, 0):found.start() + 6000]}"
        assert PASSWORD not in text, f"{self.name} logged a password"
