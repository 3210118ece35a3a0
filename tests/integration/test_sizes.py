"""Expected sizes: what is learned, the shortest first, replicas that take intervals of sizes."""

import threading

import pytest

from harness.net import wait_until
from harness.wire import LoginRefused


class Asked:
    """A query in a thread of its own."""

    def __init__(self, client, sql):
        self.thread = threading.Thread(target=lambda: client.query(sql))
        self.thread.start()

    def done(self):
        self.thread.join(30)
        assert not self.thread.is_alive(), "still waits"


@pytest.fixture
def order(cluster):
    """The names of the transactions in the order in which they ran."""
    cluster.primary.query("drop table if exists size_log", database="app")
    cluster.primary.query("create table size_log (name text, id serial)", database="app")
    cluster.primary.query("grant all on size_log, size_log_id_seq to public", database="app")
    yield lambda: [
        row[0] for row in cluster.primary.query("select name from size_log order by id", database="app")
    ]
    cluster.primary.query("drop table size_log", database="app")


@pytest.fixture
def one_slot(make_router):
    def make(**config):
        config = {"pool_mode": "transaction", "max_active": 1, "queue_discipline": "shortest_first"} | config
        return make_router(threads=1, **config)

    return make


def waiting(router, count):
    wait_until(lambda: router.metric("sluice_sessions_waiting") == count, 5, f"{count} transactions to wait")


def size_of(text):
    return {"options": f"-c sluice.size={text}"}


def long(name):
    return f"insert into size_log select '{name}' from pg_sleep(0.08)"


def short(name):
    return f"insert into size_log values ('{name}')"


def teach(router, client, times=6):
    """Sizes are exchanged about twice a second."""
    for number in range(times):
        client.query(long("taught"))
        client.query(short("taught"))
    wait_until(lambda: len(known(router)) >= 2 and all(int(row["count"]) == times for row in known(router)), 5,
               "the sizes to be known")


def known(router):
    return [row for row in router.console("SHOW SIZES") if "size_log" in row["statement"]]


def log_of(router, order, asked, ageing_passes=lambda: None):
    """The order in which these ran that were asked one after the other while the slot was taken."""
    clients = [router.session("bob") for _ in asked]
    holder = router.session("bob")
    holder.query("begin")
    threads = []
    for client, sql in zip(clients, asked):
        threads.append(Asked(client, sql))
        waiting(router, len(threads))
        ageing_passes()
    holder.query("commit")
    for thread in threads:
        thread.done()
    return [name for name in order() if name != "taught"]


def test_the_shortest_goes_first_once_sizes_are_known(one_slot, order):
    router = one_slot()
    with router.session("bob") as client:
        teach(router, client)
    asked = [long("a"), short("b"), long("c"), short("d")]
    assert log_of(router, order, asked) == ["b", "d", "a", "c"]
    rows = {row["statement"].split()[3]: row for row in known(router)}
    assert int(rows["select"]["mean_us"]) > 70_000 > int(rows["values"]["mean_us"]) > 0
    assert all("taught" not in row["statement"] for row in rows.values()), "no literal is shown"
    wait_until(lambda: router.metric("sluice_slowdown_ratio_count") >= 16, 5, "slowdowns to be recorded")
    assert router.metric("sluice_size_entries") >= 2


def test_fcfs_stays_what_it_was(one_slot, order):
    router = one_slot(queue_discipline="fcfs", size_learning="on")
    with router.session("bob") as client:
        teach(router, client)
    asked = [long("a"), short("b"), long("c"), short("d")]
    assert log_of(router, order, asked) == ["a", "b", "c", "d"]


def test_ageing_bounds_the_wait_of_the_large(one_slot, order):
    router = one_slot(queue_ageing="1s")
    with router.session("bob") as client:
        teach(router, client)
    started = threading.Event()

    def pause():
        if not started.is_set():
            started.set()
            threading.Event().wait(1.1)

    assert log_of(router, order, [long("a"), short("b"), short("c")], pause) == ["a", "b", "c"]


def test_nothing_is_learned_where_nothing_uses_it(one_slot, order):
    router = one_slot(queue_discipline="fcfs")
    with router.session("bob") as client:
        for _ in range(6):
            client.query(short("taught"))
    threading.Event().wait(1.2)
    assert router.console("SHOW SIZES") == []
    assert router.console("SHOW CUTOFFS") == []


def test_statements_that_differ_in_literals_are_the_same_work(make_router):
    router = make_router(pool_mode="transaction", size_learning="on", threads=1)
    with router.session("bob") as client:
        for number in range(3):
            client.query(f"select {number} + length('x{number}') /* n {number} */")
    wait_until(lambda: router.console("SHOW SIZES"), 5, "a kind of work")
    assert [(row["statement"], row["count"]) for row in router.console("SHOW SIZES")] == [
        ("select ? + length ( ? )", "3")
    ]


def test_what_a_trusted_session_says_of_its_size_counts(one_slot, order):
    router = one_slot(trust_size_option_users=["bob"])
    sizes = {"a": "3", "b": "500ms", "c": "2s", "d": "100us"}
    clients = {name: router.session("bob", parameters=size_of(size)) for name, size in sizes.items()}
    holder = router.session("bob")
    holder.query("begin")
    threads = []
    for name, client in clients.items():
        threads.append(Asked(client, short(name)))
        waiting(router, len(threads))
    holder.query("commit")
    for thread in threads:
        thread.done()
    assert order() == ["d", "b", "c", "a"]
    with pytest.raises(LoginRefused) as refused:
        router.session("bob", parameters=size_of("huge"))
    assert refused.value.sqlstate == "22023"
    router.session("alice", parameters=size_of("huge")).close()


def test_replicas_take_intervals_of_sizes(make_router):
    router = make_router(
        pool_mode="transaction",
        policy="least_loaded",
        max_active=4,
        order_within_pool="sita_e",
        trust_size_option_users=["bob"],
        threads=1,
    )
    small = router.session("bob", "app_read", parameters=size_of("0.01"))
    large = router.session("bob", "app_read", parameters=size_of("0.15"))
    assert router.console("SHOW CUTOFFS")[0]["state"] == "by load"
    ports = {"small": set(), "large": set()}
    for number in range(30):
        # Two fifths of the work are small: those of two replicas.
        for kind, client in [("small", small)] * 10 + [("large", large)]:
            port = client.value("select inet_server_port()")
            if number >= 12:
                ports[kind].add(port)
    rows = router.console("SHOW CUTOFFS")
    assert [row["state"] for row in rows] == ["by size"] * 5
    assert rows[0]["from_seconds"] == "0" and rows[-1]["to_seconds"] is None
    assert abs(sum(float(row["load_share"]) for row in rows) - 1) < 0.02
    assert ports["small"].isdisjoint(ports["large"])
    assert router.metric("sluice_size_assignments_total", by="size") > 200
    assert router.metric("sluice_sizes_known") >= 1
    wait_until(lambda: "replicas take intervals of sizes" in router.log_text(), 5, "the log to say so")
