"""What applications rely on in a proxy: upgrades, informational answers, forwarding, logs, TLS, reload and drain."""

import json
import re
import signal
import threading
import time

import pytest

from harness.http import Ended, ok, trusting_context, wait_for
from harness.net import free_port, wait_until

GET = "GET /{} HTTP/1.1\r\nHost: test\r\n\r\n"
UPGRADE = "GET /ws HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: {}\r\nSec-WebSocket-Key: x\r\n\r\n"


def echo(request):
    """Switches to whatever is asked for, greets, and echoes until the other side ends."""
    if request.get("Upgrade") is None:
        request.connection.send(ok("plain\n"))
        return
    head = f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {request.get('Upgrade')}\r\n\r\n"
    request.connection.send(head.encode() + b"hello ")
    try:
        while True:
            request.connection.fill()
            request.connection.send(request.connection.buffer)
            request.connection.buffer = b""
    except Ended:
        request.connection.send(b" bye")


@pytest.mark.short
def test_websockets_pass_through(make_placer, make_host):
    placer = make_placer(make_host(serve=echo))
    with placer.client() as client:
        client.send(UPGRADE.format("websocket"))
        answer = client.response()
        assert answer.status == 101 and answer.get("Upgrade") == "websocket" and answer.get("Connection") == "Upgrade"
        assert client.take(6) == b"hello "
        for block in (b"x", b"y" * 300_000):
            sender = threading.Thread(target=client.send, args=(block,))
            sender.start()
            assert client.take(len(block)) == block
            sender.join()
        client.finish_sending()
        assert client.rest() == b" bye"


def test_silent_tunnels_end(make_placer, make_host):
    placer = make_placer(make_host(serve=echo), tunnel_idle_timeout="400ms")
    with placer.client() as client:
        client.send(UPGRADE.format("websocket"))
        assert client.response().status == 101
        started = time.monotonic()
        assert client.closed()
        assert time.monotonic() - started < 3


@pytest.mark.short
def test_other_upgrades_are_not_asked_for(make_placer, make_host):
    host = make_host(serve=echo)
    placer = make_placer(host)
    with placer.client() as client:
        client.send(UPGRADE.format("h2c"))
        assert client.response().body == b"plain\n"
    assert host.requests[0].get("Upgrade") is None and host.requests[0].get("Connection") is None


