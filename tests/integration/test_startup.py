"""Start-up: versions, parameters, fragments and nonsense, each as PostgreSQL itself treats it."""

import os
import struct
import time

import pytest

from harness import messages as m
from harness.net import wait_until
from harness.relay import Relay
from harness.wire import LoginRefused

pytestmark = pytest.mark.short
ALICE = [("user", "alice"), ("database", "app")]


def refused(client):
    """Everything until the close, of a start-up that ends there."""
    return client.read_until("E") + [client.read_to_close()]


def negotiated(client, parameters, version):
    """The `v` messages of a whole login, and the status byte that ended it."""
    client.send(m.startup(parameters, version))
    client.authenticate("alice")
    return [x for x in client.login_messages if x.kind in "vZ"]


# B01, B02
@pytest.mark.parametrize(
    "version, options",
    [
        (0x00030000, []),
        (0x00030001, []),
        (0x00030002, []),
        (0x0003270F, []),
        (0x00030000, [("_pq_.test_protocol_negotiation", "")]),
        (0x0003270F, [("_pq_.test_protocol_negotiation", "")]),
        (0x00030000, [("_pq_.first", "1"), ("_pq_.second", "2")]),
    ],
)
def test_newer_minor_versions_and_unknown_options_are_negotiated_once(front, direct, version, options):
    with direct.wire() as client:
        expected = negotiated(client, ALICE + options, version)
    with front.wire() as client:
        seen = negotiated(client, ALICE + options, version)
    granted = [struct.unpack_from("!I", x.body)[0] for x in seen if x.kind == "v"]
    names = [x.body[8:] for x in seen if x.kind == "v"]
    assert len(granted) <= 1
    assert names == [x.body[8:] for x in expected if x.kind == "v"] or version == 0x00030002 and not names
    assert all(
        0x00030000 <= one <= 0x00030002 for one in granted
    ), "the full version number, not the bare minor"
    assert seen[-1].body == b"I"


# B02
def test_protocol_options_are_not_forwarded_as_settings(front):
    with front.session(parameters={"_pq_.nosuch": "x"}) as client:
        assert client.run(m.Q('show "_pq_.nosuch"'))[0].kind == "E"


# B01
@pytest.mark.parametrize("version", [0x00040000, 0x00020000, 0x00010000, 0x00000000])
def test_other_major_versions_are_refused_with_0A000(judge, version):
    answer = judge.same_start(
        lambda client: [
            (x.kind, m.sqlstate(x)) for x in client.send(m.startup(ALICE, version)).read_until("E")
        ]
    )
    assert answer in ([("E", "0A000")], [("closed", None)])


# B04
def test_startup_parameters_belong_to_their_session_alone(front):
    first = front.session(parameters={"search_path": "one", "extra_float_digits": "1"})
    second = front.session(parameters={"search_path": "two", "extra_float_digits": "2"})
    with first, second:
        for _ in range(10):
            for client, path, digits in ((first, "one", "1"), (second, "two", "2")):
                assert client.value("show search_path") == path
                assert client.value("show extra_float_digits") == digits
    with front.session() as third:
        assert third.value("show search_path") == '"$user", public'


# B04
@pytest.mark.parametrize(
    "parameters",
    [
        {"nosuch_guc": "1"},
        {"work_mem": "nonsense"},
        {"geqo": "off"},
        {"statement_timeout": "4321"},
        {"options": "-c work_mem=8MB -c geqo=off"},
        {"options": "-c nosuch=1"},
        {"options": r"-c search_path=a\ b"},
        {"options": "--work-mem=9MB"},
        {"application_name": ""},
        {"application_name": "caf\u00e9 'x' \"y\" \\"},
        {"client_encoding": "LATIN1"},
        {"client_encoding": "nosuch"},
        {"DateStyle": "German"},
        {"TimeZone": "Europe/Zurich"},
    ],
)
def test_startup_parameters_are_judged_by_the_server(front, direct, parameters):
    def outcome(where):
        try:
            with where.session(parameters=parameters) as client:
                shown = [
                    client.value(f"show {name}")
                    for name in (
                        "work_mem",
                        "geqo",
                        "statement_timeout",
                        "search_path",
                        "application_name",
                        "client_encoding",
                        "DateStyle",
                        "TimeZone",
                    )
                ]
                return client.parameters, shown
        except LoginRefused as refusal:
            return refusal.sqlstate

    assert outcome(front) == outcome(direct)


# B04
def test_replication_is_supported_or_refused_with_a_sentence(front):
    try:
        with front.session(parameters={"replication": "database"}) as client:
            answer = client.run(m.Q("IDENTIFY_SYSTEM"))
            assert m.kinds(answer) == "T D C Z" or m.sqlstate(answer[0]) in ("42501", "0A000")
    except LoginRefused as refusal:
        assert refusal.sqlstate in ("0A000", "42501", "28000")


# B05
def test_startup_bytes_may_come_one_at_a_time(front):
    for packet in (m.startup(ALICE), m.startup(ALICE + [("application_name", "x" * 6000)])):
        with front.wire() as client:
            client.send_split(packet, 1 if len(packet) < 100 else 97, 0.001)
            assert client.authenticate("alice").value("select 1") == "1"
    with front.wire() as client:
        client.send_split(m.SSL_REQUEST, 1, 0.005)
        assert client.read_bytes(1) == b"S"
        client.start_tls(request=False)
        client.send_split(m.startup(ALICE), 1, 0.001)
        assert client.authenticate("alice").value("select 1") == "1"


