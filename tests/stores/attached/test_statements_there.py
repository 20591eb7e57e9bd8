"""Statements and conditions mean in PostgreSQL what they mean here, and reach no further."""

import json
import random
from decimal import Decimal
from typing import Any

import postgres_databases
import psycopg
import pytest

from redask.core.access.condition_sql import (
    ConditionColumn,
    Inexpressible,
    condition_sql,
    text_literal,
)
from redask.core.access.predicate import parse
from redask.stores.attached.attachment import AttachedTable, SourceColumn
from redask.stores.attached.source_types import condition_column, payload_sql, payload_value
from redask.stores.attached.statement_check import ShownTable, fault, with_tables

COLUMNS = [
    SourceColumn("t", "text"),
    SourceColumn("n", "integer"),
    SourceColumn("m", "numeric"),
    SourceColumn("b", "boolean"),
    SourceColumn("d", "date"),
]
TEXTS = ["", "a", "B", "Å", "ä", "a'b", "a\\b", "2024-01-02", "zz", "\U0001f600"]
NUMBERS = [0, 1, -1, 2.5, 0.1, 10**20, 1e-5, 123456.789]
EXACT = [
    "0.0000001",
    "0",
    "1",
    "2.50",
    "0.1",
    "NaN",
    "100000000000000000000",
    "0.00001",
    "1.2345678901234567",
]
USER = {"region": "a", "list": ["a", 1, True], "level": 2.5, "flag": True, "none": None}


def literal(chance: random.Random) -> str:
    kind = chance.randrange(4)
    if kind == 0:
        return "'" + chance.choice(TEXTS).replace("'", "''") + "'"
    if kind == 1:
        return repr(chance.choice(NUMBERS))
    return chance.choice(["true", "false"]) if kind == 2 else f":user.{chance.choice([*USER, 'x'])}"


def condition(chance: random.Random, depth: int = 0) -> str:
    kind = chance.randrange(7 if depth < 3 else 4)
    column = chance.choice([*(each.name for each in COLUMNS), "absent"])
    if kind <= 1:
        operator = chance.choice(["=", "<>", "!=", "<", "<=", ">", ">="])
        sides = [column, literal(chance)]
        chance.shuffle(sides)
        return f"{sides[0]} {operator} {sides[1]}"
    if kind == 2:
        members = ", ".join(literal(chance) for _ in range(chance.randint(1, 3)))
        given = chance.choice([f"({members})", ":user.list", ":user.region", ":user.x"])
        return f"{column} {chance.choice(['', 'not '])}in {given}"
    if kind == 3:
        return chance.choice([f"{column} is null", f"{column} is not null", "true", "false"])
    inner = [condition(chance, depth + 1) for _ in range(2)]
    if kind == 4:
        return f"not ({inner[0]})"
    return f"({inner[0]}) {'and' if kind == 5 else 'or'} ({inner[1]})"


def rows(chance: random.Random, count: int) -> list[tuple[Any, ...]]:
    return [
        (
            chance.choice([*TEXTS, None]),
            chance.choice([0, 1, 2, -1, None]),
            chance.choice([*map(Decimal, EXACT), None]),
            chance.choice([True, False, None]),
            chance.choice(["2024-01-02", "1999-12-31", None]),
        )
        for _ in range(count)
    ]


def test_random_conditions_hold_for_the_same_rows_here_and_there() -> None:
    chance = random.Random(25)
    place = postgres_databases.empty("conditions")
    compared = {each.name: condition_column(each) for each in COLUMNS}
    with psycopg.connect(**postgres_databases.superuser(place)) as connection:
        connection.execute("SET datestyle = 'ISO, YMD'")
        names = ", ".join(f"{each.name} {each.type}" for each in COLUMNS)
        connection.execute(f"CREATE TABLE r (i int, {names})")
        cursor = connection.cursor()
        cursor.executemany(
            "INSERT INTO r VALUES (%s, %s, %s, %s, %s, %s)", list(enumerate_rows(chance))
        )
        chosen = ", ".join(payload_sql(each) for each in COLUMNS)
        payloads = {
            row[0]: {
                each.name: payload_value(each, value)
                for each, value in zip(COLUMNS, row[1:], strict=True)
            }
            for row in connection.execute(f"SELECT i, {chosen} FROM r").fetchall()
        }
        json.dumps(list(payloads.values()), allow_nan=False)
        held = 0
        for _ in range(400):
            made = parse(condition(chance))
            here = {at for at, row in payloads.items() if made.holds(row, USER)}
            where = condition_sql(made, compared, USER)
            found = connection.execute(f"SELECT i FROM r WHERE {where}".encode()).fetchall()
            assert {at for (at,) in found} == here, (made.text, where)
            held += bool(here)
        assert held > 100


