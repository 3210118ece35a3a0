"""Where the servers are: several that may be the primary, a Patroni that says anything, names whose addresses change.
Clients are sent to the right server or told that there is none; nobody is sent by a guess."""

import base64
import json
import os
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness import messages as m
from harness.net import free_port, wait_until
from harness.postgres import Cluster
from harness.relay import Relay
from harness.wire import LoginRefused

QUICK = {"health_check_interval": "200ms", "health_check_timeout": "2s", "health_check_rise": 1}
NOBODY = "nobody.invalid"
TRANSACTIONS = os.environ.get("SLUICE_TEST_POOL_MODE") == "transaction"


def entry(server, **more):
    return {"name": server.name, "host": server.host, "port": server.port, **more}


def ask(router, database, user):
    """The server that runs a new session's first statement, and None; or None and the error of what is refused. In session
    mode that is the login; in transaction mode, where a login needs no server once one is known, the statement."""
    try:
        with router.session(user, database) as client:
            answer = client.run(m.Q("show cluster_name"))
    except LoginRefused as refused:
        return None, m.fields(refused.message.body)
    error = next((m.fields(x.body) for x in answer if x.kind == "E"), None)
    return (None, error) if error else (m.row(next(x for x in answer if x.kind == "D"))[0].decode(), None)


def refusal(router, database="app", user="alice"):
    """SQLSTATE and message with which a session is refused a server."""
    server, error = ask(router, database, user)
    return (error["C"], error["M"]) if error else (None, server)


def placed(router, database="app", user="alice"):
    """The server on which a new session finds itself, None where it is refused."""
    return ask(router, database, user)[0]


def hold(router, **how):
    """A session that has a server, and keeps it: in transaction mode by a transaction."""
    client = router.session(**how)
    if TRANSACTIONS:
        client.query("begin")
    return client


def replica(router, name):
    return next((row for row in router.console("show replicas") if row["name"] == name), None)


def facts(router, source):
    return [row for row in router.console("show cluster") if row["source"] == source]


def up(router):
    return {r["name"] for r in router.console("show replicas") if r["role"] == "replica" and r["up"] == "yes"}


@pytest.fixture
def trio(workspace, authority, files, tmp_path):
    """A primary and two standbys of the test's own, to be promoted and ended; and the users they know."""
    place = workspace / f"trio{os.urandom(4).hex()}"
    place.mkdir()
    made = Cluster(place, 2, authority)
    try:
        made.start()
        made.users = tmp_path / "users.txt"
        made.users.write_text(
            "".join(f'"{n}" "{s}"\n' for n, s in made.secrets())
            + f'"admin" "{files["password"].read_text().strip()}"\n'
        )
        yield made
    finally:
        made.stop()


def on(trio, **more):
    """Options of a router in front of these servers, each of which may be the primary or a replica."""
    servers = [entry(server) for server in trio.servers]
    return {
        "auth_file": str(trio.users),
        "stats_users": None,
        "primary": servers,
        "replicas": servers,
        "classes": [{"name": "premium", "target": 1}, {"name": "freemium", "target": 1}],
        **QUICK,
        **more,
    }


def follow(trio, standby, leader):
    """Makes `standby`, which is not running, a standby of `leader`."""
    trio._install(standby.data / "standby.signal", "")
    trio._write_settings(
        standby,
        {
            "primary_conninfo": f"host=127.0.0.1 port={leader.port} user=postgres application_name={standby.name}"
        },
    )
    standby.start()