# B05
@pytest.mark.parametrize("size, accepted", [(10000, True), (10001, False), (60000, False)])
def test_startup_packets_have_the_size_limit_of_postgresql(judge, size, accepted):
    def talk(client):
        empty = len(m.startup(ALICE + [("application_name", "")])) - 4
        client.send(m.startup(ALICE + [("application_name", "x" * (size - empty))]))
        return [(x.kind, x.body[:4]) for x in client.read_until("RE")]

    assert (judge.same_start(talk)[0][0] == "R") is accepted


# B05
def test_server_login_messages_may_come_in_one_byte_segments(cluster, make_router):
    with Relay(cluster.primary.host, cluster.primary.port) as relay:
        relay.to_client.split = 1
        router = make_router(primary={"name": "primary", "host": relay.host, "port": relay.port})
        with router.session() as client:
            assert client.value("select 1") == "1"
            assert client.parameters["server_encoding"] == "UTF8"


# B07
@pytest.mark.parametrize(
    "packet",
    [
        m.startup([("database", "app")]),
        m.startup([("user", ""), ("database", "app")]),
        m.startup([]),
        m.startup(ALICE, terminator=b""),
        m.startup(ALICE, terminator=b"\0" * 11),
        m.startup(ALICE, terminator=b"\0abcdefghi\0"),
        m.startup(ALICE, terminator=b"name\0"),
        m.startup(ALICE, terminator=b"name"),
    ],
    ids=[
        "no user",
        "empty user",
        "nothing",
        "no final zero",
        "zeros behind",
        "bytes behind",
        "name without value",
        "cut name",
    ],
)
def test_malformed_startup_packets_are_refused_as_postgresql_does(judge, packet):
    answer = judge.same_start(
        lambda client: [(x.kind, m.sqlstate(x)) for x in client.send(packet).read_until("E")]
    )
    assert answer[0] in (("E", "28000"), ("E", "08P01"))


# B07
@pytest.mark.parametrize("database", [None, ""])
def test_the_database_defaults_to_the_user_name(judge, database):
    def talk(client):
        try:
            client.login("alice", database)
        except LoginRefused as refusal:
            return [refusal.sqlstate, m.fields(refusal.message.body)["M"]]
        return ["in"]

    assert judge.same_start(talk) == ["3D000", 'database "alice" does not exist']


# B08
def test_gssenc_request_is_declined_and_the_login_goes_on(router):
    for request_tls in (True, False):
        with router.wire() as client:
            assert client.send(m.GSSENC_REQUEST).read_bytes(1) == b"N"
            if request_tls:
                client.start_tls()
            assert client.login().value("select 1") == "1"


# B08
def test_gssenc_request_may_follow_a_declined_ssl_request(make_router):
    router = make_router(client_tls_sslmode="disable", hba=[{"method": "scram-sha-256"}])
    with router.wire() as client:
        assert client.send(m.SSL_REQUEST).read_bytes(1) == b"N"
        assert client.send(m.GSSENC_REQUEST).read_bytes(1) == b"N"
        assert client.login().value("select 1") == "1"


# B08
@pytest.mark.parametrize("length", [0, 3, 4, 7, 10005, 0x7FFFFFFF, 0xFFFFFFFF])
def test_nonsense_startup_lengths_are_closed_in_silence(judge, length):
    packet = struct.pack("!II", length, m.PROTOCOL_3_0) + b"user\0alice\0\0"
    assert judge.same_start(lambda client: [client.send(packet).read_to_close()]) == [b""]


# B08
def test_a_cancel_request_of_any_length_is_closed_without_an_answer(front):
    for packet in (
        m.cancel_request(12345, b"\0\1\2\3"),
        m.cancel_request(12345, b"x" * 32),
        m.cancel_request(12345, b"x" * 256),
        m.cancel_request(12345, b""),
        m.cancel_request(0xFFFFFFFF, b"\xff" * 4),
    ):
        with front.wire() as client:
            assert client.send(packet).read_to_close() == b""
    with front.session() as client:
        assert client.value("select 1") == "1"


# B08
def test_empty_connects_leave_no_descriptor_and_no_error_line(router):
    before, lines = router.fd_count(), router.log_text().count("level=error")
    for _ in range(500):
        router.wire().close()
    wait_until(lambda: router.fd_count() <= before, 10, "descriptors to be closed")
    assert router.log_text().count("level=error") == lines


# B08
def test_a_silent_client_is_closed_by_the_login_timeout(make_router):
    router = make_router(client_login_timeout="1s")
    for opening in (b"", b"\0\0\0", m.SSL_REQUEST, m.startup(ALICE)):
        with router.wire() as client:
            started = time.monotonic()
            client.send(opening)
            client.read_to_close(5)
            assert 0.5 < time.monotonic() - started < 4


def test_random_bytes_at_the_start_harm_nobody_else(front):
    with front.session() as witness:
        for seed in range(100):
            with front.wire() as client:
                client.send(os.urandom(1 + seed * 7 % 300))
                client.half_close()
                client.read_to_close()
            if seed % 20 == 0:
                assert witness.value("select 1") == "1"


# On a busy machine the thread that waits for signals may run much later than those that serve clients.
def test_a_signal_is_heeded_as_soon_as_it_listens(make_router):
    for _ in range(10):
        make_router(ready=False).stop()
    router = make_router(ready=False)
    router.reload()
    wait_until(lambda: "event=reloaded" in router.log_text(), 10, "the reload")
