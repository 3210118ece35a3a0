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


LIVE = "document.querySelector('#stream').textContent === 'live'"
# 320: the narrowest that a page has to fit without scrolling sideways (WCAG 2.1, 1.4.10 Reflow).
WIDTHS = (320, 390, 640, 1024, 1440, 2560)


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

    def live(self, url, **options):
        """Opens a page of ours, and waits until it is fed."""
        answer = self.open(url, **options)
        self.wait(LIVE)
        return answer

    def wait(self, code, timeout=15):
        """Until the JavaScript expression is true."""
        self.ask("wait", code=code, timeout=timeout * 1000)

    def evaluate(self, code):
        return self.ask("evaluate", code=code)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    @staticmethod
    def painted(canvas, pixel):
        """JavaScript: how many pixels of the canvas (an expression) are so (one of r, g, b and a), and between which shares of its
        width; null when there are none."""
        return f"""(() => {{
            const canvas = {canvas};
            if (!canvas) return null;
            const copy = Object.assign(document.createElement('canvas'), {{ width: canvas.width, height: canvas.height }});
            const drawn = copy.getContext('2d', {{ willReadFrequently: true }});  // the chart's own would warn
            drawn.drawImage(canvas, 0, 0);
            const bytes = drawn.getImageData(0, 0, canvas.width, canvas.height).data;
            const found = [];
            for (let i = 0; i < bytes.length; i += 4) {{
                const [r, g, b, a] = [bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]];
                if ({pixel}) found.push((i / 4) % canvas.width / canvas.width);
            }}
            if (found.length === 0) return null;
            return {{ count: found.length, left: found.reduce((a, b) => Math.min(a, b)), right: found.reduce((a, b) => Math.max(a, b)) }};
        }})()"""

    def sees_a_restart(self, server):
        """The page loses the server it is of, says so, and finds it again."""
        server.stop()
        self.wait("document.querySelector('#stream').textContent === 'reconnecting'")
        server.start()
        self.wait(LIVE, 20)
        # That nobody was there is what the browser itself says; the page says nothing.
        assert all("ERR_" in problem or "503" in problem for problem in self.problems())
        self.ask("forget")

    def scrolls_sideways(self):
        """The widths at which more than the tables' own regions does."""
        found = []
        for width in WIDTHS:
            self.ask("resize", width=width, height=900)
            try:
                # Charts follow a little later.
                self.wait(f"innerWidth === {width} && document.documentElement.scrollWidth <= {width}", 5)
            except AssertionError:
                found.append(width)
        return found

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
