"""Types and names of the catalogue against a real PostgreSQL 15."""

from collections.abc import Iterator

import pytest
from postgres_oracle import Oracle, is_installed, running

from redask.core.errors import SqlError
from redask.core.sql.catalogue import object_ids
from redask.core.sql.catalogue.catalogue_rows import CatalogueFacts, is_fixed, rows_of
from redask.core.sql.catalogue.system_ids import FUNCTIONS, SYSTEM_TABLES
from redask.core.sql.catalogue.type_rows import range_rows, type_rows
from redask.core.sql.types import BY_OID, SqlType

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL 15 is not installed")
NAMES = [
    *("int", "INTEGER", "int4", "_int4", "int4[]", "integer []", "pg_catalog.int4", "bigint"),
    *("numeric(10,2)", "decimal", "numeric(10, 2)[]", "character varying(5)", "varchar"),
    *("double  precision", "real", "timestamp with time zone", "timestamp", "timestamptz[]"),
    *('"char"', '"int4"', '"Int4"', "time without time zone", "uuid", "regclass", "jsonb[]"),
    *("nosuch", "public.int4", "boolean", "smallint", "json", "interval", "name"),
]


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with running() as asked:
        yield asked


def test_pg_type_has_the_rows_of_postgres(oracle: Oracle) -> None:
    rows = type_rows()
    keys = sorted({key for row in rows for key in row})
    chosen = ", ".join(f"{key}::oid" if key in _FUNCTIONS else key for key in keys)
    found = oracle.connection.execute(
        f"SELECT {chosen} FROM pg_type WHERE oid = ANY(%s)", [[row["oid"] for row in rows]]
    ).fetchall()
    theirs = {row[keys.index("oid")]: dict(zip(keys, row, strict=True)) for row in found}
    assert {row["oid"]: {key: row[key] for key in keys} for row in rows} == theirs


def test_pg_range_has_the_rows_of_postgres(oracle: Oracle) -> None:
    rows = sorted(range_rows(), key=lambda row: str(row["rngtypid"]))
    asked = oracle.connection.execute(
        "SELECT rngtypid, rngsubtype, rngmultitypid, rngcollation, rngsubopc,"
        " rngcanonical::oid AS rngcanonical, rngsubdiff::oid AS rngsubdiff"
        " FROM pg_range ORDER BY rngtypid"
    )
    columns = [each.name for each in asked.description or ()]
    assert rows == [dict(zip(columns, row, strict=True)) for row in asked.fetchall()]
    facts = CatalogueFacts("mia", "local")
    assert rows_of("pg_catalog", "pg_range", facts) == range_rows()
    assert is_fixed("pg_catalog", "pg_range")


_FUNCTIONS = ("typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout",
              "typanalyze", "typsubscript")  # fmt: skip


def test_names_of_types_are_written_as_postgres_writes_them(oracle: Oracle) -> None:
    modifiers = [None, -1, 4, 5, 14, 1179654, 2490368 + 4 + 10]
    pairs = [
        (oid, modifier)
        for oid in (*BY_OID, 0, 5)
        for modifier in modifiers
        if _is_written(oid, modifier)
    ]
    theirs = [
        row[0]
        for row in oracle.connection.execute(
            "SELECT format_type(o, m) FROM unnest(%s::oid[], %s::int[]) WITH ORDINALITY"
            " AS t(o, m, n) ORDER BY n",
            [[oid for oid, _ in pairs], [modifier for _, modifier in pairs]],
        ).fetchall()
    ]
    ours = [object_ids.format_type(*pair) for pair in pairs]
    assert dict(zip(pairs, ours, strict=True)) == dict(zip(pairs, theirs, strict=True))


def _is_written(oid: int, modifier: int | None) -> bool:
    """Only these types have a modifier here."""
    kind = BY_OID.get(oid)
    modified = kind is not None and kind.name in ("numeric", "varchar", "bpchar")
    return modifier in (None, -1) or modified


@pytest.mark.parametrize("name", NAMES)
def test_names_of_types_are_read_as_postgres_reads_them(oracle: Oracle, name: str) -> None:
    [(wanted,)] = oracle.connection.execute("SELECT to_regtype(%s)::oid", [name]).fetchall()
    assert object_ids.find_type(name) == wanted


def test_the_oids_are_those_of_postgres(oracle: Oracle) -> None:
    for table, names in (("pg_class", SYSTEM_TABLES), ("pg_proc", FUNCTIONS)):
        column = "relname" if table == "pg_class" else "proname"
        found = oracle.connection.execute(
            f"SELECT {column}, oid FROM {table} WHERE oid = ANY(%s)", [list(names.values())]
        ).fetchall()
        assert dict(found) == names


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("tickets", ["tickets"]),
        ("Public.Tickets", ["public", "tickets"]),
        ('"Odd ""name""" ', ['Odd "name"']),
        (' public . "a.b"', ["public", "a.b"]),
    ],
)
def test_a_name_is_read_part_by_part(text: str, parts: list[str]) -> None:
    assert object_ids.name_parts(text) == parts


@pytest.mark.parametrize("text", ["", "a.", ".a", "1a", '"a', "a b", '""'])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(SqlError):
        object_ids.name_parts(text)


def test_what_is_the_same_for_everybody_tells_of_nobody() -> None:
    one = CatalogueFacts("mia", "local", {"a": "b"}, [("secrets", [("x", SqlType("int4"))])])
    other = CatalogueFacts("sam", "other")
    for name in ("pg_namespace", "pg_type", "pg_am", "pg_collation", "pg_tablespace", "pg_trigger"):
        assert is_fixed("pg_catalog", name)
        assert rows_of("pg_catalog", name, one) == rows_of("pg_catalog", name, other)
    for name in (
        *("pg_class", "pg_attribute", "pg_settings", "pg_database", "pg_roles", "pg_user"),
        *("pg_index", "pg_constraint", "redask_definitions"),
    ):
        assert not is_fixed("pg_catalog", name)


def test_a_session_is_told_of_its_own_statements_and_cursors() -> None:
    session = {
        "session:activity": '[[7, "active", "SELECT 1", "psql"]]',
        "session:prepared": '[["p", "SELECT $1", "2026-01-01 00:00:00", ["text"]]]',
        "session:cursors": '[["c", "SELECT 1", true, false, true, "2026-01-01 00:00:00"]]',
    }
    facts = CatalogueFacts("mia", "local", session=session)
    [active] = rows_of("pg_catalog", "pg_stat_activity", facts)
    told = [active[key] for key in ("pid", "usename", "datname", "state", "query")]
    assert told == [7, "mia", "local", "active", "SELECT 1"]
    [prepared] = rows_of("pg_catalog", "pg_prepared_statements", facts)
    assert (prepared["name"], prepared["parameter_types"]) == ("p", ["text"])
    [cursor] = rows_of("pg_catalog", "pg_cursors", facts)
    assert (cursor["name"], cursor["is_holdable"], cursor["is_scrollable"]) == ("c", True, True)
    for name in ("pg_stat_activity", "pg_prepared_statements", "pg_cursors"):
        assert not is_fixed("pg_catalog", name)
        assert rows_of("pg_catalog", name, CatalogueFacts("mia", "local")) == []
