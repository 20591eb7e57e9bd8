"""Cursors: DECLARE, FETCH, MOVE, CLOSE do what a real PostgreSQL does, whatever the order."""

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import asyncpg
import psycopg
import pytest
from pgwire_server import PgwireServer

DIRECTIONS = [
    *("", "NEXT", "PRIOR", "FIRST", "LAST", "ALL", "FORWARD", "BACKWARD"),
    *("FORWARD ALL", "BACKWARD ALL", "FORWARD 0", "BACKWARD 0", "0", "2", "-2", "+3", "RELATIVE 0"),
    *("RELATIVE 2", "RELATIVE -2", "ABSOLUTE 0", "ABSOLUTE 1", "ABSOLUTE 3", "ABSOLUTE -1"),
    *("ABSOLUTE -2", "ABSOLUTE 99", "ABSOLUTE -99", "FORWARD 2", "BACKWARD 2", "FORWARD -1"),
    *("BACKWARD -2", "RELATIVE 99", "RELATIVE -99", "RELATIVE -1", "RELATIVE 1"),
]
QUERY = "SELECT i, 'row ' || i AS t FROM generate_series(1, {count}) AS g(i) ORDER BY i"


@pytest.fixture(scope="module")
def both(
    transport: PgwireServer, real_postgres: dict[str, Any]
) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    """Ours and a real PostgreSQL's."""
    with psycopg.connect(**real_postgres, autocommit=True) as theirs:
        theirs.execute("CREATE TEMP TABLE notes (id int, title text)")
        with ours(transport, autocommit=True) as mine:
            yield mine, theirs


def ours(transport: PgwireServer, **more: Any) -> psycopg.Connection:
    return psycopg.connect(
        f"{transport.address}/local", user="mia", password=transport.tokens["mia"], **more
    )


def said(connection: psycopg.Connection, sql: str) -> Any:
    """Rows, types, formats and tag of each statement of a simple query; or its error."""
    found = connection.pgconn.exec_(sql.encode())
    if found.status == psycopg.pq.ExecStatus.FATAL_ERROR:
        field = psycopg.pq.DiagnosticField
        return tuple(
            (found.error_field(each) or b"").decode()
            for each in (field.SQLSTATE, field.MESSAGE_PRIMARY, field.MESSAGE_HINT)
        )
    width = range(found.nfields)
    return (
        (found.command_status or b"").decode(),
        [(found.fname(place), found.ftype(place), found.fformat(place)) for place in width],
        [[found.get_value(row, place) for place in width] for row in range(found.ntuples)],
        connection.pgconn.transaction_status,
    )


def same(both: Any, *statements: str) -> list[Any]:
    """Run the same here and there; what both said."""
    found = []
    for sql in statements:
        mine, theirs = (said(each, sql) for each in both)
        assert mine == theirs, sql
        found.append(mine)
    return found


@pytest.mark.parametrize("seed", range(24))
def test_fetches_in_any_order_return_what_postgres_returns(both: Any, seed: int) -> None:
    chance = random.Random(seed)
    count = chance.choice([0, 1, 2, 5, 9])
    scroll = chance.choice(["SCROLL", "SCROLL", "NO SCROLL"])
    query = QUERY.format(count=count)
    same(both, "BEGIN", f"DECLARE c {scroll} CURSOR FOR {query}", "SAVEPOINT s")
    for _ in range(40):
        verb = chance.choice(["FETCH", "FETCH", "MOVE"])
        between = chance.choice(["FROM", "IN"])
        [last] = same(both, f"{verb} {chance.choice(DIRECTIONS)} {between} c")
        if last[0] == "55000":
            # the failed step may have moved it, which a cursor that rolled back does not tell
            break
    same(both, "ROLLBACK", "FETCH c")


