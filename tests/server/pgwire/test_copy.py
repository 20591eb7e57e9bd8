"""COPY … TO STDOUT: the bytes and the errors are those of a real PostgreSQL, clients read them."""

import asyncio
import io
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pg8000.native
import psycopg
import pytest
from pgwire_server import PgwireServer

VALUES = r"""SELECT * FROM (VALUES
 (1, 'plain', 1.50::numeric, true, date '2024-02-29', NULL::text, ARRAY[1, NULL, 3], 0.1::float8),
 (2, E'tab\tnew\nline\rback\\slash\b\f\x0b', NULL, false, NULL, '', ARRAY[]::int[], 'NaN'::float8),
 (3, 'a,b;c|d"e''f', -0.00001, NULL, date '0001-01-01', '\N', NULL, 1e300),
 (4, '\.', 0, true, date '9999-12-31', ' lead', ARRAY[7], '-Infinity'::float8),
 (5, 'Ümläut 🚢', 12345678901234567890.1, false, NULL, 'NULL', ARRAY[1,2], -0.5)
) AS v(n, "Odd ""name", price, ok, "day", note, list, f) ORDER BY n"""
ONE = r"SELECT * FROM (VALUES ('\.'), (NULL), (''), ('x')) AS v(sole)"
OPTIONS = [
    "",
    "WITH (FORMAT text)",
    "(FORMAT csv)",
    "(FORMAT binary)",
    "WITH (FORMAT csv, HEADER)",
    "WITH (FORMAT text, HEADER true)",
    "(FORMAT csv, HEADER off, DELIMITER ';', NULL 'NULL')",
    "(FORMAT csv, QUOTE '''', ESCAPE E'\\\\', HEADER)",
    "(FORMAT csv, FORCE_QUOTE *)",
    '(FORMAT csv, FORCE_QUOTE (note, "Odd ""name"), HEADER)',
    "(DELIMITER '|', NULL '')",
    "(DELIMITER ',', NULL '\\N')",
    "CSV",
    "WITH CSV HEADER",
    "CSV HEADER DELIMITER AS ';' NULL AS 'x' QUOTE '\"' ESCAPE '\"'",
    "WITH CSV FORCE QUOTE note, n",
    "CSV FORCE QUOTE *",
    "BINARY",
    "WITH DELIMITER '~' NULL 'null'",
    "WITH (FORMAT 'csv', ENCODING 'UTF8')",
    "(HEADER 1)",
    "(FREEZE false)",
]
BAD = [
    "(FORMAT xml)",
    "(FORMAT csv, FORMAT csv)",
    "(COLOUR 'red')",
    "(DELIMITER 'ab')",
    "(DELIMITER E'\\n')",
    "(DELIMITER 'a')",
    "(DELIMITER '.')",
    "(FORMAT csv, DELIMITER '\"')",
    "(NULL E'a\\nb')",
    "(FORMAT binary, DELIMITER ',')",
    "(FORMAT binary, NULL '')",
    "(FORMAT binary, HEADER)",
    "(QUOTE 'x')",
    "(ESCAPE 'x')",
    "(FORMAT csv, QUOTE 'xx')",
    "(FORMAT csv, ESCAPE 'xx')",
    "(FORCE_QUOTE *)",
    "(FORMAT csv, FORCE_QUOTE (nothing))",
    "(FORMAT csv, FORCE_QUOTE 'n')",
    "(FORMAT csv, FORCE_NOT_NULL (n))",
    "(FORMAT csv, FORCE_NULL (n))",
    "(FORCE_NOT_NULL (n))",
    "(DELIMITER ',', NULL 'a,b')",
    "(FORMAT csv, NULL '\"')",
    "(HEADER maybe)",
    "(HEADER match)",
    "(FORMAT csv, HEADER 2)",
    "(FREEZE perhaps)",
    "CSV CSV",
    "WITH CSV HEADERS",
    "(FORMAT)",
    "()",
    "(DELIMITER)",
]
REFUSED = [
    "COPY (SELECT * FROM nothing) TO STDOUT",
    "COPY nothing TO STDOUT",
    "COPY nothing (a) TO STDOUT",
    "COPY (SELECT 1",
    "COPY (SELECT 1) TO",
    "COPY (SELECT 1) TO STDOUT extra",
    "COPY",
    "COPY (SELECT 1) TO STDOUT DELIMITERS '~'",
    "COPY (SELECT 1/0) TO STDOUT",
]


@pytest.fixture(scope="module")
def both(
    transport: PgwireServer, real_postgres: dict[str, Any]
) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    """Ours and a real PostgreSQL's."""
    with psycopg.connect(**real_postgres, autocommit=True) as theirs:
        theirs.execute("CREATE TEMP TABLE notes (id int, title text, body text)")
        theirs.execute("SET TimeZone = 'UTC'")
        with ours(transport) as mine:
            yield mine, theirs


def ours(transport: PgwireServer, **more: Any) -> psycopg.Connection:
    return psycopg.connect(
        f"{transport.address}/local",
        user="mia",
        password=transport.tokens["mia"],
        autocommit=True,
        **more,
    )


def copied(connection: psycopg.Connection, sql: str) -> Any:
    """The messages of a COPY, or its error."""
    try:
        with connection.cursor() as cursor, cursor.copy(sql) as copy:
            return [bytes(each) for each in copy]
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("query", [VALUES, ONE], ids=["many", "one"])
def test_the_bytes_are_those_of_postgres(both: Any, query: str, options: str) -> None:
    if query is ONE:
        options = options.replace('note, "Odd ""name"', "sole").replace("note, n", "sole")
    mine, theirs = (copied(each, f"COPY ({query}) TO STDOUT {options}") for each in both)
    assert mine == theirs
    assert isinstance(mine, list)


