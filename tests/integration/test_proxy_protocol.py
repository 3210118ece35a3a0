"""PROXY protocol in front of clients: their own address counts, and only where the proxy is one of ours."""

import shutil
import socket
import struct
import subprocess
import threading
import time

import pytest

from harness import messages as m
from harness.net import end, free_port, wait_until
from harness.router import Front
from harness.wire import LoginRefused, WireClient, unverified_context

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def v1(source="198.51.100.7", port=4711, family="TCP4", destination="192.0.2.1"):
    return f"PROXY {family} {source} {destination} {port} 6432\r\n".encode()


def v2(source="198.51.100.7", port=4711, tlvs=b"", command=0x21):
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    own = "2001:db8::1" if ":" in source else "192.0.2.1"
    body = socket.inet_pton(family, source) + socket.inet_pton(family, own) + struct.pack("!HH", port, 6432) + tlvs
    return SIGNATURE + struct.pack("!BBH", command, 0x21 if ":" in source else 0x11, len(body)) + body


def v2_unix(path=b"/run/client"):
    body = path.ljust(108, b"\0") + b"/run/proxy".ljust(108, b"\0")
    return SIGNATURE + struct.pack("!BBH", 0x21, 0x31, len(body)) + body


def rows(router):
    """Of `SHOW CLIENTS`, those of alice."""
    return [row for row in router.console("show clients") if row["user"] == "alice"]


def tls_rows(router):
    """The same from a router that wants TLS."""
    console = router.tls_session("admin", "sluice")
    answer = console.run(m.Q("show clients"))
    console.terminate()
    names = next(m.columns(x) for x in answer if x.kind == "T")
    found = [dict(zip(names, (v if v is None else v.decode() for v in m.row(x)))) for x in answer if x.kind == "D"]
    return [row for row in found if row["user"] == "alice"]


@pytest.fixture
def proxied(make_router):
    """A router with two listeners: one for proxies on loopback, one for everybody."""
    direct = free_port()

    def make(**changes):
        router = make_router(start=False, **changes)
        router.write_config(
            proxy_protocol_from=["127.0.0.0/8"],
            listeners=[{"name": "direct", "address": "127.0.0.1", "port": direct}],
            hosts=[{"name": "far", "networks": ["198.51.100.0/24", "2001:db8::/32"]}],
            **changes,
        )
        router.behind = Front()
        router.behind.port = router.port  # where proxies come
        router.port = direct
        return router.start()

    return make


def session(router, header, user="alice", database="app", split=None, **options):
    client = router.behind.wire()
    if split:
        client.send_split(header, split)
    else:
        client.send(header)
    return client.login(user, database, **options)


@pytest.mark.short
@pytest.mark.parametrize(
    "header, address, port",
    [
        (v1(), "198.51.100.7", "4711"),
        (v1("2001:DB8::7", 1, "TCP6", "::1"), "2001:db8::7", "1"),
        (v2(), "198.51.100.7", "4711"),
        (v2(tlvs=b"\x03\0\4\1\2\3\4" + b"\x20\x03\xe8" + b"x" * 1000), "198.51.100.7", "4711"),
        (v2("2001:db8::7", 9), "2001:db8::7", "9"),
    ],
    ids=["v1", "v1-ipv6", "v2", "v2-tlvs", "v2-ipv6"],
)
def test_the_clients_own_address_counts_everywhere(proxied, header, address, port):
    router = proxied()
    for split in (None, 1, 7):
        with session(router, header, split=split) as client:
            assert client.value("select 1") == "1"
            [row] = rows(router)
            assert (row["addr"], row["port"], row["host"]) == (address, port, "far")
        wait_until(lambda: not rows(router), what="the client to be gone")
    text = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    assert f'peer={text}' in router.log_text() or f'peer="{text}"' in router.log_text()


