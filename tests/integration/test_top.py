"""`sluice top` in a terminal, which is tmux, and once for scripts."""

import os
import shutil
import subprocess
import tempfile

import pytest

from harness.messages import Q
from harness.net import wait_until
from harness.postgres import PASSWORD
from harness.router import BINARY

ENVIRONMENT = {**os.environ, "PGPASSWORD": PASSWORD}


def conninfo(router):
    return f"host=127.0.0.1 port={router.port} user=stats"


class Tmux:
    """A tmux server of its own, with one window."""

    def __init__(self, command, columns=110, rows=30):
        self.directory = tempfile.mkdtemp(prefix="sluice-tmux-")
        self.socket = f"{self.directory}/socket"
        self("new-session", "-d", "-s", "top", "-x", str(columns), "-y", str(rows),
             f"trap : INT; {command}; echo ended with $?; exec sleep 60")

    def __call__(self, *arguments):
        return subprocess.run(
            ["tmux", "-S", self.socket, "-f", "/dev/null", *arguments], capture_output=True, text=True, timeout=20,
            env={**ENVIRONMENT, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
        ).stdout

    def screen(self):
        return self("capture-pane", "-p", "-t", "top")

    def keys(self, *keys):
        self("send-keys", "-t", "top", *keys)

    def shows(self, *words):
        return wait_until(lambda: all(w in (text := self.screen()) for w in words) and text, 15, f"{words} on the screen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self("kill-server")
        shutil.rmtree(self.directory, ignore_errors=True)


def test_once_prints_a_page_for_scripts(router):
    with router.session(database="app_read") as client:
        client.value("select 1")
        done = subprocess.run(
            [BINARY, "top", conninfo(router), "--once", "-i", "0.3"], capture_output=True, text=True, timeout=30,
            env=ENVIRONMENT,
        )
    assert done.returncode == 0, done.stderr
    assert "\033" not in done.stdout
    assert "ready" in done.stdout.splitlines()[0]
    for word in ("premium", "freemium", "r0", "r4", "app_read", "per second"):
        assert word in done.stdout, word


def test_it_says_why_it_cannot_connect(router):
    for dsn, message in (
        ("host=127.0.0.1 port=1", "onnection"),
        (f"host=127.0.0.1 port={router.port} user=alice", "admin console"),
        ("nonsense", "connection string is wrong"),
    ):
        done = subprocess.run(
            [BINARY, "top", dsn, "--once"], capture_output=True, text=True, timeout=30, env=ENVIRONMENT
        )
        assert done.returncode == 1 and done.stdout == "", done
        assert message in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    done = subprocess.run([BINARY, "top", conninfo(router)], capture_output=True, text=True, timeout=30, env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and "--once" in done.stderr


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.timeout(120)
def test_it_lives_in_a_terminal(make_router):
    router = make_router()
    with Tmux(f"{BINARY} top '{conninfo(router)}' -i 0.2") as tmux, router.session(database="app_read") as client:
        client.value("select 1")
        first = tmux.shows("ready", "premium", "freemium", "r4", "app_read", "q quit")
        assert first.index("\nr0") < first.index("\nr4")
        assert first.rstrip("\n").splitlines()[29].startswith("q quit"), "the keys are in the last row"
        tmux.keys("r")
        reversed_page = tmux.shows("reversed")
        assert reversed_page.index("\nr4") < reversed_page.index("\nr0")
        tmux.keys("s")
        tmux.shows("sort: sessions")
        tmux.keys("Space")
        tmux.shows("space go on")
        tmux.keys("Space")
        tmux.shows("space freeze")
        tmux("resize-window", "-t", "top", "-x", "60", "-y", "12")
        small = wait_until(
            lambda: (text := tmux.screen().rstrip("\n").splitlines()) and len(text) == 12 and text[11].startswith("q quit")
            and text, 15, "the page in a smaller window")
        assert all(len(line) <= 60 for line in small)
        tmux("resize-window", "-t", "top", "-x", "110", "-y", "30")
        with router.session("admin", "sluice") as console:
            console.send(Q("pause"))
            tmux.shows("PAUSED", "r4")
        tmux.keys("q")
        ended = tmux.shows("ended with 0")
        assert "premium" not in ended, "the terminal is as it was"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.timeout(120)
def test_it_outlives_the_router(make_router):
    router = make_router()
    with Tmux(f"{BINARY} top '{conninfo(router)}' -i 0.2") as tmux:
        tmux.shows("ready", "r4")
        router.stop()
        tmux.shows("r4", "onnection")
        router.start()
        wait_until(lambda: "onnection" not in tmux.screen() and "r4" in tmux.screen(), 20, "the page to be fresh")
        tmux.keys("C-c")
        tmux.shows("ended with 0")
