"""psycopg 3, psycopg2 and asyncpg."""

import asyncio
import io
import select
import threading

import asyncpg
import psycopg
import psycopg2
import psycopg2.extras
import pytest

from harness.postgres import PASSWORD

MODES = {"plain": "disable", "tls": "require"}
LINES = "".join(f"{i}\trow {i}\n" for i in range(20000))


@pytest.fixture(params=MODES)
def sslmode(request):
    return MODES[request.param]


# ---- psycopg 3


@pytest.fixture
def psycopg3(front, sslmode):
    with psycopg.connect(front.dsn(sslmode=sslmode), autocommit=True) as connection:
        yield connection


@pytest.mark.short
def test_psycopg3_types_errors_and_prepared_statements(psycopg3):
    row = psycopg3.execute(
        "select %s::int, %s::text, %s::bytea, %s::float8, %s::jsonb",
        (1, "caf\u00e9", b"\0\xff", 1.5, '{"k": 1}'),
    ).fetchone()
    assert row == (1, "caf\u00e9", b"\0\xff", 1.5, {"k": 1})
    with pytest.raises(psycopg.errors.DivisionByZero):
        psycopg3.execute("select 1/0")
    for number in range(20):
        assert psycopg3.execute("select %s::int + 1", (number,), prepare=True).fetchone() == (number + 1,)
    with psycopg3.cursor(binary=True) as cursor:
        assert cursor.execute("select 12345::int8, now() is not null").fetchone() == (12345, True)
    assert psycopg3.info.parameter_status("server_encoding") == "UTF8"


@pytest.mark.short
def test_psycopg3_pipeline_mode(psycopg3):
    with psycopg3.pipeline():
        cursors = [psycopg3.execute("select %s::int", (i,)) for i in range(200)]
        assert [cursor.fetchone()[0] for cursor in cursors] == list(range(200))
    with pytest.raises(psycopg.errors.DivisionByZero):
        with psycopg3.pipeline() as pipeline:
            psycopg3.execute("select 1")
            psycopg3.execute("select 1/0")
            psycopg3.execute("select 2")
            pipeline.sync()
    assert psycopg3.execute("select 3").fetchone() == (3,)


def test_psycopg3_copy_and_large_values(psycopg3):
    psycopg3.execute("create temp table t (a int, b text)")
    with psycopg3.cursor().copy("copy t from stdin") as copy:
        copy.write(LINES)
    with psycopg3.cursor().copy("copy t to stdout") as copy:
        assert b"".join(copy).decode() == LINES
    with pytest.raises(psycopg.errors.QueryCanceled):
        with psycopg3.cursor().copy("copy t from stdin") as copy:
            copy.write("1\tx\n")
            raise ZeroDivisionError
    value = "x" * (16 << 20)
    assert psycopg3.execute("select %s::text", (value,)).fetchone()[0] == value


@pytest.mark.short
def test_psycopg3_notifications_cancel_and_transactions(front, psycopg3, sslmode):
    psycopg3.execute("listen psycopg3")
    with psycopg.connect(front.dsn(sslmode=sslmode), autocommit=True) as other:
        other.execute("notify psycopg3, 'hello'")
    assert next(psycopg3.notifies()).payload == "hello"
    timer = threading.Timer(0.3, psycopg3.cancel)
    timer.start()
    with pytest.raises(psycopg.errors.QueryCanceled):
        psycopg3.execute("select pg_sleep(20)")
    timer.join()
    with pytest.raises(psycopg.errors.UndefinedTable):
        with psycopg3.transaction():
            psycopg3.execute("create temp table gone (a int)")
            with psycopg3.transaction():
                psycopg3.execute("insert into gone values (1)")
            psycopg3.execute("select * from nosuch")
    assert psycopg3.execute("select to_regclass('gone')").fetchone() == (None,)


def test_psycopg3_async_connections(front, sslmode):
    async def work():
        connections = await asyncio.gather(
            *[psycopg.AsyncConnection.connect(front.dsn(sslmode=sslmode), autocommit=True) for _ in range(20)]
        )

        async def use(connection, number):
            cursor = await connection.execute("select %s::int, pg_sleep(0.01)", (number,))
            return (await cursor.fetchone())[0]

        for _ in range(5):
            assert await asyncio.gather(*[use(c, i) for i, c in enumerate(connections)]) == list(range(20))
        for connection in connections:
            await connection.close()

    asyncio.run(work())


# ---- psycopg2


@pytest.fixture
def two(front, sslmode):
    connection = front.connect(sslmode=sslmode)
    yield connection
    connection.close()


@pytest.mark.short
def test_psycopg2_types_errors_and_transactions(two):
    cursor = two.cursor()
    cursor.execute("select %s, %s, %s, %s::text[], %s::date", (1, "caf\u00e9", 1.5, ["a", "b"], "2024-02-29"))
    row = cursor.fetchone()
    assert row[:4] == (1, "caf\u00e9", row[2], ["a", "b"]) and str(row[4]) == "2024-02-29"
    with pytest.raises(psycopg2.errors.DivisionByZero):
        cursor.execute("select 1/0")
    two.autocommit = False
    cursor.execute("create temp table t (a int)")
    assert two.get_transaction_status() == psycopg2.extensions.TRANSACTION_STATUS_INTRANS
    two.rollback()
    with pytest.raises(psycopg2.errors.UndefinedTable):
        cursor.execute("select * from t")
    two.rollback()
    psycopg2.extras.execute_values(
        cursor, "select * from (values %s) as v", [(i,) for i in range(1000)], page_size=1000
    )
    assert len(cursor.fetchall()) == 1000


