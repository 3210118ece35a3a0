"""The client's side of SCRAM-SHA-256 (RFC 5802, RFC 7677) and PostgreSQL's md5, for the raw protocol
client."""

import base64
import hashlib
import hmac
import os


def md5_response(user, password, salt):
    inner = hashlib.md5(password.encode() + user.encode()).hexdigest()
    return b"md5" + hashlib.md5(inner.encode() + salt).hexdigest().encode()


class ScramClient:
    """One exchange. `gs2` is the header sent first; `binding` the channel-binding data appended to it in
    c=."""

    def __init__(self, password, gs2="n,,", binding=b"", nonce=None):
        self.password = password.encode()
        self.gs2 = gs2
        self.binding = binding
        self.nonce = nonce or base64.b64encode(os.urandom(18)).decode()
        self.first_bare = f"n=,r={self.nonce}"
        self.salt = None
        self.server_signature = None

    def first(self):
        return (self.gs2 + self.first_bare).encode()

    def final(self, server_first):
        parts = dict(item.split("=", 1) for item in server_first.decode().split(","))
        assert parts["r"].startswith(self.nonce), "the server's nonce does not begin with ours"
        self.salt = parts["s"]
        salted = hashlib.pbkdf2_hmac("sha256", self.password, base64.b64decode(parts["s"]), int(parts["i"]))
        channel = base64.b64encode(self.gs2.encode() + self.binding).decode()
        without_proof = f"c={channel},r={parts['r']}"
        whole = f"{self.first_bare},{server_first.decode()},{without_proof}".encode()
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        signature = hmac.digest(hashlib.sha256(client_key).digest(), whole, "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(client_key, signature))).decode()
        self.server_signature = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), whole, "sha256")
        return f"{without_proof},p={proof}".encode()

    def check(self, server_final):
        expected = b"v=" + base64.b64encode(self.server_signature)
        assert server_final == expected, "the server could not prove that it knows the password"
