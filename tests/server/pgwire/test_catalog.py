"""What clients ask of the catalogue: every query that was caught from one gets its answer."""

import asyncio
import json
import re
from collections.abc import Coroutine, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest

from redask.api.asynchronous import AsyncDatabase
from redask.api.sync import open_async
from redask.core.errors import AskError, SqlError
from redask.core.sql.catalogue.object_ids import numbered
from redask.server.pgwire.session.statement_planner import StatementPlanner
from redask.server.pgwire.types import encoding, oids

_T = TypeVar("_T")
ROWS = [
    {
        "id": 1,
        "Odd name": {"a": 1},
        "open": True,
        "p": 2.5,
        "day": "2024-02-29",
        "at": "2024-02-29T10:00:00Z",
        "tags": ["x"],
        "big": 3_000_000_000,
    }
]
CAUGHT = json.loads((Path(__file__).parent / "caught_queries.json").read_text())
OID = numbered(["tickets"])["tickets"]
GIVEN = {"int2": 1, "int4": 1, "int8": 1, "bool": True, "oid": OID, "regclass": "pg_class"}


class Library:
    """A database with one collection, and sessions on it, in a loop of its own."""

    def __init__(self, directory: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.db: AsyncDatabase = self.run(open_async(directory))
        self.run(self.db.put("tickets", ROWS))
        self.run(self.db.add_user("mia", role="reader"))
        session = self.run(self.db.signed_in(self.run(self.db.make_token("mia"))))
        self.planner = StatementPlanner(session, user="mia", database="local", startup={})

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self.loop.run_until_complete(work)

    def heard(self, sql: str, *values: object) -> Any:
        """Columns with their types, and rows, all of them encodable."""
        planned = self.run(self.planner.plan(sql, ()))
        kinds = [oids.TYPES[each].name for each in planned.parameters]
        bound = values or [GIVEN.get(kind, "max_index_keys") for kind in kinds]
        found = self.run(planned.run(bound))
        for row in found.read(0, len(found)):
            for column, value in zip(planned.columns or (), row, strict=True):
                for binary in (False, True):
                    encoding.encode(column.oid, value, binary)
        shown = [(each.name, oids.TYPES[each.oid].name) for each in planned.columns or ()]
        return shown, [tuple(row) for row in found.read(0, len(found))]

    def rows(self, sql: str, *values: object) -> Any:
        return self.heard(sql, *values)[1]

    def close(self) -> None:
        self.run(self.db.close())
        self.loop.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    opened = Library(tmp_path_factory.mktemp("library"))
    yield opened
    opened.close()


@pytest.mark.parametrize("number", range(len(CAUGHT)))
def test_a_query_that_a_client_sends_is_answered(library: Library, number: int) -> None:
    library.heard(CAUGHT[number].replace("16384", str(OID)))


TICKETS = "relname = 'tickets'"


@pytest.mark.parametrize(
    ("sql", "kinds", "row"),
    [
        ("SELECT 1", "int4", (1,)),
        ("SELECT 1 AS one, 'a' AS two, true, NULL", "int4 text bool text", (1, "a", True, None)),
        ("SELECT 1 + 1, 7 / 2, 1 + 2.5, -3, 2::int8 * 3, 1::float8 - 1, (1 + 1)::text, 'a' || 'b'",
         "int4 int4 numeric int4 int8 float8 text text",
         (2, 3, Decimal("3.5"), -3, 6, 0.0, "2", "ab")),
        ("SELECT 3000000000, -3000000000, 3000000000 + 1, 99999999999999999999 * 1.0",
         "int8 int8 int8 numeric",
         (3000000000, -3000000000, 3000000001, Decimal("99999999999999999999.0"))),
        ("SELECT '5' + 1, (SELECT 1.5) + 1, coalesce(1.5, 2) + 1, 1 + NULL",
         "int4 numeric numeric int4", (6, Decimal("2.5"), Decimal("2.5"), None)),
        ("select version()", "text", ("PostgreSQL 15.0 (redask)",)),
        ("select current_schema(), current_database(), current_user, session_user",
         "name name name name", ("public", "local", "mia", "mia")),
        ("select (current_schemas(true))[1], current_schemas(false)", "name _name",
         ("pg_catalog", ["public"])),
        ("select pg_is_in_recovery(), pg_advisory_unlock_all()", "bool void", (False, "")),
        ("select 'tickets'::regclass::oid, 'pg_class'::regclass::int, '\"tickets\"'::regclass::oid",
         "oid int4 oid", (OID, 1259, OID)),
        (f"select c.oid::regclass, c.oid::regclass::text from pg_class c where {TICKETS}",
         "text text", ("tickets", "tickets")),
        ("select to_regclass('public.tickets'), to_regclass('nosuch'), to_regtype('int4[]')",
         "text text text", ("tickets", None, "integer[]")),
        ("select format_type(20, null), 25::regtype::text, 'bigint'::regtype::oid",
         "text text oid", ("bigint", "text", 20)),
        ("select format_type(1700, 1179654), format_type(1043, 14), format_type(1231, 1179654)",
         "text text text", ("numeric(18,2)", "character varying(10)", "numeric(18,2)[]")),
        ("select quote_ident('Odd name'), quote_ident('x')", "text text", ('"Odd name"', "x")),
        ("select relname ~ '^tick', relname !~ 'x', relname OPERATOR(pg_catalog.~) 'kets$' "
         f"COLLATE pg_catalog.default from pg_class where {TICKETS}",
         "bool bool bool", (True, True, True)),
        ("select 'a' = any(array['a','b']), 'c' = any('{a,b}'), 'c' <> all_of from "
         "(select 'd' as all_of) x", "bool bool bool", (True, False, True)),
        ("select array(select attname from pg_attribute where attrelid = 'tickets'::regclass "
         "order by attnum limit 2), array_to_string(array['a','b'], '-')", "_name text",
         (["id", "urn"], "a-b")),
        ("select count(*), max(n) from generate_series(1, 5) as s(n)", "int8 int4", (5, 5)),
        ("select x from unnest(array['q']) as x", "text", ("q",)),
        ("select string_agg(attname, ',') from pg_attribute where attnum < 3 and "
         "attrelid = 'tickets'::regclass", "text", ("id,urn",)),
        (f"select relname LIKE 'TICK%', relname LIKE 'tick%' from pg_class where {TICKETS}",
         "bool bool", (False, True)),
        ("values (1, 'a')", "int4 text", (1, "a")),
        ("table information_schema.information_schema_catalog_name", "name", ("local",)),
        ("select table_name, table_type from information_schema.tables where table_name like 't%'",
         "name varchar", ("tickets", "BASE TABLE")),
        ("select data_type, is_nullable, numeric_precision from information_schema.columns "
         "where column_name = $1", "varchar varchar int4", ("jsonb", "YES", None)),
        ("select has_table_privilege('tickets', 'SELECT'), "
         "has_table_privilege('tickets', 'INSERT'), has_schema_privilege('public', 'USAGE')",
         "bool bool bool", (True, False, True)),
        ("select typinput = 'array_in'::regproc, typinput from pg_type where typname = '_int4'",
         "bool text", (True, "array_in")),
        ("select 0::regclass, 1259::regclass, 999::regclass, 2200::regnamespace", "text text text "
         "text", ("-", "pg_class", "999", "public")),
    ],
)  # fmt: skip
def test_functions_and_tables_say_what_postgres_would(
    library: Library, sql: str, kinds: str, row: tuple[object, ...]
) -> None:
    columns, found = library.heard(sql, *(["Odd name"] if "$1" in sql else []))
    assert (" ".join(kind for _, kind in columns), found) == (kinds, [row])


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("select 'nosuch'::regclass", "42P01"),
        ("select 'nosuch.tickets'::regclass", "42P01"),
        ("select 'nosuch'::regtype", "42704"),
        ("select 'nosuch'::regnamespace", "3F000"),
        ("select x::regclass from (values ('nosuch')) as v(x)", "42P01"),
        ("select has_table_privilege('nosuch', 'SELECT')", "42P01"),
        ("select pg_total_relation_size('nosuch')", "42P01"),
        ("select count(*) from pg_catalog.tickets", "42P01"),
        ("select count(*) from columns", "42P01"),
        ("select current_setting('nosuch')", "42704"),
        ("select row_to_json(c) from pg_class c", "0A000"),
        ("select load_extension('x')", "42883"),
        ("select * from sqlite_master, pg_class", "42P01"),
        ("select * from duckdb_tables()", "42883"),
        ("with x as (delete from pg_class returning 1) select * from x", "25006"),
    ],
)
def test_what_the_catalogue_does_not_have_is_refused_by_name(
    library: Library, sql: str, state: str
) -> None:
    with pytest.raises(SqlError) as caught:
        library.heard(sql)
    assert caught.value.sqlstate == state


