"""Classes, pools, borrowing and returning, seen from outside: which replica a session really is on."""

from collections import Counter

import pytest

from harness import messages as m
from harness.net import free_port, wait_until
from harness.wire import LoginRefused, WireClient, unverified_context


def place(client):
    return client.value("show cluster_name")


@pytest.mark.short
def test_each_class_lives_in_its_own_pool(make_router):
    router = make_router()
    premium = [router.session("alice", "app_read") for _ in range(8)]
    freemium = [router.session("bob", "app_read") for _ in range(8)]
    assert Counter(map(place, premium)) == {"r0": 4, "r1": 4}
    assert Counter(map(place, freemium)) == {"r2": 4, "r3": 4}
    rows = {row["name"]: row for row in router.console("show replicas")}
    assert [rows[f"r{i}"]["pool"] for i in range(5)] == [
        "premium",
        "premium",
        "freemium",
        "freemium",
        "mixed",
    ]
    assert [int(rows[f"r{i}"]["sessions"]) for i in range(5)] == [4, 4, 4, 4, 0]
    for client in premium + freemium:
        client.terminate()
    wait_until(
        lambda: sum(int(r["sessions"]) for r in router.console("show replicas")) == 0,
        5,
        "loads to return to zero",
    )


def test_a_saturated_class_borrows_and_gives_back(make_router):
    router = make_router(
        classes=[
            {"name": "premium", "saturation": 3, "return_ratio": "0.60", "floor": 0, "target": 2},
            {"name": "freemium", "saturation": 3, "return_ratio": "0.80", "floor": 1, "target": 2},
        ]
    )
    clients = [router.session("alice", "app_read") for _ in range(7)]
    assert Counter(map(place, clients)) == {"r0": 3, "r1": 3, "r4": 1}
    row = next(r for r in router.console("show replicas") if r["name"] == "r4")
    assert (row["pool"], row["borrowed"]) == ("premium", "yes")
    last = router.console("show decisions")[-1]
    assert (last["outcome"], last["replica"], last["class"]) == ("borrowed_mixed", "r4", "premium")
    assert router.metric("sluice_borrowings_total") == 1
    for client in clients:
        client.terminate()
    wait_until(
        lambda: sum(int(r["sessions"]) for r in router.console("show replicas")) == 0, 5, "sessions to end"
    )
    with router.session("alice", "app_read") as client:  # a return happens at the next decision
        assert place(client) == "r0"
    row = next(r for r in router.console("show replicas") if r["name"] == "r4")
    assert (row["pool"], row["borrowed"]) == ("mixed", "no")
    assert router.metric("sluice_returns_total") == 1


@pytest.mark.short
def test_rules_classify_by_user_database_application_and_network(make_router):
    router = make_router(
        rules=[
            {"application_name": "report*", "class": "freemium"},
            {"user": "alice", "database": "app_read", "class": "premium"},
            {"network": "127.0.0.0/8", "user": "carol", "class": "premium"},
        ]
    )
    for user, parameters, expected in (
        ("alice", {}, "premium"),
        ("alice", {"application_name": "reporting"}, "freemium"),
        ("carol", {}, "premium"),
        ("bob", {}, "freemium"),
    ):
        with router.session(user, "app_read", parameters={"application_name": "x", **parameters}) as client:
            client.value("select 1")
            assert [r["class"] for r in router.console("show clients") if r["database"] == "app_read"] == [
                expected
            ], (user, parameters)
            client.terminate()
        wait_until(
            lambda: not [r for r in router.console("show clients") if r["database"] == "app_read"],
            5,
            "the session to end",
        )


def shown(router, client):
    """The row of a session, which its server's process tells."""
    pid = client.value("select pg_backend_pid()")
    server = next(row for row in router.console("show servers") if row["remote_pid"] == pid)
    return next(row for row in router.console("show clients") if row["link"] == server["ptr"])


