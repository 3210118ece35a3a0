"""The dashboard in a real browser, on a real router in front of real servers."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from harness.messages import Q
from harness.net import wait_until

TOKEN = "a token for the tests, of 32 bytes".replace(" ", "-")
ROOT = Path(__file__).resolve().parents[2]
HOSTILE = '<img src=x onerror="hacked=1">'
HOSTILE_USER = "<img src=x onerror=hacked=1>"
HOSTILE_DATABASE = "<svg/onload=hacked=2>"
ROUTE = "<svg onload=hacked=1>/feed"


@pytest.fixture
def router(make_router, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    return make_router(
        admin_token_file=str(token),
        hosts=[{"name": "here", "networks": ["127.0.0.0/8"]}, {"name": "elsewhere", "networks": ["192.0.2.0/24"]}],
        trace_idle_timeout="300ms",
        client_idle_timeout=0,
    )


def url(router):
    return f"http://127.0.0.1:{router.config['admin_port']}/"


@contextlib.contextmanager
def sessions(router, count, user="alice", **options):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(router.session(user, "app_read", **options)) for _ in range(count)]


def shown(page, router, **options):
    """The page, with live data."""
    answer = page.live(url(router), **options)
    page.wait("document.querySelectorAll('.tile').length === 6")
    return answer


def pool_of(name):
    return f"document.querySelector('[data-replica={json.dumps(name)}]').closest('.pool').dataset.pool"


def test_shows_what_the_router_does(page, router):
    answer = shown(page, router)
    assert answer["status"] == 200
    assert "unsafe" not in answer["headers"]["content-security-policy"]
    assert page.text("#state") == "ready"
    with sessions(router, 3) as clients:
        page.wait("document.querySelector('[data-class=premium] .sessions dd').textContent === '3'")
        for client in clients:
            client.run(Q("select 1"))
        page.wait("document.querySelector('[data-class=premium] .queries').textContent !== '0 queries'")
        page.wait("!document.querySelector('[data-class=premium] .time dd').textContent.includes('–')")
        page.wait("document.querySelectorAll('#decisions tbody tr').length >= 3")
        assert "with room" in page.text("#decisions td.why")
        page.wait("[...document.querySelectorAll('#rtt tbody td')].some(cell => /[µm]s/.test(cell.textContent))", 30)
    page.wait("document.querySelector('[data-class=premium] .sessions dd').textContent === '0'")
    page.wait("document.querySelector('#sessions-chart canvas') !== null")
    assert "now: premium" in page.evaluate("document.querySelector('#sessions-chart .chart').getAttribute('aria-label')")


def test_a_replica_moves_when_it_is_borrowed_and_when_it_is_returned(page, router):
    shown(page, router)
    mixed = page.evaluate("document.querySelector('[data-pool=mixed] .tile').dataset.replica")
    page.evaluate(f"watched = document.querySelector('[data-replica={json.dumps(mixed)}]'), null")
    with sessions(router, 21):
        page.wait(f"{pool_of(mixed)} === 'premium'")
        # The same tile, seen on its way and marked when it has arrived.
        assert page.evaluate("watched.isConnected && watched.closest('.pool').dataset.pool") == "premium"
        page.wait("watched.classList.contains('moved') && watched.querySelector('.badge').textContent === 'borrowed'")
        page.wait(f"document.querySelector('#moves').textContent === '{mixed} went from mixed to premium'")
        page.wait("document.querySelector('#changes tbody tr td:nth-child(3)').textContent === 'borrowed'")
    # It is given back when the next session comes and the others are seen to have ended.
    page.wait("document.querySelector('[data-class=premium] .sessions dd').textContent === '0'")
    with sessions(router, 1):
        page.wait(f"{pool_of(mixed)} === 'mixed'")
        page.wait("document.querySelector('#changes tbody tr td:nth-child(3)').textContent === 'returned'")


def test_finds_the_router_again_after_a_restart(page, router):
    shown(page, router)
    started = page.evaluate("fetch('/v1/overview').then(r => r.json()).then(o => o.started_ms)")
    page.sees_a_restart(router)
    with sessions(router, 2):
        page.wait("document.querySelector('[data-class=premium] .sessions dd').textContent === '2'")
    assert page.evaluate("fetch('/v1/overview').then(r => r.json()).then(o => o.started_ms)") > started


def test_notices_that_a_connection_is_dead(page, router):
    """It used to be "live" for ever when the router stopped without closing its connections."""
    shown(page, router)
    os.kill(router.pid, signal.SIGSTOP)
    try:
        page.wait("document.querySelector('#stream').textContent === 'reconnecting'", 30)
    finally:
        os.kill(router.pid, signal.SIGCONT)
    page.wait("document.querySelector('#stream').textContent === 'live'", 30)


def hide(page, hidden):
    page.evaluate(
        f"Object.defineProperty(document, 'hidden', {{ configurable: true, get: () => {json.dumps(hidden)} }}), document.dispatchEvent(new Event('visibilitychange'))"
    )


def test_a_page_that_nobody_sees_lets_go_of_its_stream(page, router):
    shown(page, router)
    hide(page, True)
    page.wait("document.querySelector('#stream').textContent.startsWith('paused')")
    with sessions(router, 2):
        hide(page, False)
        page.wait("document.querySelector('#stream').textContent === 'live'")
        page.wait("document.querySelector('[data-class=premium] .sessions dd').textContent === '2'")


def test_many_tabs_do_not_hang(page, router):
    """A browser has six connections for all tabs of one address: the seventh stream used to wait for ever."""
    shown(page, router)
    page.ask("tabs", url=url(router), count=7)
    with sessions(router, 1):
        page.wait("document.querySelector('[data-class=premium] .sessions dd').textContent === '1'")
    assert page.evaluate("fetch('/v1/overview').then((answer) => answer.status)") == 200


BLUE = "r === 37 && g === 99 && b === 235 && a === 255"  # --c0 in light


def hour_of(names):
    """A history with some samples of these classes."""
    now = int(time.time() * 1000)
    columns = ("sessions", "waiting", "replicas", "opened", "median_us", "p95_us", "p99_us", "wait_p95_us")
    count = 30
    return {
        "step_s": 10,
        "newest": count,
        "times_ms": [now - 10000 * (count - i) for i in range(count)],
        "rejected": [0] * count,
        "classes": [{"name": name, **{column: [100 + 50 * i] * count for column in columns}} for i, name in enumerate(names)],
        "replicas": [],
    }


def test_charts_have_their_colours_when_the_hour_comes_before_the_overview(page, router):
    """They used to stay grey until the classes changed."""
    answers = {
        # A stream that says nothing and ends: what the router says of itself comes two seconds later.
        "/v1/events": {"type": "text/event-stream", "body": "event: heartbeat\ndata: {}\n\n"},
        "/v1/history": {"type": "application/json", "body": json.dumps(hour_of(["premium", "freemium"]))},
    }
    page.open(url(router), answers=answers)
    page.wait("document.querySelector('#sessions-chart canvas') !== null")
    page.wait("document.querySelector('#sessions-chart .swatch.c0') !== null")
    page.wait(page.painted("document.querySelector('#sessions-chart canvas')", BLUE))
    page.wait("[...document.querySelectorAll('#timeline .swatch')].slice(0, 3).map((one) => one.className).join() === 'swatch c0,swatch c1,swatch mixed'")


def test_colours_follow_a_reload_that_brings_a_class(page, make_router, base_config):
    router = make_router()
    with router.session("alice", "app_read"):
        shown(page, router)
        page.wait("document.querySelector('[data-class=premium]').className === 'card c0'")
        page.wait("document.querySelector('#decisions .pool-name').className.includes('c0')")
        gold = {"name": "gold", "saturation": 10, "return_ratio": "0.60", "floor": 0, "target": 1}
        router.write_config(classes=[gold, *base_config["classes"]])
        router.reload()
        page.wait("document.querySelector('[data-class=gold]')?.className === 'card c0'")
        for place in (
            "document.querySelector('[data-class=premium]').className === 'card c1'",
            "document.querySelector('[data-class=premium] h3 i').className === 'swatch c1'",
            "document.querySelector('[data-pool=premium]').className === 'pool c1'",
            "document.querySelector('#decisions .pool-name').className.includes('c1')",
            "[...document.querySelectorAll('#timeline .legend li')].some((one) => one.textContent === 'premium' && one.firstElementChild.className === 'swatch c1')",
        ):
            page.wait(place)


def test_the_timeline_forgets_replicas_that_were_removed_an_hour_ago():
    """The page's own hour, without a browser."""
    script = f"""
        import {{ History }} from {json.dumps((ROOT / "src/web/dashboard/history.js").as_uri())};
        const start = 1000000;
        const history = new History();
        const stays = [{{ since_ms: start, pool: 'premium' }}, {{ since_ms: start + 15000, pool: '' }}];
        history.take({{ newest: 360, times_ms: Array.from({{ length: 360 }}, (_, i) => start + 10000 * i), rejected: new Array(360).fill(0), classes: [],
                        replicas: [{{ name: 'gone', stays }}, {{ name: 'here', stays: [{{ since_ms: start, pool: 'premium' }}] }}] }});
        const seen = [];
        for (let i = 0; i < 3; ++i) {{
            history.add({{ newest: 361 + i, times_ms: [start + 10000 * (360 + i)], rejected: [0], classes: [],
                           replicas: [{{ name: 'gone', stays: [stays[1]] }}, {{ name: 'here', stays: [{{ since_ms: start, pool: 'premium' }}] }}] }});
            seen.push([...history.stays.keys()].join());
        }}
        console.log(JSON.stringify(seen));
    """
    answer = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == ["gone,here", "gone,here", "here"]


