"""json and jsonb functions against a real PostgreSQL 15, over random texts."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from postgres_oracle import Answer, Oracle, is_installed, running
from random_json import STRINGS, json_text

from redask.core.errors import SqlError
from redask.core.sql.runtime.documents import pg_json, pg_jsonb

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL 15 is not installed")
FUNCTIONS = pg_json.FUNCTIONS | pg_jsonb.FUNCTIONS
ROWS = 300
J, B, T, I, A = "json", "jsonb", "text", "int4", "text[]"  # noqa: E741

# name of ours, PostgreSQL's expression, types of c0, c1 …; a jsonb result is compared as text
CASES: list[tuple[str, str, tuple[str, ...]]] = [
    ("pg_json_in", "c0::json::text", (T,)),
    ("pg_jsonb_in", "c0::jsonb::text", (T,)),
    ("pg_json_typeof", "json_typeof(c0)", (J,)),
    ("pg_jsonb_typeof", "jsonb_typeof(c0)", (B,)),
    ("pg_json_array_length", "json_array_length(c0)", (J,)),
    ("pg_jsonb_array_length", "jsonb_array_length(c0)", (B,)),
    ("pg_jsonb_contains", "c0 @> c1", (B, B)),
    ("pg_jsonb_exists", "c0 ? c1", (B, T)),
    ("pg_jsonb_exists_any", "c0 ?| c1", (B, A)),
    ("pg_jsonb_exists_all", "c0 ?& c1", (B, A)),
    ("pg_jsonb_concat", "(c0 || c1)::text", (B, B)),
    ("pg_jsonb_delete_key", "(c0 - c1)::text", (B, T)),
    ("pg_jsonb_delete_keys", "(c0 - c1)::text", (B, A)),
    ("pg_jsonb_delete_index", "(c0 - c1)::text", (B, I)),
    ("pg_jsonb_delete_path", "(c0 #- c1)::text", (B, A)),
    ("pg_jsonb_set", "jsonb_set(c0, c1, c2, c3)::text", (B, A, B, "bool")),
    ("pg_jsonb_strip_nulls", "jsonb_strip_nulls(c0)::text", (B,)),
    ("pg_json_strip_nulls", "json_strip_nulls(c0)::text", (J,)),
    ("pg_jsonb_pretty", "jsonb_pretty(c0)", (B,)),
    ("pg_json_string", "to_json(c0)::text", (T,)),
]
for which, kind in ((J, "json"), (B, "jsonb")):
    CASES += [
        (f"pg_{kind}_get_key", "(c0 -> c1)::text", (which, T)),
        (f"pg_{kind}_get_key_text", "c0 ->> c1", (which, T)),
        (f"pg_{kind}_get_index", "(c0 -> c1)::text", (which, I)),
        (f"pg_{kind}_get_index_text", "c0 ->> c1", (which, I)),
        (f"pg_{kind}_get_path", "(c0 #> c1)::text", (which, A)),
        (f"pg_{kind}_get_path_text", "c0 #>> c1", (which, A)),
        (f"pg_{kind}_object_keys", f"array(SELECT {kind}_object_keys(c0))", (which,)),
        (
            f"pg_{kind}_array_elements",
            f"array(SELECT x::text FROM {kind}_array_elements(c0) x)",
            (which,),
        ),
        (
            f"pg_{kind}_array_elements_text",
            f"array(SELECT {kind}_array_elements_text(c0))",
            (which,),
        ),
        (f"pg_{kind}_each_keys", f"array(SELECT key FROM {kind}_each(c0))", (which,)),
        (f"pg_{kind}_each_values", f"array(SELECT value::text FROM {kind}_each(c0))", (which,)),
        (f"pg_{kind}_each_values_text", f"array(SELECT value FROM {kind}_each_text(c0))", (which,)),
    ]
KEYS = ["", "a", "b", "bb", "ä", "1", "0", "-1", " 1", "+0", "2x", "x\ny", "99999999999", 'a"b']


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with running() as ask:
        yield ask


def drawn(random: Random, type_name: str) -> Any:
    if type_name == T:
        return json_text(random) if random.random() < 0.4 else random.choice(KEYS)
    if type_name == I:
        return random.randint(-4, 4)
    if type_name == "bool":
        return random.random() < 0.5
    if type_name == A:
        null = 0.05
        return [
            None if random.random() < null else random.choice(KEYS)
            for _ in range(random.randint(0, 3))
        ]
    return json_text(random)


def ours(name: str, types: tuple[str, ...], row: list[Any]) -> Answer:
    """Our function over values that came in as a literal of their type does."""
    casts = {J: "pg_json_in", B: "pg_jsonb_in"}
    try:
        values = [
            FUNCTIONS[casts[kind]].call(each) if kind in casts else each
            for each, kind in zip(row, types, strict=True)
        ]
        return "value", FUNCTIONS[name].call(*values)
    except SqlError as error:
        return "error", error.sqlstate


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_json_function_gives_what_postgresql_gives(
    oracle: Oracle, case: tuple[str, str, tuple[str, ...]]
) -> None:
    name, expression, types = case
    random = Random(name)
    rows = [[drawn(random, kind) for kind in types] for _ in range(ROWS)]
    theirs = oracle.values(expression, types, rows)
    for row, expected in zip(rows, theirs, strict=True):
        assert ours(name, types, row) == expected, row


def test_two_jsonb_values_have_one_key_exactly_if_they_are_equal(oracle: Oracle) -> None:
    random = Random(5)
    rows = [[json_text(random), json_text(random)] for _ in range(3000)]
    rows += [["1", "1.0"], ["[1.50]", "[1.5]"], ["0", "0.00"], ["100", "1e2"], ["true", "1"]]
    theirs = oracle.values("c0 = c1", (B, B), rows)
    for row, expected in zip(rows, theirs, strict=True):
        try:
            keys = [pg_jsonb.jsonb_key(pg_jsonb.jsonb_normal(each)) for each in row]
        except SqlError:
            assert expected[0] == "error"
            continue
        assert ("value", keys[0] == keys[1]) == expected, row


def test_builders_write_postgresql_s_spacing(oracle: Oracle) -> None:
    """Lists of JSON texts, as the binder makes them."""
    random = Random(6)
    rows: list[list[Any]] = []
    while len(rows) < 400:
        values = [random.choice([*STRINGS, "1", "2.50", "true", '{"a" : 1}']) for _ in range(3)]
        rows.append([[*values, None], ["k", "kk", random.choice(["k", "j"]), 'q"']])
    values_sql = ", ".join(f"c0[{index}]::json" for index in range(1, 5))
    pairs_sql = ", ".join(f"c1[{index}], c0[{index}]::json" for index in range(1, 5))
    lines = "(SELECT json_agg(a) FROM (SELECT array[v::json] a FROM unnest(c0) v) x)::text"
    named = 'c0[1]::json AS k, c0[2]::json AS kk, c0[3]::json AS j, c0[4]::json AS "q"""'
    zipped = "unnest(c1, c0::json[]) AS z(k, v)"
    cases = [
        ("pg_json_build_array", f"json_build_array({values_sql})::text", 1),
        ("pg_jsonb_build_array", f"jsonb_build_array({values_sql})::text", 1),
        ("pg_json_plain_array", "to_json(c0::json[])::text", 1),
        ("pg_json_build_array", "(SELECT json_agg(v) FROM unnest(c0::json[]) AS v)::text", 1),
        ("pg_jsonb_build_array", "(SELECT jsonb_agg(v) FROM unnest(c0::json[]) AS v)::text", 1),
        ("pg_json_agg_lines", lines, 1),
        ("pg_json_row", f"row_to_json((SELECT r FROM (SELECT {named}) r))::text", 2),
        ("pg_json_build_object", f"json_build_object({pairs_sql})::text", 2),
        ("pg_jsonb_build_object", f"jsonb_build_object({pairs_sql})::text", 2),
        ("pg_json_object_agg", f"(SELECT json_object_agg(k, v) FROM {zipped})::text", 2),
        ("pg_jsonb_object_agg", f"(SELECT jsonb_object_agg(k, v) FROM {zipped})::text", 2),
    ]
    for name, expression, count in cases:
        theirs = oracle.values(expression, (A, A), rows)
        for (values, keys), expected in zip(rows, theirs, strict=True):
            arguments: tuple[Any, ...] = (keys, values) if count == 2 else (values,)
            if name == "pg_json_agg_lines":
                arguments = ([FUNCTIONS["pg_json_plain_array"].call([each]) for each in values],)
            elif name == "pg_json_row":
                arguments = (["k", "kk", "j", 'q"'], values)
            assert ("value", FUNCTIONS[name].call(*arguments)) == expected, (name, values)
