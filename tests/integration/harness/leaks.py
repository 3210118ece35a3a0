"""What a process holds: file descriptors, memory, sockets in CLOSE_WAIT, CPU time."""

import os
from pathlib import Path


def fd_count(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def rss_bytes(pid):
    """Resident memory now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def cpu_seconds(pid):
    """User and system time of all threads so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sockets(pid):
    """Their numbers: a socket that two processes have has one."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


CLOSE_WAIT, LISTEN, ESTABLISHED = "08", "0A", "01"


def tcp_states(pid):
    """[state] of each TCP socket of the process, as /proc/net/tcp prints it."""
    mine = sockets(pid)
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return [row.split()[3] for row in rows if row.split()[9] in mine]


def close_wait_count(pid):
    return tcp_states(pid).count(CLOSE_WAIT)
