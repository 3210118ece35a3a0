"""The workload tpch: what its scripts make, that the check notices what is wrong with it, and every query."""

import csv
import json
import random
import re
import subprocess
import time
from pathlib import Path

import pytest

from harness.router import BINARY

FOLDER = Path(__file__).resolve().parents[2] / "src/bench/workloads/tpch"
QUERIES = sorted(FOLDER.glob("query_*.sql"))
SCALE = "0.01"
SECONDS_MAX = 5.0  # of one query, on a machine with other things to do; they take some milliseconds

# Rows of each query at SCALE, whatever its parameters: at least and at most, and at least on average.
ROWS = {
    1: (4, 4, 4), 2: (0, 40, 1), 3: (10, 10, 10), 4: (5, 5, 5), 5: (3, 5, 4), 6: (1, 1, 1), 7: (1, 4, 3), 8: (2, 2, 2),
    9: (160, 175, 170), 10: (20, 20, 20), 11: (1, 200, 5), 12: (2, 2, 2), 13: (10, 50, 20), 14: (1, 1, 1), 15: (1, 2, 1),
    16: (150, 500, 200), 17: (1, 1, 1), 18: (1, 100, 5), 19: (1, 1, 1), 20: (0, 4, 1), 21: (0, 4, 2), 22: (5, 7, 6),
}
# Of all rows at scale 0.001, on any server.
FINGERPRINTS = {
    "region": "95d8b9f36346557aa5aaa020acc9417d",
    "nation": "a451173315a69ddb84f7b5f0b16b6755",
    "supplier": "05475aa9f3594171b766389208828985",
    "customer": "b5e034e978d79815bcc80ccde25c8cae",
    "part": "9f29e5a256c5b8f5f82805f2d5680d76",
    "partsupp": "c86c9d7f8c1389a74fbfbcb7dcf50730",
    "orders": "618f955a3fb5b3284f62f9ee712cffef",
    "lineitem": "83c22817af06de70cd259e37aa1414ba",
}

# The same questions asked without a correlated subquery. Parameters as in the files, as text.
ANOTHER_WAY = {
    2: """
        select balance, name, nation, id, maker, address, phone, comment from (
            select s.balance, s.name, n.name as nation, p.id, p.maker, s.address, s.phone, s.comment,
                ps.cost, min(ps.cost) over (partition by p.id) as least
            from sluice_tpch.part p, sluice_tpch.partsupp ps, sluice_tpch.supplier s, sluice_tpch.nation n, sluice_tpch.region r
            where ps.part_id = p.id and s.id = ps.supplier_id and n.id = s.nation_id and r.id = n.region_id
                and p.size = %(size)s::int and right(p.type, length(%(metal)s)) = %(metal)s and r.name = %(region)s
        ) as x where cost = least order by balance desc, nation, name, id limit 100""",
    4: """
        select priority, count(distinct id) from sluice_tpch.orders join sluice_tpch.lineitem on order_id = id
        where extract(year from ordered) * 12 + extract(month from ordered) - 1 - 2019 * 12 between %(month)s::int and %(month)s::int + 2
            and received > committed
        group by priority order by priority""",
    13: """
        select n, count(*) from (
            select (select count(*) from sluice_tpch.orders o where o.customer_id = c.id
                    and o.comment !~ (%(adjective)s || '.*' || %(noun)s)) as n
            from sluice_tpch.customer c
        ) as x group by n order by count(*) desc, n desc""",
    15: """
        select id, name, address, phone, total from (
            select s.*, sum(price * (1 - discount)) as total, rank() over (order by sum(price * (1 - discount)) desc) as place
            from sluice_tpch.supplier s join sluice_tpch.lineitem on supplier_id = s.id
            where shipped >= '2019-01-01'::date + %(month)s::int * interval '1 month'
                and shipped < '2019-01-01'::date + (%(month)s::int + 3) * interval '1 month'
            group by s.id
        ) as x where place = 1 order by id""",
    17: """
        select coalesce(sum(price), 0) / 7.0 from (
            select l.price, l.quantity, avg(l.quantity) over (partition by p.id) as mean
            from sluice_tpch.part p join sluice_tpch.lineitem l on l.part_id = p.id
            where p.brand = format('Brand#%%s%%s', %(maker)s, %(brand)s) and p.container = concat_ws(' ', %(kind)s, %(form)s)
        ) as x where 5 * quantity < mean""",
    18: """
        select c.name, c.id, o.id, o.ordered, o.total, x.pieces
        from (select order_id, sum(quantity) as pieces from sluice_tpch.lineitem group by order_id) as x
            join sluice_tpch.orders o on o.id = x.order_id join sluice_tpch.customer c on c.id = o.customer_id
        where x.pieces > %(pieces)s::int order by o.total desc, o.ordered limit 100""",
    20: """
        select distinct s.name, s.address
        from sluice_tpch.supplier s
            join sluice_tpch.nation n on n.id = s.nation_id and n.name = %(nation)s
            join sluice_tpch.partsupp ps on ps.supplier_id = s.id
            join sluice_tpch.part p on p.id = ps.part_id and split_part(p.name, ' ', 1) ~ ('^' || %(colour)s)
            join (select part_id, supplier_id, sum(quantity) as sold from sluice_tpch.lineitem
                  where extract(year from shipped) = %(year)s::int group by part_id, supplier_id) as x
                on x.part_id = ps.part_id and x.supplier_id = ps.supplier_id and 2 * ps.available > x.sold
        order by s.name""",
    21: """
        with late as (
            select o.id, count(distinct l.supplier_id) as suppliers,
                count(distinct l.supplier_id) filter (where l.received > l.committed) as to_blame,
                min(l.supplier_id) filter (where l.received > l.committed) as one, count(*) filter (where l.received > l.committed) as lines
            from sluice_tpch.orders o join sluice_tpch.lineitem l on l.order_id = o.id where o.status = 'F' group by o.id
        )
        select s.name, sum(late.lines)::bigint as waits
        from late join sluice_tpch.supplier s on s.id = late.one join sluice_tpch.nation n on n.id = s.nation_id
        where suppliers > 1 and to_blame = 1 and n.name = %(nation)s group by s.name order by waits desc, s.name limit 100""",
    22: """
        with there as (select substr(phone, 1, 2) as code, balance, id from sluice_tpch.customer
                       where nation_id + 10 in (%(c1)s, %(c2)s, %(c3)s, %(c4)s, %(c5)s, %(c6)s, %(c7)s))
        select code, count(*), sum(balance) from there left join sluice_tpch.orders o on o.customer_id = there.id
        where o.id is null and balance > (select avg(balance) from there where balance > 0) group by code order by code""",
}