def test_a_switch_that_nobody_asked_for_is_an_error(make_placer, make_host):
    host = make_host(answer=lambda r: b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert make_placer(host).get().status == 502


@pytest.mark.short
def test_expect_100_continue_is_the_hosts_to_answer(make_placer, make_host):
    def serve(request):
        if request.target == "/no":
            request.connection.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno\n")
            return
        assert request.get("Expect") == "100-continue"
        request.connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        # This host closes after one answer, and says so: a kept connection may be lost to the next request.
        request.connection.send(ok(b"got " + request.connection.take(5), "Connection: close\r\n"))

    placer = make_placer(make_host(serve=serve))
    head = "POST /{} HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    with placer.client() as client:
        client.send(head.format("yes"))
        assert client.response().status == 100
        client.send("hello")
        assert client.response().body == b"got hello"
    with placer.client() as client:
        client.send(head.format("no"))
        answer = client.response()
        assert answer.status == 403 and answer.get("Connection") == "close"
    with placer.client() as client:
        client.send("GET / HTTP/1.1\r\nHost: test\r\nExpect: wonders\r\n\r\n")
        assert client.response().status == 417


@pytest.mark.short
def test_informational_answers_come_first(make_placer, make_host):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x.css>\r\n\r\n"
    placer = make_placer(make_host(answer=lambda request: hints + hints + ok("done\n")))
    with placer.client() as client:
        client.send(GET.format(1))
        answers = [client.response() for _ in range(3)]
        assert [answer.status for answer in answers] == [103, 103, 200]
        assert answers[0].get("Link") == "</x.css>" and answers[2].body == b"done\n"
    with placer.client() as old:
        old.send("GET / HTTP/1.0\r\n\r\n")
        assert old.response().status == 200


@pytest.mark.short
def test_answers_without_a_body_have_none(make_placer, make_host):
    def answer(request):
        status = request.target[1:]
        if request.method == "HEAD":
            return b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        if status == "304":
            return b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\nETag: x\r\n\r\n"
        return b"HTTP/1.1 204 No Content\r\n\r\n"

    host = make_host(answer=answer)
    placer = make_placer(host, threads=1)
    with placer.client() as client:
        for _ in range(3):
            client.send("HEAD /x HTTP/1.1\r\nHost: t\r\n\r\n")
            answered = client.response("HEAD")
            assert answered.get("Content-Length") == "1000"
            client.send(GET.format("304"))
            answered = client.response()
            assert (answered.status, answered.get("ETag")) == (304, "x")
            client.send(GET.format("204"))
            answered = client.response()
            assert answered.status == 204 and answered.get("Content-Length") is None
    assert len(host.connections) == 1, "and the connection is kept"


@pytest.mark.short
def test_http_1_0_clients_get_what_they_know(make_placer, make_host):
    host = make_host(answer=lambda request: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    placer = make_placer(host)
    with placer.client() as client:
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        answer = client.response()
        assert answer.get("Transfer-Encoding") is None and answer.body == b"abc"
    host.answer = lambda request: ok("abc")
    with placer.client() as client:
        for _ in range(2):
            client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            answer = client.response()
            assert answer.get("Connection") == "keep-alive" and answer.body == b"abc"
        client.send("GET / HTTP/1.0\r\n\r\n")
        assert client.response().get("Connection") == "close" and client.closed()
    assert all(request.version == "HTTP/1.1" for request in host.requests)


SPOOFED = (
    "X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: spoofed\r\nForwarded: for=9.9.9.9\r\n"
    "Via: 1.1 other\r\n"
)


@pytest.mark.short
def test_forwarding_fields_of_strangers_are_replaced(make_placer, host):
    placer = make_placer(host, forwarded=True)
    placer.get("/", SPOOFED)
    request = host.requests[0]
    assert request.values("X-Forwarded-For") == ["127.0.0.1"]
    assert request.values("X-Forwarded-Proto") == ["http"]
    assert request.values("X-Forwarded-Host") == ["test"]
    assert request.values("Forwarded") == ['for=127.0.0.1;host="test";proto=http']
    assert request.values("Via") == ["1.1 other, 1.1 sluice"]


@pytest.mark.short
def test_forwarding_fields_of_trusted_proxies_are_carried_on(make_placer, host):
    placer = make_placer(host, forwarded=True, trusted_proxies=["127.0.0.0/8"], via="")
    placer.get("/", SPOOFED)
    request = host.requests[0]
    assert request.values("X-Forwarded-For") == ["9.9.9.9, 127.0.0.1"]
    assert request.values("X-Forwarded-Proto") == ["https"]
    assert request.values("X-Forwarded-Host") == ["spoofed"]
    assert request.values("Forwarded") == ['for=9.9.9.9, for=127.0.0.1;host="test";proto=http']
    assert request.values("Via") == ["1.1 other"]


@pytest.mark.short
def test_requests_have_an_id_and_a_trace(placer, host):
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    placer.get("/", f"X-Request-Id: mine\r\ntraceparent: {trace}\r\n")
    placer.get("/", "X-Request-Id: not usable\r\ntraceparent: 00-nonsense\r\n")
    placer.get("/")
    given, bad, none = host.requests
    assert (given.get("X-Request-Id"), given.get("traceparent")) == ("mine", trace)
    for request in (bad, none):
        assert re.fullmatch("[0-9a-f]{32}", request.get("X-Request-Id"))
        assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", request.get("traceparent"))
    assert bad.get("traceparent") != none.get("traceparent")


def test_the_response_names_the_host_unless_told_not_to(make_placer, make_host):
    host = make_host("compute-a", answer=lambda request: ok(fields="X-Sluice-Host: forged\r\n"))
    assert make_placer(host).get().values("X-Sluice-Host") == ["compute-a"]
    assert make_placer(host, host_header=False).get().values("X-Sluice-Host") == []


@pytest.mark.short
def test_each_request_has_a_line_in_the_access_log(make_placer, host):
    placer = make_placer(host, log_format="json", routes=[{"pattern": "/a/:id"}])
    placer.get("/a/1?token=secret", "X-Request-Id: one\r\n")
    line = json.loads(wait_until(placer.access_lines, 5, "the line")[0])
    assert (line["method"], line["path"], line["status"], line["route"]) == ("GET", "/a/1", 200, "/a/:id")
    assert (line["host"], line["request_id"], line["client"]) == ("a", "one", "127.0.0.1")
    assert 0 < line["host_seconds"] <= line["seconds"] < 5
    assert "secret" not in "".join(placer.access_lines()) + placer.log_text()
    with placer.client() as client:
        client.send("GET /x HTTP/1.1\r\nHost: a b\r\n\r\n")
        assert client.response().status == 400
    refused = json.loads(wait_until(lambda: placer.access_lines()[1:], 5, "a line of the refusal")[0])
    assert (refused["status"], refused["host"], refused["attempts"]) == (400, "", 0)
    with_query = make_placer(host, access_log_query=True)
    with_query.get("/a/1?b=c")
    assert "path=/a/1?b=c" in wait_until(with_query.access_lines, 5, "the line")[0].replace('"', "")


def test_tls_in_front(make_placer, host, authority):
    certificate, key = authority.issue("placer", "localhost", ["localhost", "127.0.0.1"])
    port = free_port()
    placer = make_placer(
        host,
        listen_tls_port=port,
        tls_cert_file=str(certificate),
        tls_key_file=str(key),
        request_header_timeout="700ms",
    )
    plain_port, placer.port = placer.port, port
    silent = placer.client()
    with placer.client(tls=trusting_context()) as client:
        for number in range(3):
            client.send("POST /x HTTP/1.1\r\nHost: test\r\nContent-Length: 70000\r\n\r\n" + "y" * 70000)
            assert client.response().status == 200
    assert host.requests[-1].body == b"y" * 70000
    assert host.requests[-1].get("X-Forwarded-Proto") == "https"
    with placer.client() as garbage:
        garbage.send("GET / HTTP/1.1\r\n\r\n")
        assert garbage.closed()
    assert silent.closed(), "silence instead of a handshake has the same deadline"
    placer.port = plain_port
    assert placer.get().status == 200


@pytest.mark.short
def test_drain_lets_requests_end_and_takes_no_more(make_placer, make_host):
    def answer(request):
        wait_for(0.5)
        return ok("done\n")

    placer = make_placer(make_host(answer=answer), drain_timeout="5s")
    with placer.client() as busy, placer.client() as idle:
        busy.send(GET.format(1))
        wait_until(lambda: placer.metric("sluice_placer_requests_in_flight") == 1, 5, "the request")
        placer.process.send_signal(signal.SIGTERM)
        assert idle.closed(2)
        answered = busy.response()
        assert answered.body == b"done\n" and answered.get("Connection") == "close"
        assert busy.closed()
    placer.process.wait(5)


def test_drain_has_a_deadline(make_placer, make_host):
    placer = make_placer(make_host(serve=lambda request: wait_for(10)), drain_timeout="300ms")
    with placer.client() as client:
        client.send(GET.format(1))
        wait_until(lambda: placer.metric("sluice_placer_requests_in_flight") == 1, 5, "the request")
        started = time.monotonic()
        placer.process.send_signal(signal.SIGTERM)
        placer.process.wait(5)
        assert time.monotonic() - started < 3
        assert client.closed()


@pytest.mark.short
def test_reload_takes_all_or_nothing(make_placer, make_host):
    a, b = make_host("a"), make_host("b")
    placer = make_placer(a)
    with placer.client() as client:
        client.send(GET.format(1))
        assert client.response().body == b"a\n"
        placer.write_config(compute_hosts=[b.config()])
        placer.reload()
        wait_until(lambda: placer.get().body == b"b\n", 10, "the other host")
        client.send(GET.format(2))
        assert client.response().body == b"b\n", "the connection lives on"
        for broken in ({"polcy": "profiled"}, {"listen_port": free_port()}, {"compute_hosts": []}):
            kept = dict(placer.config)
            failed = placer.metric("sluice_reloads_total", result="failed")
            placer.write_config(**broken)
            placer.reload()
            wait_until(lambda: placer.metric("sluice_reloads_total", result="failed") == failed + 1, 5, "the refusal")
            placer.config = kept
        client.send(GET.format(3))
        assert client.response().body == b"b\n"
    assert "reload failed" in placer.log_text()


def test_requests_per_connection_are_bounded_on_demand(make_placer, host):
    placer = make_placer(host, max_requests_per_connection=2)
    with placer.client() as client:
        client.send(GET.format(1))
        assert client.response().get("Connection") is None
        client.send(GET.format(2))
        assert client.response().get("Connection") == "close" and client.closed()


def test_bodies_are_bounded_on_demand(make_placer, host):
    placer = make_placer(host, max_request_body=10)
    for head, body in (("Content-Length: 11", "x" * 11), ("Transfer-Encoding: chunked", "b\r\n" + "x" * 11 + "\r\n0\r\n\r\n")):
        with placer.client() as client:
            client.send(f"POST / HTTP/1.1\r\nHost: t\r\n{head}\r\n\r\n{body}")
            assert client.response().status == 413
    with placer.client() as client:
        client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n" + "x" * 10)
        assert client.response().status == 200


@pytest.mark.short
def test_reloads_under_load_fail_no_request(make_placer, make_host):
    a, b = make_host("a"), make_host("b")
    placer = make_placer(a)
    stop, statuses, seen = threading.Event(), [], set()

    def load():
        with placer.client() as client:
            while not stop.is_set():
                client.send(GET.format(1))
                answer = client.response()
                statuses.append(answer.status)
                seen.add(answer.body)

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(20):
            placer.write_config(compute_hosts=[(b if number % 2 == 0 else a).config()], retries=number % 3)
            placer.reload()
            done = placer.metric("sluice_reloads_total", result="ok")
            wait_until(lambda: placer.metric("sluice_reloads_total", result="ok") >= max(done, number + 1), 5, "it")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert set(statuses) == {200} and seen == {b"a\n", b"b\n"}


def test_requests_per_host_are_bounded_on_demand(make_placer, make_host):
    release = threading.Event()

    def slow(request):
        release.wait(10)
        return ok("slow\n")

    a = make_host("a", answer=slow)
    placer = make_placer(a, compute_hosts=[a.config(max_connections=2)])
    busy = [placer.client() for _ in range(2)]
    try:
        for client in busy:
            client.send(GET.format(1))
        wait_until(lambda: placer.metric("sluice_placer_requests_in_flight", host="a") == 2, 5, "both to be there")
        assert placer.get().status == 503
    finally:
        release.set()
    for client in busy:
        assert client.response().status == 200
        client.close()
    assert placer.get().status == 200


# Was: a signal in the turn in which the last wait for one was cancelled began another wait, for ever.
@pytest.mark.timeout(180)
def test_ends_amid_reloads_are_ends(make_placer, host):
    for _ in range(50):
        make_placer(host, ready=False).stop_amid_reloads()