def test_names_are_those_of_postgres(library: Library) -> None:
    sql = 'select 1, version(), oid, oid::text, relname AS "Name", relkind AS KIND from pg_class'
    assert [name for name, _ in library.heard(sql)[0]] == [
        "?column?", "version", "oid", "oid", "Name", "kind",
    ]  # fmt: skip


def test_a_star_has_the_columns_of_postgres(library: Library) -> None:
    columns, found = library.heard("SELECT * FROM pg_catalog.pg_namespace ORDER BY oid")
    assert columns == [
        ("oid", "oid"),
        ("nspname", "name"),
        ("nspowner", "oid"),
        ("nspacl", "_text"),
    ]
    assert [row[1] for row in found] == ["pg_catalog", "public", "information_schema"]


def test_the_columns_of_a_table_have_their_types(library: Library) -> None:
    sql = (
        "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute"
        f" WHERE attrelid = '{OID}' ORDER BY attname"
    )
    assert library.rows(sql) == [
        ("Odd name", "jsonb", False),
        ("at", "timestamp with time zone", False),
        ("big", "bigint", False),
        ("day", "date", False),
        ("id", "integer", True),
        ("open", "boolean", False),
        ("p", "numeric(18,1)", False),
        ("tags", "text[]", False),
        ("urn", "text", True),
    ]


