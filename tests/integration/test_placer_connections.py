"""Connections of the placer on both sides: kept, dying, slow, cut off, and never out of step."""

import signal
import threading
import time
from pathlib import Path

import pytest

from harness.http import Ended, connect, ok, wait_for
from harness.net import wait_until

GET = "GET /{} HTTP/1.1\r\nHost: test\r\n\r\n"
MIB = 1 << 20


@pytest.mark.short
def test_connections_to_hosts_are_kept(placer, host):
    with placer.client() as one, placer.client() as other:
        for number in range(5):
            for client in (one, other):
                client.send(GET.format(number))
                assert client.response().body == b"a\n"
    assert len(host.connections) <= 4, "at most one per request at a time and thread"


def test_without_keepalive_each_request_has_a_connection_of_its_own(make_placer, host):
    placer = make_placer(host, upstream_keepalive=False)
    with placer.client() as client:
        for number in range(4):
            client.send(GET.format(number))
            assert client.response().status == 200
    assert len(host.connections) == 4


# H04
@pytest.mark.short
def test_a_host_that_ends_idle_connections_fails_no_request(make_placer, make_host):
    def serve(request):
        request.connection.send(ok("once\n"))  # and an end right behind it

    placer = make_placer(make_host(serve=serve))
    with placer.client() as client:
        for number in range(50):
            client.send(GET.format(number))
            assert client.response().status == 200, number


# H04
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_requests_at_the_very_end_of_a_hosts_patience_succeed(make_placer, make_host):
    """An idle timeout of 50 ms, and requests around it; no GET may fail, and no POST be done twice."""

    def serve(request):
        while True:
            if request.get("Content-Length"):
                request.connection.take(int(request.get("Content-Length")))
            request.connection.send(ok("ok\n"))
            request.connection.sock.settimeout(0.05)
            head = request.connection.take_until(b"\r\n\r\n")
            request.connection.sock.settimeout(60)
            request.__init__(head[:-4], b"", request.connection)
            done.append(request.line)

    done = []
    placer = make_placer(make_host(serve=serve), threads=1)
    failed = 0
    with placer.client() as client:
        for number in range(300):
            gap = 0.045 + 0.010 * (number % 11) / 10
            time.sleep(gap)
            client.send(GET.format(number))
            assert client.response().status == 200, number
            time.sleep(gap)
            client.send(f"POST /p{number} HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi")
            status = client.response().status
            assert status in (200, 502)
            failed += status == 502
            if client.closed(0.001):
                client.__init__(placer.client().sock)
    posts = [line for line in done if line.startswith("POST")]
    assert len(posts) == len(set(posts)), "a POST was done twice"
    assert failed < 30


# H04
@pytest.mark.short
def test_a_get_is_sent_again_and_a_post_is_not(make_placer, make_host):
    def serve(request):
        request.connection.send(ok("first\n"))
        head = request.connection.take_until(b"\r\n\r\n")  # and an end without an answer
        seen.append(head.split(b" ")[0])
        if b"POST" in head:
            request.connection.take(2)
            request.connection.reset()

    seen = []
    host = make_host(serve=serve)
    placer = make_placer(host, threads=1)
    with placer.client() as client:
        client.send(GET.format(1))
        assert client.response().status == 200
        client.send(GET.format(2))
        assert client.response().body == b"first\n", "over a fresh connection"
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nhihi")
        answer = client.response()
        assert answer.status == 502 and b"without an answer" in answer.body
    assert seen == [b"GET", b"POST"]
    assert sum(r.method == "POST" for r in host.requests) == 0, "not a second time"


# H04
@pytest.mark.short
@pytest.mark.parametrize("first", ["request", "host"])
def test_what_a_host_says_unasked_answers_no_request(make_placer, make_host, first):
    """A 408 for a connection that was idle for too long, which the placer finds together with the next request."""
    late = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    speaks, spoken = threading.Event(), threading.Event()

    def serve(request):
        if speaks.is_set():
            request.connection.send(ok("well\n") + late)  # right behind an answer
            return
        request.connection.send(ok("well\n"))
        speaks.wait(10)
        request.connection.send(late)
        spoken.set()
        wait_for(0.2)

    host = make_host(serve=serve)
    placer = make_placer(host, threads=1)
    with placer.client() as client:
        client.send(GET.format(1))
        assert client.response().status == 200
        placer.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: "State:\tT" in Path(f"/proc/{placer.pid}/status").read_text(), 5, "the placer to stop")
        try:
            if first == "request":
                client.send(GET.format(2))
            speaks.set()
            assert spoken.wait(10)
            if first == "host":
                client.send(GET.format(2))
        finally:
            placer.process.send_signal(signal.SIGCONT)
        assert client.response().body == b"well\n"
        client.send(GET.format(3))
        assert client.response().body == b"well\n"
    assert len(host.connections) == 3


