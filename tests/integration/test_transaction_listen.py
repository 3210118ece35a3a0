"""LISTEN in transaction mode: one server connection listens for all, nobody is pinned, and each client hears what it
would hear of a server of its own."""


import psycopg2
import pytest

from harness import messages as m
from harness.messages import B, E, P, Q, S
from harness.net import wait_until


def listeners(cluster, database="app"):
    return cluster.primary.value(
        "select count(*) from pg_stat_activity where application_name = 'sluice listen' and datname = %s", (database,)
    )


def heard(message):
    """(channel, payload) of a NotificationResponse."""
    assert message.kind == "A", message
    channel, payload, _ = message.body[4:].split(b"\0")
    return channel.decode(), payload.decode()


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def pooled(make_router, cluster, request):
    return make_router(pool_mode="transaction", threads=request.param)


def notify(cluster, channel, payload="", database="app"):
    cluster.primary.query("select pg_notify(%s, %s)", (channel, payload), database=database)


def test_many_listen_by_one_connection_and_none_is_pinned(pooled, cluster):
    clients = [pooled.session() for _ in range(12)]
    for client in clients:
        client.query("listen news")
    assert listeners(cluster) == 1
    assert pooled.metric("sluice_sessions_pinned_total") == 0
    assert pooled.metric("sluice_listening_sessions") == 12
    assert pooled.metric("sluice_listening_connections") == 1
    notify(cluster, "news", "one")
    for client in clients:
        assert heard(client.read()) == ("news", "one")
    row = pooled.console("show listeners")[0]
    assert (row["database"], row["channels"], row["notifications"]) == ("app", "1", "1")
    assert {r["channels"] for r in pooled.console("show clients") if r["user"] == "alice"} == {"1"}
    assert pooled.metric("sluice_notifications_total") == 12
    for client in clients:
        client.terminate()
    wait_until(lambda: pooled.metric("sluice_listening_sessions") == 0, 5, "the sessions to be counted out")


# After LISTEN has been answered no notification is missed.
def test_nothing_is_missed_after_the_answer(pooled, cluster):
    with pooled.session() as client:
        for i in range(50):
            client.query(f"listen c{i}")
            notify(cluster, f"c{i}", str(i))
            assert heard(client.read()) == (f"c{i}", str(i))


def test_each_hears_its_own_channels_in_order(pooled, cluster):
    with pooled.session() as a, pooled.session() as b:
        a.run(P("", "listen \"A b\"") + B() + E() + S())
        a.query("listen both")
        b.query("listen both")
        for i in range(20):
            notify(cluster, "A b" if i % 2 else "both", str(i))
        assert [heard(a.read()) for _ in range(20)] == [("A b" if i % 2 else "both", str(i)) for i in range(20)]
        assert [heard(b.read()) for _ in range(10)] == [("both", str(i)) for i in range(0, 20, 2)]
        assert b.silent(0.05)


def test_unlisten_and_discard_all_end_it(pooled, cluster):
    with pooled.session() as client:
        for sql in ("unlisten news", "unlisten *", "discard all"):
            client.query("listen news")
            client.query("listen other")
            client.query(sql)
            notify(cluster, "news", "no")
            notify(cluster, "other", "yes")
            if sql == "unlisten news":
                assert heard(client.read()) == ("other", "yes")
            assert client.silent(0.1)
            client.query("unlisten *")


def test_listen_counts_from_its_commit_on(pooled, cluster):
    with pooled.session() as client:
        for end in ("rollback", "commit"):
            client.query("begin")
            assert m.kinds(client.run(Q("listen news"))) == "C Z"
            client.query(end)
            notify(cluster, "news", end)
        assert heard(client.read()) == ("news", "commit")
        client.query("begin")
        client.query("unlisten *")
        client.query("rollback")
        notify(cluster, "news", "still")
        assert heard(client.read()) == ("news", "still")


# PostgreSQL gives them between two transactions.
def test_notifications_wait_for_the_end_of_the_transaction(pooled, cluster):
    with pooled.session() as client:
        client.query("listen news")
        client.query("begin")
        notify(cluster, "news", "x")
        assert client.silent(0.2)
        assert m.kinds(client.run(Q("select 1"))) == "T D C Z"
        client.send(Q("commit"))
        assert [client.read().kind for _ in range(3)] == ["C", "Z", "A"]


# B59: the same channel in two databases; and a client that has not asked.
def test_databases_and_clients_are_kept_apart(pooled, cluster):
    with pooled.session() as app, pooled.session(database="postgres") as other, pooled.session() as neither:
        app.query("listen news")
        other.query("listen news")
        notify(cluster, "news", "app")
        notify(cluster, "news", "postgres", database="postgres")
        assert heard(app.read()) == ("news", "app")
        assert heard(other.read()) == ("news", "postgres")
        for client in (app, other, neither):
            assert client.silent(0.05)
        assert neither.value("select count(*) from pg_listening_channels()") == "0"


