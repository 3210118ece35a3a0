"""Lengths that lie, and messages larger than any buffer."""

import hashlib
import struct

import pytest

from harness import fake_server as fake
from harness import messages as m
from harness.messages import B, E, P, Q, S, message


def ending(client, data):
    """How the other side answers `data` and the end of the stream behind it: message types and SQLSTATEs up
    to its close."""
    client.send(data)
    client.half_close()
    return [
        (x.kind, m.fields(x.body).get("S"), m.sqlstate(x)) if x.kind == "E" else (x.kind,)
        for x in client.read_until("", 1)
    ]


# B56
@pytest.mark.short
@pytest.mark.parametrize(
    "data",
    [
        *(message("Q", b"select 1\0", length) for length in (0, 1, 3, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)),
        message("Q", b"select 1"),
        message("Q", b""),
        message("Q", b"select 1\0junk\0"),
        message("P", b""),
        message("P", b"x\0select 1\0"),
        message("B", b"\0\0" + struct.pack("!HH", 0, 65535)),
        message("B", b"\0\0" + struct.pack("!HHi", 0, 1, 0x7FFFFFFF)),
        message("B", b"\0\0" + struct.pack("!HHi", 0, 1, -2)),
        message("E", b"\0"),
        message("D", b"Zx\0"),
        message("C", b"Zx\0"),
        message("D", b""),
        message("F", b"\0\0"),
        message("S", b"x"),
        message("H", b"x") + S(),
        message("X", b"x"),
        message("d", b"x", 3),
        message("c", b"x"),
        message("\0"),
        message("z"),
        message("\xff"),
        message("p", b"x\0"),
        message("Z", b"I"),
        message("R", b"\0\0\0\0"),
        b"\0\0\0\0\0\0\0\0",
        b"Q",
        b"Q\0\0",
        b"Q\0\0\0\x0d",
        b"Q\0\0\0\x0dselect",
    ],
    ids=lambda data: data[:8].hex() + f"_{len(data)}",
)
def test_broken_messages_are_answered_as_postgresql_answers_them(judge, data):
    judge.same(lambda client: ending(client, data))


# B56
@pytest.mark.short
def test_a_broken_message_in_the_middle_of_a_pipeline_leaves_the_answers_before_it(judge):
    for broken in (message("Q", b"", 3), message("z"), message("Q", b"select 1")):
        judge.same(
            lambda client, broken=broken: ending(
                client, Q("select 1") + P("", "select 2") + B() + E() + S() + broken + Q("select 3")
            )
        )


# B56
def test_declared_sizes_cost_no_memory(router):
    before = router.rss_bytes()
    clients = [router.session() for _ in range(50)]
    try:
        for client in clients:
            client.send(message("Q", b"x", 1 << 30))
        with router.session() as other:
            assert other.value("select 1") == "1"
        assert router.rss_bytes() - before < 16 << 20
    finally:
        for client in clients:
            client.close()


# B56
@pytest.mark.short
@pytest.mark.parametrize(
    "garbage",
    [fake.backend(kind, b"xx", length) for kind in "DTESZC" for length in (0, 3, 0xFFFFFFFF)]
    + [b"\0\0\0\0\0", b"\xff\xff\xff\xff\xff\xff", b"HTTP/1.1 400 Bad Request\r\n\r\n"],
    ids=lambda g: g[:5].hex(),
)
def test_garbage_from_a_server_ends_that_session_alone(make_router, garbage):
    def script(peer):
        peer.greet()
        peer.read_message()
        peer.send(garbage)
        peer.read_message()

    with fake.FakeServer(script) as server:
        router = make_router(
            databases=[
                {"name": "app", "target": "replicas"},
                {"name": "good", "server_database": "app", "target": "primary"},
            ],
            replicas=[{"name": "fake", "host": server.host, "port": server.port}],
            classes=[{"name": "premium", "saturation": 10, "return_ratio": "0.60", "floor": 0, "target": 1}],
            rules=None,
            default_class="premium",
        )
        with router.session(database="good") as witness:
            with router.session() as client:
                answer = client.run(Q("select 1"))
                assert answer[-1] is m.CLOSED
                assert "Z" not in [x.kind for x in answer]
                assert not [
                    x
                    for x in answer
                    if x.kind == "E" and len(x.body) > 8 and m.sqlstate(x) not in ("08P01", "08006", None)
                ]
            assert witness.value("select 1") == "1"
        assert not server.errors


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_large_values_pass_in_both_directions_with_bounded_memory(front, request, tls):
    size = 192 << 20
    with (front.tls_session if tls else front.session)() as client:
        block = b"0123456789abcdef" * 65536
        digest = hashlib.md5()
        head = b"\0\0" + struct.pack("!HHi", 0, 1, size)
        client.send(P("", "select md5($1::text), length($1::text)"))
        client.send(b"B" + struct.pack("!I", 4 + len(head) + size + 2) + head)
        for _ in range(size // len(block)):
            client.send(block)
            digest.update(block)
        client.send(b"\0\0" + E() + S())
        answer = [m.row(x) for x in client.read_until("Z", timeout=60) if x.kind == "D"]
        assert answer == [[digest.hexdigest().encode(), str(size).encode()]]
        client.send(Q(f"select repeat('0123456789abcdef', {size // 16})"))
        seen, left = hashlib.md5(), size
        assert client.read(60).kind == "T"
        client.read_bytes(5 + 2 + 4, 60)
        while left:
            piece = client.read_bytes(min(left, 1 << 20), 60)
            seen.update(piece)
            left -= len(piece)
        assert seen.digest() == digest.digest()
        assert m.kinds(client.read_until("Z")) == "C Z"
    if "router" in request.fixturenames:
        assert request.getfixturevalue("router").rss_bytes() < 128 << 20