def test_what_clients_say_is_text_and_no_markup(page, router):
    shown(page, router)
    comment = f"/*route='{quote(ROUTE, safe='')}',traceparent='00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01'*/"
    with sessions(router, 2, "bob", parameters={"application_name": HOSTILE}) as clients:
        for client in clients:
            client.run(Q(f"select 1 {comment}"))
        page.wait(f"document.querySelector('#routes').textContent.includes({json.dumps(ROUTE)})", 20)
    assert page.evaluate("document.querySelectorAll('main img, main svg, main script').length") == 0
    assert page.evaluate("typeof hacked") == "undefined"


def test_names_of_users_and_databases_are_text(page, make_router, base_config):
    rule = {"user": HOSTILE_USER, "network": "127.0.0.1/32", "method": "trust"}
    router = make_router(
        hba=[rule, *base_config["hba"]],
        databases=[{"name": HOSTILE_DATABASE, "server_database": "app", "target": "replicas"}, *base_config["databases"]],
    )
    shown(page, router)
    with router.session(HOSTILE_USER, HOSTILE_DATABASE, parameters={"application_name": HOSTILE}) as client:
        client.run(Q("select 1"))
        page.wait(f"[...document.querySelectorAll('#decisions .from-client')].some((cell) => cell.textContent === {json.dumps(HOSTILE_USER)})")
        page.wait(f"[...document.querySelectorAll('#decisions .from-client')].some((cell) => cell.textContent === {json.dumps(HOSTILE_DATABASE)})")
    assert page.evaluate("document.querySelectorAll('main img, main svg, main script').length") == 0
    assert page.evaluate("typeof hacked") == "undefined"


