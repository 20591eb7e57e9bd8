"""What clients ask of the catalogue: every query that was caught from one gets its answer."""

import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from waiting import SECONDS, until_true

from redask.core.errors import AskError, DeadlineExceeded, LimitExceeded
from redask.core.ports import TableShape
from redask.server.pgwire.catalog import queries
from redask.server.pgwire.catalog.relations import numbered
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session import dialect, statement_planner
from redask.server.pgwire.session.statement_planner import StatementPlanner
from redask.server.pgwire.types import encoding, oids

TICKETS = TableShape(
    "tickets",
    (("id", "int8"), ("urn", "text"), ("Odd name", "jsonb"), ("open", "bool"), ("p", "float8")),
)
CAUGHT = json.loads((Path(__file__).parent / "caught_queries.json").read_text())
OID = numbered(["tickets"])["tickets"]


class Library:
    """A session that has tables and nothing else."""

    def __init__(self, *tables: TableShape) -> None:
        self.shown = list(tables)

    async def tables(self) -> list[TableShape]:
        return list(self.shown)

    def version(self) -> int:
        return 1


def heard(sql: str, *values: object, session: Any = None, talk: Any = None) -> Any:
    """Columns with their types, and rows, all of them encodable."""

    async def asked() -> Any:
        library: Any = session or Library(TICKETS)
        dispatcher = talk or StatementPlanner(library, user="mia", database="local", startup={})
        planned = await dispatcher.plan(sql, ())
        found = await planned.run(values or ("1",) * len(planned.parameters))
        for row in found.rows:
            for column, value in zip(planned.columns or (), row, strict=True):
                for binary in (False, True):
                    encoding.encode(column.oid, value, binary)
        kinds = [(each.name, oids.TYPES[each.oid].name) for each in planned.columns or ()]
        return kinds, [tuple(row) for row in found.rows]

    return asyncio.run(asked())


@pytest.mark.parametrize("number", range(len(CAUGHT)))
def test_a_query_that_a_client_sends_is_answered(number: int) -> None:
    heard(CAUGHT[number].replace("16384", str(OID)))


def rows(sql: str, *values: object) -> Any:
    return heard(sql, *values)[1]


@pytest.mark.parametrize(
    ("sql", "kinds", "row"),
    [
        ("SELECT 1", "int4", (1,)),
        ("SELECT 1 AS one, 'a' AS two, true, NULL", "int4 text bool text", (1, "a", 1, None)),
        ("SELECT 1 + 1, 7 / 2, 1 + 2.5, -3, 2::int8 * 3, 1::float8 - 1, (1 + 1)::text, 'a' || 'b'",
         "int4 int4 numeric int4 int8 float8 text text", (2, 3, 3.5, -3, 6, 0.0, "2", "ab")),
        ("SELECT 3000000000, -3000000000, 3000000000 + 1, 99999999999999999999 * 1.0",
         "int8 int8 int8 numeric", (3000000000, -3000000000, 3000000001, 1e20)),
        ("SELECT '5.5' + 1, (SELECT 1.5) + 1, coalesce(1.5, 2) + 1, 1 + NULL",
         "text text text int4", (6.5, 2.5, 2.5, None)),
        ("select version()", "text", ("PostgreSQL 15.0 (redask)",)),
        ("select current_schema(), current_database(), current_user, session_user",
         "name name name name", ("public", "local", "mia", "mia")),
        ("select (current_schemas(true))[1], current_schemas(false)", "text _name",
         ("pg_catalog", ["public"])),
        ("select pg_is_in_recovery(), pg_advisory_unlock_all()", "bool void", (0, "")),
        ("select 'tickets'::regclass::oid, 'pg_class'::regclass::int", "oid int4", (OID, 1259)),
        ("select c.oid::regclass, c.oid::regclass::text from pg_class c", "text text",
         ("tickets", "tickets")),
        ("select to_regclass('public.tickets'), to_regclass('nosuch')", "oid oid", (OID, None)),
        ("select format_type(20, null), 25::regtype::text, 'bigint'::regtype::oid",
         "text text oid", ("bigint", "text", 20)),
        ("select quote_ident('Odd name'), quote_ident('x')", "text text", ('"Odd name"', "x")),
        ("select relname ~ '^tick', relname !~ 'x', relname OPERATOR(pg_catalog.~) 'kets$' "
         "COLLATE pg_catalog.default from pg_class", "bool bool bool", (1, 1, 1)),
        ("select 'a' = any(array['a','b']), 'c' = any('{a,b}'), 'c' <> all_of from "
         "(select 'd' as all_of) x", "bool bool bool", (1, 0, 1)),
        ("select array(select attname from pg_attribute order by attnum limit 2), "
         "array_to_string(array['a','b'], '-')", "_text text", (["id", "urn"], "a-b")),
        ("select count(*), max(n) from generate_series(1, 5) as s(n)", "int8 text", (5, 5)),
        ("select x from unnest(array['q']) as x", "text", ("q",)),
        ("select string_agg(attname, ',') from pg_attribute where attnum < 3", "text", ("id,urn",)),
        ("select relname LIKE 'TICK%', relname LIKE 'tick%' from pg_class", "bool bool", (0, 1)),
        ("values (1, 'a')", "text text", (1, "a")),
        ("select table_name, table_type from information_schema.tables", "name varchar",
         ("tickets", "BASE TABLE")),
        ("select data_type, is_nullable from information_schema.columns where column_name = $1",
         "varchar varchar", ("jsonb", "YES")),
    ],
)  # fmt: skip
def test_functions_and_tables_say_what_postgres_would(
    sql: str, kinds: str, row: tuple[object, ...]
) -> None:
    columns, found = heard(sql, *(["Odd name"] if "$1" in sql else []))
    assert (" ".join(kind for _, kind in columns), found) == (kinds, [row])