class Query:
    """A query file, as `sluice bench` reads it."""

    SET = re.compile(r"\\set (\w+) (random|choice)\((.*)\)$")
    TOKEN = re.compile(r"'(?:[^']|'')*'|::|:(\w+)")

    def __init__(self, path):
        self.number = int(path.stem.split("_")[1])
        lines = path.read_text().splitlines()
        found = [self.SET.match(line) for line in lines]
        self.sets = {m[1]: (m[2], m[3]) for m in found if m}
        body = "\n".join(line for line in lines if not line.startswith(("\\", "--")))
        self.names = []
        self.sql = self.TOKEN.sub(self._number, body)
        assert ";" not in self.sql

    def _number(self, found):
        name = found[1]
        if not name:
            return found[0]
        if name not in self.names:
            self.names.append(name)
        return f"${self.names.index(name) + 1}"

    def draw(self, rng):
        values = []
        for name in self.names:
            kind, arguments = self.sets[name]
            if kind == "random":
                values.append(str(rng.randint(*map(int, arguments.split(",")))))
            else:
                values.append(rng.choice(re.findall(r"'([^']*)'", arguments)))
        return values

    def prepare(self, cursor):
        """With parameters of unknown types, as a client that binds text does."""
        cursor.execute(f"prepare q{self.number} as {self.sql}")

    def run(self, cursor, values):
        arguments = f"({', '.join(['%s'] * len(values))})" if values else ""
        cursor.execute(f"execute q{self.number}{arguments}", values)
        return cursor.fetchall()


def scaled(script, scale):
    return re.sub(r"(?<!:):scale\b", scale, script.read_text())


def make(connection, scale):
    with connection.cursor() as cursor:
        for script in sorted(FOLDER.glob("init_*.sql")):
            cursor.execute(scaled(script, scale))


def checked(connection, scale):
    with connection.cursor() as cursor:
        cursor.execute(scaled(FOLDER / "check.sql", scale))
        return cursor.fetchall()


@pytest.fixture(scope="module")
def database(cluster):
    """A connection to a database of this module's own; it may be filled at any scale."""
    cluster.primary.query("create database tpch")
    connection = cluster.primary.connect("tpch")
    yield connection
    connection.close()
    cluster.primary.query("drop database tpch")


@pytest.fixture(scope="module")
def filled(database):
    make(database, SCALE)
    return database


@pytest.mark.parametrize("scale", ["0.001", "0.0037", SCALE])
def test_data_are_as_they_should_be(database, scale):
    make(database, scale)
    rows = checked(database, scale)
    assert len(rows) > 100
    assert [row for row in rows if not row[3]] == []


def test_data_are_the_same_everywhere(database):
    make(database, "0.001")
    with database.cursor() as cursor:
        found = {}
        for table in FINGERPRINTS:
            cursor.execute(f"select md5(string_agg(t::text, '|' order by t)) from sluice_tpch.{table} t")
            found[table] = cursor.fetchone()[0]
    assert found == FINGERPRINTS


