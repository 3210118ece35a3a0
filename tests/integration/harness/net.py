"""Small helpers about ports, waiting and processes."""

import os
import random
import socket
import subprocess
import time


_given = set()


def free_port():
    """A loopback port that nobody listens on now, outside of the range from which the kernel takes ports for outgoing
    connections. No two calls of one run give the same."""
    while True:
        port = random.randrange(12000, 32000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port


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


def end(process, seconds=10):
    """Asks a process to end, and makes it end when it does not within `seconds`."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def as_postgres(command):
    """`command` as a list that runs under an ordinary user: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
