"""Clients that work until told to stop, and remember everything they were told."""

import threading
import time

import psycopg2


class Worker(threading.Thread):
    """Connects, runs short queries, reconnects when the session ends. Each outcome is kept: `done` counts
    answers, `errors` holds
    (moment, SQLSTATE or None, text), `silences` the queries that took longer than `patience` seconds."""

    def __init__(self, front, user, database, sql="select 1", sessions=None, patience=20.0):
        super().__init__(daemon=True)
        self.front, self.user, self.database, self.sql, self.sessions, self.patience = (
            front,
            user,
            database,
            sql,
            sessions,
            patience,
        )
        self.done, self.opened, self.errors, self.silences = 0, 0, [], []
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.is_set():
            try:
                connection = self.front.connect(self.user, self.database)
            except psycopg2.Error as error:
                self._note(error)
                time.sleep(0.05)
                continue
            self.opened += 1
            try:
                self._work(connection)
            except psycopg2.Error as error:
                self._note(error)
            finally:
                connection.close()

    def _work(self, connection):
        count = 0
        while not self.stopping.is_set() and (self.sessions is None or count < self.sessions):
            started = time.monotonic()
            try:
                cursor = connection.cursor()
                cursor.execute(self.sql)
                cursor.fetchall()
            finally:
                if time.monotonic() - started > self.patience:
                    self.silences.append(time.monotonic() - started)
            self.done += 1
            count += 1

    def _note(self, error):
        self.errors.append((time.monotonic(), error.pgcode, str(error)))


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
        return [silence for worker in self.workers for silence in worker.silences]
