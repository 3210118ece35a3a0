"""TLS on both legs: what a record may hold, where it may end, who may speak before it."""

import os
import socket
import ssl
import struct
import time

import psycopg2
import pytest

from harness import messages as m
from harness.leaks import close_wait_count
from harness.messages import B, E, P, Q, S
from harness.net import wait_until
from harness.relay import Relay
from harness.router import DIRECT
from harness.wire import LoginRefused, unverified_context


# B09
@pytest.mark.short
@pytest.mark.parametrize(
    "glued", [m.startup([("user", "alice"), ("database", "app")]), Q("select 1"), b"x", m.SSL_REQUEST]
)
def test_bytes_glued_behind_ssl_request_never_take_effect(front, glued):
    with front.wire() as client:
        client.send(m.SSL_REQUEST + glued)
        answer = client.read_bytes(1)
        if answer == b"S":
            try:
                client.start_tls(request=False)
                client.send(m.startup([("user", "alice"), ("database", "app")]))
                reply = client.read()
                assert reply is m.CLOSED or m.sqlstate(reply) == "08P01"
            except (ssl.SSLError, OSError):
                pass
        else:
            assert answer == b"" or answer == b"E"


# B09
@pytest.mark.short
def test_bytes_glued_behind_the_servers_answer_end_the_connection(make_router, cluster):
    from harness import fake_server as fake

    @fake.raw
    def script(peer):
        peer.read_exactly(8)
        peer.send(b"S" + fake.authentication_ok() + fake.ready())
        peer.read_exactly(1)

    with fake.FakeServer(script) as server:
        router = make_router(
            primary={"name": "primary", "host": server.host, "port": server.port},
            server_tls_sslmode="require",
        )
        with pytest.raises((LoginRefused, ConnectionError)) as refusal:
            router.session()
        assert getattr(refusal.value, "sqlstate", "08006")[:2] in ("08", "57")


# B10
@pytest.mark.parametrize("legs", ["client", "both"])
def test_no_result_size_stalls(front, make_router, cluster, legs):
    router = make_router(server_tls_sslmode="require") if legs == "both" else front
    with router.tls_session() as client:
        for size in list(range(1, 20000, 137)) + list(range(16200, 16500, 3)) + list(range(32600, 32900, 7)):
            rows = client.run(Q(f"select repeat('x', {size})"), timeout=2)
            assert len(m.row(rows[1])[0]) == size
            answer = client.run(
                P("", "select length($1::text)") + B("", "", ["y" * size]) + E() + S(), timeout=2
            )
            assert m.row(answer[2])[0] == str(size).encode()


# B11
@pytest.mark.parametrize("size", [15 << 10, 16 << 10, 17 << 10, 33 << 10, 1 << 20, 32 << 20])
def test_large_parameters_over_tls_keep_their_digest(front, size):
    import hashlib

    value = "abcdefgh" * (size // 8)
    with front.tls_session() as client:
        answer = client.run(
            P("", "select length($1::text), md5($1::text), $1::text") + B("", "", [value]) + E() + S(),
            timeout=60,
        )
        row = m.row(next(x for x in answer if x.kind == "D"))
        assert row[:2] == [str(len(value)).encode(), hashlib.md5(value.encode()).hexdigest().encode()]
        assert row[2] == value.encode()


# B13
def test_libpqs_non_blocking_calls_do_not_hang_over_tls(front):
    import select

    connection = psycopg2.connect(front.dsn(sslmode="require"), async_=True)

    def wait(seconds=2):
        while True:
            state = connection.poll()
            if state == psycopg2.extensions.POLL_OK:
                return
            sets = (
                ([connection], [], []) if state == psycopg2.extensions.POLL_READ else ([], [connection], [])
            )
            assert any(select.select(*sets, seconds)), "hang"

    wait(5)
    cursor = connection.cursor()
    for size in [*range(8100, 8300, 3), *range(16300, 16500, 3), *range(81800, 81930, 3)]:
        cursor.execute(f"select repeat('x', {size})")
        wait()
        assert len(cursor.fetchone()[0]) == size
    connection.close()


# B14
@pytest.mark.parametrize(
    "how", ["cut_handshake", "alert_and_stay", "fin_without_close_notify", "silent", "garbage_record"]
)
def test_broken_tls_leaves_nothing_behind(router, cluster, how):
    with router.tls_session():
        pass
    before = router.fd_count()
    kept = []
    for _ in range(40):
        client = router.wire()
        if how == "silent":
            client.send(m.SSL_REQUEST).read_bytes(1)
            client.close()
        elif how == "cut_handshake":
            client.send(m.SSL_REQUEST).read_bytes(1)
            client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(40))
            client.close()
        elif how == "garbage_record":
            client.send(m.SSL_REQUEST).read_bytes(1)
            client.send(os.urandom(600))
            kept.append(client)
        else:
            client.start_tls().login(parameters={"application_name": "broken_tls"})
            client.run(Q("begin"))
            raw = socket.socket(fileno=os.dup(client.socket.fileno()))
            if how == "alert_and_stay":
                raw.sendall(
                    b"\x15\x03\x03\x00\x02\x02\x28"
                )  # in plain text: not a record of this session, so an error
                kept += [client, raw]
            else:
                client.socket.detach()
                raw.shutdown(socket.SHUT_RDWR)
                raw.close()
    wait_until(
        lambda: router.fd_count() <= before + 2,
        15,
        f"descriptors to be closed ({router.fd_count()}, before {before})",
    )
    wait_until(lambda: close_wait_count(router.pid) == 0, 5, "no socket in CLOSE_WAIT")
    wait_until(
        lambda: not [b for b in cluster.primary.client_backends() if b[3] == "broken_tls" and b[2] != "idle"],
        5,
        "no open transaction",
    )
    for one in kept:
        one.close()