def test_every_type_is_in_pg_type_with_its_array(library: Library) -> None:
    found = library.rows(
        "SELECT t.oid, t.typname, a.typname, a.typelem FROM pg_type t"
        " JOIN pg_type a ON a.oid = t.typarray WHERE t.typname IN ('numeric', 'timestamptz')"
        " ORDER BY 1"
    )
    assert found == [
        (1184, "timestamptz", "_timestamptz", 1184),
        (1700, "numeric", "_numeric", 1700),
    ]


def test_the_tables_are_those_of_the_moment(tmp_path: Path) -> None:
    library = Library(tmp_path)
    sql = "SELECT relname FROM pg_class ORDER BY 1"
    audit = ("red_ask_audit",)
    assert library.rows(sql) == [audit, ("tickets",)]
    library.run(library.db.put("notes", [{"id": 1}]))
    assert library.rows(sql) == [("notes",), audit, ("tickets",)]
    library.run(library.db.set_policy("tickets", {"read": [{"roles": ["spy"]}]}))
    assert library.rows(sql) == [("notes",), audit]
    with pytest.raises(SqlError, match="does not exist"):
        library.heard("SELECT 'tickets'::regclass::oid")
    library.close()


def test_oids_hang_on_the_name_alone() -> None:
    assert numbered(["tickets", "a"])["tickets"] == numbered(["b", "tickets"])["tickets"] == OID
    many = numbered([f"t{number}" for number in range(5000)])
    assert len(set(many.values())) == 5000
    assert min(many.values()) >= 16_384


def test_a_pattern_that_never_ends_is_refused_or_stopped(library: Library) -> None:
    with pytest.raises(AskError):
        library.heard("SELECT count(*) FROM generate_series(1, 1000000000) a, pg_type b, pg_type c")


def test_what_was_caught_is_from_every_client() -> None:
    text = "\n".join(CAUGHT)
    for mark in ("pg_get_userbyid", "TABLE_SCHEM", "_pg_expandarray", "pg_get_constraintdef"):
        assert re.search(mark, text)


def test_names_that_mean_each_other_are_refused_soon(library: Library) -> None:
    """An output column is no input of another, as in PostgreSQL."""
    chain = ", ".join(f"c{n}*c{n}+c{n}*c{n} AS c{n + 1}" for n in range(40))
    with pytest.raises(SqlError, match="c0"):
        library.heard(f"SELECT 1 AS c0, {chain}")
    assert library.heard("SELECT x FROM (SELECT 1 AS x) AS s") == ([("x", "int4")], [(1,)])