# B62, B70
@pytest.mark.timeout(120)
def test_the_primary_among_several_is_followed_and_never_guessed(make_router, trio):
    primary, first, second = trio.servers
    router = make_router(**on(trio))
    wait_until(lambda: placed(router) == "primary", 10, "the primary to be found")
    assert up(router) == {
        "r0",
        "r1",
    }, "the primary is in the list of replicas and takes none of their sessions"
    assert facts(router, "primary")[0]["name"] == "primary"

    # Planned: the old one is stopped in order, the new one promoted, the old one comes back as its standby.
    idle = hold(router)
    assert idle.value("select 1") == "1"
    primary.stop("immediate")
    primary.kill() if primary.running() else None
    with idle:
        answer = idle.read_until("", timeout=10)
        assert [m.sqlstate(x) for x in answer if x.kind == "E"][:1] in (["57P01"], ["57P02"], ["08006"])
    assert placed(router) is None
    first.query("select pg_promote()")
    wait_until(lambda: placed(router) == "r0", 15, "the new primary to be found")
    follow(trio, primary, first)
    wait_until(
        lambda: up(router) == {"primary"} or up(router) == {"primary", "r1"}, 20, "the old one to serve reads"
    )
    for _ in range(30):
        with router.session() as client:
            assert client.parameters["in_hot_standby"] == "off"
            assert client.value("select pg_is_in_recovery()") == "f"
        with router.session(database="app_read") as client:
            assert client.value("select pg_is_in_recovery()") == "t"

    # Two claim it: nobody is believed, who is there stays, and it is said.
    held = hold(router)
    second.query("select pg_promote()")
    wait_until(lambda: refusal(router)[0] == "57P03", 10, "no primary while two claim it")
    assert refusal(router)[1] == "there is no primary now"
    fact = facts(router, "primary")[0]
    assert fact["name"] == "" and "r0 and r1 both say" in fact["problem"]
    assert router.metric("sluice_primary_known") == 0
    assert held.value("select 1") == "1"
    assert placed(router, "app_read") == "primary", "reads go on"
    second.stop("immediate")
    wait_until(lambda: placed(router) == "r0", 10, "the other claim to be forgotten")
    assert held.value("select 1") == "1"
    held.close()
    assert "no primary" in router.log_text()


# B70
@pytest.mark.timeout(90)
def test_sessions_on_a_demoted_primary_are_told(make_router, trio):
    """It goes on running as a standby: nothing but the router tells the client."""
    primary, first, _ = trio.servers
    # The router reaches the first candidate through a relay, so that it can become another server unnoticed.
    with Relay("127.0.0.1", primary.port) as way:
        candidates = [{"name": "main", "host": "127.0.0.1", "port": way.port}, entry(first)]
        router = make_router(**on(trio, primary=candidates, replicas=[entry(s) for s in trio.standbys]))
        wait_until(lambda: placed(router) == "primary", 10, "the primary to be found")
        held = hold(router)
        first.query("select pg_promote()")
        wait_until(lambda: placed(router) is None, 10, "two to claim it")
        way.target = ("127.0.0.1", trio.standbys[1].port)
        for backend in primary.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'monitor'"
        ):
            assert backend[0]
        wait_until(lambda: placed(router) == "r0", 10, "the new one to be found")
        answer = held.read_until("", timeout=5)
        told = [m.fields(x.body) for x in answer if x.kind == "E"]
        assert [x["C"] for x in told] == ["57P01"], told
        assert told[0]["M"] in (
            "another server has become the primary",
            "the server of this session is not the primary any more",
        )
        assert answer[-1] is m.CLOSED


def test_a_primary_that_is_named_takes_no_sessions_while_it_is_in_recovery(make_router, cluster):
    router = make_router(
        primary=entry(cluster.standbys[0]), replicas=[entry(cluster.standbys[1])], classes=None, **QUICK
    )
    wait_until(lambda: refusal(router) == ("57P03", "there is no primary now"), 10, "the refusal")
    assert placed(router, "app_read") == "r1"
    assert facts(router, "primary")[0]["problem"] == "it is in recovery"