@pytest.mark.short
def test_direct_tls_needs_the_postgresql_alpn_name(router):
    with router.wire() as client:
        client.start_tls(unverified_context(alpn=["postgresql"]), request=False)
        assert client.socket.selected_alpn_protocol() == "postgresql"
        assert client.login().value("select 1") == "1"
    for context in (unverified_context(), unverified_context(alpn=["http/1.1"])):
        with router.wire() as client:
            try:
                client.start_tls(context, request=False)
                client.send(m.startup([("user", "alice")]))
                assert client.read() is m.CLOSED
            except (ssl.SSLError, OSError):
                pass


@pytest.mark.short
def test_alpn_over_ssl_request_is_accepted_but_not_required(router):
    with router.wire() as client:
        client.start_tls(unverified_context(alpn=["postgresql"]))
        assert client.login().value("select 1") == "1"


@pytest.mark.short
def test_plain_start_up_is_refused_where_tls_is_required(make_router):
    router = make_router(client_tls_sslmode="require")
    with pytest.raises(LoginRefused) as refusal:
        router.session()
    assert refusal.value.sqlstate == "28000"
    with router.tls_session() as client:
        assert client.value("select 1") == "1"


@pytest.mark.short
def test_old_tls_versions_are_refused(router):
    context = unverified_context()
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    with router.wire() as client:
        with pytest.raises((ssl.SSLError, OSError)):
            client.start_tls(context)


def test_server_side_tls_modes(make_router, cluster, files, tmp_path):
    sees_tls = "select ssl from pg_stat_ssl where pid = pg_backend_pid()"
    other = tmp_path / "other"
    other.mkdir()
    from harness.tls import Authority

    stranger = Authority(other, "a stranger")
    for settings, expected in [
        ({"server_tls_sslmode": "disable"}, "f"),
        ({"server_tls_sslmode": "allow"}, "f"),
        ({"server_tls_sslmode": "prefer"}, "t"),
        ({"server_tls_sslmode": "require"}, "t"),
        ({"server_tls_sslmode": "verify-ca", "server_tls_ca_file": str(files["ca"])}, "t"),
        ({"server_tls_sslmode": "verify-full", "server_tls_ca_file": str(files["ca"])}, "t"),
        ({"server_tls_sslmode": "verify-ca", "server_tls_ca_file": str(stranger.ca_file)}, None),
        ({"server_tls_sslmode": "verify-full", "server_tls_ca_file": str(stranger.ca_file)}, None),
    ]:
        # Health checks verify certificates too, so a router that trusts the wrong authority never gets ready.
        router = make_router(ready=expected is not None, **settings)
        if expected is None:
            with pytest.raises(LoginRefused) as refusal:
                router.session()
            assert refusal.value.sqlstate[:2] in ("08", "57")
        else:
            with router.session() as client:
                assert client.value(sees_tls) == expected, settings
        router.stop()


def test_allow_falls_back_to_tls_where_the_server_demands_it(make_router, cluster, files):
    router = make_router(
        server_tls_sslmode="allow",
        server_user="cert_user",
        server_tls_cert_file=str(files["client"][0]),
        server_tls_key_file=str(files["client"][1]),
    )
    with router.tls_session("cert_user", context=unverified_context(certificate=files["client"])) as client:
        assert client.value("select ssl from pg_stat_ssl where pid = pg_backend_pid()") == "t"


def test_one_record_of_many_messages_is_read_whole(make_router, cluster):
    """A server that splits its answer over TLS records in strange places, seen through a relay that splits
    segments."""
    with Relay(cluster.primary.host, cluster.primary.port) as relay:
        relay.to_client.split = 1009
        router = make_router(
            primary={"name": "primary", "host": relay.host, "port": relay.port}, server_tls_sslmode="require"
        )
        with router.tls_session() as client:
            for rows in (1, 10, 500, 5000):
                assert (
                    len(
                        client.query(
                            f"select i, repeat('x', i % 100) from generate_series(1, {rows}) i", timeout=5
                        )
                    )
                    == rows
                )


# B11
def test_a_slow_tls_reader_gets_every_byte(front):
    client = front.wire(receive_buffer=16384)
    with client:
        client.start_tls().login()
        client.send(Q("select repeat('x', 1000) from generate_series(1, 20000)"))
        count, started = 0, time.monotonic()
        while (msg := client.read()).kind != "Z":
            count += msg.kind == "D"
            if count % 2000 == 0:
                time.sleep(0.02)
        assert count == 20000 and time.monotonic() - started < 60


def test_certificates_name_the_user(front, files):
    with front.tls_session("cert_user", context=unverified_context(certificate=files["client"])) as client:
        # The certificate proves nothing to a server: there the router logs in as its own server_user.
        assert client.value("select current_user") == ("cert_user" if DIRECT else "trusted")
    with pytest.raises(LoginRefused) as refusal:
        front.tls_session("cert_user")
    assert refusal.value.sqlstate == "28000"


def test_the_length_of_a_first_record_is_no_startup_length(front):
    with front.wire() as client:
        client.send(struct.pack("!BHH", 0x16, 0x0301, 0xFFFF) + b"\1" * 100)
        client.half_close()
        client.read_to_close(5)
