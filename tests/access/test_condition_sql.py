"""A condition means in PostgreSQL what it means here: the same rows, for random conditions."""

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
from redask.stores.attached.attachment import SourceColumn
from redask.stores.attached.source_types import condition_column, payload_sql, payload_value

COLUMNS = [
    SourceColumn("t", "text"),
    SourceColumn("n", "integer"),
    SourceColumn("m", "numeric"),
    SourceColumn("b", "boolean"),
    SourceColumn("d", "date"),
]
TEXTS = ["", "a", "B", "Å", "ä", "a'b", "a\\b", "2024-01-02", "zz", "\U0001f600"]
NUMBERS = [0, 1, -1, 2.5, 0.1, 10**20, 1e-5, 123456.789]
EXACT = ["0", "1", "2.50", "0.1", "NaN", "100000000000000000000", "0.00001", "1.2345678901234567"]
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