# B70
@pytest.mark.timeout(90)
def test_a_named_primary_in_recovery_is_not_the_primary_again_by_falling_silent(make_router, trio):
    """A check that fails says nothing of recovery; one that finds it promoted does."""
    standby, other = trio.standbys
    with Relay("127.0.0.1", standby.port) as way:
        named = {"name": "main", "host": way.host, "port": way.port}
        router = make_router(**on(trio, primary=named, replicas=[entry(other)], classes=None))
        none = ("57P03", "there is no primary now")
        wait_until(lambda: refusal(router) == none, 10, "the refusal")
        reached = way.target
        way.target = (way.host, free_port())
        way.close_all()
        before = router.metric("sluice_health_probes_total", result="failed")
        wait_until(
            lambda: router.metric("sluice_health_probes_total", result="failed") > before + 3, 10, "checks to fail"
        )
        assert refusal(router) == none
        assert facts(router, "primary")[0]["problem"] == "it is in recovery"
        assert "primary found" not in router.log_text()

        way.target = reached
        standby.query("select pg_promote()")
        wait_until(lambda: placed(router) == "r0", 20, "the promoted one to be used")
        assert "primary found" in router.log_text()


# B62, B67
@pytest.mark.timeout(90)
def test_a_restart_between_two_transactions_fails_none_and_its_settings_are_told(make_router, trio):
    primary = trio.primary
    router = make_router(
        **on(trio, primary=entry(primary), replicas=[entry(trio.standbys[0])], classes=None, pool_mode="transaction")
    )
    clients = [router.session() for _ in range(10)]
    for client in clients:
        client.query("begin")
    for client in clients:
        client.query("commit")
    assert len(primary.query("select 1 from pg_stat_activity where usename = 'alice'")) == 10
    primary.query("alter system set timezone = 'Asia/Tokyo'")
    primary.restart()
    with router.session() as late:
        assert late.parameters["TimeZone"] == "Asia/Tokyo"
        assert late.value("show timezone") == "Asia/Tokyo"
    for client in clients:
        assert client.value("show timezone") == "UTC", "as it was told"
        client.terminate()


@pytest.mark.short
def test_what_can_be_served_is_served_from_the_start(make_router, cluster):
    replicas = [
        {"name": "lost", "host": NOBODY, "port": 5432},
        {"name": "dead", "host": "127.0.0.1", "port": free_port()},
        entry(cluster.standbys[2]),
        {"name": "pods", "host": NOBODY, "discover": "dns"},
    ]
    router = make_router(
        primary=[{"name": "p0", "host": NOBODY}, {"name": "p1", "host": "127.0.0.1", "port": free_port()}],
        replicas=replicas,
        classes=None,
        **QUICK,
    )
    assert placed(router, "app_read") == "r2"
    assert refusal(router)[0] == "57P03"
    wait_until(lambda: up(router) == {"r2"}, 20, "the others to be known as down")
    assert facts(router, "primary")[0]["problem"] == "no server that answers is out of recovery"
    name = wait_until(
        lambda: facts(router, "dns")[0]["problem"] and facts(router, "dns")[0], 20, "the lookup to fail"
    )
    assert name["name"] == NOBODY and name["up"] == "no"
    assert router.http("/readyz")[0] == 200
    router.write_config(replicas=replicas[:-1])
    router.reload()
    wait_until(lambda: not facts(router, "dns"), 10, "the name to be forgotten")
    assert not router.console("show dns_hosts")


def test_with_every_server_away_clients_are_told_and_the_first_to_come_is_used(make_router, cluster):
    with Relay("127.0.0.1", cluster.standbys[0].port) as relay:
        port = relay.port
    router = make_router(
        ready=False,
        primary=None,
        databases=None,
        classes=None,
        replicas=[{"name": "one", "host": "127.0.0.1", "port": port}],
        **QUICK,
    )
    wait_until(lambda: refusal(router)[0] == "57P03", 10, "no replica")
    assert router.http("/readyz")[0] == 503
    with Relay("127.0.0.1", cluster.standbys[0].port, listen=("127.0.0.1", port)):
        wait_until(lambda: placed(router) == "r0", 10, "the replica to be used")


