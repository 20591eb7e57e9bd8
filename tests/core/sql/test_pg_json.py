"""json and jsonb by hand-made examples."""

from typing import Any

import pytest

from redask.core.errors import SqlError
from redask.core.sql.runtime.documents import pg_json, pg_jsonb

FUNCTIONS = pg_json.FUNCTIONS | pg_jsonb.FUNCTIONS


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        (
            "pg_jsonb_in",
            ('{"bb":1,"a":1e2,"a":[1.50,{}],"":-0.0}',),
            '{"": 0.0, "a": [1.50, {}], "bb": 1}',
        ),
        ("pg_jsonb_in", ('"\\u00e4\\u0001\\/"',), '"ä\\u0001/"'),
        ("pg_json_in", (' { "a" : 1 } ',), ' { "a" : 1 } '),
        ("pg_json_get_key", ('{"a" : [1, 2 ], "a":  {"b" :1 } }', "a"), '{"b" :1 }'),
        ("pg_json_get_index_text", ('[1, "x\\ny" ]', -1), "x\ny"),
        ("pg_json_get_index", ('"a"', 0), None),
        ("pg_jsonb_get_index", ('"a"', 0), '"a"'),
        ("pg_jsonb_get_path_text", ('{"a": [1, {"b": null}]}', ["a", "-1", "b"]), None),
        ("pg_jsonb_contains", ('{"a": 1, "b": 2}', '{"a": 1.0}'), True),
        ("pg_jsonb_contains", ("[true]", "1"), False),
        ("pg_jsonb_set", ("[1, 2]", ["-5"], "0", True), "[0, 1, 2]"),
        ("pg_jsonb_build_object", (["b", "a"], ["1", None]), '{"a": null, "b": 1}'),
        ("pg_json_build_object", (["b", "a"], ["1", None]), '{"b" : 1, "a" : null}'),
        ("pg_json_object_agg", (["a"], ["1"]), '{ "a" : 1 }'),
        ("pg_json_row", (["x", "y"], ["1", None]), '{"x":1,"y":null}'),
        ("pg_json_plain_array", (["1", None],), "[1,null]"),
        ("pg_json_build_array", (["1", None],), "[1, null]"),
        ("pg_json_agg_lines", (["[1]", None, "[2]"],), "[[1], null, \n [2]]"),
        ("pg_json_number", ("NaN",), '"NaN"'),
        ("pg_jsonb_key", ("[1.50, 100]",), "[1.5, 100]"),
        ("pg_jsonb_pretty", ('{"a": []}',), '{\n    "a": [\n    ]\n}'),
    ],
)
def test_a_json_function_gives(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    assert FUNCTIONS[name].call(*arguments) == expected


@pytest.mark.parametrize(
    ("text", "sqlstate"),
    [
        ("{", "22P02"),
        ("[1,]", "22P02"),
        ("NaN", "22P02"),
        ("01", "22P02"),
        ('"\t"', "22P02"),
        ('"\\u0000"', "22P05"),
        ('"\\ud800"', "22P02"),
        ("1e200000", "22003"),
        ("1e-20000", "22003"),
        ("[" * 1000 + "]" * 1000, "54001"),
    ],
)
def test_what_jsonb_refuses(text: str, sqlstate: str) -> None:
    with pytest.raises(SqlError) as caught:
        pg_jsonb.jsonb_normal(text)
    assert caught.value.sqlstate == sqlstate


def test_a_long_whole_number_is_kept_exactly() -> None:
    digits = "9" * 5000
    assert pg_jsonb.jsonb_normal(f"[{digits}]") == f"[{digits}]"
    assert FUNCTIONS["pg_json_get_index"].call(f"[{digits}]", 0) == digits
    assert FUNCTIONS["pg_jsonb_get_index"].call(f"[{digits}]", 0) == digits
