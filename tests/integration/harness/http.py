"""HTTP in raw bytes: a client that sends what it is told, and a compute host that keeps every byte it gets."""

import socket
import ssl
import struct
import threading
import time


class Response:
    def __init__(self, head, body, complete):
        lines = head.decode("latin-1").split("\r\n")
        self.head, self.body, self.complete = head, body, complete
        self.version, status, self.reason = (lines[0].split(" ", 2) + [""])[:3]
        self.status = int(status)
        self.fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if line]
        self.trailers = b""

    def values(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name):
        return next(iter(self.values(name)), None)


class Ended(Exception):
    """The other side closed where more was expected; `got` is what came."""

    def __init__(self, got, reset=False):
        super().__init__(f"{'reset' if reset else 'closed'} after {got[-200:]!r}")
        self.got, self.reset = got, reset


class Connection:
    """Either end: reads with a deadline, and remembers all it has read."""

    def __init__(self, sock, timeout=10):
        self.sock, self.timeout = sock, timeout
        self.sock.settimeout(timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""  # everything, in order
        self.buffer = b""  # of it, what nobody took yet

    def send(self, data, pieces=None):
        """All of it, or in pieces of that many bytes."""
        data = data.encode("latin-1") if isinstance(data, str) else data
        for at in range(0, len(data), pieces or max(len(data), 1)):
            self.sock.sendall(data[at : at + (pieces or len(data))])
        return self

    def fill(self):
        try:
            data = self.sock.recv(65536)
        except (ConnectionResetError, BrokenPipeError):
            raise Ended(self.received, reset=True) from None
        if not data:
            raise Ended(self.received)
        self.received += data
        self.buffer += data

    def take(self, count):
        while len(self.buffer) < count:
            self.fill()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def take_until(self, mark):
        while mark not in self.buffer:
            self.fill()
        end = self.buffer.index(mark) + len(mark)
        return self.take(end)

    def take_chunked(self):
        """The decoded body and the trailers."""
        body = b""
        while True:
            size = int(self.take_until(b"\r\n").split(b";")[0], 16)
            if size == 0:
                trailers = b""
                while (line := self.take_until(b"\r\n")) != b"\r\n":
                    trailers += line
                return body, trailers
            body += self.take(size)
            assert self.take(2) == b"\r\n"

    def response(self, method="GET"):
        """The next response; informational ones are responses too."""
        head = self.take_until(b"\r\n\r\n")
        answer = Response(head[:-4], b"", True)
        if method == "HEAD" or answer.status < 200 or answer.status in (204, 304):
            return answer
        if (answer.get("Transfer-Encoding") or "").lower() == "chunked":
            answer.body, answer.trailers = self.take_chunked()
        elif answer.get("Content-Length") is not None:
            answer.body = self.take(int(answer.get("Content-Length")))
        else:
            answer.body = self.rest()
        return answer

    def rest(self):
        """Everything until the other side closes."""
        while True:
            try:
                self.fill()
            except Ended:
                taken, self.buffer = self.buffer, b""
                return taken

    def closed(self, timeout=5):
        """Whether the other side closes within the time; what comes before is kept."""
        self.sock.settimeout(timeout)
        try:
            while True:
                self.fill()
        except Ended:
            return True
        except TimeoutError:
            return False
        finally:
            self.sock.settimeout(self.timeout)

    def silent(self, seconds):
        """Nothing comes for so long, and nobody closes."""
        self.sock.settimeout(seconds)
        try:
            self.fill()
        except TimeoutError:
            return True
        except Ended:
            return False
        finally:
            self.sock.settimeout(self.timeout)
        return False

    def finish_sending(self):
        self.sock.shutdown(socket.SHUT_WR)

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def connect(port, tls=None, receive_buffer=None, timeout=10):
    sock = socket.socket()
    if receive_buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.settimeout(timeout)
    sock.connect(("127.0.0.1", port))
    if tls is not None:
        sock = tls.wrap_socket(sock, server_hostname="localhost")
    return Connection(sock, timeout)


def trusting_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Request:
    """What a compute host got."""

    def __init__(self, head, body, connection):
        self.head, self.body, self.connection = head, body, connection
        lines = head.decode("latin-1").split("\r\n")
        self.line = lines[0]
        self.method, self.target, self.version = lines[0].split(" ")
        self.fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if line]
        self.trailers = b""

    def values(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name):
        return next(iter(self.values(name)), None)


def ok(body=b"ok\n", fields=""):
    body = body.encode() if isinstance(body, str) else body
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{fields}\r\n".encode() + body


class ComputeHost:
    """An application server. `answer(request)` gives the bytes of a response, or None to close at once; with
    `serve(connection)` a test talks to the connection by itself. Health checks are answered, and not kept."""

    def __init__(self, name="a", answer=None, serve=None):
        self.name = name
        self.answer = answer or (lambda request: ok(f"{name}\n"))
        self.serve = serve
        self.healthy = True
        self.health_status = 200
        self.requests = []
        self.connections = []
        self.lock = threading.Lock()
        self.listener = None
        self.listener = self._listen(0)
        self.port = self.listener.getsockname()[1]
        self._start()

    def _listen(self, port):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(512)
        return listener

    def _start(self):
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def config(self, **more):
        return {"name": self.name, "address": "127.0.0.1", "port": self.port, **more}

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._run, args=(Connection(sock, 60),), daemon=True).start()

    def _run(self, connection):
        known = False
        try:
            while True:
                head = connection.take_until(b"\r\n\r\n")
                if head.startswith(b"GET /health "):
                    if not self.healthy:
                        return
                    connection.received = b""
                    body = b"well\n"
                    connection.send(f"HTTP/1.1 {self.health_status} X\r\nContent-Length: {len(body)}\r\n\r\n")
                    connection.send(body)
                    continue
                if not known:
                    known = True
                    with self.lock:
                        self.connections.append(connection)
                request = Request(head[:-4], b"", connection)
                if self.serve is not None:
                    with self.lock:
                        self.requests.append(request)
                    self.serve(request)
                    return
                if (request.get("Transfer-Encoding") or "").lower() == "chunked":
                    request.body, request.trailers = connection.take_chunked()
                elif request.get("Content-Length"):
                    request.body = connection.take(int(request.get("Content-Length")))
                with self.lock:
                    self.requests.append(request)
                answer = self.answer(request)
                if answer is None:
                    return
                connection.send(answer)
        except (Ended, OSError):
            pass
        finally:
            connection.close()

    def received(self):
        """All bytes of requests, health checks apart."""
        with self.lock:
            return b"".join(c.received for c in self.connections)

    def stop_listening(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def listen_again(self):
        self.listener = self._listen(self.port)
        self._start()

    def close(self):
        try:
            self.stop_listening()
        except OSError:
            pass


def wait_for(seconds):
    """For what only time can show: that something does not happen."""
    time.sleep(seconds)