def test_what_a_function_listens_to_reaches_no_other_client(pooled, cluster):
    with pooled.session() as a, pooled.session() as b:
        a.query("do $$ begin execute 'listen spy'; end $$")
        b.query("begin")
        notify(cluster, "spy", "secret")
        assert m.kinds(b.run(Q("select pg_sleep(0.05)") + Q("commit"), 2)) == "T D C Z C Z"
        assert b.silent(0.05)


# A session's own come where PostgreSQL has them: before the ReadyForQuery of the transaction that sent them.
OWN = {
    "query": [(Q("notify me, 'hello'"), 1)],
    "function": [(Q("select pg_notify('me', 'hello')"), 1)],
    "block": [(Q("begin"), 1), (Q("notify me, 'hello'"), 1), (Q("commit"), 1)],
    "one text": [(Q("begin; notify me, 'hello'; commit; select 1"), 1)],
    "batch": [(P("", "select pg_notify($1, 'hello')") + B("", "", ["me"]) + E() + S(), 1)],
    "prepared": [
        (P("n", "select pg_notify($1, 'hello')") + S(), 1),
        (B("", "n", ["me"]) + E() + S(), 1),
        (B("", "n", ["me"]) + E() + S(), 1),
    ],
    "rolled back": [(Q("begin"), 1), (Q("notify me"), 1), (Q("rollback"), 1)],
    "nobody's": [(Q("notify other"), 1)],
}


@pytest.mark.parametrize("how", OWN)
def test_own_notifications_come_before_the_answer_is_complete(pooled, direct, how):
    def story(session):
        with session as client:
            client.query("listen me")
            return ["".join(x.kind for x in client.run(data, count)) for data, count in OWN[how]]

    right = story(direct.session())
    for _ in range(20):
        assert story(pooled.session()) == right


# Was: what a transaction notified itself was lost where it began to listen in it.
LISTENING = {
    "block": [(Q("begin"), 1), (Q("listen me"), 1), (Q("notify me, 'hello'"), 1), (Q("commit"), 1)],
    "before": [(Q("begin"), 1), (Q("notify me, 'hello'"), 1), (Q("listen me"), 1), (Q("commit"), 1)],
    "pipeline": [(Q("begin") + Q("listen me") + Q("select pg_notify('me', 'hello')") + Q("commit"), 4)],
    "batch": [(P("", "listen me") + B() + E() + P("", "notify me") + B() + E() + S(), 1)],
    "rolled back": [(Q("begin"), 1), (Q("listen me"), 1), (Q("notify me"), 1), (Q("rollback"), 1)],
    "in part": [(Q(text), 1) for text in ("begin", "savepoint s", "listen me", "rollback to s", "notify me", "commit")],
    "taken back": [(Q(text), 1) for text in ("begin", "listen me", "unlisten me", "notify me", "commit")],
    "failed": [(Q("begin"), 1), (Q("listen me"), 1), (Q("notify me"), 1), (Q("select 1/0"), 1), (Q("commit"), 1)],
    "prepared": [(Q("begin"), 1), (Q("listen me"), 1), (Q("prepare transaction 'x'"), 1), (Q("notify me"), 1)],
    "function": [(Q("begin"), 1), (Q("listen me"), 1), (Q("savepoint s"), 1), (Q("listen other"), 1),
                 (Q("create function pg_temp.f() returns int begin atomic select 1; end; rollback to s"), 1),
                 (Q("notify me"), 1), (Q("commit"), 1)],
}


@pytest.mark.parametrize("how", LISTENING)
def test_a_transaction_that_listens_hears_itself_as_with_postgresql(pooled, direct, how):
    def story(session):
        with session as client:
            return ["".join(x.kind for x in client.run(data, count)) for data, count in LISTENING[how]]

    right = story(direct.session())
    for _ in range(10):
        assert story(pooled.session()) == right


# PostgreSQL sends a session what was committed after it had begun to listen, which is when it commits.
def test_what_was_notified_before_the_commit_is_not_heard(pooled, cluster):
    with pooled.session() as client:
        client.query("listen mark")
        client.query("begin")
        client.query("listen news")
        notify(cluster, "news", "before")
        notify(cluster, "mark")
        wait_until(lambda: pooled.metric("sluice_notifications_total") == 1, 5, "the session to have both")
        told = [x for x in client.run(Q("commit")) if x.kind == "A"]
        notify(cluster, "news", "behind")
        while len(told) < 2:
            told.append(client.read())
        assert [heard(x) for x in told] == [("mark", ""), ("news", "behind")]


def test_own_notifications_of_a_trigger_come_too(pooled, cluster):
    cluster.primary.query(
        "create table if not exists told (a int); grant all on told to public;"
        "create or replace function tell() returns trigger language plpgsql as "
        "$$ begin perform pg_notify('me', new.a::text); return new; end $$;"
        "create or replace trigger tells after insert on told for each row execute function tell()",
        database="app",
    )
    with pooled.session() as client:
        client.query("listen me")
        client.query("insert into told values (1)")
        assert heard(client.read()) == ("me", "1")


