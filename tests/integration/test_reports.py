"""Pages with charts that sluice sim writes, as a browser shows them."""

import re
import shutil
import subprocess

import pytest

from harness.router import BINARY

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

COMMANDS = {
    "assignment": "sim assignment --formulas --hosts 2,4,8",
    "scheduling": "sim scheduling --formulas",
    "plb": "sim plb --sessions 600 --premium 0.3,0.5,0.7 --runs 2 --weight 1,2,4",
    "placement": "sim placement",
}


def shown(page, tmp_path):
    """The document once its scripts have run, without a way to anywhere."""
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--window-size=1200,900",
         f"--user-data-dir={tmp_path}/browser", "--proxy-server=127.0.0.1:1", "--enable-logging=stderr", "--dump-dom",
         page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_browser_draws_every_chart_of_a_page(name, tmp_path):
    page = tmp_path / f"{name}.html"
    subprocess.run(
        [BINARY, *COMMANDS[name].split(), "--report", page], check=True, capture_output=True, timeout=120
    )
    charts = page.read_text().count('<script type="application/json">')
    assert charts > 0
    document = shown(page, tmp_path)
    assert document.count("<canvas") == charts, "each chart is a canvas"
    assert len(re.findall(r'<div class="u-title|<table class="u-legend', document)) >= charts, "with a legend"
    assert "built without" not in document.split("<script>")[0]
    assert "<table>" in document and "<td" in document
