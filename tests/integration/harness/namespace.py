"""A PostgreSQL in a network namespace of its own, behind a link that can be cut without a packet to anybody."""

import contextlib
import os
import subprocess
import sys

from .net import free_port
from .postgres import HBA, Cluster

HOST_ADDRESS = "10.231.77.1"
ADDRESS = "10.231.77.2"

# Asks for SCRAM, waits for the client's first message, says so on its standard output, and never answers.
WAITS_AT_SASL = """
import socket, sys
listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=16)
print("listening", flush=True)
kept = []
while True:
    one, _ = listener.accept()
    kept.append(one)
    one.recv(8192)
    one.sendall(b"R\\0\\0\\0\\x17\\0\\0\\0\\x0aSCRAM-SHA-256\\0\\0")
    if one.recv(8192):
        print("sasl", flush=True)
"""


def unavailable():
    """Why there can be no namespace here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    probe = f"sluice-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"no network namespace: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", probe], check=True)
    return None


def run(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


class Namespace:
    """Host and namespace at the two ends of a veth pair. Addresses of the link layer are fixed, so that a dead link
    gives silence and not an unreachable host."""

    def __init__(self):
        self.name = f"sluice-{os.getpid()}"
        self.outside, self.inside = f"slo{os.getpid() % 100000}", f"sli{os.getpid() % 100000}"

    def start(self):
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.outside, "type", "veth", "peer", "name", self.inside)
        run("ip", "link", "set", self.inside, "netns", self.name)
        run("ip", "addr", "add", f"{HOST_ADDRESS}/30", "dev", self.outside)
        run("ip", "link", "set", self.outside, "up")
        run(*self.command("ip", "addr", "add", f"{ADDRESS}/30", "dev", self.inside))
        run(*self.command("ip", "link", "set", "lo", "up"))
        self.mend()
        return self

    def command(self, *words):
        return ["ip", "netns", "exec", self.name, *words]

    def cut(self):
        run(*self.command("ip", "link", "set", self.inside, "down"))

    def mend(self):
        run(*self.command("ip", "link", "set", self.inside, "up"))
        inside = f"/sys/class/net/{self.inside}/address"
        address = subprocess.run(self.command("cat", inside), check=True, capture_output=True, text=True).stdout.strip()
        run("ip", "neigh", "replace", ADDRESS, "lladdr", address, "dev", self.outside, "nud", "permanent")

    def stop(self):
        for words in (["ip", "link", "del", self.outside], ["ip", "netns", "del", self.name]):
            subprocess.run(words, check=False, capture_output=True)

    @contextlib.contextmanager
    def silent_at_sasl(self):
        """A server that stops at the SASL answer: (port, function that waits until somebody is at that point)."""
        port = free_port()
        command = self.command(sys.executable, "-c", WAITS_AT_SASL, ADDRESS, str(port))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout.readline() == "listening\n"
                yield port, process.stdout.readline
            finally:
                process.kill()


class NamespaceServer:
    """One primary without standbys, moved into the namespace after it was made."""

    def __init__(self, namespace, directory, authority):
        self.namespace = namespace
        self.cluster = Cluster(directory, 0, authority)

    @property
    def port(self):
        return self.cluster.primary.port

    def start(self):
        self.cluster.start()
        primary = self.cluster.primary
        primary.stop()
        (primary.data / "pg_hba.conf").write_text(f"host all all {HOST_ADDRESS}/32 scram-sha-256\n" + HBA)
        with open(primary.data / "postgresql.auto.conf", "a", encoding="utf-8") as settings:
            settings.write(f"listen_addresses = '127.0.0.1,{ADDRESS}'\n")
        from .postgres import BINDIR, as_postgres

        start = [BINDIR / "pg_ctl", "-D", primary.data, "-l", primary.log, "-w", "-t", "60", "-s", "start"]
        run(*self.namespace.command(*as_postgres(map(str, start))))
        return self

    def stop(self):
        self.cluster.stop()
