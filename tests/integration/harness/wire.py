"""A raw PostgreSQL client: sends exactly the bytes it is told to, split where it is told to, and reads with
a deadline."""

import hashlib
import select
import socket
import ssl
import struct
import time

from . import messages as m
from .postgres import PASSWORD
from .scram import ScramClient, md5_response

READ_SECONDS = 10.0


class LoginRefused(Exception):
    """The other side answered the login with an ErrorResponse; `.message` is it."""

    def __init__(self, message):
        found = m.fields(message.body)
        super().__init__(f"{found.get('S')} {found.get('C')}: {found.get('M')}")
        self.message = message
        self.sqlstate = found.get("C")


class WireClient:
    """One TCP connection, or with a path for the host one by a Unix socket. Messages of the login are kept in `.login_messages`, server settings in
    `.parameters`."""

    def __init__(self, host, port, receive_buffer=None, timeout=READ_SECONDS):
        unix = host.startswith("/")
        self.socket = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(host if unix else (host, port))
        if not unix:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout = timeout
        self.address = (host, port)
        self.buffer = bytearray()
        self.closed = False
        self.login_messages = []
        self.parameters = {}
        self.process_id = None
        self.secret = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- bytes

    def send(self, data):
        """Sends all bytes. The other side having closed is no error here: reading will tell."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError, ssl.SSLEOFError):
            pass
        return self

    def send_split(self, data, size=1, gap=0.0):
        """Sends in pieces of `size` bytes, `gap` seconds apart."""
        for at in range(0, len(data), size):
            self.send(data[at : at + size])
            if gap:
                time.sleep(gap)
        return self

    def _fill(self, deadline):
        if self.closed:
            return False
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"nothing to read within the deadline; buffered {bytes(self.buffer[:40])!r}")
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(262144)
        except socket.timeout as late:
            raise TimeoutError(
                f"nothing to read within the deadline; buffered {bytes(self.buffer[:40])!r}"
            ) from late
        except (ConnectionResetError, ssl.SSLError, BrokenPipeError):
            data = b""
        finally:
            self.socket.settimeout(self.timeout)
        if not data:
            self.closed = True
            return False
        self.buffer += data
        return True

    def read_bytes(self, count, timeout=None):
        """Exactly `count` bytes, fewer only if the other side closes first."""
        deadline = time.monotonic() + (timeout or self.timeout)
        while len(self.buffer) < count and self._fill(deadline):
            pass
        out = bytes(self.buffer[:count])
        del self.buffer[:count]
        return out

    def read_to_close(self, timeout=None):
        """Everything until the other side closes."""
        deadline = time.monotonic() + (timeout or self.timeout)
        while self._fill(deadline):
            pass
        out = bytes(self.buffer)
        self.buffer.clear()
        return out

    def silent(self, seconds):
        """True if neither a byte nor a close arrives for `seconds`."""
        if self.buffer:
            return False
        return not select.select([self.socket], [], [], seconds)[0]

    # ---- messages

    def _pop(self):
        """A whole message out of the buffer, or None."""
        if len(self.buffer) < 5:
            return None
        (length,) = struct.unpack_from("!I", self.buffer, 1)
        if len(self.buffer) < 1 + length:
            return None
        out = m.Message(chr(self.buffer[0]), bytes(self.buffer[5 : 1 + length]))
        del self.buffer[: 1 + length]
        return out

    def read(self, timeout=None):
        """The next backend message, or CLOSED."""
        deadline = time.monotonic() + (timeout or self.timeout)
        while (msg := self._pop()) is None:
            if not self._fill(deadline):
                return m.CLOSED
        return msg

    def exchange(self, data, handle, timeout=60.0):
        """Sends `data` while reading, as one thread, until `handle(message)` is true for some message. A
        TLS object is not for two threads."""
        deadline, view = time.monotonic() + timeout, memoryview(data)
        self.socket.setblocking(False)
        try:
            while True:
                select.select([self.socket], [self.socket] if view else [], [], 0.05)
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{len(view)} bytes not sent yet")
                try:
                    view = view[self.socket.send(view[:65536]) :] if view else view
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                    pass
                try:
                    self.buffer += self.socket.recv(65536)
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                    continue
                while (msg := self._pop()) is not None:
                    if handle(msg):
                        return
        finally:
            self.socket.settimeout(self.timeout)

    def read_until(self, last="Z", count=1, timeout=None):
        """Messages up to and with the `count`-th of a type in `last`; ends early, with CLOSED, if the
        connection does."""
        deadline = time.monotonic() + (timeout or self.timeout)
        out = []
        while count > 0:
            out.append(self.read(max(deadline - time.monotonic(), 0.001)))
            if out[-1] is m.CLOSED:
                break
            count -= out[-1].kind in last
        return out

    def run(self, data, ready=1, timeout=None):
        """Sends `data` in one write and reads through `ready` ReadyForQuery messages."""
        return self.send(data).read_until("Z", ready, timeout)

    def query(self, sql, timeout=None):
        """Simple Query; returns its rows as lists of text. An ErrorResponse raises AssertionError."""
        answer = self.run(m.Q(sql), timeout=timeout)
        errors = [m.fields(x.body) for x in answer if x.kind == "E"]
        assert not errors, f"{sql!r}: {errors}"
        assert answer[-1].kind == "Z", f"{sql!r}: connection closed"
        return [[v if v is None else v.decode() for v in m.row(x)] for x in answer if x.kind == "D"]

    def value(self, sql, timeout=None):
        return self.query(sql, timeout)[0][0]

    # ---- login

    def start_tls(self, context=None, server_name="localhost", request=True):
        """SSLRequest and the handshake, or (request=False, a context with ALPN) direct TLS."""
        context = context or unverified_context()
        if request:
            self.send(m.SSL_REQUEST)
            answer = self.read_bytes(1)
            if answer != b"S":
                raise AssertionError(f"SSLRequest was answered {answer!r}")
        self.socket = context.wrap_socket(self.socket, server_hostname=server_name)
        return self

    def end_point_binding(self):
        """tls-server-end-point data (RFC 5929) of the certificate the other side showed; its signature hash
        is SHA-256."""
        return hashlib.sha256(self.socket.getpeercert(binary_form=True)).digest()

    def login(
        self, user="alice", database="app", password=None, parameters=(), version=m.PROTOCOL_3_0, **scram
    ):
        """StartupMessage and authentication by whatever the server asks, through the first ReadyForQuery."""
        pairs = [("user", user)] + ([("database", database)] if database is not None else [])
        self.send(m.startup(pairs + list(dict(parameters).items()), version))
        return self.authenticate(user, password, **scram)

    def authenticate(self, user, password=None, gs2=None, binding=None, mechanism=None):
        password = PASSWORD if password is None else password
        exchange = None
        while True:
            msg = self.read()
            self.login_messages.append(msg)
            if msg is m.CLOSED:
                raise ConnectionError("closed during login")
            if msg.kind == "E":
                raise LoginRefused(msg)
            if msg.kind == "R":
                exchange = self._answer(msg, user, password, exchange, gs2, binding, mechanism)
            elif msg.kind == "S":
                name, value = msg.body.split(b"\0")[:2]
                self.parameters[name.decode()] = value.decode()
            elif msg.kind == "K":
                self.process_id, self.secret = struct.unpack_from("!I", msg.body)[0], msg.body[4:]
            elif msg.kind == "Z":
                return self

    def _answer(self, msg, user, password, exchange, gs2, binding, mechanism):
        (method,) = struct.unpack_from("!I", msg.body)
        if method == 3:
            self.send(m.message("p", m.cstring(password)))
        elif method == 5:
            self.send(m.message("p", m.cstring(md5_response(user, password, msg.body[4:8]))))
        elif method == 10:
            offered = [name.decode() for name in msg.body[4:].split(b"\0") if name]
            plus = "SCRAM-SHA-256-PLUS" in offered and isinstance(self.socket, ssl.SSLSocket)
            mechanism = mechanism or ("SCRAM-SHA-256-PLUS" if plus and gs2 is None else "SCRAM-SHA-256")
            if mechanism.endswith("PLUS"):
                gs2, binding = gs2 or "p=tls-server-end-point,,", binding or self.end_point_binding()
            exchange = ScramClient(password, "n,," if gs2 is None else gs2, binding or b"")
            first = exchange.first()
            self.send(m.message("p", m.cstring(mechanism) + struct.pack("!I", len(first)) + first))
        elif method == 11:
            self.send(m.message("p", exchange.final(msg.body[4:])))
        elif method == 12:
            exchange.check(msg.body[4:])
        elif method != 0:
            raise AssertionError(f"authentication method {method}")
        return exchange

    # ---- end

    def cancel(self):
        """Sends a CancelRequest for this session on a connection of its own and waits until that is
        closed."""
        with WireClient(*self.address) as other:
            other.send(m.cancel_request(self.process_id, self.secret))
            other.read_to_close()

    def terminate(self):
        self.send(m.X())
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Closes with RST, as a killed machine's kernel would answer."""
        raw = self.socket
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()

    def half_close(self):
        """Says that nothing more will be sent; the other side may be gone already."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def unverified_context(alpn=None, certificate=None):
    """A client context that accepts any certificate; `certificate` is (file, key file) of a client
    certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if alpn:
        context.set_alpn_protocols(alpn)
    if certificate:
        context.load_cert_chain(*map(str, certificate))
    return context