def test_names_are_those_of_postgres() -> None:
    sql = 'select 1, version(), oid, oid::text, relname AS "Name", relkind AS KIND from pg_class'
    assert [name for name, _ in heard(sql)[0]] == [
        "?column?", "version", "oid", "oid", "Name", "kind",
    ]  # fmt: skip


def test_a_star_has_the_columns_of_postgres() -> None:
    columns, found = heard("SELECT * FROM pg_catalog.pg_namespace ORDER BY oid")
    assert columns == [
        ("oid", "oid"),
        ("nspname", "name"),
        ("nspowner", "oid"),
        ("nspacl", "_text"),
    ]
    assert [row[1] for row in found] == ["pg_catalog", "public", "information_schema"]


def test_the_columns_of_a_table_have_their_types() -> None:
    sql = (
        "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute"
        f" WHERE attrelid = '{OID}' ORDER BY attnum"
    )
    assert rows(sql) == [
        ("id", "bigint", 1),
        ("urn", "text", 1),
        ("Odd name", "jsonb", 0),
        ("open", "boolean", 0),
        ("p", "double precision", 0),
    ]


def test_the_tables_are_those_of_the_moment() -> None:
    library = Library(TICKETS)
    talk = StatementPlanner(library, user="mia", database="local", startup={})  # type: ignore[arg-type]
    sql = "SELECT relname FROM pg_class ORDER BY 1"
    assert heard(sql, talk=talk)[1] == [("tickets",)]
    library.shown = [TICKETS, TableShape("notes", (("id", "text"),))]
    assert heard(sql, talk=talk)[1] == [("notes",), ("tickets",)]
    library.shown = []
    assert heard(sql, talk=talk)[1] == []
    assert heard("SELECT 'tickets'::regclass::oid", talk=talk)[1] == [(None,)]


def test_oids_hang_on_the_name_alone() -> None:
    assert numbered(["tickets", "a"])["tickets"] == numbered(["b", "tickets"])["tickets"] == OID
    many = numbered([f"t{number}" for number in range(5000)])
    assert len(set(many.values())) == 5000
    assert min(many.values()) >= 16_384


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT load_extension('x')",
        "SELECT randomblob(10)",
        "SELECT zeroblob(1000000000)",
        "SELECT * FROM sqlite_master, pg_class",
        "WITH x AS (DELETE FROM pg_class RETURNING 1) SELECT * FROM x",
        "SELECT pg_class.oid FROM pg_class, pragma_database_list",
        "SELECT relname FROM pg_class WHERE relname ~ '(a+)+$'",
        "SELECT 1 FROM generate_series(1, 1000000000)",
        "SELECT (SELECT group_concat(a.oid) FROM pg_type a, pg_type b, pg_type c, pg_type d)",
    ],
)
def test_nothing_reaches_beyond_the_catalogue(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SECONDS", 1.0)
    with pytest.raises((AskError, SqlStateError)):
        heard(sql)


def test_a_query_has_its_time_and_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SECONDS", 0.3)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT "
    with pytest.raises(DeadlineExceeded):
        heard(f"{endless} count(*) FROM c")
    monkeypatch.setattr(queries, "SECONDS", SECONDS)
    monkeypatch.setattr(queries, "MAX_ROWS", 10)
    with pytest.raises(LimitExceeded):
        heard(f"{endless} x FROM c LIMIT 11")


def test_whoever_cancels_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SECONDS", 2 * SECONDS)
    begun = threading.Event()

    class Noted(queries.Catalogue):
        def _late(self) -> int:
            begun.set()
            return super()._late()

    monkeypatch.setattr(statement_planner, "Catalogue", Noted)

    async def asked() -> None:
        talk = StatementPlanner(Library(), user="mia", database="local", startup={})  # type: ignore[arg-type]
        planned = await talk.plan(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
            " SELECT count(*) FROM c",
            (),
        )
        begun.clear()
        running = asyncio.ensure_future(planned.run(()))
        await until_true(begun.is_set)
        async with asyncio.timeout(SECONDS):
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        assert (await (await talk.plan("SELECT 1", ())).run(())).rows == [(1,)]

    asyncio.run(asked())


def test_what_was_caught_is_from_every_client() -> None:
    text = "\n".join(CAUGHT)
    for mark in ("pg_get_userbyid", "TABLE_SCHEM", "_pg_expandarray", "pg_get_constraintdef"):
        assert re.search(mark, text)


def test_names_that_mean_each_other_are_worked_out_once() -> None:
    """Without that, forty of them would take longer than anybody lives."""
    chain = ", ".join(f"c{n}*c{n}+c{n}*c{n} AS c{n + 1}" for n in range(40))
    with pytest.raises(SqlStateError, match="c0"):
        heard(f"SELECT 1 AS c0, {chain}")
    assert heard("SELECT x FROM (SELECT 1 AS x) AS s") == ([("x", "int4")], [(1,)])


def test_long_statements_are_not_remembered() -> None:
    asked: list[str] = []
    counted = dialect.remembered(asked.append)
    for text in ("short", "short", "long" * 2000, "long" * 2000):
        counted(text)
    assert asked == ["short", "long" * 2000, "long" * 2000]
