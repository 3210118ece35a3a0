"""The two sides of a takeover by hand, for what a real one never does."""

import os
import select
import socket

PACKET_BYTES = 256
DESCRIPTORS = 64


class FakeSuccessor:
    """Connects to a process that waits at `path` and takes its sockets, as far as its test wants it to."""

    def __init__(self, path, request=b"takeover 1"):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(10)
        self.socket.connect(str(path))
        self.descriptors = []
        self.socket.send(request)
        while (text := self.receive()) not in (b"end", b""):
            assert text.split(b" ")[0] in (b"clients", b"admin", b"cancels"), text

    def receive(self):
        text, descriptors, _, _ = socket.recv_fds(self.socket, PACKET_BYTES, DESCRIPTORS)
        self.descriptors += descriptors
        return text

    def say_serving(self):
        self.socket.send(b"serving")

    def close(self):
        self.socket.close()
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = []


class FakePredecessor:
    """Listens at `path` and gives whoever asks the sockets `clients`."""

    def __init__(self, path, clients):
        self.path, self.clients = path, clients
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.bind(str(path))
        self.listening.listen(4)
        self.listening.settimeout(20)
        self.successor = None

    def give(self):
        """Returns when the successor has said that it serves; that is still unread."""
        self.successor, _ = self.listening.accept()
        self.successor.recv(PACKET_BYTES)
        socket.send_fds(self.successor, [b"clients"], [client.fileno() for client in self.clients])
        self.successor.send(b"end")
        assert select.select([self.successor], [], [], 20)[0], "the successor serves"

    def leave(self):
        """Nobody is found at the path any more."""
        self.listening.close()
        os.unlink(self.path)

    def give_up(self):
        self.successor.close()

    def close(self):
        self.listening.close()
        if self.successor:
            self.successor.close()
