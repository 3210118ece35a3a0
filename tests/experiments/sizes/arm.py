"""One arm in one round: clients, and what each arrival came to."""

import queue
import threading
import time

CLIENTS = 160
WAIT_MAX = 240  # seconds for a statement: one that takes longer makes the arm worth nothing
LATE_MAX = 0.2  # seconds; ten times what the client is late while others compile
WARM_SECONDS = 2  # that each of as many statements as there are clients holds a server connection


class Failed(Exception):
    """Not every arrival was answered."""


class Disturbed(Exception):
    """The machine stood still: arrivals came later than they should."""


class Clients:
    """So many connections, each with a thread that takes one statement of the common queue after the other. A connection that cannot be
    made is an exception here, and not one client fewer."""

    def __init__(self, connect, count):
        self.samples, self.failures = [], []
        self.waiting = queue.SimpleQueue()
        self.put_count = 0
        connections = []
        try:
            for _ in range(count):
                connections.append(connect())
        except Exception as error:
            for connection in connections:
                connection.close()
            raise Failed(f"client {len(connections) + 1} of {count} cannot connect: {error}") from error
        self.threads = [threading.Thread(target=self._serve, args=(connection,), daemon=True) for connection in connections]
        for thread in self.threads:
            thread.start()

    def _serve(self, connection):
        try:
            cursor = connection.cursor()
            while (job := self.waiting.get()) is not None:
                due, what, statement = job
                cursor.execute(statement)
                self.samples.append((*what, time.monotonic() - due))
            connection.close()
        except Exception as error:  # whatever it is, the arm is worth nothing
            self.failures.append(f"{type(error).__name__}: {error}")

    def put(self, due, what, statement):
        self.put_count += 1
        self.waiting.put((due, what, statement))

    def finish(self, seconds=WAIT_MAX):
        """(*what, response) of each statement; Failed unless all of them were answered."""
        for _ in self.threads:
            self.waiting.put(None)
        end = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0.0, end - time.monotonic()))
        alive = sum(thread.is_alive() for thread in self.threads)
        if alive:
            raise Failed(f"{alive} clients have not ended after {seconds} s")
        if self.failures:
            raise Failed(f"{len(self.failures)} clients failed: {self.failures[0]}")
        if len(self.samples) != self.put_count:
            raise Failed(f"{len(self.samples)} of {self.put_count} statements were answered")
        return sorted(self.samples)


def work(kind, size):
    return f"select work({size:.3f}) /*route='k{kind}'*/"


def teach(connect, sizes, times, clients):
    """So that no arm begins without knowing what the others know by then: the largest first, a few at a time."""
    tellers = Clients(connect, clients)
    for kind, size in reversed(sizes):
        for _ in range(times):
            tellers.put(0.0, (kind,), work(kind, size))
    tellers.finish()
    time.sleep(1.5)  # threads of the router tell each other twice a second


def warm(connect, clients=CLIENTS, seconds=WARM_SECONDS):
    """So that no arrival pays for a server connection, nor for the first call in it: as many at once as an arm without a limit can need."""
    all_at_once = Clients(connect, clients)
    for i in range(clients):
        all_at_once.put(0.0, (i,), f"select work(1), pg_sleep({seconds})")
    all_at_once.finish()


def play(connect, jobs, clients=CLIENTS, late_max=LATE_MAX):
    """((due seconds after the beginning, kind, size, response) of each job, how late the latest one came)"""
    players = Clients(connect, clients)
    begin, late = time.monotonic() + 0.2, 0.0
    for at, kind, size in jobs:
        time.sleep(max(0.0, begin + at - time.monotonic()))
        late = max(late, time.monotonic() - (begin + at))
        if late > late_max or players.failures:
            break
        players.put(begin + at, (at, kind, size), work(kind, size))
    samples = players.finish()
    if late > late_max:
        raise Disturbed(f"an arrival came {late:.2f} s late")
    return samples, late
