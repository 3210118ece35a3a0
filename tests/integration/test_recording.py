"""Recording a trace of real sessions and transactions, and what sim replay and tune make of it."""

import random
import subprocess
import threading
import time

import pytest

from harness.net import wait_until
from harness.router import BINARY


def sluice(*arguments):
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def trace(tmp_path):
    return tmp_path / "trace"


def visit(router, user, queries, rng):
    with router.session(user, "app_read") as client:
        for _ in range(queries):
            client.value(f"select pg_sleep({rng.uniform(0.002, 0.02)})")
            time.sleep(rng.uniform(0, 0.01))


def busy(router, visits=40, at_a_time=4):
    """Sessions of both classes, a few at a time."""
    threads = []
    for i in range(visits):
        rng = random.Random(i)
        user = "alice" if i % 3 == 0 else "bob"
        threads.append(threading.Thread(target=visit, args=(router, user, rng.randint(2, 6), rng)))
        threads[-1].start()
        if len(threads) >= at_a_time:
            threads.pop(0).join()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("pool_mode", ["session", "transaction"])
def test_a_recorded_trace_replays_to_what_was_recorded(make_router, trace, pool_mode):
    router = make_router(record_trace=str(trace), pool_mode=pool_mode, policy="least_loaded")
    busy(router)
    router.stop()
    status, out, err = sluice(
        "sim", "replay", trace, "--cores", "inf", "--policy", "plb,proportional", "--load", "2"
    )
    assert status == 0, err
    assert "damaged" not in err
    what = "transactions" if pool_mode == "transaction" else "40 sessions"
    assert what in err
    assert "Largest error" in out
    for part in ("premium", "freemium", "as recorded", "proportional, load 2"):
        assert part in out, out
    status, out, err = sluice("tune", trace, "--cores", "inf", "--rounds", "0", "--show", "3")
    assert status == 0, err
    assert "policy: " in out and "classes:" in out


def test_a_long_transaction_is_recorded_in_pieces(make_router, trace):
    router = make_router(record_trace=str(trace), pool_mode="transaction", policy="least_loaded")
    with router.session("alice", "app_read") as client:
        client.value("select 1")
        client.query("begin")
        for _ in range(20):
            client.value("select 1")
        time.sleep(1.2)  # threads hand over twice a second
        client.value("select 1")
        client.query("commit")
    router.stop()
    status, out, err = sluice("sim", "replay", trace, "--cores", "inf", "--tolerance", "10")
    assert "2 transactions with 24 queries" in err, err
    assert "had not ended" not in err


def test_a_replay_goes_by_the_sizes_that_the_router_expected(make_router, trace):
    router = make_router(
        record_trace=str(trace), pool_mode="transaction", policy="least_loaded", size_learning="on", max_active=8
    )
    busy(router)
    router.stop()
    arguments = ("sim", "replay", trace, "--cores", "inf", "--order", "least_loaded,sita_e", "--queue", "fcfs,shortest_first")
    status, out, err = sluice(*arguments)
    assert status == 0, err
    assert "least_loaded, sita_e, shortest_first" in out


def test_a_replay_by_size_needs_sizes(make_router, trace):
    router = make_router(record_trace=str(trace), pool_mode="transaction", policy="least_loaded")
    busy(router, visits=12)
    router.stop()
    arguments = ("sim", "replay", trace, "--cores", "inf", "--tolerance", "1", "--queue", "shortest_first")
    status, out, err = sluice(*arguments)
    assert status == 2
    assert "holds no expected sizes; record one with size_learning: on, or try --sizes measured" in err
    status, out, err = sluice(*arguments, "--sizes", "measured")
    assert status == 0, err


def test_a_cut_trace_is_used_up_to_the_cut(make_router, trace, tmp_path):
    router = make_router(record_trace=str(trace), policy="least_loaded")
    busy(router, visits=12)
    time.sleep(2)  # a block is written each second
    busy(router, visits=12)
    router.stop()
    whole = trace.read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(whole[:-7])
    status, out, err = sluice("sim", "replay", cut, "--cores", "inf", "--tolerance", "0.5")
    assert status == 0, err
    assert "is damaged at byte" in err and "a block is cut off; everything before it is used" in err
    (tmp_path / "none").write_bytes(b"nonsense" * 10)
    status, out, err = sluice("sim", "replay", tmp_path / "none")
    assert status == 1
    assert "the file is not a trace" in err


@pytest.mark.short
def test_names_are_hashed_unless_asked_for_and_no_query_is_in_it(make_router, trace):
    router = make_router(record_trace=str(trace))
    with router.session("alice", "app_read") as client:
        client.value("select 'a secret of theirs'")
    router.stop()
    assert oct(trace.stat().st_mode & 0o777) == "0o600"
    text = subprocess.run(["python3", "-c", UNPACK, str(trace)], capture_output=True, check=True).stdout
    assert b"premium" in text, "classes and replicas are plain"
    for hidden in (b"alice", b"app_read", b"secret of theirs"):
        assert hidden not in text


# The blocks' payloads, unpacked by what docs/recording.md says alone.
UNPACK = """
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
assert data[:8] == b'SLUICTRC' and zlib.crc32(data[:24]) == struct.unpack('<I', data[24:28])[0]
at = 28
while at < len(data):
    assert data[at:at + 4] == b'BLCK'
    raw, stored, crc, zero, base, check = struct.unpack('<IIIIQI', data[at + 4:at + 32])
    assert zlib.crc32(data[at:at + 28]) == check
    payload = data[at + 32:at + 32 + stored]
    assert zlib.crc32(payload) == crc
    records = zlib.decompress(payload)
    assert len(records) == raw
    sys.stdout.buffer.write(records)
    at += 32 + stored
"""


def test_recording_begins_and_ends_with_a_reload(make_router, trace):
    router = make_router()
    with router.session("alice", "app_read") as client:
        client.value("select 1")
    router.write_config(record_trace=str(trace))
    router.reload()
    wait_until(trace.exists, 5, "the trace to begin")
    with router.session("alice", "app_read") as client:
        client.value("select 1")
    time.sleep(1)  # threads hand over twice a second
    router.write_config(record_trace="")
    router.reload()
    wait_until(lambda: "reloaded" in router.log_text(), 5, "the reload")
    with router.session("alice", "app_read") as client:
        client.value("select 1")
    router.stop()
    status, out, err = sluice("sim", "replay", trace, "--tolerance", "10")
    assert "1 sessions with 1 queries" in err, err


def test_a_weight_finds_itself_while_the_router_runs(make_router):
    """Premium's median cannot be half of Freemium's on idle replicas, so the weight rises."""
    router = make_router(
        policy="proportional", weight_target="median:0.5", weight_limit="3", log_level="debug"
    )
    rng = random.Random(1)
    end = time.monotonic() + 25

    def load(user):
        while time.monotonic() < end and "weight changed" not in router.log_text():
            visit(router, user, 4, rng)

    threads = [threading.Thread(target=load, args=(user,)) for user in ("alice", "alice", "bob", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "weight changed" in router.log_text()
    premium, freemium = router.console("show classes")
    assert 1 < float(premium["weight"]) <= 3 and float(freemium["weight"]) == 1