@pytest.mark.parametrize("options", ["", "CSV HEADER", "BINARY", "(FORMAT text, HEADER)"])
def test_a_copy_without_rows_is_the_same(both: Any, options: str) -> None:
    sql = f"COPY (SELECT 1 AS a, 'x' AS b WHERE false) TO STDOUT {options}"
    assert copied(both[0], sql) == copied(both[1], sql)


@pytest.mark.parametrize("options", BAD)
def test_bad_options_are_refused_as_postgres_does(both: Any, options: str) -> None:
    mine, theirs = (copied(each, f"COPY (SELECT 1 AS n) TO STDOUT {options}") for each in both)
    assert mine == theirs


@pytest.mark.parametrize("sql", REFUSED)
def test_bad_statements_are_refused_as_postgres_does(both: Any, sql: str) -> None:
    assert copied(both[0], sql) == copied(both[1], sql)


def test_a_table_and_some_of_its_columns(transport: PgwireServer, both: Any) -> None:
    mine, _ = both
    rows = mine.execute("SELECT * FROM notes").fetchall()
    names = [each.name for each in mine.execute("SELECT * FROM notes LIMIT 0").description]
    found = copied(mine, "COPY notes TO STDOUT CSV HEADER")
    assert len(found) == len(rows) + 1
    assert found[0].decode().strip().split(",") == names
    found = copied(mine, 'COPY public."notes" (id, text) TO STDOUT (FORMAT csv)')
    assert len(found) == len(rows)
    state, message = copied(mine, "COPY notes (id, nothing) TO STDOUT")
    assert (state, message) == ("42703", 'column "nothing" of relation "notes" does not exist')
    assert copied(mine, "COPY notes (id, id) TO STDOUT") == (
        "42701", 'column "id" specified more than once',
    )  # fmt: skip


def test_copy_shows_what_select_shows_and_nothing_else(both: Any) -> None:
    mine, _ = both
    assert copied(mine, "COPY secrets TO STDOUT")[0] == "42501"
    assert copied(mine, "COPY (SELECT * FROM secrets) TO STDOUT")[0] == "42501"
    assert copied(mine, "COPY notes FROM STDIN")[0] == "25006"
    assert copied(mine, "COPY notes TO '/tmp/stolen.csv'")[0] == "42501"
    assert copied(mine, "COPY (DELETE FROM notes RETURNING id) TO STDOUT")[0] == "25006"
    assert copied(mine, "COPY notes TO PROGRAM 'id'")[0] == "42501"
    assert copied(mine, "COPY (SELECT $1::int) TO STDOUT")[0] == "42P02"


def test_a_failed_copy_fails_its_transaction(transport: PgwireServer) -> None:
    with ours(transport) as connection:
        connection.execute("BEGIN")
        assert copied(connection, "COPY nothing TO STDOUT")[0] == "42P01"
        assert copied(connection, "COPY notes TO STDOUT")[0] == "25P02"
        connection.execute("ROLLBACK")
        assert len(copied(connection, "COPY notes TO STDOUT")) == 3


def test_clients_copy(transport: PgwireServer, tmp_path: Path) -> None:
    token, port = transport.tokens["mia"], transport.port
    query = "SELECT id, title FROM notes ORDER BY id"
    with ours(transport) as connection:
        rows = connection.execute(query).fetchall()
        with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4", "text"])
            assert list(copy.rows()) == rows
    expected = connection_csv(rows)

    async def async_clients() -> tuple[str, str]:
        where = f"{transport.address}/local"
        connection = await asyncpg.connect(where, user="mia", password=token, ssl=False)
        query_out, table_out = io.BytesIO(), io.BytesIO()
        tag = await connection.copy_from_query(query, output=query_out, format="csv")
        assert tag == f"COPY {len(rows)}"
        await connection.copy_from_table(
            "notes", columns=["id", "title"], output=table_out, format="csv"
        )
        await connection.close()
        found = b""
        opened = await psycopg.AsyncConnection.connect(where, user="mia", password=token)
        async with (
            opened,
            opened.cursor() as cursor,
            cursor.copy(f"COPY ({query}) TO STDOUT CSV") as copy,
        ):
            async for data in copy:
                found += data
        assert sorted(table_out.getvalue().splitlines()) == sorted(found.splitlines())
        return query_out.getvalue().decode(), found.decode()

    assert asyncio.run(async_clients()) == (expected, expected)
    with pg8000.native.Connection(
        "mia", host="127.0.0.1", port=port, database="local", password=token
    ) as native:
        stream = io.BytesIO()
        native.run(f"COPY ({query}) TO STDOUT WITH (FORMAT csv)", stream=stream)
        assert stream.getvalue().decode() == expected
    file = tmp_path / "out.csv"
    environment = {**os.environ, "PGPASSWORD": token}
    psql = ["psql", "-X", "-h", "127.0.0.1", "-p", str(port), "-U", "mia", "-d", "local"]
    said = subprocess.run(
        [*psql, "-c", f"\\copy ({query}) to '{file}' csv"],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert said.stdout.strip() == f"COPY {len(rows)}"
    assert file.read_text() == expected


def connection_csv(rows: list[tuple[Any, ...]]) -> str:
    return "".join(f"{number},{title}\n" for number, title in rows)