class Patroni:
    """Answers GET /cluster with whatever the test says."""

    def __init__(self, certificate=None, key=None):
        self.members, self.status, self.raw, self.asked = [], 200, None, 0
        self.credentials = None  # user:password that whoever asks must have
        patroni = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                patroni.asked += 1
                body = patroni.raw
                wanted = patroni.credentials and "Basic " + base64.b64encode(patroni.credentials.encode()).decode()
                if wanted and self.headers.get("Authorization") != wanted:
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="patroni"')
                    self.end_headers()
                    return
                if body is None:
                    body = json.dumps({"members": patroni.members, "scope": "s"}).encode()
                self.send_response(patroni.status if self.path == "/cluster" else 404)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def tells(self, leader, *replicas, **changes):
        """Members as Patroni lists them; changes: name -> keys that are different."""
        self.members = [
            {
                "name": server.name,
                "role": "leader" if server is leader else "replica",
                "state": "running",
                "host": server.host,
                "port": server.port,
                "timeline": 1,
                **({} if server is leader else {"lag": 0}),
                **changes.get(server.name, {}),
            }
            for server in (leader, *replicas)
            if server is not None
        ]


@pytest.fixture
def patroni():
    made = Patroni()
    yield made
    made.stop()


def asking(patroni, **more):
    return {
        "patroni_urls": [f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{patroni.port}"],
        "patroni_interval": "100ms",
        "patroni_timeout": "2s",
        "primary": None,
        "replicas": None,
        "classes": None,
        **QUICK,
        **more,
    }


@pytest.mark.short
def test_members_of_patroni_become_replicas_and_its_leader_the_primary(make_router, cluster, patroni):
    r0, r1, r2 = cluster.standbys[:3]
    patroni.tells(
        cluster.primary, r0, r1, r2,
        r1={"tags": {"noloadbalance": True, "clonefrom": True}},
        r2={"state": "stopped"},
    )  # fmt: skip
    router = make_router(**asking(patroni, policy="least_loaded"))
    wait_until(lambda: placed(router) == "primary", 10, "the leader to be the primary")
    wait_until(lambda: up(router) == {"r0"}, 10, "the right replica to be up")
    assert {placed(router, "app_read") for _ in range(10)} == {"r0"}
    row = replica(router, "r1")
    assert row["last_error"] == "its tag noloadbalance keeps sessions away"
    assert row["source"] == "patroni" and row["member"] == "replica, running"
    assert "clonefrom=true" in row["tags"]
    assert replica(router, "r2")["last_error"] == "Patroni says that it is not running"
    assert int(replica(router, "r0")["timeline"]) == 1
    assert router.metric("sluice_cluster_source_up", source="patroni") == 1

    # What Patroni says next holds at once.
    patroni.tells(cluster.primary, r1, r2, r2={"tags": {"sluice_weight": 4}})
    wait_until(lambda: up(router) == {"r1", "r2"}, 5, "the new list")
    assert replica(router, "r0") is None
    held = [hold(router, database="app_read") for _ in range(10)]
    assert sorted(x.value("show cluster_name") for x in held) == ["r1"] * 2 + ["r2"] * 8
    assert replica(router, "r2")["weight"] == "4"
    for client in held:
        client.close()


def test_patronis_leader_is_the_primary_only_by_its_own_word_too(make_router, cluster, patroni):
    r0, r1 = cluster.standbys[:2]
    # Patroni has given the lock to one that is still in recovery.
    patroni.tells(r0, cluster.primary, r1)
    router = make_router(**asking(patroni))
    wait_until(
        lambda: facts(router, "primary")[0]["problem"] == "Patroni's leader r0 is still in recovery",
        10,
        "the reason",
    )
    assert refusal(router) == ("57P03", "there is no primary now")
    assert (
        placed(router, "app_read") == "r1"
    ), "neither the leader nor one that is out of recovery is a replica"
    for members, reason in (
        ([], "Patroni names no leader"),
        ([r0, cluster.primary], "Patroni names more than one leader"),
    ):
        patroni.tells(None, r1, cluster.primary, r0)
        for member in patroni.members:
            if member["name"] in [x.name for x in members]:
                member["role"] = "leader"
        wait_until(lambda: facts(router, "primary")[0]["problem"] == reason, 10, reason)
        assert refusal(router)[0] == "57P03"
    patroni.tells(cluster.primary, r0, r1)
    wait_until(lambda: placed(router) == "primary", 5, "the leader")


def test_clients_may_wait_for_a_primary(make_router, cluster, patroni):
    patroni.tells(None, cluster.primary, cluster.standbys[0])
    router = make_router(**asking(patroni, no_replica="wait", no_replica_wait="20s"))
    came = []
    waiting = threading.Thread(target=lambda: came.append(placed(router)))
    waiting.start()
    wait_until(lambda: facts(router, "primary")[0]["problem"] == "Patroni names no leader", 10, "the reason")
    assert not came
    patroni.tells(cluster.primary, cluster.standbys[0])
    waiting.join(15)
    assert came == ["primary"]


def test_without_checks_that_log_in_patronis_word_has_to_do(make_router, cluster, patroni):
    patroni.tells(cluster.primary, cluster.standbys[0], r0={"lag": 4711})
    router = make_router(
        **asking(patroni, health_check_user=None, health_check_password_file=None, health_check_database=None)
    )
    wait_until(lambda: placed(router) == "primary" and up(router) == {"r0"}, 10, "the cluster")
    assert placed(router, "app_read") == "r0"
    wait_until(lambda: replica(router, "r0")["lag_bytes"] == "4711", 5, "Patroni's figure")
    patroni.tells(cluster.standbys[1], cluster.standbys[0])
    wait_until(lambda: placed(router) == "r1", 10, "the next leader")


@pytest.mark.parametrize("answer", ["away", "garbage", "error", "silent list"])
def test_while_patroni_is_away_the_last_view_holds_and_that_is_said(make_router, cluster, patroni, answer):
    patroni.tells(cluster.primary, *cluster.standbys[:2])
    router = make_router(**asking(patroni))
    wait_until(lambda: placed(router) == "primary" and up(router) == {"r0", "r1"}, 10, "the cluster")
    held = router.session()
    if answer == "away":
        patroni.stop()
    elif answer == "garbage":
        patroni.raw = b'{"members": ' + b"[" * 100000
    elif answer == "error":
        patroni.status = 503
    else:
        patroni.raw = b'{"scope": "s"}'
    fact = wait_until(
        lambda: [f for f in facts(router, "patroni") if f["problem"]], 10, "the problem to be shown"
    )[0]
    assert fact["up"] == "no" and int(fact["failures"]) > 0
    assert placed(router) == "primary" and placed(router, "app_read") in ("r0", "r1")
    assert held.value("select 1") == "1"
    held.close()
    assert router.metric("sluice_cluster_source_up", source="patroni") == 0
    assert router.metric("sluice_cluster_view_age_seconds", source="patroni") > 0
    assert "patroni does not answer" in router.log_text() and "the last one is kept" in router.log_text()
    if answer != "away":
        patroni.raw, patroni.status = None, 200
        wait_until(lambda: facts(router, "patroni")[0]["up"] == "yes", 10, "Patroni to be heard again")


def test_patroni_is_asked_over_tls_and_its_certificate_is_checked(make_router, cluster, authority, files):
    certificate, key = authority.issue("patroni", "localhost", ["localhost"])
    secure = Patroni(certificate, key)
    try:
        secure.tells(cluster.primary, cluster.standbys[0])
        url = f"https://localhost:{secure.port}"
        router = make_router(**asking(secure, patroni_urls=[url], patroni_tls_ca_file=str(files["ca"])))
        wait_until(lambda: placed(router) == "primary", 10, "the leader")
        # The certificate is the name's, not the address's.
        router.write_config(patroni_urls=[f"https://127.0.0.1:{secure.port}"])
        router.reload()
        wait_until(lambda: [f for f in facts(router, "patroni") if f["problem"]], 10, "the refusal")
        assert placed(router) == "primary", "what was known before is kept"
    finally:
        secure.stop()


def test_patroni_is_told_who_asks(make_router, cluster, patroni, tmp_path):
    patroni.tells(cluster.primary, cluster.standbys[0])
    patroni.credentials = "ops:opal-one: two"
    password = tmp_path / "patroni.password"
    password.write_text("opal-one: two\n")
    password.chmod(0o600)
    known = {"patroni_user": "ops", "patroni_password_file": str(password)}
    router = make_router(**asking(patroni, **known))
    wait_until(lambda: placed(router) == "primary", 10, "the leader")
    # Another password there, then here.
    patroni.credentials = "ops:opal-three"
    wait_until(lambda: [f for f in facts(router, "patroni") if f["problem"]], 10, "the refusal")
    assert "401" in facts(router, "patroni")[0]["problem"]
    password.write_text("opal-three\n")
    router.reload()
    wait_until(lambda: facts(router, "patroni")[0]["up"] == "yes", 10, "Patroni to be heard again")
    for secret in ("opal-one", "opal-three", base64.b64encode(b"ops:opal-three").decode()):
        assert secret not in router.log_text()


def test_a_reload_takes_patroni_in_and_out(make_router, cluster, patroni):
    patroni.tells(cluster.primary, *cluster.standbys)
    named = {"primary": entry(cluster.primary), "replicas": [entry(cluster.standbys[4])]}
    router = make_router(**named, classes=None, **QUICK)
    assert placed(router, "app_read") == "r4"
    with router.session(database="app_read") as held:
        router.write_config(**asking(patroni))
        router.reload()
        wait_until(lambda: up(router) == {"r0", "r1", "r2", "r3", "r4"}, 10, "Patroni's replicas")
        assert placed(router) == "primary"
        assert router.metric("sluice_cluster_source_up", source="patroni") == 1
        router.write_config(patroni_urls=None, patroni_interval=None, patroni_timeout=None, **named)
        router.reload()
        wait_until(lambda: up(router) == {"r4"}, 10, "the file's replica alone")
        assert placed(router) == "primary"
        # Who is asked is told by another thread than who is there.
        wait_until(lambda: not facts(router, "patroni"), 10, "nobody to be asked any more")
        assert router.metric("sluice_cluster_source_up", source="patroni") == 0
        assert held.value("select 1") == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="a private /etc/hosts needs root")
