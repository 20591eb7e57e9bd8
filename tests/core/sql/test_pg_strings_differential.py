"""String functions and DuckDB's expressions for them, against a real PostgreSQL 15."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import duckdb
import pytest
from duckdb.func import DEFAULT, SPECIAL
from postgres_oracle import Answer, Oracle, is_installed, running
from random_sql_values import value

from redask.core.errors import SqlError
from redask.core.sql.runtime import pg_arrays, pg_quoting, pg_strings
from redask.core.sql.runtime.native_texts import ARRAY_TEXTS, STRING_TEXTS, native_text
from redask.core.sql.runtime.pg_strings import FUNCTIONS

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL 15 is not installed")
ROWS = 300
DUCKDB_TYPES = {"text": "VARCHAR", "int4": "INTEGER", "int8": "BIGINT", "text[]": "VARCHAR[]"}
DUCKDB_TYPES["int4[]"] = "INTEGER[]"


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with running() as ask:
        yield ask


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for row in FUNCTIONS.values():
            handling = SPECIAL if row.null_handling else DEFAULT
            connection.create_function(
                row.name, row.call, [*row.arguments], row.result, null_handling=handling
            )
        yield connection


def in_duckdb(
    duck: duckdb.DuckDBPyConnection, text: str, types: tuple[str, ...], rows: list[list[Any]]
) -> list[Answer]:
    """As Oracle.values; an error is ("error", None): DuckDB knows no SQLSTATE."""
    columns = ", ".join(
        f"unnest(?::{DUCKDB_TYPES[name]}[]) AS c{index}" for index, name in enumerate(types)
    )
    statement = (
        f"SELECT {text} FROM (SELECT {columns}, unnest(?::INTEGER[]) AS place) ORDER BY place"
    )
    sent = [[row[index] for row in rows] for index in range(len(types))]
    try:
        found = duck.execute(statement, [*sent, list(range(len(rows)))]).fetchall()
        return [("value", row[0]) for row in found]
    except duckdb.Error:
        if len(rows) <= 1:
            return [("error", None)]
    half = len(rows) // 2
    return in_duckdb(duck, text, types, rows[:half]) + in_duckdb(duck, text, types, rows[half:])


def written(name: str, types: tuple[str, ...], simple: bool) -> str:
    names = [f"c{index}" for index in range(len(types))]
    text = native_text(name, names, [simple] * len(names))
    assert text is not None
    return text


def in_python(call: Callable[..., Any], row: list[Any]) -> Answer:
    try:
        return "value", call(*row)
    except SqlError as error:
        return "error", error.sqlstate


def drawn(seed: str, types: tuple[str, ...], count: int = ROWS) -> list[list[Any]]:
    random = Random(seed)
    return [[value(random, name) for name in types] for _ in range(count)]


@pytest.mark.parametrize("name", STRING_TEXTS)
def test_a_native_string_text_gives_what_postgresql_gives(
    oracle: Oracle, duck: duckdb.DuckDBPyConnection, name: str
) -> None:
    row = STRING_TEXTS[name]
    rows = drawn(name, row.types)
    if "pad" in name or name == "repeat":  # no gigabytes
        rows = [[each[0], min(each[1], 50), *each[2:]] for each in rows]
    if name == "right":  # PostgreSQL negates the least integer to itself
        rows = [each for each in rows if each[1] != -(2**31)]
    theirs = oracle.values(row.postgres, row.types, rows)
    for simple in (True, False):
        ours = in_duckdb(duck, written(name, row.types, simple), row.types, rows)
        for values, expected, answer in zip(rows, theirs, ours, strict=True):
            if expected[0] == "error":
                assert answer[0] == "error", values
            else:
                assert answer == expected, values


@pytest.mark.parametrize("element", ["int4", "text"])
@pytest.mark.parametrize("name", ARRAY_TEXTS)
def test_a_native_array_text_gives_what_postgresql_gives(
    oracle: Oracle, duck: duckdb.DuckDBPyConnection, name: str, element: str
) -> None:
    row = ARRAY_TEXTS[name]
    types = tuple(each.replace("E", element) for each in row.types)
    random = Random(name)

    def small(type_name: str) -> Any:
        if random.random() < 0.1:
            return None
        if type_name.endswith("[]"):
            return [small(type_name[:-2]) for _ in range(random.randint(0, 4))]
        return random.randint(-2, 4) if type_name == "int4" else random.choice(["a", "b", "", "ä"])

    rows = [[small(each) for each in types] for _ in range(ROWS)]
    theirs = oracle.values(row.postgres, types, rows)
    for simple in (True, False):
        ours = in_duckdb(duck, written(name, types, simple), types, rows)
        for values, expected, answer in zip(rows, theirs, ours, strict=True):
            assert answer == expected, values


T, I = "text", "int4"  # noqa: E741
PYTHON: list[tuple[str, tuple[str, ...], Callable[..., Any]]] = [
    ("substr(c0, c1, c2)", (T, I, I), pg_strings.substr),
    ("overlay(c0 placing c1 from c2 for c3)", (T, T, I, I), pg_strings.overlay),
    ("overlay(c0 placing c1 from c2)", (T, T, I), pg_strings.overlay_whole),
    ("split_part(c0, c1, c2)", (T, T, I), pg_strings.split_part),
    ("lpad(c0, c1, c2)", (T, I, T), pg_strings.lpad),
    ("rpad(c0, c1, c2)", (T, I, T), pg_strings.rpad),
    ("initcap(c0)", (T,), pg_strings.initcap),
    ("reverse(c0)", (T,), pg_strings.reverse),
    ("chr(c0)", (I,), pg_strings.character),
    ("repeat(c0, c1)", (T, I), pg_strings.repeat),
    ("to_hex(c0)", (I,), pg_strings.to_hex4),
    ("to_hex(c0)", ("int8",), pg_strings.to_hex8),
    ("string_to_array(c0, c1, c2)", (T, T, T), pg_strings.string_to_array),
    ("array_to_string(c0, c1, c2)", ("text[]", T, T), pg_strings.array_to_string),
    ("array_to_string(c0, c1)", ("text[]", T), lambda a, b: pg_strings.array_to_string(a, b, None)),
    ("c0::char(3)", (T,), lambda text: pg_strings.blank_padded(text, 3)),
    ("c0::text", ("text[]",), pg_arrays.array_text),
    ("quote_ident(c0)", (T,), pg_quoting.quote_ident),
    ("quote_literal(c0)", (T,), pg_quoting.quote_literal),
    ("format(c0, variadic c1)", (T, "text[]"), pg_quoting.format_text),
]


@pytest.mark.parametrize("index", range(len(PYTHON)), ids=[row[0] for row in PYTHON])
def test_a_runtime_function_gives_what_postgresql_gives(oracle: Oracle, index: int) -> None:
    expression, types, call = PYTHON[index]
    rows = drawn(expression, types)
    if expression.startswith("format"):
        random = Random(3)
        pieces = ["%", "%s", "%I", "%L", "%%", "1$", "2$", "*", "-", "3", "x", "s", "$", "0"]
        for each in rows:
            each[0] = "".join(random.choice(pieces) for _ in range(random.randint(0, 6)))
            each[1] = [random.choice(["1", "a", "-4", " 2", None, "b c"]) for _ in each[1]]
    if "pad" in expression or expression.startswith("repeat"):
        rows = [[each[0], min(each[1], 50), *each[2:]] for each in rows]
    theirs = oracle.values(expression, types, rows)
    for values, expected in zip(rows, theirs, strict=True):
        assert in_python(call, values) == expected, values
