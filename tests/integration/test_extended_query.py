"""Extended query protocol: every dialogue goes to PostgreSQL directly and through the router, and must look
the same."""

import time

import pytest

from harness import messages as m
from harness.messages import B, C, D, E, F, H, P, Q, S

pytestmark = pytest.mark.short


# B29
def test_answers_come_at_flush(judge):
    def talk(client):
        first = client.send(P("", "select $1::int") + D("S") + H()).read_until("T")
        return first + client.run(B("", "", ["7"]) + E() + S())

    assert m.kinds(judge.same(talk)) == "1 t T 2 D C Z"


# B30
@pytest.mark.parametrize(
    "skipped",
    [
        C("S", "x"),
        Q("select 2"),
        D("P"),
        C("S", "x") + Q("select 2") + D("P"),
        P("y", "select 1") + B("", "y") + E(),
        F(177, [b"\0\0\0\1", b"\0\0\0\2"]),
        H(),
        b"".join([Q("select 3")] * 20),
    ],
    ids=["Close", "Query", "Describe", "all", "batch", "FunctionCall", "Flush", "queries"],
)
def test_only_sync_ends_the_skip_after_an_error(judge, skipped):
    batch = P("", "select 1/0") + B() + E() + skipped
    judge.same(lambda client: client.run(batch + S()) + client.run(Q("select 4")))

    def late_sync(client):
        error = client.send(batch).read_until("E")
        assert client.silent(0.1)
        return error + client.run(S()) + client.run(Q("select 5"))

    judge.same(late_sync)


# B30
def test_an_error_arrives_before_sync(judge):
    judge.same(lambda client: client.send(P("", "selec 1")).read_until("E", timeout=2) + client.run(S()))
    judge.same(
        lambda client: client.send(P("", "selec 1") + H()).read_until("E", timeout=2) + client.run(S())
    )


# B31
def test_a_failed_parse_leaves_no_name_behind(judge):
    judge.same(
        lambda client: client.run(Q("begin"))
        + client.run(Q("select 1/0"))
        + client.run(P("s1", "select 1") + S())
        + client.run(Q("rollback"))
        + client.run(P("s1", "select 1") + B("", "s1") + E() + S())
    )
    judge.same(
        lambda client: client.run(P("s1", "select * from not_yet") + S())
        + client.run(Q("create table not_yet (a int)"))
        + client.run(P("s1", "select * from not_yet") + S())
        + client.run(B("", "s1") + E() + S()),
        before="drop table if exists not_yet",
    )


# B32
def test_statements_can_be_described_closed_and_parsed_again(judge):
    judge.same(
        lambda client: client.run(P("s1", "select $1::text as a, 2 as b") + S())
        + client.run(D("S", "s1") + S())
        + client.run(C("S", "s1") + S())
        + client.run(P("s1", "select 2") + B("", "s1") + E() + S())
    )


# B32
@pytest.mark.parametrize(
    "batch", [D("S", "nope"), B("", "nope"), D("P", "nope"), E("nope"), B("p", "nope") + E("p")]
)
def test_unknown_names_are_errors_and_the_session_lives(judge, batch):
    judge.same(lambda client: client.run(batch + S()) + client.run(Q("select 1")))


# B34
def test_close_of_unknown_names_is_answered_and_portals_are_not_statements(judge):
    judge.same(C("S", "nope") + C("P", "nope") + S())
    judge.same(
        lambda client: client.run(
            P("x", "select 1") + B("x", "x") + E("x") + C("P", "x") + B("", "x") + E() + S()
        )
    )
    judge.same(
        lambda client: client.run(P("b", "select 2") + S())
        + client.run(P("a", "select 1") + C("S", "b") + P("c", "select 3") + S())
        + client.run(B("", "b") + E() + S())
        + client.run(B("", "a") + E() + B("", "c") + E() + S())
    )


# B35
@pytest.mark.parametrize("reset", ["deallocate all", "discard all", "discard plans", "discard temp"])
def test_a_pipelined_reset_wipes_only_what_came_before_it(judge, reset):
    batch = P("", reset) + B() + E() + P("s2", "select 7") + B("", "s2") + E() + S()
    judge.same(
        lambda client: client.run(P("s0", "select 0") + S())
        + client.run(batch)
        + client.run(B("", "s2") + E() + S())
        + client.run(B("", "s0") + E() + S())
    )
    judge.same(
        lambda client: client.run(P("s0", "select 0") + S())
        + client.run(Q(reset) + P("s2", "select 7") + B("", "s2") + E() + S(), 2)
        + client.run(B("", "s2") + E() + S())
    )


# B35
def test_sql_deallocate_finds_protocol_statements(judge):
    judge.same(
        lambda client: client.run(P("s3", "select 3") + S())
        + client.run(Q("deallocate s3"))
        + client.run(B("", "s3") + E() + S())
        + client.run(Q("prepare s4 as select 4"))
        + client.run(B("", "s4") + E() + S())
        + client.run(Q("execute s4"))
    )


# B37
def test_a_row_is_committed_when_ready_for_query_arrives(front, cluster):
    cluster.primary.query(
        "drop table if exists committed; create table committed (n int); grant all on committed to public",
        database="app",
    )
    witness = cluster.primary.connect("app")
    with front.session() as client, witness.cursor() as look:
        for number in range(50):
            client.send(P("", "insert into committed values ($1::int)") + D("S") + H()).read_until("n")
            client.send(B("", "", [str(number)]) + E() + H()).read_until("C")
            time.sleep(0.002)
            client.run(S())
            look.execute("select count(*) from committed")
            assert look.fetchone()[0] == number + 1
    witness.close()


