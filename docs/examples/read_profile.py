#!/usr/bin/env python3
"""Prints a Sluice profile as JSON, by the layout in include/sluice/profile.h: an example for other languages.

usage: read_profile.py [PATH]           (default /dev/shm/sluice.profile)

Needs nothing but Python 3. The order in which this program reads a record's sequence and its bytes is the order of its
statements, and on x86-64 the processor keeps loads in order. On other processors use a language that has atomics.
"""

import json
import mmap
import os
import struct
import sys
import time

HEADER = struct.Struct("<8s4I2Q3q4I")  # up to `tables`
TABLE = struct.Struct("<Q2I")
STATE = struct.Struct("<2Q4q5Q")  # what follows the sequence
HOST = struct.Struct("<128s3qQqQ2qQq")
SERVER = struct.Struct("<128s2Q3qQq")
RTT = struct.Struct("<q2Qq")
CLASS = struct.Struct("<128s")
ROUTE = struct.Struct("<128s128sQ4dqd")
RESIDUAL = struct.Struct("<qQq")
HOSTS, SERVERS, RTTS, CLASSES, SHARES, ROUTES, RESIDUALS = range(7)
VERSION = 1
TRIES = 1000
SOURCES = {1: "measured", 2: "calibrated"}


class ProfileError(Exception):
    pass


class Reader:
    """One mapping of one file. Open another after the writer has put a new file in its place (os.stat: st_ino)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            if self.size < HEADER.size + 16 * TABLE.size:
                raise ProfileError("this is no profile")
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        (magic, _version, compatible, order, _header_size, file_size, self.generation, self.pid, _started, _started_unix,
         table_count, self.state_at, _state_size, _) = HEADER.unpack_from(self.memory)
        if magic != b"SLUICEPF":
            raise ProfileError("this is no profile")
        if order != 0x01020304:
            raise ProfileError("written by a machine with another byte order")
        if compatible > VERSION:
            raise ProfileError(f"layout {compatible} is needed to read this, and this program knows {VERSION}")
        if file_size > self.size or table_count < 7:
            raise ProfileError("cut off, or broken")
        self.tables = [TABLE.unpack_from(self.memory, HEADER.size + i * TABLE.size) for i in range(7)]

    def record(self, offset, layout):
        """The fields of the record at `offset` as of one moment."""
        for _ in range(TRIES):
            (before,) = struct.unpack_from("<Q", self.memory, offset)
            if before % 2:
                continue  # being written
            payload = self.memory[offset + 8 : offset + 8 + layout.size]
            (after,) = struct.unpack_from("<Q", self.memory, offset)
            if before == after:
                return layout.unpack(payload)
        raise ProfileError("a record is half written: its writer is busy, or died over it")

    def rows(self, table, layout, count, first=0):
        offset, size, capacity = self.tables[table]
        if first + count > capacity:
            raise ProfileError("more records than there is room for")
        return [self.record(offset + (first + i) * size, layout) for i in range(count)]

    def read(self):
        for _ in range(8):
            before = self.record(self.state_at, STATE)
            if before[0] % 2 == 0:
                profile = self.read_shape(before)
                if self.record(self.state_at, STATE)[0] == before[0]:
                    return profile
        raise ProfileError("the writer fills the tables anew, or died over it")

    def read_shape(self, state):
        (_, publications, heartbeat, _, contents_at, interval, closed, hosts, servers, classes, routes) = state
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        alive = not closed and 0 <= now - heartbeat <= 4 * max(interval, 500_000_000)
        server_room, route_room = self.tables[SERVERS][2], self.tables[ROUTES][2]

        def age(moment):
            return None if moment == 0 else (now - moment) / 1e9

        return {
            "writer": {"pid": self.pid, "state": "closed" if closed else "alive" if alive else "dead",
                       "generation": self.generation, "publications": publications,
                       "contents_age_s": age(contents_at)},
            "hosts": [{"name": text(h[0]), "client_leg_ns": h[1], "client_leg_min_ns": h[2], "client_leg_deviation_ns": h[3],
                       "samples": h[4], "age_s": age(h[5]), "sessions": h[6], "path_ns": h[7], "connect_ns": h[8],
                       "path_samples": h[9]} for h in self.rows(HOSTS, HOST, hosts)],
            "servers": [{"name": text(s[0]), "role": "primary" if s[1] else "replica", "up": bool(s[2]), "median_ns": s[3],
                         "minimum_ns": s[4], "ewma_ns": s[5], "samples": s[6], "age_s": age(s[7])}
                        for s in self.rows(SERVERS, SERVER, servers)],
            "rtt": [[{"estimate_ns": r[0], "samples": r[1], "source": SOURCES.get(r[2]), "age_s": age(r[3])}
                     for r in self.rows(RTTS, RTT, servers, host * server_room)] for host in range(hosts)],
            "classes": [text(c[0]) for c in self.rows(CLASSES, CLASS, classes)],
            "shares": [list(row) for row in self.rows(SHARES, struct.Struct(f"<{servers}d"), classes)],
            "routes": [{"name": text(r[0]), "class": text(r[1]), "requests": r[2], "n_serial_mean": r[3],
                        "n_serial_median": r[4], "n_serial_p90": r[5], "untraced_share": r[6], "age_s": age(r[7]),
                        "n_serial_calibrated": r[8] if r[8] >= 0 else None} for r in self.rows(ROUTES, ROUTE, routes)],
            "residuals": [[{"residual_ns": r[0], "age_s": age(r[2])} if r[1] else None
                           for r in self.rows(RESIDUALS, RESIDUAL, routes, host * route_room)] for host in range(hosts)],
        }


def text(name):
    return name.split(b"\0", 1)[0].decode("utf-8", "replace")


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
        print(__doc__.strip())
        return 2
    path = sys.argv[1] if len(sys.argv) == 2 else "/dev/shm/sluice.profile"
    try:
        print(json.dumps(Reader(path).read(), indent=2))
    except (OSError, ValueError, ProfileError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
