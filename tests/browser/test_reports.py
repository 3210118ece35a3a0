"""The pages that `sluice sim replay` and `sluice tune` write about a recorded trace, in a real browser."""

import json
import random
import struct
import subprocess
import zlib

import pytest

from harness.router import BINARY

HOSTILE = "<img src=x onerror=hacked=1>"


class Trace:
    """Writes what docs/recording.md describes, from that alone."""

    def __init__(self, configuration):
        self.records, self.at = bytearray(), 0
        self.records += b"\2" + self.moment(0) + self.text(json.dumps(configuration))
        for kind, names in ((0, configuration["classes"]), (1, configuration["replicas"])):
            for number, name in enumerate(names):
                self.records += bytes([1, kind]) + self.number(number) + self.text(name["name"] if kind == 0 else name)

    @staticmethod
    def number(value):
        out = bytearray()
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        return bytes(out + bytes([value]))

    def text(self, text):
        return self.number(len(text.encode())) + text.encode()

    def moment(self, at):
        step, self.at = at - self.at, at
        return self.number(step << 1 if step >= 0 else (-step << 1) - 1)

    def session(self, number, at, session_class, replica, size, queries, tail):
        """Times in microseconds."""
        self.records += b"\3" + self.number(number) + self.moment(at) + self.number(0) + self.number(session_class)
        self.records += b"".join(map(self.number, (replica + 1, 0, 0, 0, size + 1)))
        self.records += b"\5" + self.number(number) + self.number(len(queries))
        self.records += b"".join(self.number(span) for query in queries for span in query)
        self.records += b"\6" + self.number(number) + self.moment(at + sum(map(sum, queries)) + tail)

    def file(self):
        checked = lambda part: part + struct.pack("<I", zlib.crc32(part))  # noqa: E731
        payload = zlib.compress(bytes(self.records))
        block = struct.pack("<4sIIIIQ", b"BLCK", len(self.records), len(payload), zlib.crc32(payload), 0, 0)
        return checked(struct.pack("<8sH6xQ", b"SLUICTRC", 2, 1_700_000_000_000_000)) + checked(block) + payload


@pytest.fixture
def trace(tmp_path):
    """Sessions of two classes, one of them with a hostile name, on replicas that have cores enough."""
    rng = random.Random(5)
    written = Trace({
        "op": "config", "policy": "round_robin",
        "classes": [{"name": HOSTILE, "saturation": 10, "return_ratio": "0.60", "floor": 0, "target": 1},
                    {"name": "freemium", "saturation": 10, "return_ratio": "0.80", "floor": 1, "target": 1}],
        "replicas": ["r1", "r2", "r3"],
    })  # fmt: skip
    at = 0
    for number in range(400):
        at += int(rng.expovariate(1 / 300_000))
        queries = [(rng.randrange(200_000), 1 + int(rng.expovariate(1 / 40_000))) for _ in range(rng.randint(2, 5))]
        written.session(number, at, number % 2, number % 3, sum(response for _, response in queries), queries, 1000)
    path = tmp_path / "trace"
    path.write_bytes(written.file())
    return path


COMMANDS = {
    "replay": "sim replay {trace} --cores inf --policy plb,least_loaded --max-active 3 --order least_loaded,sita_e --report {report}",
    "tune": "tune {trace} --cores inf --rounds 1 --report {report}",
}


@pytest.fixture(params=COMMANDS)
def report(request, trace, tmp_path):
    path = tmp_path / f"{request.param}.html"
    command = COMMANDS[request.param].format(trace=trace, report=path).split()
    done = subprocess.run([BINARY, *command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return path


COLOURED = "a === 255 && Math.max(r, g, b) - Math.min(r, g, b) > 60"  # axes and grid are grey


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1440])
def test_every_chart_is_drawn_and_everybody_can_read_it(page, report, scheme, width):
    page.open(report.as_uri(), scheme=scheme, width=width)
    charts = report.read_text().count('<script type="application/json">')
    assert charts > 0
    page.wait(f"document.querySelectorAll('figure canvas').length === {charts}")
    for number in range(charts):
        canvas = f"document.querySelectorAll('figure canvas')[{number}]"
        page.wait(f"{page.painted(canvas, COLOURED)}?.count > 20")
    assert "built without" not in page.text("main")
    rows = page.evaluate("document.querySelectorAll('main table:not(.u-legend) td').length")
    assert rows > 20, "the numbers stand beside the charts"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "only tables scroll sideways"
    assert page.ask("audit") == []


def test_a_name_is_text_and_the_page_asks_for_nothing(page, report):
    page.open(report.as_uri())
    page.wait("document.querySelector('figure canvas') !== null")
    assert HOSTILE in page.text("main")
    assert page.evaluate("document.querySelectorAll('main img').length") == 0
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


def test_charts_follow_the_window(page, report):
    page.open(report.as_uri(), width=1200)
    page.wait("document.querySelector('figure canvas') !== null")
    wide = page.evaluate("document.querySelector('figure canvas').getBoundingClientRect().width")
    page.ask("resize", width=600, height=800)
    page.wait(f"document.querySelector('figure canvas').getBoundingClientRect().width < {wide} / 1.5")