def test_psycopg2_copy_named_cursor_and_large_values(two):
    two.autocommit = False
    cursor = two.cursor()
    cursor.execute("create temp table t (a int, b text)")
    cursor.copy_expert("copy t from stdin", io.StringIO(LINES))
    out = io.StringIO()
    cursor.copy_expert("copy t to stdout", out)
    assert out.getvalue() == LINES
    with two.cursor(name="server_side") as named:
        named.itersize = 500
        named.execute("select a from t order by a")
        assert [row[0] for row in named] == list(range(20000))
    value = "x" * (16 << 20)
    cursor.execute("select %s", (value,))
    assert cursor.fetchone()[0] == value
    large = two.lobject()
    large.write(b"y" * 100000)
    large.seek(0)
    assert large.read() == "y" * 100000
    two.rollback()


@pytest.mark.short
def test_psycopg2_notifications_notices_and_cancel(front, two, sslmode):
    cursor = two.cursor()
    cursor.execute("listen psycopg2")
    other = front.connect(sslmode=sslmode)
    other.cursor().execute("notify psycopg2, 'hello'")
    other.close()
    assert select.select([two], [], [], 5)[0]
    two.poll()
    assert [n.payload for n in two.notifies] == ["hello"]
    cursor.execute("do $$ begin raise notice 'seen'; end $$")
    assert "seen" in two.notices[-1]
    timer = threading.Timer(0.3, two.cancel)
    timer.start()
    with pytest.raises(psycopg2.errors.QueryCanceled):
        cursor.execute("select pg_sleep(20)")
    timer.join()


# ---- asyncpg


def with_asyncpg(front, sslmode, body):
    async def work():
        connection = await asyncpg.connect(
            host=front.host,
            port=front.port,
            user="alice",
            password=PASSWORD,
            database="app",
            ssl=sslmode if sslmode == "require" else False,
        )
        try:
            await body(connection)
        finally:
            await connection.close()

    asyncio.run(work())


@pytest.mark.short
def test_asyncpg_types_errors_and_prepared_statements(front, sslmode):
    async def body(connection):
        row = await connection.fetchrow(
            "select $1::int4, $2::text, $3::bytea, $4::timestamptz is null, array[1,2], row(1,'x')",
            1,
            "caf\u00e9",
            b"\0\xff",
            None,
        )
        assert tuple(row)[:5] == (1, "caf\u00e9", b"\0\xff", True, [1, 2])
        with pytest.raises(asyncpg.DivisionByZeroError):
            await connection.fetch("select 1/0")
        statement = await connection.prepare("select $1::int + 1")
        for number in range(20):
            assert await statement.fetchval(number) == number + 1
        async with connection.transaction():
            assert (
                len([r async for r in connection.cursor("select generate_series(1, 1000)", prefetch=100)])
                == 1000
            )
        await connection.executemany("select $1::int", [(i,) for i in range(1000)])
        await connection.reset()

    with_asyncpg(front, sslmode, body)


def test_asyncpg_copy_and_large_values(front, sslmode):
    async def body(connection):
        await connection.execute("create temp table t (a int, b text)")
        assert (
            await connection.copy_records_to_table("t", records=[(i, f"row {i}") for i in range(20000)])
            == "COPY 20000"
        )
        out = io.BytesIO()
        await connection.copy_from_query("select * from t", output=out)
        assert out.getvalue().decode() == LINES
        value = "x" * (16 << 20)
        assert await connection.fetchval("select $1::text", value) == value

    with_asyncpg(front, sslmode, body)


@pytest.mark.short
def test_asyncpg_notifications_cancel_and_timeouts(front, sslmode):
    async def body(connection):
        heard = asyncio.get_running_loop().create_future()
        await connection.add_listener("asyncpg", lambda *event: heard.done() or heard.set_result(event[3]))
        await connection.execute("notify asyncpg, 'hello'")
        assert await asyncio.wait_for(heard, 5) == "hello"
        with pytest.raises(asyncio.TimeoutError):  # asyncpg cancels the query through a connection of its own
            await connection.fetch("select pg_sleep(20)", timeout=0.3)
        assert await connection.fetchval("select 1") == 1

    with_asyncpg(front, sslmode, body)


def test_asyncpg_pool(front, sslmode):
    async def work():
        async with asyncpg.create_pool(
            host=front.host,
            port=front.port,
            user="alice",
            password=PASSWORD,
            database="app",
            min_size=5,
            max_size=10,
            ssl=sslmode if sslmode == "require" else False,
        ) as pool:
            assert await asyncio.gather(*[pool.fetchval("select $1::int", i) for i in range(300)]) == list(
                range(300)
            )

    asyncio.run(work())
