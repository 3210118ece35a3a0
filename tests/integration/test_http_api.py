"""The JSON of the HTTP admin port against its description, docs/reference/openapi.json."""

import json
import re
import time
import urllib.error
import urllib.request

import jsonschema
import pytest

from harness.messages import Q
from harness.net import wait_until
from harness.openapi import PUBLISHED, SPEC, check

TOKEN = "0123456789abcdef-for-the-tests"


@pytest.fixture(scope="module")
def busy(workspace, base_config, tmp_path_factory):
    """A router with something of everything to show."""
    from harness.router import DIRECT, Router

    if DIRECT:
        pytest.skip("needs a router")
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    router = Router(
        workspace / "routers",
        {
            **base_config,
            "admin_token_file": str(token),
            "hosts": [{"name": "here", "networks": ["127.0.0.0/8"]}],
            "budgets": [{"name": "reports", "active_share": "0.5", "mode": "warn"}],
            "trace_idle_timeout": "200ms",
        },
        "described",
    ).start()
    clients = [router.session("alice", "app_read") for _ in range(21)]
    for i, client in enumerate(clients[:5]):
        trace = f"00-{i + 1:032x}-{i + 1:016x}-01"
        client.run(Q(f"select 1 /*route='%2Ffeed',traceparent='{trace}'*/"))
    yield router
    for client in clients:
        client.terminate()
    router.stop()


def ask(router, path, method="GET", **fields):
    request = urllib.request.Request(
        f"http://127.0.0.1:{router.config['admin_port']}{path}",
        method=method,
        headers={name.replace("_", "-"): value for name, value in fields.items()},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers, refusal.read().decode()


def judged(router, path, described, method, **fields):
    status, headers, body = ask(router, path, method, **fields)
    assert str(status) in described["responses"], (path, status, body)
    content = described["responses"][str(status)]["content"]
    assert headers["Content-Type"] in content, path
    if headers["Content-Type"] == "application/json":
        check(json.loads(body), content[headers["Content-Type"]]["schema"])
    return status, body


@pytest.mark.parametrize("path", [path for path, what in SPEC["paths"].items() if "get" in what and path != "/v1/events"])
def test_answers_as_described(busy, path):
    status, body = judged(busy, path, SPEC["paths"][path]["get"], "GET")
    assert status == 200 and body


def test_shows_something_of_everything(busy):
    """Else the test above would compare nothing with something."""
    wait_until(lambda: json.loads(busy.http("/v1/routes")[1])["routes"], 10, "the route")
    for name in ("replicas", "classes", "budgets", "hosts", "rtt", "routes", "pools", "decisions", "role_changes", "stats", "databases"):
        rows = json.loads(busy.http(f"/v1/{name}")[1])[name]
        assert rows, name
        check({name: rows}, SPEC["paths"][f"/v1/{name}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"])
    overview = json.loads(busy.http("/v1/overview")[1])
    assert overview["classes"][0]["response"]["count"] >= 5 and overview["commands"]
    assert [one["name"] for one in overview["replicas"] if one["borrowed"]] == ["r4"]


def test_a_member_that_comes_breaks_no_client_and_is_missed_in_the_description(busy):
    overview = json.loads(busy.http("/v1/overview")[1])
    overview["classes"][0]["news"] = 1
    schema = {"$ref": "#/components/schemas/Overview"}
    check(overview, schema, PUBLISHED)
    with pytest.raises(jsonschema.ValidationError, match="news"):
        check(overview, schema)


def test_describes_all_that_there_is(busy):
    listed = set(re.findall(r"^(/v1/\S+|/metrics|/healthz|/readyz)", busy.http("/")[1], re.M))
    assert listed == {path.replace("{name}", "NAME") for path in SPEC["paths"]}


def test_streams_as_described(busy):
    kinds = SPEC["paths"]["/v1/events"]["get"]["x-events"]
    wanted = set(kinds) - {"heartbeat"}  # of quiet streams
    seen = set()
    end = time.monotonic() + 20
    with urllib.request.urlopen(f"http://127.0.0.1:{busy.config['admin_port']}/v1/events", timeout=20) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        while seen != wanted and time.monotonic() < end:
            line = stream.readline().decode()
            if line.startswith("event: "):
                kind = line[7:].strip()
                check(json.loads(stream.readline().decode().removeprefix("data: ")), kinds[kind])
                seen.add(kind)
    assert seen == wanted


def test_commands_answer_as_described(busy):
    token = {"Authorization": f"Bearer {TOKEN}"}

    def post(path, name="r3", **fields):
        return judged(busy, path.replace("{name}", name), SPEC["paths"][path]["post"], "POST", **fields)[0]

    drain, undrain, reload = (path for path in SPEC["paths"] if "post" in SPEC["paths"][path])
    assert post(drain) == 401
    assert post(drain, Authorization="Bearer of news") == 401
    assert post(drain, Origin="http://elsewhere.example", **token) == 403
    assert post(drain, Sec_Fetch_Site="cross-site", **token) == 403
    assert not any(one["draining"] for one in json.loads(busy.http("/v1/replicas")[1])["replicas"])
    assert post(drain, name="nobody", **token) == 404
    assert post(drain, **token) == 200
    assert [one["name"] for one in json.loads(busy.http("/v1/replicas")[1])["replicas"] if one["draining"]] == ["r3"]
    assert post(undrain, **token) == 200
    assert post(reload, **token) == 200
    assert post(reload, Host="elsewhere.example", **token) == 421
    good = busy.config_file.read_text()
    busy.config_file.write_text(good.replace('"premium"', '"premium", "nonsense": 1', 1))
    assert post(reload, **token) == 409
    busy.config_file.write_text(good)


def test_refused_commands_leave_a_trace(busy):
    before = {why: busy.metric("sluice_admin_commands_refused_total", reason=why) for why in ("token", "foreign_page", "host")}
    token = {"Authorization": f"Bearer {TOKEN}"}
    assert ask(busy, "/v1/replicas/r3/drain", "POST", Authorization="Bearer of news")[0] == 401
    assert ask(busy, "/v1/reload", "POST", Sec_Fetch_Site="cross-site", **token)[0] == 403
    assert ask(busy, "/v1/reload", "POST", Host="elsewhere.example", **token)[0] == 421
    assert {why: busy.metric("sluice_admin_commands_refused_total", reason=why) for why in before} == {why: count + 1 for why, count in before.items()}
    lines = [line for line in busy.log_text().splitlines() if "command refused" in line]
    assert any("command=drain" in line and "reason=token" in line and "peer=127.0.0.1:" in line for line in lines)
    assert "of news" not in busy.log_text() and TOKEN not in busy.log_text()


# Strangers may send as many as they like.
def test_refused_commands_do_not_fill_the_log(make_router):
    router = make_router()
    for _ in range(60):
        assert ask(router, "/v1/reload", "POST")[0] in (401, 403)
    wait_until(lambda: "repeats are over" in router.log_text(), 20, "the count of what was left out")
    assert 20 <= sum("command refused" in line for line in router.log_text().splitlines()) < 60


# Was: such spellings were taken for addresses that others reach, where any name will do.
@pytest.mark.parametrize("address", ["127.1", "0x7f000001"])
def test_loopback_is_loopback_however_it_is_written(make_router, address):
    router = make_router(admin_addr=address)
    assert ask(router, "/v1/overview", Host="127.0.0.1")[0] == 200
    assert ask(router, "/v1/overview", Host="evil.example")[0] == 421


def test_answers_for_its_own_names_alone(busy):
    """DNS rebinding: a page from elsewhere whose name resolves to this address asks for that name."""
    port = busy.config["admin_port"]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "10.1.2.3"):
        assert ask(busy, "/v1/overview", Host=host)[0] == 200, host
    for host in (f"evil.example:{port}", "evil.example", "localhost.evil.example"):
        for path in ("/", "/v1/overview", "/v1/events", "/metrics", "/dashboard"):
            assert ask(busy, path, Host=host)[0] == 421, (host, path)