@pytest.mark.parametrize(
    "harm, noticed",
    [
        ("update sluice_tpch.lineitem set price = price + 1 where order_id = 1 and line = 1", "lines with a wrong price"),
        ("update sluice_tpch.lineitem set shipped = shipped - 200 where order_id = 2", "lines shipped on a wrong day"),
        ("update sluice_tpch.orders set customer_id = 3 where id = 1", "orders of customers who do not order"),
        ("update sluice_tpch.orders set total = 0 where id = 1", "orders with a wrong total"),
        ("update sluice_tpch.orders set status = 'X' where id = 1", "orders with a wrong state"),
        ("delete from sluice_tpch.lineitem where order_id = 1", "orders with other than one to seven lines"),
        ("update sluice_tpch.customer set segment = 'FARMING' where id % 7 = 0", "customers in FARMING"),
        ("update sluice_tpch.orders set comment = replace(comment, 'requests', '')", "orders with special requests"),
        ("update sluice_tpch.lineitem set quantity = quantity / 2, price = price / 2", "mean quantity"),
        ("update sluice_tpch.supplier set comment = ''", "suppliers with complaints"),
        ("update sluice_tpch.partsupp set comment = 'short' where part_id = 1", "comments on stocks that are too short or too long"),
        ("update sluice_tpch.generated set scale = 0.010001", "scale"),
        ("delete from sluice_tpch.generated", "rows of generated"),
        ("update sluice_tpch.lineitem set mode = 'CAMEL' where mode = 'CANAL'", "lines by CANAL"),
        ("update sluice_tpch.customer set segment = 'FISHING' where segment = 'FARMING'", "customers in FARMING"),
        ("update sluice_tpch.part set brand = 'Brand#56' where brand = 'Brand#55'", "parts of Brand#55"),
        ("delete from sluice_tpch.lineitem where line = 7", "orders of 7 lines"),
    ],
)
def test_the_check_notices(filled, harm, noticed):
    filled.autocommit = False
    try:
        with filled.cursor() as cursor:
            cursor.execute(harm)
        assert noticed in [row[0] for row in checked(filled, SCALE) if not row[3]]
    finally:
        filled.rollback()
        filled.autocommit = True


def test_the_program_has_it(cluster, database):
    dsn = f"host={cluster.primary.socket_dir} port={cluster.primary.port} dbname=tpch user=postgres"
    for words in (["init", "--scale", "0.001"], ["check", "--scale", "0.001"]):
        done = subprocess.run([BINARY, "bench", *words, "--workload", "tpch", dsn], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([BINARY, "bench", "check", "--scale", "0.002", "--workload", "tpch", dsn], capture_output=True, text=True)
    assert done.returncode != 0, "data of another scale"
    make(database, SCALE)


def test_the_program_runs_every_query(cluster, filled, tmp_path):
    """On the server itself: some hundreds of queries, each of the 22 among them, and none fails."""
    dsn = f"host={cluster.primary.socket_dir} port={cluster.primary.port} dbname=tpch user=postgres"
    options = {
        "--dsn": dsn, "--workload": "tpch", "--scale": SCALE, "--terminals": "12", "--duration": "6", "--warm-up": "0",
        "--lifetime": "3,4", "--think": "0.02", "--premium-share": "0.5", "--seed": "7", "--output": tmp_path,
    }
    words = [str(word) for pair in options.items() for word in pair]
    done = subprocess.run([BINARY, "bench", "run", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    with (folder / "queries.csv").open(newline="") as file:
        queries = list(csv.DictReader(file))
    assert {q["query"] for q in queries} == {path.stem for path in QUERIES}
    assert {q["error"] for q in queries} == {""}
    for one in json.loads((folder / "run.json").read_text())["classes"]:
        assert one["sessions_failed"] == 0 and not any(one["lost"].values()), one


def test_there_are_all_twenty_two():
    assert [Query(path).number for path in QUERIES] == list(range(1, 23))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_query(filled, path):
    query, rng, counts = Query(path), random.Random(1), []
    assert set(query.names) == set(query.sets)
    least, most, mean = ROWS[query.number]
    with filled.cursor() as cursor:
        query.prepare(cursor)
        for _ in range(20):
            values = query.draw(rng)
            begin = time.monotonic()
            rows = query.run(cursor, values)
            assert time.monotonic() - begin < SECONDS_MAX, values
            counts.append(len(rows))
            assert least <= len(rows) <= most, values
            assert all(value is not None for row in rows for value in row), values
        cursor.execute(f"deallocate q{query.number}")
    assert sum(counts) / len(counts) >= mean, counts


@pytest.mark.parametrize("number", ANOTHER_WAY)
def test_asked_in_another_way(filled, number):
    query, rng, found = Query(QUERIES[number - 1]), random.Random(2), 0
    with filled.cursor() as cursor:
        query.prepare(cursor)
        for _ in range(5):
            values = query.draw(rng)
            rows = query.run(cursor, values)
            cursor.execute(ANOTHER_WAY[number], dict(zip(query.names, values)))
            assert cursor.fetchall() == rows, values
            found += len(rows)
        cursor.execute(f"deallocate q{number}")
    assert found > 0
