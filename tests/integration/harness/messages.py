"""Frontend messages as bytes, and backend messages as short comparable values. Letters as in the manual's
"Message Formats"."""

import hashlib
import struct
from collections import namedtuple

PROTOCOL_3_0 = 0x00030000
SSL_REQUEST = struct.pack("!II", 8, 80877103)
GSSENC_REQUEST = struct.pack("!II", 8, 80877104)


def message(kind, body=b"", length=None):
    """One frontend message; `length` overrides the honest length word."""
    return (
        kind.encode("latin-1")
        + struct.pack("!I", (len(body) + 4 if length is None else length) & 0xFFFFFFFF)
        + body
    )


def cstring(text):
    return (text.encode() if isinstance(text, str) else text) + b"\0"


def startup(parameters, version=PROTOCOL_3_0, terminator=b"\0"):
    """StartupMessage; `parameters` is a dict or a list of pairs."""
    pairs = parameters.items() if isinstance(parameters, dict) else parameters
    body = (
        struct.pack("!I", version)
        + b"".join(cstring(name) + cstring(value) for name, value in pairs)
        + terminator
    )
    return struct.pack("!I", len(body) + 4) + body


def cancel_request(process_id, secret):
    return struct.pack("!III", 12 + len(secret), 80877102, process_id) + secret


def P(name, sql, types=()):
    return message(
        "P",
        cstring(name)
        + cstring(sql)
        + struct.pack("!H", len(types))
        + b"".join(struct.pack("!I", t) for t in types),
    )


def B(portal="", statement="", values=(), binary=False, binary_result=False):
    """Bind; `values` are str, bytes or None."""
    code = struct.pack("!HH", 1, 1) if binary else struct.pack("!H", 0)
    parameters = b""
    for value in values:
        raw = value.encode() if isinstance(value, str) else value
        parameters += struct.pack("!i", -1) if raw is None else struct.pack("!i", len(raw)) + raw
    result = struct.pack("!HH", 1, 1) if binary_result else struct.pack("!H", 0)
    return message(
        "B",
        cstring(portal) + cstring(statement) + code + struct.pack("!H", len(values)) + parameters + result,
    )


def D(kind, name=""):
    return message("D", kind.encode() + cstring(name))


def E(portal="", rows=0):
    return message("E", cstring(portal) + struct.pack("!i", rows))


def C(kind, name=""):
    return message("C", kind.encode() + cstring(name))


def H():
    return message("H")


def S():
    return message("S")


def Q(sql):
    return message("Q", cstring(sql))


def d(data):
    return message("d", data)


def c():
    return message("c")


def f(reason="stop"):
    return message("f", cstring(reason))


def F(oid, values, binary=True):
    body = struct.pack("!IHHH", oid, 1, 1 if binary else 0, len(values))
    body += b"".join(struct.pack("!i", len(value)) + value for value in values)
    return message("F", body + struct.pack("!H", 1 if binary else 0))


def X():
    return message("X")


Message = namedtuple("Message", "kind body")
CLOSED = Message("closed", b"")  # what a reader gives once the other side has closed, by FIN or by RST


def fields(body):
    """The fields of ErrorResponse or NoticeResponse: {letter: text}."""
    return {part[:1].decode(): part[1:].decode(errors="replace") for part in body.split(b"\0") if part}


def sqlstate(msg):
    return fields(msg.body).get("C")


def row(msg):
    """The values of a DataRow, as bytes or None."""
    (count,), at, values = struct.unpack_from("!H", msg.body), 2, []
    for _ in range(count):
        (size,) = struct.unpack_from("!i", msg.body, at)
        at += 4
        values.append(None if size < 0 else msg.body[at : at + size])
        at += max(size, 0)
    return values


def columns(msg):
    """The column names of a RowDescription."""
    (count,), at, names = struct.unpack_from("!H", msg.body), 2, []
    for _ in range(count):
        end = msg.body.index(b"\0", at)
        names.append(msg.body[at:end].decode())
        at = end + 19
    return names


def _without_table_ids(body):
    """A RowDescription in which tables made by users have the id 0: a temporary table gets a new one each
    time."""
    out, at = bytearray(body), 2
    for _ in range(struct.unpack_from("!H", body)[0]):
        end = body.index(b"\0", at)
        if struct.unpack_from("!I", body, end + 1)[0] >= 16384:
            out[end + 1 : end + 5] = bytes(4)
        at = end + 19
    return bytes(out)


def summary(msg):
    """What two runs of the same bytes must agree on. Left out: process ids, source lines, and keys."""
    if msg.kind in ("E", "N"):
        found = fields(msg.body)
        return (msg.kind, *(found.get(letter) for letter in "SCMDHPW"))
    if msg.kind == "Z":
        return ("Z", msg.body.decode())
    if msg.kind == "C":
        return ("C", msg.body[:-1].decode())
    if msg.kind == "D":
        return ("D", hashlib.sha256(msg.body).hexdigest()[:16])
    if msg.kind == "T":
        return ("T", _without_table_ids(msg.body))
    if msg.kind == "A":
        return ("A", msg.body[4:])
    if msg.kind == "K":
        return ("K", len(msg.body))
    return (msg.kind, msg.body)


def kinds(messages):
    """ "1 2 D C Z": the types alone, runs of DataRow and of CopyData folded."""
    out = []
    for msg in messages:
        if not (out and msg.kind in "dDN" and out[-1] == msg.kind):
            out.append(msg.kind)
    return " ".join(out)