def test_hba_judges_the_client_and_not_the_proxy(proxied):
    router = proxied(
        hba=[
            {"user": "admin", "method": "scram-sha-256"},
            {"network": "127.0.0.0/8", "user": "trusted", "method": "trust"},
            {"network": "198.51.100.0/24", "method": "scram-sha-256"},
        ]
    )
    session(router, v2()).terminate()
    for user, header in (("alice", v2("203.0.113.9")), ("trusted", v2("203.0.113.9")), ("alice", v1("203.0.113.9"))):
        with pytest.raises(LoginRefused) as refused:
            session(router, header, user)
        assert refused.value.sqlstate == "28000"
    # A proxy on this machine may speak of this machine.
    session(router, v1("127.0.0.1"), "trusted").terminate()


def test_a_proxys_own_connection_has_its_own_address(proxied):
    router = proxied()
    for header in (v2(command=0x20), b"PROXY UNKNOWN\r\n"):
        with session(router, header) as client:
            assert client.value("select 1") == "1"
            [row] = rows(router)
            assert (row["addr"], row["host"]) == ("127.0.0.1", "")
        wait_until(lambda: not rows(router), what="the client to be gone")


@pytest.mark.short
def test_a_cleartext_password_goes_only_where_the_whole_way_is_local(make_router, tmp_path):
    """A proxy on this machine, at a Unix socket, speaks for clients that may be anywhere."""
    path = str(tmp_path / "s")

    def session(header, **changes):
        router = make_router(
            listen_addr=["127.0.0.1", path],
            hba=[{"user": "admin", "method": "scram-sha-256"}, {"method": "passthrough"}],
            server_tls_sslmode="require",
            **changes,
        )
        try:
            with WireClient(path, 0) as client:
                return client.send(header).login("plain", "app").value("select 1")
        finally:
            router.stop()

    assert session(b"") == "1"
    assert session(v2_unix(), proxy_protocol_from=["unix"]) == "1"
    for header in (v1(), v2()):
        with pytest.raises(LoginRefused, match="28000.*cleartext password"):
            session(header, proxy_protocol_from=["unix"])


def test_a_unix_socket_at_the_proxy_is_one(proxied):
    router = proxied(hba=[{"network": "unix", "method": "scram-sha-256"}, {"user": "admin", "method": "scram-sha-256"}])
    with session(router, v2_unix()):
        [row] = rows(router)
        assert row["addr"] == "unix"
    with pytest.raises(LoginRefused):
        session(router, v2())


