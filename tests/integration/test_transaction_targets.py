"""Transaction mode: which transactions the primary runs and which a replica, and that a session reads what it wrote."""

import pytest

from harness import messages as m
from harness.messages import B, E, P, Q, S
from harness.net import wait_until

ON_STANDBY = "select pg_is_in_recovery()"
REPLICA = " /* sluice: target=replica */"
PRIMARY = " /* sluice: target=primary */"


@pytest.fixture
def make_pooled(make_router):
    def make(threads=1, **entry):
        app = {"name": "app", "target": "primary", **entry}
        read = {"name": "app_read", "server_database": "app", "target": "replicas", **entry}
        return make_router(pool_mode="transaction", threads=threads, databases=[app, read])

    return make


@pytest.fixture
def table(cluster):
    cluster.primary.query("drop table if exists written; create table written (a int)", database="app")
    cluster.primary.query("grant all on written to public", database="app")
    cluster.wait_for_replay()
    return "written"


@pytest.fixture
def paused(cluster):
    """Standbys that replay nothing more; pausing again is resuming."""

    def pause(servers, what="pause"):
        for server in servers:
            server.query(f"select pg_wal_replay_{what}()")
        if what == "pause":
            for server in servers:
                wait_until(
                    lambda s=server: s.value("select pg_get_wal_replay_pause_state()") == "paused", 5, "replay to pause"
                )

    yield pause
    pause(cluster.standbys, "resume")
    cluster.wait_for_replay()


def test_a_comment_chooses_for_its_transaction(make_pooled):
    with make_pooled().session() as client:
        assert client.value(ON_STANDBY) == "f"
        assert client.value(ON_STANDBY + REPLICA) == "t"
        assert client.value(ON_STANDBY) == "f"
        client.query("begin" + REPLICA)
        assert client.value(ON_STANDBY + PRIMARY) == "t", "within a transaction nothing changes"
        client.query("commit")
        client.run(P("s", ON_STANDBY + REPLICA) + S())
        for _ in range(2):
            answer = client.run(B("", "s") + E() + S())
            assert [m.row(x)[0] for x in answer if x.kind == "D"] == [b"t"]
            assert client.value(ON_STANDBY) == "f"
    with make_pooled().session(database="app_read") as client:
        assert client.value(ON_STANDBY) == "t"
        assert client.value(ON_STANDBY + PRIMARY) == "f"


def test_what_is_within_quotes_is_no_comment(make_pooled):
    with make_pooled().session() as client:
        assert client.value("select pg_is_in_recovery() where '/* sluice: target=replica */' <> ''") == "f"


@pytest.mark.parametrize("read_only", ["target", "replicas"])
def test_read_only_transactions_go_where_the_database_says(make_pooled, read_only):
    right = {"target": "f", "replicas": "t"}[read_only]
    with make_pooled(read_only=read_only).session() as client:
        for begin, where in [
            ("begin read only", right),
            ("start transaction isolation level repeatable read, read only", right),
            ("begin read only" + PRIMARY, "f"),
            ("begin", "f"),
            ("begin read write", "f"),
        ]:
            client.query(begin)
            assert client.value(ON_STANDBY) == where, begin
            client.query("commit")
        client.query("set default_transaction_read_only to on")
        assert client.value(ON_STANDBY) == right
        client.query("begin read write")
        assert client.value(ON_STANDBY) == "f"
        client.query("rollback")
        client.query("reset default_transaction_read_only")
        assert client.value(ON_STANDBY) == "f"


def test_read_only_is_a_wish_that_needs_no_replica(make_router, cluster):
    app = {"name": "app", "target": "primary", "read_only": "replicas"}
    router = make_router(pool_mode="transaction", databases=[app], replicas=None, classes=None, rules=None, default_class=None)
    with router.session() as client:
        client.query("begin read only")
        assert client.value(ON_STANDBY) == "f"
        client.query("commit")


def test_a_setting_chooses_for_the_session(make_pooled):
    with make_pooled().session() as client:
        for value, where in [("replica", "t"), ("read-write", "f"), ("standby", "t"), ("nonsense", "f"), ("primary", "f")]:
            client.query(f"set sluice.target to '{value}'")
            assert client.value(ON_STANDBY) == where, value
        client.query("set sluice.target to 'replicas'")
        assert client.value(ON_STANDBY + PRIMARY) == "f"
        assert client.value(ON_STANDBY) == "t"
        client.query("reset sluice.target")
        assert client.value(ON_STANDBY) == "f"


@pytest.mark.parametrize("word, where", [("read-only", "t"), ("standby", "t"), ("replica", "t"), ("read-write", "f")])
def test_a_start_up_option_chooses_for_the_session(make_pooled, word, where):
    with make_pooled().session(parameters={"options": f"-c sluice.target={word}"}) as client:
        assert client.value(ON_STANDBY) == where


def test_a_session_reads_what_it_wrote(make_pooled, cluster, table, paused):
    router = make_pooled(read_your_writes="on")
    with router.session() as writer, router.session() as other:
        paused(cluster.standbys)
        for n in range(1, 6):
            writer.query(f"insert into {table} values ({n})")
            assert writer.value(f"select count(*) from {table}" + REPLICA) == str(n)
        assert writer.value(ON_STANDBY + REPLICA) == "f"
        assert other.value(ON_STANDBY + REPLICA) == "t", "who wrote nothing may read of before"
        assert other.value(f"select count(*) from {table}" + REPLICA) == "0"
        assert router.metric("sluice_reads_sent_to_primary_total") == 6
        # One that has caught up is enough, and is the one.
        paused(cluster.standbys[2:3], "resume")
        wait_until(lambda: writer.value(ON_STANDBY + REPLICA) == "t", 10, "a replica to have what was written")
        for _ in range(10):
            assert writer.value(f"select count(*) from {table}" + REPLICA) == "5"
            assert writer.value(ON_STANDBY + REPLICA) == "t"


# Sessions that write and read all the time, while replicas fall behind and catch up.
def test_no_read_is_ever_behind_its_own_session(make_pooled, cluster, table, paused):
    router = make_pooled(threads=2, read_your_writes="on", read_only="replicas")
    clients = [router.session() for _ in range(4)]
    for n in range(1, 101):
        if n % 10 == 0:
            paused(cluster.standbys[n // 10 % 5 : n // 10 % 5 + 1], "pause" if n % 20 else "resume")
        for i, client in enumerate(clients):
            if n % 3 == 0:
                client.query("begin")
                client.query(f"insert into {table} values ({i})")
                client.query("commit")
            else:
                client.query(f"insert into {table} values ({i})")
            client.query("begin read only")
            assert client.value(f"select count(*) from {table} where a = {i}") == str(n)
            client.query("commit")
    for client in clients:
        client.terminate()


def test_without_the_option_replicas_may_be_behind(make_pooled, cluster, table, paused):
    with make_pooled().session() as client:
        paused(cluster.standbys)
        client.query(f"insert into {table} values (1)")
        assert client.value(f"select count(*) from {table}" + REPLICA) == "0"
