"""A service manager, as far as a service sees it: the socket of sd_notify(3)."""

import socket


class Manager:
    """`path` is a socket file, or with a leading @ an abstract name."""

    def __init__(self, path):
        self.address = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.address[1:] if self.address.startswith("@") else self.address)
        self.socket.settimeout(0.05)
        self.heard = []  # datagrams, each a dictionary of its lines

    def close(self):
        self.socket.close()

    def listen(self):
        """Takes what has come; what has been heard so far."""
        try:
            while True:
                lines = self.socket.recv(4096).decode().split("\n")
                self.heard.append(dict(line.split("=", 1) for line in lines))
        except TimeoutError:
            return self.heard

    def said(self, name, value=None):
        """Datagrams with that variable."""
        return [m for m in self.listen() if name in m and (value is None or m[name] == value)]

    def order(self):
        """The words that mark a change of state, in their order."""
        return [word for m in self.listen() for word in m if word in ("READY", "RELOADING", "STOPPING")]