# H04
def test_silence_on_a_fresh_connection_is_the_hosts_fault(make_placer, make_host):
    host = make_host(answer=lambda request: None)
    placer = make_placer(host, max_failures=0)
    assert placer.get().status == 502
    assert len(host.requests) == 1


@pytest.mark.short
def test_a_host_that_cannot_be_reached_is_passed_over(make_placer, make_host):
    a, b = make_host("a"), make_host("b")
    placer = make_placer(a, b, path_interval="10s")
    a.stop_listening()
    for connection in list(a.connections):
        connection.close()
    answers = [placer.get() for _ in range(6)]
    assert {answer.status for answer in answers} == {200}
    assert answers[-1].get("X-Sluice-Host") == "b"
    a.listen_again()


def test_without_a_host_the_client_is_told(make_placer, make_host):
    host = make_host()
    placer = make_placer(host)
    host.healthy = False
    wait_until(lambda: placer.http("/readyz")[0] == 503, 10, "the host to be out")
    answer = placer.get()
    assert answer.status == 503 and b"No compute host is up" in answer.body
    host.healthy = True
    wait_until(lambda: placer.get().status == 200, 10, "the host to be back")


def test_failing_requests_take_a_host_out(make_placer, make_host):
    a, b = make_host("a", answer=lambda request: None), make_host("b")
    placer = make_placer(a, b, path_interval="10s", max_failures=2)
    statuses = [placer.get().status for _ in range(8)]
    assert statuses.count(502) <= 2 and statuses[-1] == 200
    assert "taken out" in placer.log_text()


