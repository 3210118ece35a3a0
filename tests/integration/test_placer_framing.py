"""What the placer takes for a message, and what a compute host gets of it: nobody's bytes become another's request."""

import time

import pytest

from harness.http import Ended, ok

NEXT = "GET /next HTTP/1.1\r\nHost: test\r\n\r\n"


def refused(placer, host, bytes_sent, statuses=(400,), pieces=None):
    """The placer refuses and closes, and the host sees nothing of it."""
    before = len(host.requests)
    with placer.client() as client:
        try:
            client.send(bytes_sent, pieces)
        except OSError:
            pass  # it closed before it had all of a large one
        try:
            answer = client.response()
        except Ended as ended:
            assert not ended.got, f"{bytes_sent[:80]!r}: {ended.got!r}"
            answer = None
        if answer is not None:
            assert answer.status in statuses, f"{bytes_sent[:80]!r} was answered {answer.status}"
            assert answer.get("Connection") == "close"
            assert str(answer.status) in answer.body.decode(), "the body says what is wrong"
        assert client.closed(), f"{bytes_sent[:80]!r} left the connection open"
    assert len(host.requests) == before, f"{bytes_sent[:80]!r} was passed on"


def post(fields, body="", version="1.1"):
    return f"POST /x HTTP/{version}\r\nHost: test\r\n{fields}\r\n{body}"


