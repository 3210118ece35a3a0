"""Readers that are slow or absent: bounded memory, an unharmed neighbour, and every byte in the end."""

import hashlib
import time

import pytest

from harness import messages as m
from harness.messages import Q, c, d
from harness.net import wait_until
from harness.relay import Relay

MIB = 1 << 20


# B73
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_readers_that_do_not_read_cost_no_memory_and_delay_nobody(router, cluster, tls):
    before = router.rss_bytes()
    clients = []
    for _ in range(5):
        client = router.wire(receive_buffer=65536, timeout=60)
        if tls:
            client.start_tls()
        clients.append(client.login(parameters={"application_name": "slow_reader"}))
        client.send(Q("select repeat('x', 1000) from generate_series(1, 2000000)"))
    try:
        with router.session() as other:
            slowest, deadline = 0.0, time.monotonic() + 4
            while time.monotonic() < deadline:
                started = time.monotonic()
                assert other.value("select 1") == "1"
                slowest = max(slowest, time.monotonic() - started)
        assert slowest < 2
        assert router.rss_bytes() - before < 5 * MIB + 3 * MIB
        clients.pop().reset()
        count = "select count(*) from pg_stat_activity where application_name = 'slow_reader' and state = 'active'"
        wait_until(lambda: cluster.primary.value(count) == 4, 5, "the killed reader's server to be free")
    finally:
        for client in clients:
            client.close()
    wait_until(lambda: cluster.primary.value(count) == 0, 10, "all servers to be free")


# B73
def test_a_reader_that_stops_and_goes_on_gets_every_byte(front):
    expected = hashlib.md5(b"".join(b"%d" % i for i in range(200000))).hexdigest()
    with front.wire(receive_buffer=32768, timeout=60) as client:
        client.login().send(Q("select i from generate_series(0, 199999) i"))
        time.sleep(2)
        seen = hashlib.md5()
        while (msg := client.read(30)).kind != "Z":
            if msg.kind == "D":
                seen.update(m.row(msg)[0])
        assert seen.hexdigest() == expected


# B73
def test_a_slow_server_stops_the_client_instead_of_filling_memory(make_router, cluster):
    cluster.primary.query(
        "drop table if exists slow_copy; create unlogged table slow_copy (a text); grant all on slow_copy to public",
        database="app",
    )
    with Relay(cluster.primary.host, cluster.primary.port) as relay:
        router = make_router(primary={"name": "primary", "host": relay.host, "port": relay.port})
        with router.session() as client:
            client.send(Q("copy slow_copy from stdin")).read_until("G")
            before = router.rss_bytes()
            relay.to_server.rate = 20 * MIB
            block = d(b"x" * 999 + b"\n") * 64
            started = time.monotonic()
            for _ in range(1000):
                client.send(block)
            assert time.monotonic() - started > 1.5, "the client should have been held back"
            assert router.rss_bytes() - before < 4 * MIB
            relay.to_server.rate = None
            assert m.summary(client.run(c(), timeout=60)[0]) == ("C", "COPY 64000")


# B73
def test_a_client_that_never_reads_is_ended_by_the_write_stall_timeout(make_router, cluster):
    router = make_router(write_stall_timeout="2s")
    with router.wire(receive_buffer=32768) as client:
        client.login(parameters={"application_name": "stalled"}).send(
            Q("select repeat('x', 1000) from generate_series(1, 1000000)")
        )
        count = (
            "select count(*) from pg_stat_activity where application_name = 'stalled' and state = 'active'"
        )
        wait_until(lambda: cluster.primary.value(count) == 1, 5, "the query to run")
        wait_until(lambda: cluster.primary.value(count) == 0, 10, "the stalled session to be ended")