def enumerate_rows(chance: random.Random) -> list[tuple[Any, ...]]:
    return [(at, *row) for at, row in enumerate(rows(chance, 200))]


def test_a_column_that_cannot_be_compared_there_is_named() -> None:
    for kind in ("jsonb", "double precision", "real", "text[]"):
        assert condition_column(SourceColumn("x", kind)) is None
    with pytest.raises(Inexpressible, match="x"):
        condition_sql(parse("y = 1 or x = 1"), {"x": None}, {})


def test_a_text_cannot_leave_its_literal() -> None:
    assert text_literal("it's") == "'it''s'"
    assert text_literal("a\\' OR 1") == "E'a\\\\'' OR 1'"
    shown = condition_sql(parse("t = :user.x"), {"t": ConditionColumn("text", "t")}, {"x": "';--"})
    assert shown == "(t = ''';--' COLLATE \"C\")"


NOT_RUN = "which is not run in an attached database"
NO_ROW = "which no row has in the attached database"
LOOKED_AT = {
    "SELECT x FROM orders": None,
    "WITH a AS (SELECT x FROM orders) SELECT count(*) FROM a": None,
    "SELECT 'orders'::regclass FROM orders": "it casts to regclass",
    "SELECT x::other.kind FROM orders": "it casts to other.kind",
    "SELECT x OPERATOR(other.+) x FROM orders": "it names the schema of an operator",
    "WITH orders AS (SELECT 1) SELECT * FROM orders": "WITH names 'orders', which is a table",
    "SELECT x FROM orders; SELECT 1": "only one SELECT is run in the attached database",
    "DELETE FROM orders": "only one SELECT is run in the attached database",
    "WITH a AS (DELETE FROM orders RETURNING x) SELECT x FROM a": "it writes",
    "SELECT x INTO y FROM orders": "it makes a table",
    "SELECT x FROM orders WHERE x = $1": "it has parameters",
    "SELECT x FROM orders TABLESAMPLE system (1)": "it reads a sample, which differs each time",
    "SELECT x FROM orders FOR SHARE": "it locks rows",
    "SELECT x FROM secrets": "it reads 'secrets', which is not attached",
    "SELECT x FROM (SELECT passwd AS x FROM pg_shadow) AS o": (
        "it reads 'pg_shadow', which is not attached"
    ),
    "SELECT x FROM orders WHERE x = (SELECT y FROM other.t)": (
        "it names the schema of 't': leave it out"
    ),
    "SELECT other.lower(x) FROM orders": f"it calls other.lower(), {NOT_RUN}",
    "SELECT query_to_xml('', true, true, '') FROM orders": f"it calls query_to_xml(), {NOT_RUN}",
    "SELECT id FROM orders": f"it reads 'id', {NO_ROW}",
    "SELECT orders.ctid FROM orders": f"it reads 'ctid', {NO_ROW}",
}


@pytest.mark.parametrize("sql", LOOKED_AT)
def test_a_statement_is_looked_at_before_it_runs_elsewhere(sql: str) -> None:
    column = SourceColumn("x", "text")
    tables = {"orders": AttachedTable("public", "orders", "orders", (column,), ("x",))}
    assert fault(sql, tables) == LOOKED_AT[sql]


def test_tables_are_put_before_a_statement_whatever_it_begins_with() -> None:
    shown = {"o": ShownTable("SELECT 1 AS x"), "p": ShownTable("SELECT 2 AS y", is_filtered=True)}
    before = 'WITH "o" AS (SELECT 1 AS x), "p" AS MATERIALIZED (SELECT 2 AS y)'
    assert with_tables("select x from o -- all", shown) == f"{before} SELECT x FROM o"
    again = with_tables("WITH a AS (SELECT x FROM o) SELECT x FROM a LIMIT 1", shown)
    assert again == f"{before}, a AS (SELECT x FROM o) SELECT x FROM a LIMIT 1"
    recursive = with_tables("WITH RECURSIVE a AS (SELECT x FROM o) SELECT x FROM a", shown)
    assert recursive.startswith(before.replace("WITH", "WITH RECURSIVE", 1))
