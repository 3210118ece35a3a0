"""A browser, for the tests of the pages. Needs Debian's chromium, and the packages of package-lock.json in build/browser (or where
SLUICE_BROWSER_MODULES says); tests/run.sh brings both."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODULES = Path(os.environ.get("SLUICE_BROWSER_MODULES", HERE.parents[1] / "build/browser/node_modules"))


class Page:
    """The page that is open in the browser."""

    def __init__(self, chromium):
        self.process = subprocess.Popen(
            ["node", HERE / "driver.mjs", MODULES, chromium], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, do, **arguments):
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the browser's driver ended"
        answer = json.loads(line)
        assert "error" not in answer, f"{do} {arguments}: {answer['error']}"
        return answer["value"]

    def open(self, url, **options):
        return self.ask("open", url=url, **options)

    def wait(self, code, timeout=15):
        """Until the JavaScript expression is true."""
        self.ask("wait", code=code, timeout=timeout * 1000)

    def evaluate(self, code):
        return self.ask("evaluate", code=code)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def problems(self):
        """What the console, uncaught errors and the content security policy had to say."""
        return self.ask("problems")

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


@pytest.fixture(scope="session")
def driver():
    chromium = shutil.which("chromium")
    if chromium is None or shutil.which("node") is None or not (MODULES / "playwright-core").exists():
        pytest.skip(f"needs chromium, node, and `npm ci` of {HERE.name} in {MODULES.parent}")
    page = Page(chromium)
    yield page
    page.close()


@pytest.fixture
def page(driver):
    """Ends with a look at what went wrong in the page: nothing may."""
    yield driver
    assert driver.problems() == []