SCRIPTS = {
    "outside of a transaction": ["DECLARE c CURSOR FOR SELECT 1", "FETCH c", "CLOSE c"],
    "in one simple query": [
        "DECLARE c CURSOR FOR SELECT 1 AS a; FETCH c",
        "FETCH c",
        "DECLARE c CURSOR FOR SELECT 2 AS a; FETCH c; CLOSE c",
    ],
    "held": [
        "DECLARE c CURSOR WITH HOLD FOR SELECT i FROM generate_series(1, 5) g(i)",
        *("FETCH 2 c", "BEGIN", "FETCH c", "COMMIT", "FETCH BACKWARD 2 FROM c", "BEGIN"),
        *("FETCH c", "ROLLBACK", "FETCH NEXT FROM c", "CLOSE c", "FETCH c"),
    ],
    "held, rolled back": [
        "BEGIN",
        "DECLARE c CURSOR WITH HOLD FOR SELECT 1 AS a",
        *("ROLLBACK", "FETCH c"),
    ],
    "held, in a transaction that failed": [
        "BEGIN",
        "DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT 1 AS a",
        *("SELECT 1/0", "FETCH c", "COMMIT", "FETCH c"),
    ],
    "held, in a simple query that failed": [
        "DECLARE c CURSOR WITH HOLD FOR SELECT 1 AS a; SELECT 1/0",
        "FETCH c",
    ],
    "without hold": [
        "BEGIN",
        "DECLARE c CURSOR WITHOUT HOLD FOR SELECT 1 AS a",
        *("COMMIT", "FETCH c"),
    ],
    "twice": [
        "BEGIN",
        "DECLARE c CURSOR FOR SELECT 1",
        "DECLARE c CURSOR FOR SELECT 2",
        *("FETCH c", "ROLLBACK"),
    ],
    "savepoints": [
        *("SAVEPOINT a", "RELEASE a", "ROLLBACK TO a", "BEGIN"),
        "DECLARE one CURSOR FOR SELECT 1 AS a",
        "SAVEPOINT s",
        "DECLARE two CURSOR FOR SELECT 2 AS a",
        *("ROLLBACK TO SAVEPOINT s", "FETCH one", "FETCH two", "ROLLBACK TO s"),
        "DECLARE three CURSOR FOR SELECT 3 AS a",
        *("RELEASE SAVEPOINT s", "FETCH three", "RELEASE s", "ROLLBACK TO nothing", "ROLLBACK"),
        *("FETCH three",),
    ],
    "binary": [
        "BEGIN",
        "DECLARE c BINARY SCROLL CURSOR FOR SELECT 7 AS a, 'x'::text AS b, 1.5::float8 AS f",
        *("FETCH ALL IN c", "MOVE BACKWARD ALL c", "FETCH 1 c", "COMMIT"),
    ],
    "names": [
        "BEGIN",
        'DECLARE "Mixed ""c" CURSOR FOR SELECT 1 AS a',
        *('FETCH "Mixed ""c"', "FETCH Mixed", "ROLLBACK", "BEGIN"),
        "DECLARE Next SCROLL CURSOR FOR SELECT 1 AS a",
        *("FETCH next", "FETCH PRIOR next", "CLOSE NEXT", "COMMIT"),
    ],
    "close": [
        "BEGIN",
        "DECLARE a CURSOR FOR SELECT 1",
        "DECLARE b CURSOR FOR SELECT 1",
        *("CLOSE ALL", "CLOSE a", "ROLLBACK", "CLOSE ALL", "CLOSE nothing"),
    ],
    "options": [
        "DECLARE c SCROLL NO SCROLL CURSOR FOR SELECT 1",
        "DECLARE c INSENSITIVE ASENSITIVE CURSOR FOR SELECT 1",
        "DECLARE c CURSOR FOR SELECT * FROM nothing",
        "DECLARE c CURSOR FOR SELECT 1/0",
        *("DECLARE c CURSOR", "DECLARE CURSOR FOR SELECT 1", "FETCH", "FETCH FORWARD", "CLOSE"),
        *("FETCH ABSOLUTE c", "FETCH 99999999999 c", "MOVE RELATIVE FROM c", "FETCH 1 2 c"),
        "DECLARE c CURSOR WITH HOLD FOR VALUES (1), (2)",
        *("FETCH ALL c", "CLOSE c"),
        "DECLARE c CURSOR WITH HOLD FOR TABLE notes",
        "CLOSE c",
        "DECLARE c INSENSITIVE SCROLL CURSOR WITH HOLD FOR WITH w AS (SELECT 1 AS a) TABLE w",
        *("FETCH ALL c", "DISCARD ALL", "FETCH c"),
    ],
    "a position in a batch": ["SELECT 1; DECLARE c CURSOR FOR SELECT nothing"],
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_what_postgres_says(both: Any, name: str) -> None:
    try:
        same(both, *SCRIPTS[name])
    finally:
        for each in both:
            said(each, "ROLLBACK")
            said(each, "CLOSE ALL")


def test_a_cursor_shows_what_select_shows_and_nothing_else(transport: PgwireServer) -> None:
    with ours(transport, autocommit=True) as mine:
        assert said(mine, "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM secrets")[0] == "42501"
        assert said(mine, "FETCH c")[0] == "34000"
        assert said(mine, "DECLARE c CURSOR WITH HOLD FOR DELETE FROM notes")[0] == "42601"


def test_psycopg_named_cursors(transport: PgwireServer) -> None:
    with ours(transport) as connection:
        with connection.cursor("one") as cursor:
            cursor.execute("SELECT i FROM generate_series(1, %s) AS g(i)", (250,))
            cursor.itersize = 50
            assert [row[0] for row in cursor] == list(range(1, 251))
            cursor.scroll(0, mode="absolute")
            assert cursor.fetchone() == (1,)
            cursor.scroll(98)
            assert cursor.fetchmany(3) == [(100,), (101,), (102,)]
        with connection.cursor("two", scrollable=False) as cursor:
            cursor.execute("SELECT 1 AS a")
            assert cursor.fetchone() == (1,)
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                cursor.scroll(-1)
        connection.rollback()
        held = connection.cursor("three", withhold=True)
        held.execute("SELECT id FROM notes ORDER BY id", binary=True)
        connection.commit()
        assert [row[0] for row in held.fetchall()] == [1, 2, 3]
        held.close()


def test_asyncpg_cursors_and_async_psycopg(transport: PgwireServer) -> None:
    where = f"{transport.address}/local"
    token = transport.tokens["mia"]

    async def work() -> None:
        connection = await asyncpg.connect(where, user="mia", password=token, ssl=False)
        async with connection.transaction():
            query = "SELECT i FROM generate_series(1, $1::int) AS g(i)"
            found = [row[0] async for row in connection.cursor(query, 1000, prefetch=77)]
            assert found == list(range(1, 1001))
            cursor = await connection.cursor(query, 10)
            assert [row[0] for row in await cursor.fetch(3)] == [1, 2, 3]
            assert await cursor.forward(4) == 4
            assert (await cursor.fetchrow())[0] == 8
        await connection.close()
        opened = await psycopg.AsyncConnection.connect(where, user="mia", password=token)
        async with opened, opened.cursor("c") as named:
            await named.execute("SELECT i FROM generate_series(1, 300) AS g(i)")
            assert [row[0] async for row in named] == list(range(1, 301))

    asyncio.run(work())


def test_a_portal_is_suspended_and_goes_on(transport: PgwireServer) -> None:
    """The same rows by DECLARE and by the protocol's own portals, in one name space."""
    with ours(transport) as connection:
        connection.execute("DECLARE c CURSOR FOR SELECT i FROM generate_series(1, 5) AS g(i)")
        assert connection.execute("FETCH 2 FROM c").fetchall() == [(1,), (2,)]
        assert connection.execute("MOVE 1 FROM c").statusmessage == "MOVE 1"
        assert connection.execute("FETCH ALL FROM c").fetchall() == [(4,), (5,)]
