"""Clients that work until told to stop, and remember everything they were told."""

import threading
import time

from . import messages as m
from .wire import LoginRefused

# hidden.run(sql) runs what no wire shows.
RUNS_HIDDEN = """
drop schema if exists hidden cascade; create schema hidden; grant usage on schema hidden to public;
create function hidden.run(sql text) returns void language plpgsql as $$ begin execute sql; end $$
"""


class Worker(threading.Thread):
    """Connects, runs short queries, reconnects when the session ends. Each outcome is kept: `done` counts answers,
    `errors` holds (SQLSTATE, text) of each ErrorResponse, SQLSTATE None for an end without one, and `silences`
    counts the queries that nobody answered within `patience` seconds."""

    def __init__(self, front, user, database, sql="select 1", patience=20.0):
        super().__init__(daemon=True)
        self.front, self.user, self.database, self.sql, self.patience = front, user, database, sql, patience
        self.done, self.silences, self.errors = 0, 0, []
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.is_set():
            try:
                with self.front.session(self.user, self.database) as client:
                    self._work(client)
            except LoginRefused as refusal:
                self.errors.append((refusal.sqlstate, str(refusal)))
                time.sleep(0.05)
            except TimeoutError:
                self.silences += 1
            except OSError as fault:
                self.errors.append((None, str(fault)))
                time.sleep(0.05)

    def _work(self, client):
        while not self.stopping.is_set():
            answer = client.run(m.Q(self.sql), timeout=self.patience)
            errors = [x for x in answer if x.kind == "E"]
            self.errors += [(m.sqlstate(x), m.fields(x.body)["M"]) for x in errors]
            if answer[-1] is m.CLOSED:
                if not errors:
                    self.errors.append((None, "closed without a word"))
                return
            self.done += not errors
        client.terminate()


class Crowd:
    """Several workers, as a context."""

    def __init__(self, front, users=("alice", "bob"), database="app_read", each=5, **options):
        self.workers = [Worker(front, user, database, **options) for user in users for _ in range(each)]

    def __enter__(self):
        for worker in self.workers:
            worker.start()
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.stopping.set()
        for worker in self.workers:
            worker.join(60)
        assert not any(worker.is_alive() for worker in self.workers), "a client waits for ever"

    @property
    def done(self):
        return sum(worker.done for worker in self.workers)

    @property
    def errors(self):
        return [error for worker in self.workers for error in worker.errors]

    @property
    def silences(self):
        return sum(worker.silences for worker in self.workers)


def in_threads(work, threads, each):
    """Runs work(number) `each` times in as many threads, which begin together; no two get the same number."""
    together, faults = threading.Barrier(threads), []

    def run(number):
        try:
            together.wait()
            for i in range(each):
                work(number * each + i)
        except Exception as fault:  # noqa: BLE001 - told below
            faults.append(fault)

    running = [threading.Thread(target=run, args=(n,)) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not faults, faults[:3]
