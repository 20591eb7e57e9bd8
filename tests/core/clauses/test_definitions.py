"""The table of clauses is the contract's, and everything made from it agrees with it."""

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import redask.core.clauses
from redask.core.clauses import CLAUSES, OPTIONS, Clause, from_options, parse
from redask.core.clauses.definitions import HISTORY, Takes
from redask.core.errors import BadStatement
from redask.core.model import Ask, Turn
from redask.core.values import Unfit

BY_KEYWORD = {row.keyword: row for row in CLAUSES}
ASK_FIELDS = {field.name: field.default for field in fields(Ask)}

# contract 18 and 19: keyword, how its value stands in a statement, option, JSON type, range
CONTRACT: list[tuple[str, str, str | None, object, tuple[int, int] | None]] = [
    ("USING", "provider | 'a,b,c'", "using", "string", None),
    ("MODEL", "'text'", "model", "string", None),
    ("COLLECTION", "name[, name…]", "collection", None, None),
    ("LIMIT", "n", "limit", "integer", (1, 200)),
    ("MIN_SCORE", "n", "min_score", "number", (0, 1)),
    ("DEPTH", "n", "depth", "integer", (0, 10)),
    ("STRICT", "ON|OFF|SUPPORTED", "strict", None, None),
    ("STREAM", "", None, None, None),
    ("TEMPERATURE", "n", "temperature", "number", (0, 2)),
    ("SEED", "n", "seed", "integer", (0, 2**64 - 1)),
    ("CACHE", "TTL '5m'", "cache", "object", None),
    ("NOCACHE", "", "nocache", "boolean", None),
    ("EVIDENCE", "", "evidence", "boolean", None),
    ("PLAN", "AUTO|OFF|ONLY", "plan", "string", None),
    ("STEPS", "n", "steps", "integer", (1, 2)),
]


def accepts(row: Clause, value: object) -> bool:
    try:
        row.read(value)
    except Unfit:
        return False
    return True


def schema_of(row: Clause) -> Mapping[str, Any]:
    return row.schema or {}


def test_the_clauses_are_those_of_the_contract() -> None:
    assert [
        (row.keyword, row.takes.value, row.option, schema_of(row).get("type")) for row in CLAUSES
    ] == [row[:4] for row in CONTRACT]


@pytest.mark.parametrize(("keyword", "bounds"), [(row[0], row[4]) for row in CONTRACT])
def test_the_published_range_is_the_contracts_and_the_readers(
    keyword: str, bounds: tuple[int, int] | None
) -> None:
    row = BY_KEYWORD[keyword]
    if bounds is None:
        assert "minimum" not in schema_of(row)
        return
    low, high = bounds
    assert (schema_of(row)["minimum"], schema_of(row)["maximum"]) == bounds
    verdicts = [accepts(row, value) for value in (low - 1, low, high, high + 1)]
    assert verdicts == [False, True, True, False]


def test_keywords_options_and_fields_are_each_used_once() -> None:
    options = [row.option for row in CLAUSES if row.option]
    assert len(BY_KEYWORD) == len({row.field for row in CLAUSES}) == len(CLAUSES)
    assert len(set(options)) == len(options)


def test_every_field_of_an_ask_but_question_explain_and_history_has_its_clause() -> None:
    assert {row.field for row in CLAUSES} == set(ASK_FIELDS) - {"question", "explain", "history"}
    assert all(ASK_FIELDS[row.field] is not MISSING for row in CLAUSES)


def test_history_alone_stands_in_options_only() -> None:
    assert [row.option for row in OPTIONS if not row.keyword] == ["history"]
    assert [row for row in OPTIONS if row.keyword] == [row for row in CLAUSES if row.option]
    with pytest.raises(BadStatement):
        parse("ASK 'q' HISTORY")


def test_stream_alone_stands_in_statements_only() -> None:
    assert [row.keyword for row in CLAUSES if row.option is None] == ["STREAM"]
    assert all((row.schema is None) is (row.option is None) for row in CLAUSES)