def test_payloads_come_in_the_clients_encoding(pooled, cluster):
    with pooled.session(parameters={"client_encoding": "LATIN1"}) as latin, pooled.session() as utf8:
        latin.query("listen news")
        utf8.query("listen news")
        notify(cluster, "news", "\u00e9")
        assert latin.read().body.endswith(b"news\0\xe9\0")
        assert utf8.read().body.endswith(b"news\0\xc3\xa9\0")
        assert listeners(cluster) == 2


def test_replicas_refuse_as_postgresql_does(pooled, cluster):
    with pooled.session(database="app_read") as client:
        answer = client.run(Q("listen news"))
        assert m.sqlstate(answer[0]) == "25006"
        assert pooled.metric("sluice_sessions_pinned_total") == 0


def test_a_lost_connection_listens_again(pooled, cluster):
    with pooled.session() as client:
        client.query("listen news")
        cluster.primary.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice listen'"
        )
        wait_until(lambda: pooled.metric("sluice_listening_reconnects_total") == 1, 5, "the loss to be seen")
        wait_until(
            lambda: cluster.primary.value(
                "select count(*) from pg_stat_activity where application_name = 'sluice listen' and state = 'idle' "
                "and query like 'LISTEN%%'"
            )
            == 1,
            5,
            "it to listen again",
        )
        notify(cluster, "news", "again")
        assert heard(client.read()) == ("news", "again")
        assert client.value("select 1") == "1"


# A LISTEN that comes while there is no connection is answered when there is one.
def test_what_is_asked_for_meanwhile_is_listened_to(pooled, cluster):
    def lose():
        cluster.primary.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice listen'"
        )

    with pooled.session() as first:
        first.query("listen news")
        for i in range(10):
            lose()
            with pooled.session() as other:
                wait_until(
                    lambda i=i: pooled.metric("sluice_listening_reconnects_total") == i + 1, 5, "the loss to be seen"
                )
                other.query("listen news")
                notify(cluster, "news", str(i))
                assert heard(other.read()) == ("news", str(i))
                assert heard(first.read()) == ("news", str(i))


def test_rolled_back_to_a_savepoint_it_is_forgotten(pooled, cluster):
    with pooled.session() as client:
        client.run(Q("begin") + Q("listen a") + Q("savepoint s") + Q("listen b") + Q("rollback to s") + Q("commit"), 6)
        notify(cluster, "b", "never")
        notify(cluster, "a", "yes")
        assert heard(client.read()) == ("a", "yes")
        client.run(Q("begin") + Q("listen b") + Q("rollback; select 1"), 3)
        notify(cluster, "b", "never")
        notify(cluster, "a", "again")
        assert heard(client.read()) == ("a", "again")


def test_a_client_that_does_not_take_them_is_ended(make_router, cluster):
    router = make_router(pool_mode="transaction", threads=1, notification_buffer=65536)
    with router.session() as client, router.session() as other:
        client.query("listen news")
        other.query("listen news")
        client.query("begin")
        for i in range(12):
            notify(cluster, "news", str(i) + "x" * 7000)
        answer = client.read()
        assert (m.sqlstate(answer), m.fields(answer.body)["S"]) == ("54000", "FATAL")
        assert client.read_to_close() == b""
        assert [heard(other.read())[1].rstrip("x") for _ in range(12)] == [str(i) for i in range(12)]
        assert router.metric("sluice_sessions_closed_total", reason="unread_notifications") == 1


def test_storms_lose_and_double_nothing(pooled, cluster):
    channels = [f"storm{i}" for i in range(5)]
    clients = [pooled.session() for _ in range(10)]
    for n, client in enumerate(clients):
        client.query(f"listen {channels[n % 5]}")
    sender = psycopg2.connect(pooled.dsn())
    sender.autocommit = True
    with sender.cursor() as cursor:
        for i in range(200):
            cursor.execute("select pg_notify(%s, %s)", (channels[i % 5], str(i)))
    sender.close()
    for n, client in enumerate(clients):
        assert [heard(client.read())[1] for _ in range(40)] == [str(i) for i in range(n % 5, 200, 5)]
        assert client.value("select 1") == "1"
        client.terminate()


def test_psycopg2_hears(pooled, cluster):
    connection = pooled.connect()
    with connection.cursor() as cursor:
        cursor.execute("listen news")
    notify(cluster, "news", "payload")

    def poll():
        connection.poll()
        return connection.notifies

    wait_until(poll, 5, "the notification")
    assert connection.notifies[0].payload == "payload"
    connection.close()


def test_listeners_that_come_and_go_leave_nothing(pooled, cluster):
    for _ in range(100):
        client = pooled.session()
        client.query("listen news")
        client.close()
    wait_until(lambda: pooled.metric("sluice_listening_sessions") == 0, 5, "the sessions to be counted out")
    wait_until(lambda: listeners(cluster) == 0, 20, "the listening connection to be closed")
    assert pooled.console("show listeners") == []
