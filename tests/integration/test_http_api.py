"""The JSON of the HTTP admin port against its description, docs/reference/openapi.json."""

import json
import re
import time
import urllib.error
import urllib.request
from pathlib import Path

import jsonschema
import pytest

from harness.messages import Q
from harness.net import wait_until

SPEC = json.loads((Path(__file__).resolve().parents[2] / "docs/reference/openapi.json").read_text())
TOKEN = "0123456789abcdef-for-the-tests"


def check(document, schema):
    # References are looked up from the document's root, which the schema is given for that.
    jsonschema.Draft202012Validator({**schema, "components": SPEC["components"]}).validate(document)


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


def test_describes_all_that_there_is(busy):
    listed = set(re.findall(r"^(/v1/\S+|/metrics|/healthz|/readyz)", busy.http("/")[1], re.M))
    assert listed == {path.replace("{name}", "NAME") for path in SPEC["paths"]}


def test_streams_as_described(busy):
    kinds = SPEC["paths"]["/v1/events"]["get"]["x-events"]
    seen = set()
    end = time.monotonic() + 20
    with urllib.request.urlopen(f"http://127.0.0.1:{busy.config['admin_port']}/v1/events", timeout=20) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        while seen != set(kinds) and time.monotonic() < end:
            line = stream.readline().decode()
            if line.startswith("event: "):
                kind = line[7:].strip()
                check(json.loads(stream.readline().decode().removeprefix("data: ")), kinds[kind])
                seen.add(kind)
    assert seen == set(kinds)


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
    good = busy.config_file.read_text()
    busy.config_file.write_text(good.replace('"premium"', '"premium", "nonsense": 1', 1))
    assert post(reload, **token) == 409
    busy.config_file.write_text(good)


def test_many_viewers_cost_one_rendering(busy):
    """Ten streams cost the router about what one costs."""

    def cpu():
        fields = Path(f"/proc/{busy.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    streams = [urllib.request.urlopen(f"http://127.0.0.1:{busy.config['admin_port']}/v1/events", timeout=20) for _ in range(10)]
    before = cpu()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        for stream in streams:
            stream.readline()
    for stream in streams:
        stream.close()
    assert cpu() - before <= 50, "hundredths of a second within five seconds"