# H01
@pytest.mark.short
def test_a_length_beside_a_transfer_encoding_is_refused(placer, host):
    smuggled = "0\r\n\r\nGET /evil HTTP/1.1\r\nHost: test\r\n\r\n"
    refused(placer, host, post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", smuggled))
    refused(placer, host, post("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", smuggled))
    assert b"evil" not in host.received()


# H01
def test_of_a_response_with_both_the_transfer_encoding_counts(make_placer, make_host):
    host = make_host(
        answer=lambda request: b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5\r\nhello\r\n0\r\n\r\n"
    )
    placer = make_placer(host)
    with placer.client() as client:
        for _ in range(2):
            client.send(NEXT)
            answer = client.response()
            assert (answer.status, answer.body) == (200, b"hello")
            assert answer.get("Content-Length") is None
    assert len(host.connections) == 2, "a connection that said both is not used again"


# H02
@pytest.mark.short
@pytest.mark.parametrize(
    "line",
    [
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding:",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding : chunked",
        "\tTransfer-Encoding: chunked",
        "Transfer-Encoding: \x0bchunked",
        'Transfer-Encoding: "chunked"',
    ],
)
def test_other_transfer_encodings_are_refused(placer, host, line):
    refused(placer, host, post(line + "\r\n", "0\r\n\r\n"), (400, 501))


# H02
def test_chunked_is_known_in_any_case_and_not_in_http_1_0(placer, host):
    with placer.client() as client:
        for word in ("chunked", "Chunked", "CHUNKED"):
            client.send(post(f"Transfer-Encoding: {word}\r\n", "5\r\nhello\r\n0\r\n\r\n"))
            assert client.response().status == 200
    assert [request.body for request in host.requests] == [b"hello"] * 3
    refused(placer, host, post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n", version="1.0"))


# H02
def test_a_request_never_ends_with_the_connection(placer, host):
    with placer.client() as client:
        client.send(post("") + "this is no body\r\n\r\n")
        assert client.response().status == 200
        assert client.response().status >= 400
    assert host.requests[0].body == b""


# H07
@pytest.mark.short
@pytest.mark.parametrize(
    "value", ["", " ", "+5", "-1", "0x5", "5,5", "5, 6", "5,", "18446744073709551617", "05", "5\r\nContent-Length: 6"]
)
def test_lengths_that_are_no_plain_numbers_are_refused(placer, host, value):
    refused(placer, host, post(f"Content-Length: {value}\r\n", "hello"))


# H07
def test_a_length_given_twice_the_same_goes_on_once(placer, host):
    with placer.client() as client:
        client.send(post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"))
        assert client.response().status == 200
    assert host.requests[0].values("Content-Length") == ["5"]


# H07
@pytest.mark.parametrize("value", ["", "+5", "5, 6", "05", "5\r\nContent-Length: 6"])
def test_a_bad_length_of_a_host_is_its_fault(make_placer, make_host, value):
    host = make_host(answer=lambda request: f"HTTP/1.1 200 OK\r\nContent-Length: {value}\r\n\r\nhello".encode())
    assert make_placer(host).get().status == 502


# H08
@pytest.mark.short
@pytest.mark.parametrize(
    "body",
    [
        "5\nhello\r\n0\r\n\r\n",
        "5;" + "x" * (1 << 20) + "\r\nhello\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFF1\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n\r\n",
        "5\r\nhello and more\r\n0\r\n\r\n",
    ],
    ids=["bare LF", "long extension", "overflow", "0x", "leading blank", "trailing blank", "no last size", "too long"],
)
def test_broken_chunks_are_refused(placer, host, body):
    with placer.client() as client:
        try:
            client.send(post("Transfer-Encoding: chunked\r\n", body))
        except OSError:
            pass
        try:
            assert client.response().status == 400
        except Ended as ended:
            assert not ended.got
        assert client.closed()
    assert all(not request.body for request in host.requests), "no whole request reached the host"


# H08
@pytest.mark.short
def test_chunks_are_encoded_anew_wherever_they_are_cut(placer, host):
    body = "".join(f"{len(part):x};name=value\r\n{part}\r\n" for part in ("hello", "w" * 300, "x")) + "0\r\n\r\n"
    whole = post("Transfer-Encoding: chunked\r\n", body)
    for pieces in (1, 2, 3, 7, 64, None):
        with placer.client() as client:
            client.send(whole, pieces)
            assert client.response().status == 200, pieces
    assert {request.body for request in host.requests} == {b"hello" + b"w" * 300 + b"x"}
    assert b"name=value" not in host.received()


# H08
def test_chunks_of_a_response_are_encoded_anew(make_placer, make_host):
    parts = [b"a" * size for size in (1, 16, 300, 70000, 5)]

    def answer(request):
        for at, byte in enumerate(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
            request.connection.send(bytes([byte]))
        for part in parts:
            request.connection.send(b"%x;secret=1\r\n" % len(part))
            request.connection.send(part[:1])
            request.connection.send(part[1:] + b"\r\n")
        request.connection.send(b"0\r\n\r\n", 1)
        return b""

    placer = make_placer(make_host(answer=answer))
    with placer.client() as client:
        for _ in range(3):
            client.send(NEXT)
            answered = client.response()
            assert answered.body == b"".join(parts)
        assert b"secret" not in client.received


# H13
@pytest.mark.short
def test_trailers_stay_trailers(placer, host):
    trailers = (
        "X-Sum: 1\r\nX-Sum: 2\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\nHost: evil\r\n"
        "Authorization: evil\r\n"
    )
    with placer.client() as client:
        client.send(post("Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n", f"5\r\nhello\r\n0\r\n{trailers}\r\n"))
        assert client.response().status == 200
        client.send(NEXT)
        assert client.response().status == 200
    first, second = host.requests
    assert first.body == b"hello" and first.get("X-Sum") is None and first.values("Host") == ["test"]
    assert first.trailers == b"X-Sum: 1\r\nX-Sum: 2\r\n"
    assert second.target == "/next" and b"evil" not in host.received()


# H13
def test_trailers_without_end_are_refused(placer, host):
    refused_body = "5\r\nhello\r\n0\r\nX: " + "x" * 100_000 + "\r\n\r\n"
    with placer.client() as client:
        try:
            client.send(post("Transfer-Encoding: chunked\r\n", refused_body))
            assert client.response().status == 400
        except (Ended, OSError):
            pass
        assert client.closed()
    assert all(not request.body for request in host.requests)


# H13
def test_trailers_of_a_response_are_passed_on(make_placer, make_host):
    host = make_host(
        answer=lambda request: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5\r\nhello\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\n\r\n"
    )
    with make_placer(host).client() as client:
        for _ in range(2):
            client.send(NEXT)
            answer = client.response()
            assert (answer.body, answer.trailers) == (b"hello", b"X-Sum: 1\r\n")


# H14
@pytest.mark.short
@pytest.mark.parametrize(
    "fields",
    [
        "X: a\0b\r\n",
        "X: a\rb\r\n",
        "X: a\nEvil: b\r\n",
        "X: a\r\n folded\r\n",
        ": empty\r\n",
        "Na me: x\r\n",
        "Host: other\r\n",
        "X\r\n",
    ],
)
def test_malformed_fields_are_refused(placer, host, fields):
    refused(placer, host, f"GET / HTTP/1.1\r\nHost: test\r\n{fields}\r\n")


# H14
def test_hosts_that_are_none_are_refused(placer, host):
    refused(placer, host, "GET / HTTP/1.1\r\n\r\n")
    for value in ("a b", "", "a/b", "a@b", "a\tb"):
        refused(placer, host, f"GET / HTTP/1.1\r\nHost: {value}\r\n\r\n")


# H14
def test_too_much_of_a_head_is_refused(placer, host):
    many = "".join(f"X-{i}: y\r\n" for i in range(200))
    refused(placer, host, f"GET / HTTP/1.1\r\nHost: test\r\n{many}\r\n", (431,))
    refused(placer, host, "GET / HTTP/1.1\r\nHost: test\r\nX: " + "x" * 100_000 + "\r\n\r\n", (431,))
    refused(placer, host, "GET /" + "x" * 100_000 + " HTTP/1.1\r\nHost: test\r\n\r\n", (431,))


# H14
def test_an_absolute_target_overrides_host(placer, host):
    with placer.client() as client:
        client.send("GET http://real.example/p?q=1 HTTP/1.1\r\nHost: other\r\n\r\n")
        assert client.response().status == 200
    assert host.requests[0].target == "/p?q=1"
    assert host.requests[0].values("Host") == ["real.example"]


# H14
@pytest.mark.short
def test_connection_takes_away_hop_by_hop_fields_alone(placer, host):
    fields = (
        "Connection: keep-alive, X-Hop, Content-Length, X-Forwarded-For, Host\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n"
        "Proxy-Connection: x\r\nTE: trailers\r\nProxy-Authorization: secret\r\nX-End: 1\r\nContent-Length: 5\r\n"
    )
    with placer.client() as client:
        client.send(post(fields, "hello"))
        assert client.response().status == 200
    request = host.requests[0]
    for gone in ("X-Hop", "Keep-Alive", "Proxy-Connection", "TE", "Proxy-Authorization", "Connection"):
        assert request.get(gone) is None, gone
    assert request.get("X-End") == "1" and request.body == b"hello"
    assert request.get("Content-Length") == "5" and request.values("Host") == ["test"]
    assert request.get("X-Forwarded-For") == "127.0.0.1"


# H14
def test_a_length_of_nought_stays(placer, host):
    with placer.client() as client:
        client.send(post("Content-Length: 0\r\n"))
        assert client.response().status == 200
    assert host.requests[0].get("Content-Length") == "0"


def test_hop_by_hop_fields_of_a_response_end_here(make_placer, make_host):
    fields = "Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: x\r\nX-End: 1\r\n"
    answer = make_placer(make_host(answer=lambda request: ok(fields=fields))).get()
    assert answer.get("X-End") == "1"
    for gone in ("X-Hop", "Keep-Alive", "Proxy-Authenticate", "Connection"):
        assert answer.get(gone) is None, gone


def test_other_versions_and_methods_are_told_apart(placer, host):
    refused(placer, host, "GET / HTTP/2.0\r\nHost: test\r\n\r\n", (505,))
    refused(placer, host, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (505,))
    refused(placer, host, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", (501,))
    refused(placer, host, "GET /\r\n\r\n")
    refused(placer, host, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
    with placer.client() as client:
        client.send("\r\n\r\nPURGE /x HTTP/1.1\r\nHost: test\r\n\r\n")
        assert client.response().status == 200
    assert host.requests[0].method == "PURGE"


def test_a_host_that_speaks_no_http_is_told_of(make_placer, make_host):
    for bytes_sent in (b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\nX: y\n\n", b"HTTP/1.1 abc\r\n\r\n"):
        host = make_host(answer=lambda request, sent=bytes_sent: sent)
        answer = make_placer(host).get()
        assert answer.status == 502 and b"a" in answer.body


def slow_start(request):
    """Answers late, so that what the client sends next has come by then."""
    if request.get("X-Slow"):
        time.sleep(0.3)
    return ok(request.body)


# The body began in a buffer that a read was pending into: the placer ended.
@pytest.mark.short
def test_a_pipelined_body_that_is_still_to_come_follows_a_slow_answer(make_placer, make_host):
    host = make_host(answer=slow_start)
    placer = make_placer(host)
    first = "GET /slow HTTP/1.1\r\nHost: test\r\nX-Slow: 1\r\n\r\n"
    for start, end, body in [
        (post("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n"), "5\r\nworld\r\n0\r\n\r\n", b"helloworld"),
        (post("Content-Length: 10\r\n", "hello"), "world", b"helloworld"),
        ("POST /x HTTP/1.1\r\nHost: te", "st\r\nContent-Length: 2\r\n\r\nhi", b"hi"),
    ]:
        with placer.client() as client:
            client.send(first + start)
            assert client.response().status == 200
            client.send(end)
            answer = client.response()
            assert (answer.status, answer.body) == (200, body)
            client.send(NEXT)
            assert client.response().status == 200


# The connection was kept although its host still waited for the rest, and the next client's request became that.
@pytest.mark.short
def test_a_pipelined_body_that_breaks_off_is_no_whole_request(make_placer, make_host):
    heads = []

    def serve(request):
        connection = request.connection
        head = request.head
        while True:
            heads.append(head)
            if b"/slow" in head:
                time.sleep(0.3)
            connection.send(ok())
            head = connection.take_until(b"\r\n\r\n")

    placer = make_placer(make_host(serve=serve))
    with placer.client() as client:
        client.send("GET /slow HTTP/1.1\r\nHost: test\r\n\r\n" + post("Content-Length: 300\r\n", "0123456789"))
        client.finish_sending()
        assert client.response().status == 200
        assert client.closed()
    with placer.client() as other:
        other.send(NEXT)
        assert other.response().status == 200
    assert heads[-1].startswith(b"GET /next "), heads[-1]
