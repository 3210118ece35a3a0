"""Pipelines: many groups in flight, in order, never lost or doubled, and never a deadlock of full sockets."""

import hashlib
import threading
import time

import pytest

from harness import messages as m
from harness.messages import B, D, E, P, Q, S


def group(sql):
    return P("", sql) + B() + E() + S()


# B42
@pytest.mark.short
def test_twenty_groups_in_one_write_give_twenty_answers_in_order(judge):
    judge.same(group("select pg_sleep(0.1)") + b"".join(group(f"select {i}") for i in range(19)), 20)
    judge.same(b"".join(group(f"select {i}") + Q(f"select {i}, 'q'") for i in range(10)), 20)


# B42
@pytest.mark.short
def test_a_transaction_may_span_groups_of_one_pipeline(judge):
    judge.same(
        group("begin")
        + group("select 1")
        + group("select 1/0")
        + group("select 2")
        + group("rollback")
        + group("select 3"),
        6,
    )
    judge.same(Q("begin") + group("select 1") + Q("commit") + group("select 2"), 4)


# B42
@pytest.mark.short
def test_segments_that_begin_with_sync_are_counted(judge):
    parts = [
        P("", "select 1") + B() + E(),
        S() + P("", "select 2") + B() + E(),
        S() + Q("select 3") + P("", "select 4"),
        B() + E() + S(),
    ]

    def talk(client):
        for part in parts:
            client.send(part)
            time.sleep(0.005)
        return client.read_until("Z", 4)

    judge.same(talk)


# B44
@pytest.mark.short
@pytest.mark.parametrize(
    "first", ["set statement_timeout=0", "discard all", "begin", "select 1/0", "", "rollback"]
)
@pytest.mark.parametrize("size", [10, 5000, 20000])
def test_a_simple_query_may_be_followed_by_extended_messages_in_one_write(judge, first, size):
    judge.same(Q(first) + P("", "select $1::text") + D("S") + B("", "", ["x" * size]) + E() + S(), 2)


# B46
@pytest.mark.short
def test_several_parameter_status_messages_in_one_batch(judge):
    answer = judge.same(
        P("", "select set_config('application_name','a',false), set_config('DateStyle','German',false)")
        + B()
        + E()
        + P("", "select 1")
        + B()
        + E()
        + S()
    )
    assert [x.kind for x in answer].count("S") == 2


# B47
@pytest.mark.short
def test_settings_inside_a_pipeline_answer_in_their_place(judge):
    one = P("", "select 1") + B() + E() + S()
    judge.same(P("", "set work_mem='8MB'") + B() + E() + one)
    judge.same(P("", "set work_mem='nonsense'") + B() + E() + one)
    judge.same(Q("set x.y=1; select 1; show x.y"))
    judge.same(Q("set x.y=1; show nosuch.z; select 1"))
    judge.same(
        P("", "set application_name='p'")
        + B()
        + E()
        + S()
        + P("", "show application_name")
        + B()
        + E()
        + S(),
        2,
    )


# B43
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_full_duplex_traffic_larger_than_all_buffers_does_not_deadlock(front, tls):
    count, size = 40, 1 << 20
    payload = "0123456789abcdef" * (size // 16)
    digests, answered = [], [0]

    def take(msg):
        if msg.kind == "D":
            digests.append(hashlib.md5(m.row(msg)[0]).digest())
            time.sleep(0.02)  # a reader slower than the server
        answered[0] += msg.kind == "Z"
        return answered[0] == count

    with front.wire(receive_buffer=65536, timeout=60) as client:
        if tls:
            client.start_tls()
        client.login().run(P("echo", "select $1::text") + S())
        client.exchange((B("", "echo", [payload]) + E() + S()) * count, take)
    assert digests == [hashlib.md5(payload.encode()).digest()] * count


# B42
def test_a_thousand_small_groups_in_flight(front):
    with front.session() as client:
        sender = threading.Thread(
            target=client.send, args=(b"".join(group(f"select {i}") for i in range(5000)),)
        )
        sender.start()
        values = [m.row(x)[0] for x in client.read_until("Z", 5000, timeout=60) if x.kind == "D"]
        sender.join()
    assert values == [str(i).encode() for i in range(5000)]