# H05
@pytest.mark.short
def test_an_early_answer_ends_the_connection(make_placer, make_host):
    evil = b"GET /evil HTTP/1.1\r\nHost: test\r\n\r\n"

    def serve(request):
        if request.method == "GET":
            request.connection.send(ok("next\n"))
        else:
            request.connection.send(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nbig\n")
            try:
                while True:
                    request.connection.fill()
            except (Ended, OSError):
                pass

    host = make_host(serve=serve)
    placer = make_placer(host)
    with placer.client() as client:
        client.send(f"POST /up HTTP/1.1\r\nHost: test\r\nContent-Length: {10 * MIB}\r\n\r\n")
        answer = client.response()
        assert answer.status == 413 and answer.get("Connection") == "close"
        try:
            for _ in range(10 * MIB // (len(evil) * 1000)):
                client.send(evil * 1000)
            client.send(GET.format("after"))
        except OSError:
            pass
        assert client.closed()
        assert client.received.count(b"HTTP/1.1") == 1, "one request, one answer"
    assert [request.target for request in host.requests] == ["/up"]
    assert placer.get("/fresh").body == b"next\n"
    assert len(host.connections) == 2, "the connection that got half a body is not used again"


# H10
@pytest.mark.short
def test_heads_have_a_deadline_from_accept_on(make_placer, host):
    placer = make_placer(host, request_header_timeout="700ms")
    silent = [placer.client() for _ in range(20)]
    slow = [placer.client() for _ in range(20)]
    started = time.monotonic()
    head = b"GET / HTTP/1.1\r\nHost: test\r\nX: "
    for byte in head[:8]:
        for client in slow:
            try:
                client.send(bytes([byte]))
            except OSError:
                pass
        time.sleep(0.1)
    assert placer.get().status == 200, "others are served meanwhile"
    for client in slow:
        answer = client.response()
        assert answer.status == 408
        assert client.closed()
    for client in silent:
        assert client.closed() and not client.received
    assert time.monotonic() - started < 4
    wait_until(lambda: placer.metric("sluice_placer_client_connections") == 0, 5, "all to be gone")


# H10
def test_idle_and_half_closed_clients_are_let_go(make_placer, host):
    placer = make_placer(host, keepalive_timeout="400ms", request_body_timeout="400ms")
    with placer.client() as idle, placer.client() as half, placer.client() as stuck:
        idle.send(GET.format(1))
        assert idle.response().status == 200
        half.send("GET / HTTP/1.1\r\nHo")
        half.finish_sending()
        assert half.closed()
        assert idle.closed(3)
        stuck.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhel")
        assert stuck.response().status == 408
        assert stuck.closed()
    with placer.client() as polite:
        polite.send(GET.format(2))
        polite.finish_sending()
        assert polite.response().status == 200, "it may still get its answer"


# H10
@pytest.mark.short
def test_a_client_that_does_not_read_costs_one_buffer(make_placer, make_host):
    def answer(request):
        if request.target == "/small":
            return ok("small\n")
        request.connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {1 << 30}\r\n\r\n")
        block = b"x" * MIB
        for _ in range(1024):
            request.connection.send(block)
        return b""

    placer = make_placer(make_host(answer=answer), write_stall_timeout="1500ms")
    before = placer.rss_bytes()
    readers = [placer.client(receive_buffer=65536) for _ in range(10)]
    for reader in readers:
        reader.send(GET.format("large"))
    for _ in range(10):
        assert placer.get("/small").status == 200
        time.sleep(0.05)
    assert placer.rss_bytes() - before < 8 * MIB
    wait_until(lambda: placer.metric("sluice_placer_refusals_total", reason="write_stall") == 10, 10, "them to be cut")
    for reader in readers:
        reader.close()


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_large_bodies_pass_both_ways_in_bounded_memory(make_placer, make_host, framing):
    size = 64 * MIB
    block = bytes(range(256)) * 4096

    def serve(request):
        got = 0
        if framing == "length":
            while got < size:
                got += len(request.connection.take(min(MIB, size - got)))
                request.connection.received = b""
        else:
            while (count := int(request.connection.take_until(b"\r\n"), 16)) > 0:
                got += len(request.connection.take(count))
                request.connection.take(2)
                request.connection.received = b""
            request.connection.take(2)
        assert got == size
        head = f"Content-Length: {size}" if framing == "length" else "Transfer-Encoding: chunked"
        request.connection.send(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n")
        for _ in range(size // len(block)):
            if framing == "chunked":
                request.connection.send(b"%x\r\n" % len(block))
            request.connection.send(block)
            if framing == "chunked":
                request.connection.send(b"\r\n")
        if framing == "chunked":
            request.connection.send(b"0\r\n\r\n")

    placer = make_placer(make_host(serve=serve))
    before = placer.rss_bytes()
    with placer.client(timeout=60) as client:
        head = f"Content-Length: {size}" if framing == "length" else "Transfer-Encoding: chunked"
        client.send(f"POST / HTTP/1.1\r\nHost: test\r\n{head}\r\n\r\n")
        for _ in range(size // len(block)):
            client.send(block if framing == "length" else b"%x\r\n" % len(block) + block + b"\r\n")
        if framing == "chunked":
            client.send("0\r\n\r\n")
        answer_head = client.take_until(b"\r\n\r\n")
        assert b" 200 " in answer_head
        client.received = b""
        got = 0
        if framing == "length":
            while got < size:
                piece = client.take(len(block))
                assert piece == block
                got += len(piece)
                client.received = b""
        else:
            seen = b""
            while (count := int(client.take_until(b"\r\n"), 16)) > 0:
                seen += client.take(count)
                client.take(2)
                client.received = b""
                while len(seen) >= len(block):
                    assert seen[: len(block)] == block
                    seen, got = seen[len(block) :], got + len(block)
        assert got == size
    assert placer.rss_bytes() - before < 8 * MIB


# H11
@pytest.mark.short
@pytest.mark.parametrize("ending", ["end", "reset"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_body_cut_short_is_cut_short_for_the_client_too(make_placer, make_host, framing, ending):
    def serve(request):
        if framing == "length":
            request.connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 50)
        else:
            request.connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n" + b"x" * 50)
        wait_for(0.1)
        if ending == "reset":
            request.connection.reset()

    placer = make_placer(make_host(serve=serve), max_failures=0)
    with placer.client() as client:
        client.send(GET.format(1))
        with pytest.raises(Ended) as cut:
            client.response()
        assert b"200 OK" in cut.value.got and not cut.value.got.endswith(b"0\r\n\r\n")
        assert cut.value.reset, "a reset, so that nobody takes it for the whole"
    assert placer.metric("sluice_placer_host_failures_total", reason="truncated") == 1


# H11
@pytest.mark.short
def test_what_follows_a_response_is_nobodys(make_placer, make_host):
    host = make_host(answer=lambda request: b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 100 + b"y" * 50)
    placer = make_placer(host, threads=1)
    for _ in range(3):
        assert placer.get().body == b"x" * 100
    assert len(host.connections) == 3


# H11
@pytest.mark.short
def test_a_body_until_close_has_an_end_for_the_client(make_placer, make_host):
    def serve(request):
        request.connection.send(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" + b"x" * 70000)

    placer = make_placer(make_host(serve=serve))
    with placer.client() as client:
        for _ in range(2):
            client.send(GET.format(1))
            answer = client.response()
            assert answer.get("Transfer-Encoding") == "chunked" and answer.body == b"x" * 70000
    with placer.client() as old:
        old.send("GET / HTTP/1.0\r\n\r\n")
        answer = old.response()
        assert answer.get("Transfer-Encoding") is None and answer.body == b"x" * 70000


def test_a_host_that_stays_silent_is_given_up(make_placer, make_host):
    def serve(request):
        if request.target == "/body":
            request.connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
        try:
            request.connection.fill()
        except (Ended, OSError):
            pass

    placer = make_placer(
        make_host(serve=serve), response_header_timeout="300ms", response_body_timeout="300ms", max_failures=0
    )
    answer = placer.get("/head")
    assert answer.status == 504 and b"did not answer in time" in answer.body
    with pytest.raises(Ended):
        placer.get("/body")


def test_a_client_that_leaves_takes_its_request_along(make_placer, make_host):
    gone = threading.Event()

    def serve(request):
        try:
            while True:
                request.connection.fill()
        except Ended:
            gone.set()

    placer = make_placer(make_host(serve=serve))
    with placer.client() as client:
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nhalf")
        wait_for(0.1)
    assert gone.wait(5), "half a body must not look like a whole one to the host"
    wait_until(lambda: placer.metric("sluice_placer_requests_in_flight") == 0, 5, "nothing to be in flight")


@pytest.mark.short
def test_pipelined_requests_are_answered_in_order(make_placer, make_host):
    def answer(request):
        if request.target == "/slow":
            wait_for(0.2)
        return ok(request.target + request.body.decode())

    placer = make_placer(make_host(answer=answer))
    with placer.client() as client:
        client.send(
            GET.format("slow")
            + "POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc"
            + "POST /q HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ndef\r\n0\r\n\r\n"
            + "HEAD /h HTTP/1.1\r\nHost: t\r\n\r\n"
            + GET.format("last")
        )
        bodies = [client.response(method).body for method in ("GET", "POST", "POST", "HEAD", "GET")]
        assert bodies == [b"/slow", b"/pabc", b"/qdef", b"", b"/last"]
        client.send(GET.format("x") * 500)
        assert [client.response().body for _ in range(500)] == [b"/x"] * 500


def test_the_number_of_connections_is_bounded(make_placer, host):
    placer = make_placer(host, max_client_connections=5)
    wait_until(lambda: placer.metric("sluice_placer_client_connections") == 0, 5, "none to be left")
    clients = [placer.client() for _ in range(5)]
    for client in clients:
        client.send(GET.format(1))
        assert client.response().status == 200
    with placer.client() as further:
        answer = further.response()
        assert answer.status == 503 and b"max_client_connections" in answer.body
    for client in clients:
        client.close()
    wait_until(lambda: placer.get().status == 200, 5, "room again")


def test_nothing_is_left_of_ended_connections(make_placer, host):
    placer = make_placer(host, max_idle_upstream=4)
    for _ in range(20):
        placer.get()
    before = placer.fd_count()
    for _ in range(300):
        client = connect(placer.port)
        client.send(GET.format(1))
        if client.response().status != 200:
            raise AssertionError
        client.reset() if _ % 2 else client.close()
    wait_until(lambda: placer.fd_count() <= before + 8, 10, "descriptors to be given back")
