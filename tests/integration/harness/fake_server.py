"""A scripted PostgreSQL server: each accepted session runs a Python function that says what is sent, byte
by byte."""

import socket
import struct
import threading

from .messages import cstring


def backend(kind, body=b"", length=None):
    return (
        kind.encode("latin-1")
        + struct.pack("!I", (len(body) + 4 if length is None else length) & 0xFFFFFFFF)
        + body
    )


def authentication_ok():
    return backend("R", struct.pack("!I", 0))


def parameter_status(name, value):
    return backend("S", cstring(name) + cstring(value))


def key_data(process_id=4711, secret=b"\x01\x02\x03\x04"):
    return backend("K", struct.pack("!I", process_id) + secret)


def ready(status="I"):
    return backend("Z", status.encode())


def complete(tag="SELECT 1"):
    return backend("C", cstring(tag))


def row_description(*names):
    body = struct.pack("!H", len(names))
    for name in names:
        body += cstring(name) + struct.pack("!IHIhiH", 0, 0, 25, -1, -1, 0)
    return backend("T", body)


def data_row(*values):
    body = struct.pack("!H", len(values))
    for value in values:
        body += (
            struct.pack("!i", -1)
            if value is None
            else struct.pack("!i", len(value.encode())) + value.encode()
        )
    return backend("D", body)


def error(severity, code, text):
    return backend(
        "E",
        b"S"
        + cstring(severity)
        + b"V"
        + cstring(severity)
        + b"C"
        + cstring(code)
        + b"M"
        + cstring(text)
        + b"\0",
    )


def notice(text):
    return backend("N", b"SNOTICE\0VNOTICE\0C00000\0M" + cstring(text) + b"\0")


def notification(channel, payload="", process_id=99):
    return backend("A", struct.pack("!I", process_id) + cstring(channel) + cstring(payload))


def rows_answer(names, *rows):
    return (
        row_description(*names)
        + b"".join(data_row(*row) for row in rows)
        + complete(f"SELECT {len(rows)}")
        + ready()
    )


class Peer:
    """The server's end of one accepted connection."""

    def __init__(self, connection):
        self.socket = connection
        self.parameters = {}
        self.closed = False

    def send(self, data):
        self.socket.sendall(data)
        return self

    def read_exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                self.closed = True
                return None
            data += piece
        return data

    def read_startup(self, ssl_answer=b"N"):
        """Reads a StartupMessage, answering SSLRequest and GSSENCRequest; returns None for a CancelRequest
        or a close."""
        while True:
            head = self.read_exactly(8)
            if head is None:
                return None
            length, code = struct.unpack("!II", head)
            body = self.read_exactly(length - 8)
            if code in (80877103, 80877104):
                self.send(ssl_answer)
            elif code == 80877102:
                return None
            else:
                words = body.split(b"\0")
                self.parameters = {
                    words[i].decode(): words[i + 1].decode() for i in range(0, len(words) - 2, 2)
                }
                return self.parameters

    def greet(self, key=True, **settings):
        """AuthenticationOk, the usual ParameterStatus messages, BackendKeyData, ReadyForQuery."""
        defaults = {
            "server_version": "15.0",
            "server_encoding": "UTF8",
            "client_encoding": "UTF8",
            "DateStyle": "ISO, MDY",
            "TimeZone": "UTC",
            "integer_datetimes": "on",
            "standard_conforming_strings": "on",
            "in_hot_standby": "on",
            "session_authorization": self.parameters.get("user", ""),
            "application_name": self.parameters.get("application_name", ""),
            "IntervalStyle": "postgres",
            "is_superuser": "off",
            "default_transaction_read_only": "off",
            **settings,
        }
        return self.send(
            authentication_ok()
            + b"".join(parameter_status(k, v) for k, v in defaults.items())
            + (key_data() if key else b"")
            + ready()
        )

    def read_message(self):
        """(type, body), or None at the end of the stream."""
        head = self.read_exactly(5)
        if head is None:
            return None
        (length,) = struct.unpack("!I", head[1:])
        return chr(head[0]), self.read_exactly(length - 4)

    def answer_until_end(self, answer):
        """Answers each message by `answer(kind, body)` (bytes or None) until Terminate or the end of the
        stream."""
        while (got := self.read_message()) is not None and got[0] != "X":
            reply = answer(*got)
            if reply:
                self.send(reply)

    def close(self, reset=False):
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def healthy(kind, body):
    """Answers of a standby that is well, for the router's own probes and resets."""
    if kind != "Q":
        return None
    sql = body[:-1].decode(errors="replace").lower()
    if sql.startswith(("discard", "rollback", "reset", "set", "begin", "commit")):
        return complete(sql.split()[0].upper()) + ready()
    if "pg_is_in_recovery" in sql:
        width = sql.split(" from ")[0].count(",") + 1
        return rows_answer([f"c{i}" for i in range(width)], ["t"] + ["0"] * (width - 1))
    return rows_answer(["?column?"], ["1"])


class FakeServer:
    """Runs `script(peer)` in a thread for each session whose user is not in `probe_users`; those get
    `healthy` answers."""

    def __init__(self, script, probe_users=("monitor",)):
        self.script = script
        self.probe_users = probe_users
        self.sessions = 0
        self.errors = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.host, self.port = self._listener.getsockname()
        self._peers = []
        self._stopping = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _accept(self):
        while not self._stopping:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            peer = Peer(connection)
            self._peers.append(peer)
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        try:
            raw = getattr(self.script, "raw", False)
            if not raw and peer.read_startup() is None:
                return
            if not raw and peer.parameters.get("user") in self.probe_users:
                peer.greet().answer_until_end(healthy)
                return
            self.sessions += 1
            self.script(peer)
        except OSError:
            pass
        except Exception as fault:  # noqa: BLE001 - told to the test, which asserts that there were none
            self.errors.append(fault)
        finally:
            try:
                peer.close()
            except OSError:
                pass

    def stop(self):
        self._stopping = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        for peer in self._peers:
            try:
                peer.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def raw(script):
    """Marks a script that reads the start-up packet itself."""
    script.raw = True
    return script