def test_takes_further_names_from_the_configuration(make_router):
    router = make_router(admin_names=["scrape.example"])
    assert ask(router, "/metrics", Host="scrape.example:9632")[0] == 200
    assert ask(router, "/metrics", Host="evil.example")[0] == 421
    router.write_config(admin_names=["other.example"])
    router.reload()
    wait_until(lambda: ask(router, "/metrics", Host="other.example")[0] == 200, 10, "the reload")
    assert ask(router, "/metrics", Host="scrape.example")[0] == 421


def test_the_placer_answers_for_its_own_names_alone_too(make_placer, make_host):
    placer = make_placer(make_host("a"), admin_names=["placer.example"])
    for host, status in (("127.0.0.1", 200), ("placer.example:80", 200), ("evil.example", 421)):
        assert ask(placer, "/v1/overview", Host=host)[0] == status, host


def test_the_placer_explains_the_route_of_the_method_that_is_asked_about(make_placer, make_host):
    routes = [{"pattern": "/x", "method": "GET", "n_serial": "1"}, {"pattern": "/x", "method": "POST", "n_serial": "7"}]
    placer = make_placer(make_host("a"), policy="network_only", routes=routes)
    assert [(one["method"], one["route"]) for one in json.loads(ask(placer, "/v1/overview")[2])["routes"]] == [("GET", "/x"), ("POST", "/x"), (None, None)]
    for method in ("GET", "POST"):
        assert json.loads(ask(placer, f"/v1/explain?route=/x&method={method}")[2])["method"] == method
