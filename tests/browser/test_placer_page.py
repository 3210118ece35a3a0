"""The placer's page in a real browser, in front of compute hosts of the tests' own."""

import json
import time

import pytest

from harness.net import wait_until


@pytest.fixture
def placed(make_placer, make_host):
    """A placer with two hosts that has sent requests to one of them; wants what it cannot have without a profile."""
    placer = make_placer(
        make_host("a"), make_host("b"), policy="profiled", routes=[{"pattern": "/feed"}, {"pattern": "/search/<img/src=x>"}]
    )
    for _ in range(3):
        assert placer.get("/feed").status == 200
    return placer


def url(placer):
    return f"http://127.0.0.1:{placer.config['admin_port']}/"


def shown(page, placer, **options):
    answer = page.live(url(placer), **options)
    page.wait("document.querySelectorAll('.route').length === 3")
    return answer


def test_shows_hosts_scores_and_why_not_as_wanted(page, placed):
    answer = shown(page, placed)
    assert answer["status"] == 200 and "unsafe" not in answer["headers"]["content-security-policy"]
    assert page.text("#state") == "ready"
    assert page.evaluate("[...document.querySelectorAll('#hosts tbody th')].map(cell => cell.textContent)") == ["a", "b"]
    assert page.evaluate("document.querySelector('#degraded').hidden") is False
    assert "profiled" in page.text("#routes .why")
    assert page.text(".route tr.chosen th") in ("a", "b")
    assert page.evaluate("document.querySelectorAll('.route tr.chosen').length") == 3
    assert page.evaluate("document.querySelectorAll('main img').length") == 0
    assert "<img/src=x>" in page.text("#routes")


def test_tells_routes_apart_that_differ_by_method(page, make_placer, make_host):
    placer = make_placer(make_host("a"), routes=[{"pattern": "/x", "method": "GET"}, {"pattern": "/x", "method": "POST"}, {"pattern": "/x"}])
    page.open(url(placer))
    page.wait("document.querySelectorAll('.route').length === 4")
    names = page.evaluate("[...document.querySelectorAll('.route .name')].map((one) => one.textContent)")
    assert names == ["GET /x", "POST /x", "/x", "requests of no route"]


def test_shows_a_host_that_has_gone(page, make_placer, make_host):
    gone = make_host("b")
    placer = make_placer(make_host("a"), gone)
    page.open(url(placer) + "placer")
    page.wait("document.querySelectorAll('#hosts .badge.up').length === 2")
    gone.close()
    page.wait("document.querySelector('#hosts .badge.down') !== null", 20)
    page.wait("document.querySelector('#hosts tbody tr:nth-child(2) .problem').textContent !== ''")


def test_finds_the_placer_again_after_a_restart(page, make_placer, make_host):
    gone = make_host("b")
    placer = make_placer(make_host("a"), gone)
    page.live(url(placer))
    page.sees_a_restart(placer)
    gone.close()
    page.wait("document.querySelector('#hosts .badge.down') !== null", 20)


def hour(degraded):
    """A history with a sample of each of these, the newest just now."""
    now, count = int(time.time() * 1000), len(degraded)
    return {
        "step_s": 10,
        "times_ms": [now - 10000 * (count - 1 - i) for i in range(count)],
        "degraded": degraded,
        "hosts": [{"name": "a", "requests": [20 + i for i in range(count)]}],
    }


EDGE = "r === 138 && g === 82 && b === 0 && a === 255"  # --warn in light


def test_shades_the_times_that_were_not_placed_as_wanted(page, placed):
    overview = json.loads(placed.http("/v1/overview")[1])

    def shade_of(degraded):
        history = hour(degraded)
        body = json.dumps({**overview, "history": history})
        page.live(url(placed), width=1440, answers={"/v1/overview": {"type": "application/json", "body": body}})
        page.wait("document.querySelector('#requests-chart canvas') !== null")
        shaded = page.text("#shaded") if page.evaluate("!document.querySelector('#shaded').hidden") else None
        clock = [time.strftime("%M:%S", time.localtime(ms / 1000)) for ms in history["times_ms"]]
        return clock, shaded, page.evaluate(page.painted("document.querySelector('#requests-chart canvas')", EDGE))

    # Thirty samples are all that is shown: a sample is of the ten seconds before it.
    clock, text, edge = shade_of([10 <= i < 16 for i in range(30)])
    assert "for 1 min, last from " in text and clock[9] in text and text.endswith(clock[15])
    assert 0.3 < edge["left"] < 0.4 and 0.5 < edge["right"] < 0.6
    clock, text, edge = shade_of([i < 3 or i >= 28 for i in range(30)])
    assert "for 50 s, since " in text and text.endswith(clock[27])
    assert edge["left"] < 0.1 and edge["right"] > 0.95
    assert shade_of([False] * 30)[1:] == (None, None)


def test_fits_any_width(page, placed):
    shown(page, placed)
    assert page.scrolls_sideways() == []


def test_remembers_where_requests_went(placed):
    wait_until(lambda: len(json.loads(placed.http("/v1/overview")[1])["history"]["times_ms"]) >= 2, 20, "two samples")
    history = json.loads(placed.http("/v1/overview")[1])["history"]
    assert [host["name"] for host in history["hosts"]] == ["a", "b"]
    assert sum(sum(host["requests"]) for host in history["hosts"]) == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_is_accessible(page, placed, scheme, width):
    shown(page, placed, scheme=scheme, width=width)
    assert page.ask("audit") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