def spoilt(value):
    """The same with every string hostile."""
    if isinstance(value, str):
        return HOSTILE + value
    if isinstance(value, list):
        return [spoilt(each) for each in value]
    if isinstance(value, dict):
        return {key: spoilt(each) for key, each in value.items()}
    return value


def test_a_hostile_router_could_not_inject_markup_either(page, router):
    """Every string of every document, whoever chose it."""
    with sessions(router, 21):
        overview = json.loads(router.http("/v1/overview")[1])
        decisions = json.loads(router.http("/v1/decisions")[1])["decisions"]
        changes = json.loads(router.http("/v1/role_changes")[1])["role_changes"]
    overview["warnings"] = [{"file": "f", "line": 1, "key": "k", "message": "m", "hint": "h"}]
    hostile = spoilt(overview)
    for was, one in zip(overview["replicas"], hostile["replicas"]):
        one["role"] = was["role"]
    hostile["rejections"] = {HOSTILE: 3}
    times = {"time": "2026-01-01 00:00:00 UTC"}
    documents = {
        "overview": hostile,
        "decisions": {
            "decisions": [{**spoilt(one), **times} for one in decisions],
            "role_changes": [{**spoilt(one), **times} for one in changes],
        },
        "rtt": {"hosts": [HOSTILE], "servers": [HOSTILE], "rtt_us": [[250]], "source": [[HOSTILE]]},
        "routes": {"routes": [spoilt({"name": "", "class": "", "host": "", "requests": 1, "n_serial_mean": "", "n_serial_median": 1, "n_serial_p90": 1, "untraced": "", "usable": True, "calls": 1, "errors": 0, "median_us": 1, "p95_us": 1, "seen_ms_ago": 1})]},
    }
    stream = "".join(f"event: {kind}\ndata: {json.dumps(document)}\n\n" for kind, document in documents.items())
    page.open(url(router), answers={"/v1/events": {"type": "text/event-stream", "body": stream}})
    for place in ("#pools", "#classes", "#replicas", "#decisions", "#changes", "#rtt", "#routes", "#warning-list", "#rejections"):
        page.wait(f"document.querySelector('{place}').textContent.includes('<img src=x')")
    assert page.evaluate("document.querySelectorAll('main img, header img').length") == 0
    assert page.evaluate("typeof hacked") == "undefined"


