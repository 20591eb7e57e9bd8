"""The generated text grows with the statement, not with its nesting; deep trees are read too."""

import json

import pytest

from redask.core.errors import SqlError
from redask.core.sql.binder.bound_statement import bind
from redask.core.sql.binder.context import Facts, TableDefinition
from redask.stores.columnar.statements.generated_text import read_deep
from redask.stores.columnar.statements.parsing import parse


class _NoTables:
    def table(self, schema: str | None, name: str) -> TableDefinition | None:
        return None

    def oid(self, schema: str | None, name: str) -> int | None:
        return None


def _size(expression: str, value: str) -> int:
    sql = f"SELECT {expression} FROM (VALUES ({value})) AS t(x)"
    return len(bind(parse(sql), sql, _NoTables(), Facts(), declared=[], scales={}).render([]))


def _nested(before: str, after: str, count: int) -> str:
    return before * count + "x" + after * count


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("", " + x", "1.5::float8"),
        ("", " * x", "1.5::float8"),
        ("", " / x", "1.5::float8"),
        ("", " || x", "ARRAY[1]"),
        ("(", " ^ 2::float8)", "1.5::float8"),
        ("nullif(", ", 1)", "1"),
        ("(", " BETWEEN true AND false)", "true"),
        ("exp(", ")", "1.5::float8"),
        ("(", " = ANY (ARRAY[true, false]))", "true"),
    ],
)
def test_twice_as_many_operators_make_a_text_of_about_twice_the_size(
    before: str, after: str, value: str
) -> None:
    once, twice = (_size(_nested(before, after, count), value) for count in (25, 50))
    assert twice < 2.5 * once


def test_a_text_that_would_be_too_long_is_refused() -> None:
    nested = _nested("CASE ", " WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END", 30)
    with pytest.raises(SqlError) as caught:
        _size(nested, "1")
    assert caught.value.sqlstate == "54001"


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, {"b": None, "c": 'x,]}"\\'}], "d": {}, "e": []},
        [[], [True, -1.5e3, ""], {"k": {"k": [0]}}],
    ],
)
def test_deep_json_is_read_as_json_is(value: object) -> None:
    for indent in (None, 2):
        assert read_deep(json.dumps(value, indent=indent)) == value


def test_json_that_is_too_deep_for_recursion_is_read() -> None:
    found = read_deep('{"a":[' * 50_000 + "7" + "]}" * 50_000)
    for _ in range(50_000):
        found = found["a"][0]
    assert found == 7