# B38
@pytest.mark.parametrize(
    "batch",
    [
        P("", "") + B() + D("P") + E() + S(),
        P("", "-- x") + B() + D("P") + E() + S(),
        P("", "/* x */ ;") + B() + E() + S(),
        P("", "select from generate_series(1,2)") + D("S") + B() + D("P") + E() + S(),
        P("", "begin") + D("S") + B() + E() + S(),
        Q(""),
        Q(";"),
        Q("-- nothing"),
        Q("select 1;;select 2"),
        Q("select 1; select 1/0; select 2"),
        Q("begin; select 1; commit; select 2"),
        P("", "select 1; select 2") + S(),
        P("", "listen here") + D("S") + B() + D("P") + E() + S(),
        S(),
        S() * 3,
        H() + S(),
    ],
)
def test_empty_statements_zero_columns_and_utilities(judge, batch):
    judge.same(batch, ready=3 if batch == S() * 3 else 1)


# B38
def test_portals_with_row_limits_are_suspended_and_resumed(judge):
    judge.same(
        lambda client: client.run(
            P("", "select generate_series(1,10)") + B() + E("", 3) + E("", 3) + E("", 10) + E("", 1) + S()
        )
    )
    judge.same(
        lambda client: client.run(Q("begin"))
        + client.run(P("", "select generate_series(1,7)") + B("p") + E("p", 2) + S())
        + client.run(E("p", 4) + S())
        + client.run(E("p") + S())
        + client.run(E("p") + S())
        + client.run(Q("commit"))
        + client.run(E("p") + S())
    )
    judge.same(
        lambda client: client.run(P("", "select generate_series(1,7)") + B("p") + E("p", 2) + S())
        + client.run(E("p", 2) + S())
    )


def test_binary_and_text_parameters_and_results(judge):
    four, null = b"\0\0\0\4", None
    judge.same(
        P("", "select $1::int4 + 1, $2::int4", [23, 23])
        + B("", "", [four, null], binary=True, binary_result=True)
        + E()
        + S()
    )
    judge.same(
        P("", "select $1::bytea, $2::text, $3::numeric")
        + D("S")
        + B("", "", [r"\x00ff", "caf\u00e9", "1.50"])
        + D("P")
        + E()
        + S()
    )
    judge.same(P("", "select $1::int4") + B("", "", [b"\0\0"], binary=True) + E() + S())
    judge.same(P("", "select $1::int") + B("", "", ["1", "2"]) + E() + S())


# B40
def test_a_changed_table_is_a_matter_of_the_session_that_had_the_plan(front, cluster):
    cluster.primary.query(
        "drop table if exists plan; create table plan (a int); grant all on plan to public", database="app"
    )
    with front.session() as first:
        first.run(P("s1", "select * from plan") + B("", "s1") + E() + S())
        cluster.primary.query("alter table plan add c int", database="app")
        with front.session() as second:
            assert m.kinds(second.run(P("s1", "select * from plan") + B("", "s1") + E() + S())) == "1 2 C Z"
        assert m.sqlstate(first.run(B("", "s1") + E() + S())[0]) == "0A000"
        assert m.kinds(first.run(P("s2", "select * from plan") + B("", "s2") + E() + S())) == "1 2 C Z"


# B41
def test_function_calls_in_and_outside_a_transaction(judge):
    call = F(177, [b"\0\0\0\2", b"\0\0\0\3"])
    judge.same(
        lambda client: client.run(call)
        + client.run(Q("begin"))
        + client.run(call)
        + client.run(Q("commit"))
        + client.run(Q("select 1"))
    )
    judge.same(lambda client: client.run(F(1, [])) + client.run(Q("select 1")))
    judge.same(
        lambda client: client.run(Q("begin"))
        + client.run(F(4294967295, []))
        + client.run(call)
        + client.run(Q("rollback"))
    )
    judge.same(
        lambda client: client.run(call * 5, 5)
        + client.run(call + P("", "select 1") + B() + E() + S() + call, 3)
    )


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_a_dialogue_is_the_same_wherever_the_bytes_are_cut(judge, tls):
    batch = (
        Q("begin")
        + P("s", "select $1::text, generate_series(1,3)")
        + D("S", "s")
        + B("p", "s", ["x" * 20])
        + E("p", 2)
        + S()
        + Q("select 1/0")
        + S()
        + F(177, [b"\0\0\0\2", b"\0\0\0\3"])
        + Q("rollback")
        + C("S", "s")
        + S()
    )

    def cut(size):
        return lambda client: client.send_split(batch, size).read_until("Z", 7)

    expected = judge.same(cut(len(batch)), tls=tls)
    for size in (1, 2, 3, 4, 5, 7, 11, 64):
        assert [m.summary(x) for x in judge.same(cut(size), tls=tls)] == [m.summary(x) for x in expected]


def test_a_dialogue_is_the_same_at_each_single_cut(judge):
    batch = Q("select 1") + P("", "select 2") + B() + E() + S() + Q("begin; commit")

    def all_cuts(client):
        seen = []
        for cut in range(1, len(batch)):
            client.send(batch[:cut])
            time.sleep(0.001)
            seen += client.send(batch[cut:]).read_until("Z", 3)
        return seen

    judge.same(all_cuts)