def test_tells_totals_from_what_came_within_ten_seconds(page, router):
    overview = json.loads(router.http("/v1/overview")[1])
    for rejections in ({}, {"no_such_database": 3}):
        document = json.dumps({**overview, "rejections": rejections})
        answers = {
            "/v1/events": {"type": "text/event-stream", "body": f"event: overview\ndata: {document}\n\n"},
            "/v1/overview": {"type": "application/json", "body": document},
        }
        page.open(url(router), answers=answers)
        page.wait("document.querySelectorAll('.tile').length === 6")
        said = page.evaluate("document.querySelector('#rejections').closest('.panel').innerText")
        assert ("Since the start" in said) == ("no such database" in said) == bool(rejections)


def unlock(page, token):
    page.ask("click", selector="#unlock")
    page.ask("fill", selector="#unlock-dialog input", text=token)
    page.ask("press", key="Enter")
    page.wait("!document.querySelector('#reload').hidden")


def drain(page, name):
    """As far as the question."""
    page.ask("click", selector=f"#replicas button[aria-label='Drain {name}']")
    page.wait("document.querySelector('#confirm-dialog').open")
    assert name in page.text("#confirm-title")


def test_commands_need_the_token_and_a_confirmation(page, router):
    shown(page, router)
    assert page.evaluate("document.querySelector('#reload').hidden")
    assert "Drain" not in page.text("#replicas")

    unlock(page, "not the token, but as long as it")
    drain(page, "r1")
    page.ask("click", selector="#confirm-dialog [type=submit]")
    page.wait("document.querySelector('.toast.failed').textContent.includes('token')")
    page.wait("document.querySelector('#reload').hidden")
    assert all("401" in problem for problem in page.problems())
    page.ask("forget")

    unlock(page, TOKEN)
    drain(page, "r1")
    page.ask("press", key="Escape")
    page.wait("!document.querySelector('#confirm-dialog').open")
    assert not json.loads(router.http("/v1/overview")[1])["replicas"][1]["draining"]
    drain(page, "r1")
    page.ask("click", selector="#confirm-dialog [type=submit]")
    page.wait("document.querySelector('[data-replica=r1] .badge').textContent === 'draining'")
    page.ask("click", selector="#replicas button[aria-label='Undrain r1']")
    page.ask("click", selector="#confirm-dialog [type=submit]")
    page.wait("document.querySelector('[data-replica=r1] .badge').textContent === ''")
    page.ask("click", selector="#reload")
    page.ask("click", selector="#confirm-dialog [type=submit]")
    wait_until(lambda: router.metric("sluice_reloads_total", result="ok") == 1, 10, "the reload")