def test_published_defaults_are_the_asks() -> None:
    published = {
        row.field: schema_of(row)["default"] for row in CLAUSES if "default" in schema_of(row)
    }
    assert published == {"limit": 20, "depth": 2, "plan": "auto", "steps": 1}
    assert all(ASK_FIELDS[field] == default for field, default in published.items())


def test_a_clause_is_explained_in_one_line() -> None:
    for row in CLAUSES:
        assert re.fullmatch(r"[a-z'][^\n]*[^.\s]", row.help), row


def test_the_docstring_of_the_package_lists_each_row() -> None:
    lines = (redask.core.clauses.__doc__ or "").splitlines()
    for row in CLAUSES:
        line = next(line for line in lines if line.strip().startswith(row.keyword))
        assert line.endswith(f" {row.field}")
        assert (row.option or "–") in line
        if row.takes is Takes.NUMBER:
            low, high = schema_of(row)["minimum"], schema_of(row)["maximum"]
            assert f" {low}–{'2^64-1' if high == 2**64 - 1 else high} " in line


_VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-1, 201)
    | st.floats(-(2.0**53), 2.0**53, exclude_min=True, exclude_max=True)  # exact as integers
    | st.floats(-0.5, 2.5)
    | st.sampled_from([math.nan, math.inf, -math.inf])
    | st.text(max_size=3)
    | st.lists(st.integers(), max_size=1)
)


@given(
    st.sampled_from([row for row in CLAUSES if row.takes in (Takes.NUMBER, Takes.STRICTNESS)]),
    _VALUES | st.sampled_from(["on", "off", "ON", "supported"]),
)
def test_a_reader_accepts_exactly_what_the_schema_allows(row: Clause, value: object) -> None:
    schema = schema_of(row)
    if row.takes is Takes.STRICTNESS:
        boolean, word = schema["anyOf"]
        assert (boolean, word["type"]) == ({"type": "boolean"}, "string")
        listed = isinstance(value, str) and value in word["enum"]
        assert accepts(row, value) is (isinstance(value, bool) or listed)
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if schema["type"] == "integer":
        number = number and value == value // 1  # type: ignore[operator]
    allowed = number and schema["minimum"] <= value <= schema["maximum"]
    assert accepts(row, value) is bool(allowed)


@given(st.from_regex(r"\A[0-9]{1,25}[smhd]\Z") | st.text("059smhdM ", max_size=5))
def test_a_time_to_live_that_is_accepted_has_the_published_pattern(ttl: str) -> None:
    pattern = schema_of(BY_KEYWORD["CACHE"])["properties"]["ttl"]["pattern"]
    if accepts(BY_KEYWORD["CACHE"], {"ttl": ttl}):
        assert re.search(pattern, ttl)
    elif re.fullmatch(pattern, ttl):  # the pattern cannot count
        seconds = int(ttl[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[ttl[-1]]
        assert not 0 < seconds < 2**64


def test_the_package_offers_both_readers_and_the_rows() -> None:
    assert sorted(redask.core.clauses.__all__) == [
        *("CLAUSES", "Clause", "OPTIONS", "from_options", "parse")
    ]
    assert parse("ASK 'q'") == from_options("q")


def test_an_option_is_told_by_a_flag_or_a_field_as_by_an_object() -> None:
    by_kind = {row.takes: row for row in (*CLAUSES, HISTORY)}
    said = [Turn("Who?", "Mia.")]
    assert by_kind[Takes.TTL].option_of("1h") == {"ttl": "1h"}
    assert by_kind[Takes.NAMES].option_of(("a", "b")) == ["a", "b"]
    assert by_kind[Takes.TURNS].option_of(said) == [{"answer": "Mia.", "question": "Who?"}]
    assert BY_KEYWORD["LIMIT"].option_of(3) == 3
