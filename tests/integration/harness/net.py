"""Small helpers about ports, waiting and processes."""

import os
import socket
import time


def free_port():
    """A loopback port that nobody listens on now. Two callers cannot get the same one at once: each stays
    bound a moment."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, timeout=10.0, what="condition", interval=0.02):
    """Polls until `condition()` is true and returns its value; fails with `what` after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(interval)


def as_postgres(command):
    """`command` as a list that runs under an ordinary user: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