def test_a_certificate_is_checked_by_the_name_that_was_looked_up_also_by_passthrough(make_router, cluster, files, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n127.0.0.2 pods.test\n", encoding="ascii")
    port = free_port()
    # No primary, which is at an address that the certificate names: it would judge in place of the others.
    router = make_router(
        start=False,
        replicas=[{"name": "pod", "host": "pods.test", "port": port, "discover": "dns"}],
        primary=None,
        classes=None,
        policy="least_loaded",
        server_tls_sslmode="verify-full",
        server_tls_ca_file=str(files["ca"]),
        hba=[{"user": "admin", "method": "scram-sha-256"}, {"method": "passthrough"}],
        **QUICK,
    )
    router.config["databases"] = [{**entry, "target": "replicas"} for entry in router.config["databases"]]
    router.prefix = ["unshare", "--mount", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh"]
    with Relay("127.0.0.1", cluster.standbys[0].port, listen=("127.0.0.2", port)):
        router.start()
        wait_until(lambda: up(router) == {"pod@127.0.0.2"}, 10, "the address")
        with router.session("alice", "app_read") as client:
            assert client.value("show cluster_name") == "r0"


@pytest.mark.skipif(os.geteuid() != 0, reason="a private /etc/hosts needs root")
def test_replicas_of_a_name_come_and_go_with_its_addresses(make_router, cluster, tmp_path):
    hosts = tmp_path / "hosts"
    port = free_port()

    def resolves_to(*addresses):
        # In place: the router sees this very file.
        with open(hosts, "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"{a} pods.test\n" for a in addresses))

    resolves_to("127.0.0.2", "127.0.0.3")
    router = make_router(
        start=False,
        replicas=[{"name": "pod", "host": "pods.test", "port": port, "discover": "dns"}],
        classes=None,
        dns_max_ttl="1s",
        dns_nxdomain_ttl="1s",
        policy="least_loaded",
        **QUICK,
    )
    router.prefix = ["unshare", "--mount", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh"]
    ways = {
        f"127.0.0.{i + 2}": Relay("127.0.0.1", cluster.standbys[i].port, listen=(f"127.0.0.{i + 2}", port))
        for i in range(3)
    }
    try:
        router.start()
        wait_until(lambda: up(router) == {"pod@127.0.0.2", "pod@127.0.0.3"}, 10, "both addresses")
        assert {placed(router, "app_read") for _ in range(20)} <= {"r0", "r1"}
        held = [hold(router, database="app_read") for _ in range(4)]
        assert sorted(x.value("show cluster_name") for x in held) == ["r0", "r0", "r1", "r1"]
        assert replica(router, "pod@127.0.0.2")["source"] == "dns"
        [name] = router.console("show dns_hosts")
        assert name["hostname"] == "pods.test" and name["addrs"] == "127.0.0.2,127.0.0.3"
        assert 0 <= int(name["ttl"]) <= 1
        assert {"list": "dns_names", "items": "1"} in router.console("show lists")

        # One goes, one comes: the sessions there go on, and no new one is sent there.
        resolves_to("127.0.0.3", "127.0.0.4")
        wait_until(lambda: up(router) == {"pod@127.0.0.3", "pod@127.0.0.4"}, 10, "the new addresses")
        assert replica(router, "pod@127.0.0.2")["draining"] == "yes"
        assert "r0" not in {placed(router, "app_read") for _ in range(20)}
        assert [x.value("select 1") for x in held] == ["1"] * 4
        for client in held:
            client.close()
        wait_until(lambda: replica(router, "pod@127.0.0.2") is None, 5, "the drained one to be gone")

        # A lookup that fails changes nothing.
        resolves_to()
        wait_until(lambda: facts(router, "dns")[0]["problem"], 15, "the lookup to fail")
        assert up(router) == {"pod@127.0.0.3", "pod@127.0.0.4"}
        assert placed(router, "app_read") in ("r1", "r2")
        assert router.metric("sluice_cluster_source_up", source="dns") == 0
        resolves_to("127.0.0.2")
        wait_until(lambda: up(router) == {"pod@127.0.0.2"}, 15, "the name to be known again")
        assert placed(router, "app_read") == "r0"
    finally:
        router.stop()
        for way in ways.values():
            way.stop()


def test_a_replica_that_lags_is_out_until_it_is_well_below_the_limit(
    make_router, workspace, authority, files, trio
):
    primary, first, second = trio.servers
    router = make_router(**on(trio, max_replica_lag_bytes="256kB", replica_lag_resume="0.25"))
    wait_until(lambda: up(router) == {"r0", "r1"}, 10, "both replicas")
    first.query("select pg_wal_replay_pause()")
    primary.query(
        "create table big as select repeat('x', 1000) from generate_series(1, 1000)", database="app"
    )
    wait_until(lambda: up(router) == {"r1"}, 10, "the lag to be seen")
    row = replica(router, "r0")
    assert int(row["lag_bytes"]) > 256 * 1024 and row["last_error"] == "its replay lag is above the limit"
    assert {placed(router, "app_read") for _ in range(10)} == {"r1"}
    assert router.metric("sluice_replica_lag_bytes", replica="r0") > 256 * 1024
    first.query("select pg_wal_replay_resume()")
    wait_until(lambda: up(router) == {"r0", "r1"}, 10, "it to catch up")


def test_weights_share_the_sessions(make_router, cluster):
    replicas = [entry(cluster.standbys[0], weight=3), entry(cluster.standbys[1])]
    router = make_router(replicas=replicas, classes=None, policy="least_loaded", **QUICK)
    wait_until(lambda: up(router) == {"r0", "r1"}, 10, "both")
    held = [hold(router, database="app_read") for _ in range(12)]
    assert sorted(x.value("show cluster_name") for x in held) == ["r0"] * 9 + ["r1"] * 3
    for client in held:
        client.close()