def test_without_a_token_file_nothing_can_be_changed(page, make_router):
    plain = make_router()
    shown(page, plain)
    assert page.evaluate("document.querySelector('#unlock').hidden && document.querySelector('#reload').hidden")
    assert plain.http("/v1/replicas/r1/drain", "POST")[0] == 403


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_is_accessible(page, router, scheme, width):
    with sessions(router, 21):
        shown(page, router, scheme=scheme, width=width)
        page.wait("document.querySelectorAll('#decisions tbody tr').length > 3")
        page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished)).then(() => null)")
        assert page.ask("audit") == []
        # Nothing but the tables' own regions scrolls sideways.
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_is_accessible_to_those_who_command(page, router, scheme):
    shown(page, router, scheme=scheme)
    page.ask("click", selector="#unlock")
    page.wait("document.querySelector('#unlock-dialog').open")
    assert page.ask("audit") == []
    page.ask("press", key="Escape")
    unlock(page, TOKEN)
    assert page.ask("audit") == []
    drain(page, "r1")
    assert page.ask("audit") == []
    page.ask("click", selector="#confirm-dialog [type=submit]")
    page.wait("document.querySelector('.toast') !== null && document.querySelector('[data-replica=r1] .badge').textContent === 'draining'")
    assert page.ask("audit") == []


def test_fits_any_width(page, router):
    with sessions(router, 21):
        shown(page, router)
        page.wait("document.querySelectorAll('#decisions tbody tr').length > 3")
        unlock(page, TOKEN)
        assert page.scrolls_sideways() == []


def test_can_be_used_with_the_keyboard_alone(page, router):
    shown(page, router)
    page.ask("press", key="Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the pools"
    page.ask("press", key="Enter")
    assert page.evaluate("document.activeElement.id") == "pools-title"
    page.evaluate("document.querySelector('#unlock').focus()")
    page.ask("press", key="Enter")
    page.wait("document.querySelector('#unlock-dialog').open && document.activeElement.name === 'token'")
    page.ask("press", key="Escape")
    page.wait("!document.querySelector('#unlock-dialog').open && document.activeElement.id === 'unlock'")
    page.evaluate("document.querySelector('#theme').focus()")
    page.ask("press", key="Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_is_small_and_there_at_once(page, router):
    shown(page, router)
    # What came over the wire for the page itself, compressed; and when something was to be seen.
    sizes = page.evaluate(
        "[performance.getEntriesByType('navigation')[0], ...performance.getEntriesByType('resource').filter(e => /dashboard/.test(e.name))].map(e => e.encodedBodySize)"
    )
    assert len(sizes) == 3 and all(sizes) and sum(sizes) <= 300 * 1024
    assert page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") < 1000
    assert page.evaluate("performance.getEntriesByType('resource').every(e => new URL(e.name).origin === location.origin)")


def test_the_last_hour_survives_a_new_visit(page, router):
    shown(page, router)
    wait_until(lambda: len(json.loads(router.http("/v1/history")[1])["times_ms"]) >= 2, 25, "two samples")
    shown(page, router)
    page.wait("document.querySelector('#timeline canvas').getAttribute('aria-label').includes('r0 in')")
