"""Notices, notifications and settings that the server reports by itself: complete, in order, at once."""

import time

import pytest

from harness import messages as m
from harness.messages import B, E, P, Q, S
from harness import fake_server as fake

pytestmark = pytest.mark.short
MANY = "do $$ begin for i in 1..1000 loop raise notice 'n %', i using detail='d', hint='h', errcode='01ABC'; end loop; end $$"
SAME = "do $$ begin for i in 1..1000 loop raise warning 'the same'; end loop; end $$"


# B58
@pytest.mark.parametrize("sql", [MANY, SAME], ids=["numbered", "identical"])
def test_a_thousand_notices_keep_count_order_and_fields(judge, sql):
    answer = judge.same(Q(sql), user="postgres")
    assert sum(x.kind == "N" for x in answer) == 1000
    judge.same(P("", sql) + B() + E() + S(), user="postgres")


# B58
def test_notices_in_a_multi_statement_query_and_around_copy(judge):
    judge.same(Q("drop table if exists nosuch1; select 1; drop table if exists nosuch2"))
    judge.same(
        lambda client: client.send(Q("copy noted from stdin")).read_until("G")
        + client.run(m.d(b"1\n2\n3\n") + m.c()),
        before=[
            "drop table if exists noted; create table noted (a int); grant all on noted to public",
            "create or replace function note() returns trigger language plpgsql as $$ begin raise notice 'row %', new.a; return new; end $$",
            "create trigger note before insert on noted for each row execute function note()",
        ],
    )


# B59
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_a_notification_reaches_an_idle_listener_at_once(front, cluster, tls):
    with (front.tls_session if tls else front.session)() as client:
        client.query("listen news")
        for number in range(5):
            time.sleep(0.05)
            started = time.monotonic()
            cluster.primary.query(f"notify news, 'payload {number}'", database="app")
            msg = client.read(2)
            assert (msg.kind, msg.body[4:]) == ("A", b"news\0payload %d\0" % number)
            assert time.monotonic() - started < 1
        cluster.primary.query("notify other", database="app")
        cluster.primary.query("notify news, 'another database'", database="postgres")
        assert client.silent(0.2)
        assert client.value("select 1") == "1"


# B59
def test_nobody_else_receives_a_notification(front, cluster):
    with front.session() as listener:
        listener.query("listen private")
    with front.session() as next_client:
        cluster.primary.query("notify private", database="app")
        assert next_client.silent(0.2)
        assert next_client.query("select * from pg_listening_channels()") == []


# B59
def test_messages_from_an_idle_server_are_relayed_in_place(make_router):
    def script(peer):
        peer.greet()
        peer.read_message()
        peer.send(fake.rows_answer(["a"], ["1"]))
        peer.send(
            fake.notice("while idle")
            + fake.parameter_status("TimeZone", "Asia/Tokyo")
            + fake.notification("ch", "p")
        )
        peer.answer_until_end(fake.healthy)

    with fake.FakeServer(script) as server:
        router = make_router(primary={"name": "primary", "host": server.host, "port": server.port})
        with router.session() as client:
            client.run(Q("select 1"))
            assert m.kinds([client.read(2) for _ in range(3)]) == "N S A"
            assert client.value("select 1") == "1"


# B59
def test_messages_from_a_pooled_idle_server_do_no_harm(make_router):
    def script(peer):
        peer.greet()
        peer.answer_until_end(chatty)

    def chatty(kind, body):
        reply = fake.healthy(kind, body) or b""
        if b"DISCARD" in (body or b""):
            reply += (
                fake.notice("idle")
                + fake.parameter_status("TimeZone", "Asia/Tokyo")
                + fake.notification("ch", "p")
            )
        return reply

    with fake.FakeServer(script) as server:
        router = make_router(primary={"name": "primary", "host": server.host, "port": server.port})
        for _ in range(5):
            with router.session() as client:
                assert "A" not in [x.kind for x in client.login_messages]
                answer = client.run(Q("select 1"))
                assert m.kinds(answer) == "T D C Z", "nothing of the idle time may reach the next client"
                client.terminate()
            time.sleep(0.05)


# B61, B62
@pytest.mark.parametrize(
    "name, value",
    [("application_name", v) for v in ("", "it's", "a\\b", 'x"; drop table t; --', "caf\u00e9")]
    + [
        ("search_path", '"$user", public, "we ird"'),
        ("TimeZone", "Europe/Zurich"),
        ("DateStyle", "SQL, DMY"),
    ],
)
def test_a_setting_reads_back_as_it_was_given(judge, name, value):
    def talk(client):
        client.run(P("", "select set_config($1, $2, false)") + B("", "", [name, value]) + E() + S())
        return client.run(Q(f"show {name}")) + client.run(Q("select 1"))

    judge.same(talk)
    judge.same(Q(f"show {name}"), parameters={name: value})


# B62
def test_parameter_status_describes_the_server_of_this_session(front, direct, cluster):
    with front.session() as client, direct.session() as expected:
        assert client.parameters == expected.parameters