@pytest.mark.parametrize(
    "bytes_sent",
    [
        m.startup([("user", "alice"), ("database", "app")]),
        m.SSL_REQUEST,
        b"\x16\x03\x01\x02\x00\x01",
        b"PROXY TCP4 198.51.100.7 192.0.2.1 4711\r\n",
        b"PROXY UDP4 198.51.100.7 192.0.2.1 4711 6432\r\n",
        b"PROXY " + b"x" * 200,
        SIGNATURE + b"\x31\x11\0\x0c" + b"x" * 12,
        SIGNATURE + b"\x21\x12\0\x0c" + b"x" * 12,
        SIGNATURE + b"\x21\x11\0\x0b" + b"x" * 11,
        SIGNATURE + b"\x21\x11\xff\xff",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_anything_else_from_a_proxy_is_refused(proxied, bytes_sent):
    router = proxied()
    before = router.metric("sluice_sessions_rejected_total", reason="protocol_violation")
    with router.behind.wire() as client:
        assert client.send(bytes_sent).read_to_close() == b""
    wait_until(
        lambda: router.metric("sluice_sessions_rejected_total", reason="protocol_violation") == before + 1,
        what="the refusal to be counted",
    )
    assert "no PROXY header from a proxy" in router.log_text()
    assert router.lets_in()


def test_a_header_from_anybody_else_is_no_header(proxied):
    router = proxied()
    with router.wire() as client:
        # A startup packet of 1347571544 bytes, as far as PostgreSQL is concerned.
        assert client.send(v1()).read_to_close() == b""
    with router.wire() as client:
        assert client.send(v2()).read_to_close() == b""
    with router.session("alice", "app"):
        [row] = rows(router)
        assert row["addr"] == "127.0.0.1"


def test_a_header_that_does_not_come_is_given_up(proxied):
    router = proxied(client_login_timeout="1s")
    for begun in (b"", b"PROXY TCP4 ", v2()[:20]):
        with router.behind.wire() as client:
            begin = time.monotonic()
            assert client.send(begun).read_to_close() == b""
            assert time.monotonic() - begin < 8
    assert router.lets_in()


def test_tls_begins_behind_the_header(proxied):
    router = proxied(client_tls_sslmode="require")
    for direct in (False, True):
        client = router.behind.wire()
        client.send(v2())
        context = unverified_context(alpn=["postgresql"]) if direct else None
        client.start_tls(context, request=not direct).login("alice", "app")
        assert client.value("select 1") == "1"
        assert [row["addr"] for row in tls_rows(router)] == ["198.51.100.7"]
        client.terminate()
        wait_until(lambda: not tls_rows(router), what="the client to be gone")


def expect_a_cancel_to_arrive(router):
    """A query that sleeps, and its cancel on a connection of its own, both through the proxy."""
    with session(router, v2()) as client:
        client.send(m.Q("select pg_sleep(20)"))

        def cancelled():
            with router.behind.wire() as other:
                other.send(v2() + m.cancel_request(client.process_id, client.secret)).read_to_close()
            return not client.silent(0.2)

        wait_until(cancelled, what="the cancel to arrive")
        assert m.sqlstate(next(x for x in client.read_until("Z") if x.kind == "E")) == "57014"


def test_a_cancel_comes_through_the_proxy(proxied):
    expect_a_cancel_to_arrive(proxied())


class TellingServer:
    """Stands in front of a server: takes a PROXY header from each connection, keeps it, and passes the rest on."""

    def __init__(self, server):
        self.server = (server.host, server.port)
        self.headers = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            header = client.recv(6, socket.MSG_WAITALL)
            if header == b"PROXY ":
                while not header.endswith(b"\r\n"):
                    header += client.recv(1)
            else:
                header += client.recv(10, socket.MSG_WAITALL)
                assert header.startswith(SIGNATURE)
                header += client.recv(struct.unpack("!H", header[14:16])[0], socket.MSG_WAITALL)
            self.headers.append(header)
            with socket.create_connection(self.server) as server:
                back = threading.Thread(target=self.pump, args=(server, client), daemon=True)
                back.start()
                self.pump(client, server)
                back.join()

    @staticmethod
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@pytest.fixture
def telling(cluster):
    made = TellingServer(cluster.primary)
    yield made
    made.close()


@pytest.mark.parametrize("pool_mode", ["session", "transaction"])
def test_servers_are_told_the_clients_address(proxied, telling, cluster, pool_mode):
    router = proxied(
        server_proxy_protocol="v2",
        threads=1,  # each has its own pool in transaction mode
        pool_mode=pool_mode,
        primary={"name": "primary", "host": "127.0.0.1", "port": telling.port, "control_port": cluster.primary.port},
    )
    with session(router, v2("198.51.100.7", 4711)) as client:
        assert client.value("select 1") == "1"
        # Where the client's proxy has connected to is the router itself.
        own = socket.inet_aton("127.0.0.1") + struct.pack("!H", 4711) + struct.pack("!H", router.behind.port)
        assert telling.headers == [SIGNATURE + b"\x21\x11\0\x0c" + socket.inet_aton("198.51.100.7") + own]
        client.terminate()
    wait_until(lambda: not rows(router), what="the client to be gone")
    if pool_mode == "transaction":  # where the connection that is left is at hand at once
        with session(router, v2("198.51.100.7", 4712)) as client:
            assert client.value("select 1") == "1"
        assert len(telling.headers) == 1, "a client from there has it"
    known = len(telling.headers)
    with session(router, v2("198.51.100.8", 4711)) as client:
        assert client.value("select 1") == "1"
    assert len(telling.headers) == known + 1, "a client from elsewhere has not"
    assert socket.inet_aton("198.51.100.8") in telling.headers[-1]


@pytest.mark.parametrize("pool_mode", ["session", "transaction"])
def test_a_cancel_is_the_routers_own_connection(proxied, telling, cluster, pool_mode):
    router = proxied(
        server_proxy_protocol="v2",
        pool_mode=pool_mode,
        primary={"name": "primary", "host": "127.0.0.1", "port": telling.port, "control_port": cluster.primary.port},
    )
    expect_a_cancel_to_arrive(router)
    assert SIGNATURE + b"\x20\0\0\0" in telling.headers


@pytest.mark.parametrize("pool_mode", ["session", "transaction"])
def test_one_server_is_told_and_the_others_are_not(proxied, telling, cluster, pool_mode):
    """PostgreSQL itself would end a connection that begins with a header."""
    told = {"host": "127.0.0.1", "port": telling.port, "control_port": cluster.primary.port, "proxy_protocol": "v2"}
    router = proxied(pool_mode=pool_mode, primary={"name": "primary", **told})
    with session(router, v2()) as client:
        assert client.value("select 1") == "1"
    assert socket.inet_aton("198.51.100.7") in telling.headers[0]
    with session(router, v2(), database="app_read") as client:
        assert client.value("select 1") == "1"


@pytest.mark.parametrize("pool_mode", ["session", "transaction"])
def test_a_connection_that_was_told_is_not_used_where_nothing_is_told_any_more(proxied, telling, cluster, pool_mode):
    told = {"host": "127.0.0.1", "port": telling.port, "control_port": cluster.primary.port}
    router = proxied(
        pool_mode=pool_mode, threads=1, primary={"name": "primary", **told, "proxy_protocol": "v1"}
    )
    with session(router, v2()) as client:
        assert client.value("select 1") == "1"
        client.terminate()
    wait_until(lambda: not rows(router), what="the client to be gone")
    router.write_config(primary={"name": "primary", **told, "proxy_protocol": "v2"})
    reloads = router.metric("sluice_reloads_total")
    router.reload()
    wait_until(lambda: router.metric("sluice_reloads_total") > reloads, what="the reload")
    with session(router, v2()) as client:
        assert client.value("select 1") == "1"
    assert telling.headers[0].startswith(b"PROXY ") and telling.headers[-1].startswith(SIGNATURE)


def test_what_listens_says_that_it_is_nobodys(proxied, telling, cluster):
    router = proxied(
        server_proxy_protocol="v2",
        pool_mode="transaction",
        primary={"name": "primary", "host": "127.0.0.1", "port": telling.port, "control_port": cluster.primary.port},
        replicas=None,
        classes=None,
        rules=None,
        default_class=None,
        databases=[{"name": "*", "target": "primary"}],
    )
    with session(router, v2()) as client:
        client.query("listen news")
        assert SIGNATURE + b"\x20\0\0\0" in telling.headers


def test_servers_are_told_in_version_one_too(proxied, telling, cluster):
    router = proxied(
        server_proxy_protocol="v1",
        primary={"name": "primary", "host": "127.0.0.1", "port": telling.port, "control_port": cluster.primary.port},
    )
    with session(router, v1("2001:db8::7", 4711, "TCP6", "::1")) as client:
        assert client.value("select 1") == "1"
    assert telling.headers == [b"PROXY TCP6 2001:db8::7 ::ffff:127.0.0.1 4711 %d\r\n" % router.behind.port]


@pytest.mark.parametrize("word", ["send-proxy", "send-proxy-v2"])
def test_haproxy_in_front(proxied, tmp_path, word):
    haproxy = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if haproxy is None:
        pytest.skip("haproxy is not installed")
    router = proxied()
    port = free_port()
    config = tmp_path / "haproxy.cfg"
    config.write_text(
        f"""defaults
  mode tcp
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  server s 127.0.0.1:{router.behind.port} {word} check inter 200ms
"""
    )
    process = subprocess.Popen([haproxy, "-db", "-f", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        front = Front()
        front.port = port
        wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, what="haproxy to listen")
        with front.session("alice", "app") as client:
            own = client.socket.getsockname()
            [row] = rows(router)
            assert (row["addr"], int(row["port"])) == own
            assert client.value("select 1") == "1"
        assert router.alive()
    finally:
        end(process)
