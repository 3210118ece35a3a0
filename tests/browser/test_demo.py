"""deploy/demo.sh as a reader starts it, and what it shows in a browser."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness.net import end, wait_until
from harness.router import BINARY, REPOSITORY

IMAGES = REPOSITORY / "docs/images"


class Demo:
    """The script, built as it is, on ports of its own."""

    def __init__(self, log):
        self.log = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                ["bash", REPOSITORY / "deploy/demo.sh", "--port", "0"],
                env={**os.environ, "SLUICE_SKIP_INSTALL": "1"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def wait_until_ready(self):
        wait_until(lambda: "] ready\n" in self.output() or self.process.poll() is not None, 90, "the demo to be ready")
        assert self.process.poll() is None, self.output()

    def output(self):
        return self.log.read_text(errors="replace")

    def address(self, name):
        return re.search(rf"^{name}: +(http://\S+)", self.output(), re.M)[1]

    def interrupt(self):
        """As Ctrl-C does; the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


@pytest.fixture
def demo(tmp_path):
    if BINARY.resolve() != (REPOSITORY / "build/release/src/cli/sluice").resolve():
        pytest.skip("the script runs the release build")
    started = Demo(tmp_path / "demo.log")
    try:
        started.wait_until_ready()
        yield started
    finally:
        end(started.process, 30)


def picture(page, demo, scheme, folder):
    """The page while Premium has borrowed, in two: what is at its top, and the tables."""
    page.live(demo.address("Dashboard"), scheme=scheme, width=1400, height=1640)
    page.wait("document.querySelectorAll('#decisions tbody tr').length > 10 && document.querySelectorAll('#rtt td').length > 0")
    page.wait("document.querySelector('[data-pool=premium] .tile.borrowed') !== null", 30)
    for name, options in (("dashboard", {}), ("dashboard-tables", {"from": "#replicas-title"})):
        path = page.ask("screenshot", path=str(folder / f"{name}-{scheme}.png"), **options)
        assert Path(path).stat().st_size > 20_000


@pytest.mark.timeout(360)
def test_the_demo_is_to_be_seen_live(page, demo, tmp_path):
    """SLUICE_WRITE_IMAGES=1 takes its time and keeps the pictures in docs/images."""
    keep = bool(os.environ.get("SLUICE_WRITE_IMAGES"))
    page.live(demo.address("Dashboard"))
    page.wait("document.querySelectorAll('.tile').length === 6 && document.querySelector('#state').textContent === 'ready'")
    page.wait("/r\\d went from \\w+ to premium/.test(document.querySelector('#moves').textContent)", 45)
    page.wait("[...document.querySelectorAll('#changes td')].some((cell) => cell.textContent === 'borrowed')")
    for place, text in (("#rtt", "edge"), ("#rtt", "core"), ("#routes", "/feed"), ("#decisions", "freemium")):
        page.wait(f"document.querySelector('{place}').textContent.includes('{text}')", 30)
    time.sleep(150 if keep else 0)
    for scheme in ("light", "dark") if keep else ("light",):
        picture(page, demo, scheme, IMAGES if keep else tmp_path)
    assert page.problems() == []
    page.live(demo.address("Placer"))
    page.wait("document.querySelectorAll('#hosts .badge.up').length === 2")
    page.wait("[...document.querySelectorAll('.route .name')].some((name) => name.textContent.includes('/feed'))")
    assert page.problems() == []

    page.ask("leave")  # a page would go on asking
    assert demo.interrupt() == 0
    output = demo.output()
    assert "Summary after" in output and output.rstrip().endswith("Everything is stopped and removed."), output
