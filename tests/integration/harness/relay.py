"""A TCP relay with knobs, to put between client and router or between router and server."""

import select
import socket
import struct
import threading
import time

CANCEL_REQUEST = struct.pack("!I", 80877102)

class Knobs:
    """What one direction does to the bytes. All may be changed while bytes flow."""

    def __init__(self):
        self.delay = 0.0  # seconds before each piece is passed on
        self.split = None  # bytes per segment at most
        self.rate = None  # bytes per second at most
        self.stalled = False  # True: stop reading (the sender sees a full socket)
        self.drop = False  # True: read and throw away (the sender sees silence)
        self.close_after = None  # bytes after which both connections are closed
        self.reset_after = None  # bytes after which both connections are reset
        self.passed = 0  # bytes passed on so far, over all connections


class Relay:
    """Listens on `listen`, any free port of loopback unless said otherwise, and connects each client to
    (host, target_port)."""

    def __init__(
        self, host, target_port, connect_delay=0.0, keep_client_open=False, listen=("127.0.0.1", 0)
    ):
        self.target = (host, target_port)
        self.to_server, self.to_client = Knobs(), Knobs()
        self.connect_delay = connect_delay
        self.keep_client_open = keep_client_open  # True: the end of the server's stream is not passed on
        self.accept_only = False  # True: accept and say nothing
        self.accepted = 0
        self.cancels = 0  # connections that began with a CancelRequest
        self.cancels_open = 0  # those that their client has not closed yet
        self._listener = socket.create_server(listen, backlog=512)
        self.host, self.port = self._listener.getsockname()
        self._sockets = []
        self._lock = threading.Lock()
        self._stopping = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _accept(self):
        while not self._stopping:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with self._lock:
            self._sockets.append(client)
        if self.accept_only:
            return
        if self.connect_delay:
            time.sleep(self.connect_delay)
        try:
            server = socket.create_connection(self.target)
        except OSError:
            client.close()
            return
        for leg in (client, server):
            leg.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._sockets.append(server)
        pumps = [
            threading.Thread(target=self._pump, args=way, daemon=True)
            for way in (
                (client, server, self.to_server, False),
                (server, client, self.to_client, self.keep_client_open),
            )
        ]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        if self.keep_client_open or self._stopping:
            return
        # Both ways have ended. Thousands of connections must not keep their descriptors.
        with self._lock:
            self._sockets = [leg for leg in self._sockets if leg not in (client, server)]
        client.close()
        server.close()

    def _pump(self, source, sink, knobs, keep_open):
        is_cancel = False
        try:
            while not self._stopping:
                if knobs.stalled:
                    time.sleep(0.01)
                    continue
                if not select.select([source], [], [], 0.1)[0]:
                    continue
                if knobs.stalled:
                    continue
                size = 65536 if not knobs.rate else max(1, min(65536, knobs.rate // 50))
                data = source.recv(size)
                if not data:
                    break
                if knobs is self.to_server and data[4:8] == CANCEL_REQUEST:
                    is_cancel = True
                    self._count_cancel(1)
                if knobs.drop:
                    continue
                if knobs.delay:
                    time.sleep(knobs.delay)
                if not self._forward(data, source, sink, knobs):
                    return
        except OSError:
            pass
        finally:
            if is_cancel:
                self._count_cancel(-1)
        if not keep_open:
            try:
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass

    def _count_cancel(self, change):
        with self._lock:
            self.cancels += max(change, 0)
            self.cancels_open += change

    def _forward(self, data, source, sink, knobs):
        limit = knobs.close_after if knobs.close_after is not None else knobs.reset_after
        cut = limit is not None and knobs.passed + len(data) >= limit
        if cut:
            data = data[: limit - knobs.passed]
        step = knobs.split or len(data) or 1
        for at in range(0, len(data), step):
            sink.sendall(data[at : at + step])
            knobs.passed += len(data[at : at + step])
        if knobs.rate:
            time.sleep(len(data) / knobs.rate)
        if cut:
            for leg in (source, sink):
                self._end(leg, knobs.reset_after is not None)
        return not cut

    @staticmethod
    def _end(leg, reset):
        try:
            if reset:
                leg.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                leg.shutdown(socket.SHUT_RDWR)
            leg.close()
        except OSError:
            pass

    def close_all(self, reset=False):
        """Ends every connection that runs through the relay; new ones are accepted as before."""
        with self._lock:
            sockets, self._sockets = self._sockets, []
        for leg in sockets:
            self._end(leg, reset)

    def stop(self):
        self._stopping = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self.close_all()
