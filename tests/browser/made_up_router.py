"""A router of any size that is made up: the page of a real one, fed with documents that change from second to second as in life."""

import collections
import contextlib
import datetime
import http.server
import json
import queue
import random
import threading
import time
import urllib.request

STEP = 10  # seconds from sample to sample
SAMPLES = 360
ROWS = 50  # decisions, and role changes, that an event has
COLUMNS = ("sessions", "waiting", "replicas", "opened", "median_us", "p95_us", "p99_us", "wait_p95_us")


def now_ms():
    return int(time.time() * 1000)


def now_text():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


class Documents:
    """What such a router has to say. Another second brings other sessions on every replica, other times for every class, new decisions;
    every third one a replica that changes pools."""

    def __init__(self, replicas, classes, hosts):
        self.random = random.Random(1)
        self.second, self.decided = 0, 0
        self.started_ms = now_ms() - 3600 * 1000
        self.classes = [f"class-{i}" for i in range(classes)]
        self.hosts = [f"host-{i:02}" for i in range(hosts)]
        pools = [*self.classes, "mixed"]
        self.home = {f"replica-{i:02}": pools[i % len(pools)] for i in range(replicas)}
        self.pools = dict(self.home)
        self.stays = {name: [self.stay(name, self.started_ms)] for name in self.pools}
        self.decisions, self.role_changes = (collections.deque(maxlen=ROWS) for _ in range(2))
        for _ in range(ROWS):
            self.decide()
        self.advance()
        self.samples = [self.sampled(now_ms() - 1000 * STEP * (SAMPLES - i)) for i in range(SAMPLES)]
        self.newest = SAMPLES

    def advance(self):
        self.second += 1
        self.loads = {
            name: {one: self.random.randint(5, 20) if one == pool else self.random.choice((0, 0, 0, 1)) for one in self.classes}
            for name, pool in self.pools.items()
        }
        for _ in range(5):
            self.decide()
        if self.second % 3 == 0:
            self.move()

    def decide(self):
        self.decided += 1
        self.decisions.append({
            "number": self.decided, "time": now_text(), "client": self.decided, "user": "app", "database": "shop",
            "class": self.random.choice(self.classes), "host": self.random.choice(self.hosts), "replica": self.random.choice([*self.pools]), "outcome": "own",
            "reason": f"a replica of its own pool with room (live replicas in its pool: 7, with room: {self.random.randint(1, 7)})",
            "wait_us": self.random.randint(5, 900), "changes": [],
        })  # fmt: skip

    def move(self):
        """Back where it belongs, or to a class that borrows it."""
        name = self.random.choice([*self.pools])
        was = self.pools[name]
        self.pools[name] = self.home[name] if self.borrowed(name) else self.random.choice([one for one in self.classes if one != was] or [was])
        self.role_changes.append({
            "number": self.decided, "time": now_text(), "replica": name, "from": was, "to": self.pools[name],
            "kind": "borrow" if self.borrowed(name) else "return", "class": self.random.choice(self.classes),
        })  # fmt: skip
        self.stays[name].append(self.stay(name, now_ms()))

    def borrowed(self, name):
        return self.pools[name] != self.home[name]

    def stay(self, name, since_ms):
        return {"since_ms": since_ms, "pool": self.pools[name], "borrowed": self.borrowed(name), "live": True}

    def times(self):
        median = self.random.randint(900, 4000)
        return {"count": self.random.randint(1000, 9000), "median_us": median, "p95_us": 3 * median, "p99_us": 5 * median}

    def sessions_of(self, name):
        return sum(loads[name] for loads in self.loads.values())

    def overview(self):
        return {
            "version": f"of second {self.second}", "started_ms": self.started_ms, "config_loaded_ms": self.started_ms, "ready": True, "reason": "",
            "shutting_down": False, "paused": False, "commands": False, "rejections": {"no_replica": self.second}, "warnings": [],
            "classes": [self.class_row(i, name) for i, name in enumerate(self.classes)],
            "replicas": [self.server_row("primary", "", dict.fromkeys(self.classes, 0)), *(self.server_row(name, pool, self.loads[name]) for name, pool in self.pools.items())],
        }  # fmt: skip

    def class_row(self, priority, name):
        members = [one for one, pool in self.pools.items() if pool == name]
        return {
            "name": name, "priority": priority, "saturation": 20, "return_ratio": "0.60", "floor": 0, "target": len(self.pools) // (len(self.classes) + 1),
            "max_sessions": 0, "replicas": len(members), "borrowed": sum(map(self.borrowed, members)), "sessions": self.sessions_of(name),
            "waiting": self.random.choice((0, 0, 0, 2)), "longest_wait_us": 700, "opened": self.decided,
            "outcomes": {"own": self.decided, "borrowed_mixed": self.second}, "response": self.times(), "wait": self.times(),
        }  # fmt: skip

    def server_row(self, name, pool, loads):
        return {
            "name": name, "role": "replica" if pool else "primary", "host": "127.0.0.1", "port": 5432, "pool": pool, "borrowed": bool(pool) and self.borrowed(name),
            "up": True, "draining": False, "sessions": sum(loads.values()), "loads": loads, "in_recovery": bool(pool), "lag_ms": self.random.randint(0, 90) if pool else None,
            "lag_bytes": self.random.randint(0, 90000) if pool else None, "probe_last_us": self.random.randint(200, 900), "probe_median_us": self.random.randint(200, 900),
            "probe_failures": 0, "checked_ms_ago": self.random.randint(0, 2000), "last_error": "", "weight": 1, "timeline": 1, "source": "file",
        }  # fmt: skip

    def decisions_and_changes(self):
        return {"decisions": list(self.decisions), "role_changes": list(self.role_changes)}

    def routes(self):
        return {"routes": [
            {
                "name": f"/page/{i}", "class": self.classes[i % len(self.classes)], "host": self.hosts[i % len(self.hosts)], "requests": 100 * self.second,
                "n_serial_mean": f"{self.random.uniform(1, 9):.2f}", "n_serial_median": 4, "n_serial_p90": 9, "untraced": "0.00", "usable": True,
                "calls": 400 * self.second, "errors": i, "median_us": self.random.randint(500, 5000), "p95_us": self.random.randint(5000, 9000), "seen_ms_ago": self.random.randint(0, 999),
            }
            for i in range(20)
        ]}  # fmt: skip

    def rtt(self):
        servers = ["primary", *self.pools]
        return {
            "hosts": self.hosts,
            "servers": servers,
            "rtt_us": [[self.random.randint(100, 20000) for _ in servers] for _ in self.hosts],
            "source": [["measured" for _ in servers] for _ in self.hosts],
        }

    def sampled(self, time_ms):
        values = {name: {column: self.random.randint(1, 5000) for column in COLUMNS} for name in self.classes}
        return {"time_ms": time_ms, "rejected": self.random.randint(0, 3), "classes": values}

    def take_sample(self):
        self.newest += 1
        self.samples = [*self.samples[1:], self.sampled(now_ms())]

    def history(self, most=SAMPLES):
        samples = self.samples[-most:]
        return {
            "step_s": STEP,
            "newest": self.newest,
            "times_ms": [one["time_ms"] for one in samples],
            "rejected": [one["rejected"] for one in samples],
            "classes": [{"name": name, **{column: [one["classes"][name][column] for one in samples] for column in COLUMNS}} for name in self.classes],
            "replicas": [{"name": name, "stays": stays[-most:]} for name, stays in self.stays.items()],
        }

    def events(self):
        """(kind, document) of all that the stream sends in this second."""
        yield "overview", self.overview()
        yield "decisions", self.decisions_and_changes()
        if self.second % 5 == 0:
            yield "routes", self.routes()
        if self.second % STEP == 0:
            yield "rtt", self.rtt()
            self.take_sample()
            yield "sample", self.history(1)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with contextlib.suppress(OSError):  # the browser has left
            if self.path == "/v1/events":
                self.stream()
            elif self.path == "/v1/history":
                self.answer(json.dumps(self.server.documents.history()).encode(), {"Content-Type": "application/json"})
            else:
                self.ask_the_real_one()

    def answer(self, body, fields):
        self.send_response(200)
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def ask_the_real_one(self):
        fields = {name: self.headers[name] for name in ("Accept", "Accept-Encoding") if name in self.headers}
        with urllib.request.urlopen(urllib.request.Request(self.server.real + self.path, headers=fields), timeout=10) as answer:
            wanted = ("Content-Type", "Content-Encoding", "Content-Security-Policy")
            self.answer(answer.read(), {name: answer.headers[name] for name in wanted if name in answer.headers})

    def stream(self):
        events = queue.SimpleQueue()
        self.answer(b"", {"Content-Type": "text/event-stream"})
        self.server.streams.append(events)
        while (event := events.get()) is not None:
            self.wfile.write(event)

    def log_message(self, *_):
        pass


class MadeUpRouter(http.server.ThreadingHTTPServer):
    """Serves until it is closed; next_second() is the test's to call."""

    def __init__(self, real, replicas, classes, hosts):
        super().__init__(("127.0.0.1", 0), Handler)
        self.real = real  # address of the router whose page it is
        self.documents = Documents(replicas, classes, hosts)
        self.streams = []
        self.address = f"http://127.0.0.1:{self.server_port}/"
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,))
        self.thread.start()

    def next_second(self):
        self.documents.advance()
        for kind, document in self.documents.events():
            event = f"event: {kind}\ndata: {json.dumps(document)}\n\n".encode()
            for stream in self.streams:
                stream.put(event)

    def __exit__(self, *_):
        for stream in self.streams:
            stream.put(None)
        self.shutdown()
        self.thread.join()
        self.server_close()