def test_rules_classify_by_role_certificate_and_listener(make_router, files):
    inner = free_port()
    router = make_router(
        listeners=[{"name": "inner", "address": "127.0.0.1", "port": inner}],
        auth_user="postgres",
        auth_password_file=str(files["password"]),
        auth_dbname="postgres",
        rules=[
            {"role": "team", "class": "premium"},
            {"certificate_name": "cert_*", "class": "premium"},
            {"listener": "inner", "class": "premium"},
        ],
    )
    with router.session("bob", "app_read") as client:
        assert shown(router, client)["class"] == "premium", "a member of the role"
    with router.session("carol", "app_read") as client:
        assert shown(router, client)["class"] == "freemium", "none of the three"
    with WireClient("127.0.0.1", inner) as client:
        client.login("carol", "app_read")
        assert shown(router, client)["class"] == "premium", "the same user by the other way in"
    context = unverified_context(certificate=files["client"])
    with router.tls_session("cert_user", "app_read", context=context) as client:
        assert shown(router, client)["class"] == "premium", "by the verified certificate's name"
    with router.tls_session("alice", "app_read", context=context) as client:
        assert shown(router, client)["class"] == "premium", "whatever user it logs in as"
    with router.tls_session("alice", "app_read") as client:
        assert shown(router, client)["class"] == "freemium", "without a certificate"


@pytest.mark.short
def test_sluice_priority_counts_only_for_those_who_may_ask(make_router):
    classes = [
        {"name": "premium", "saturation": 10, "target": 2, "may_request": ["bob"]},
        {"name": "freemium", "saturation": 10, "target": 2},
    ]
    router = make_router(classes=classes, rules=[])
    seen = {}
    for user in ("bob", "carol"):
        try:
            with router.session(
                user, "app_read", parameters={"options": "-c sluice.priority=premium"}
            ) as client:
                seen[user] = place(client)
                assert (
                    m.kinds(client.run(m.Q("select current_setting('sluice.priority', true)"))) == "T D C Z"
                )
        except LoginRefused as refusal:
            seen[user] = refusal.sqlstate
    assert seen["bob"] in ("r0", "r1")
    assert seen["carol"] in ("r2", "r3", "42501", "28000")


@pytest.mark.short
def test_origin_hosts_come_from_networks_and_from_those_who_are_believed(make_router):
    router = make_router(
        hosts=[
            {"name": "here", "networks": ["127.0.0.0/8"]},
            {"name": "elsewhere", "networks": ["10.0.0.0/8"]},
        ],
        trust_host_option_users=["bob"],
    )
    for user, options, expected in (
        ("alice", "", "here"),
        ("bob", "-c sluice.host=elsewhere", "elsewhere"),
        ("alice", "-c sluice.host=elsewhere", "here"),
    ):
        try:
            with router.session(
                user, "app_read", parameters={"options": options} if options else {}
            ) as client:
                client.value("select 1")
                assert router.console("show decisions")[-1]["host"] == expected
        except LoginRefused as refusal:
            assert (
                (user, expected) == ("alice", "here") and options and refusal.sqlstate in ("42501", "28000")
            )


@pytest.mark.parametrize(
    "policy, expected",
    [
        ("round_robin", {f"r{i}": 4 for i in range(5)}),
        ("least_loaded", {f"r{i}": 4 for i in range(5)}),
        ("dedicated", {"r0": 5, "r1": 5, "r2": 5, "r3": 5}),
        ("random_two_choices", None),
        ("proportional", None),
    ],
)
def test_the_other_policies_spread_as_they_should(make_router, policy, expected):
    router = make_router(policy=policy)
    clients = [router.session(user, "app_read") for user in ("alice", "bob") for _ in range(10)]
    counts = Counter(map(place, clients))
    assert counts == expected if expected else max(counts.values()) <= 9
    for client in clients:
        client.close()


@pytest.mark.short
def test_the_servers_application_name_can_carry_class_and_host(make_router, cluster):
    router = make_router(
        application_name_add_class=True,
        application_name_add_host=True,
        hosts=[{"name": "here", "networks": ["127.0.0.0/8"]}],
    )
    with router.session(database="app", parameters={"application_name": "mine"}) as client:
        name = client.value("show application_name")
        assert name.startswith("mine") and "premium" in name and "here" in name and "127.0.0.1" in name
    for parameters in ({}, {"application_name": ""}):
        with router.session(database="app", parameters=parameters) as client:
            name = client.value("show application_name")
            assert name.startswith("127.0.0.1:") and name.endswith(" [premium@here]"), "no separator before the first"


@pytest.mark.short
def test_databases_go_where_their_entry_says(router):
    with router.session(database="app") as client:
        assert place(client) == "primary" and client.parameters["in_hot_standby"] == "off"
    with router.session(database="app_read") as client:
        assert place(client).startswith("r") and client.parameters["in_hot_standby"] == "on"
        assert client.value("select current_database()") == "app"
