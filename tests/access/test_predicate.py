"""Conditions: the grammar, three truths against another evaluator, and hostile text."""

import json
import operator
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redask.core.access.predicate import MAX_BYTES, MAX_TEXT, parse
from redask.core.errors import BadStatement

USER = {"region": "north", "level": 3, "areas": ["a", "b"], "none": [], "odd": ["a", 1]}


def holds(condition: str, row: Mapping[str, object], user: Mapping[str, object] = USER) -> bool:
    return parse(condition).holds(row, user)


@pytest.mark.parametrize(
    ("condition", "row", "expected"),
    [
        ("region = :user.region", {"region": "north"}, True),
        ("region = :user.region", {"region": "south"}, False),
        ("region = :user.region and status <> 'draft'", {"region": "north"}, False),
        ("region = :user.region AND Status != 'draft'", {"region": "north", "Status": "x"}, True),
        ("a = 'it''s'", {"a": "it's"}, True),
        ('"a ""b" = 1', {'a "b': 1}, True),
        ('"and" = 1', {"and": 1}, True),
        ("a = 1", {"a": 1.0}, True),
        ("a = 1", {"a": True}, False),
        ("not a = 1", {"a": True}, False),
        ("a = '1'", {"a": 1}, False),
        ("not a = '1'", {"a": 1}, False),
        ("a <> 1", {"a": None}, False),
        ("a is null", {}, True),
        ("a is not null", {"a": []}, True),
        ("a = 1", {"a": [1]}, False),
        ("not a = 1", {"a": {"b": 1}}, False),
        ("a in (1, 'x', true)", {"a": True}, True),
        ("a not in (1, 2)", {"a": 3}, True),
        ("a not in (1, 'x')", {"a": 3}, False),
        ("a in :user.areas", {"a": "b"}, True),
        ("a not in :user.areas", {"a": "c"}, True),
        ("a in :user.none", {"a": "c"}, False),
        ("a not in :user.none", {"a": "c"}, True),
        ("a in :user.level", {"a": 3}, True),
        ("a not in :user.odd", {"a": "c"}, False),
        ("a not in :user.missing", {"a": "c"}, False),
        ("'x' in (a, b)", {"a": 1, "b": "x"}, True),
        ("a > -1.5e1 and a < .5", {"a": -15}, False),
        ("a >= -15 and a <= -15", {"a": -15}, True),
        ("a > 'Z'", {"a": "a"}, True),
        ("a > 'é'", {"a": "z"}, False),
        ("true", {}, True),
        ("false or not false", {}, True),
        ("active = true", {"active": True}, True),
        ("false < true", {}, True),
        ("a = 1 or b = 1 and c = 1", {"a": 1}, True),
        ("(a = 1 or b = 1) and c = 1", {"a": 1}, False),
        ("not a = 1 and b = 1", {"a": 2, "b": 1}, True),
        ("not (a = 1 and b = 1)", {"a": 2}, True),
        ("a = 9007199254740993", {"a": 9007199254740992}, False),
        (":user.level is not null", {}, True),
        ("a\t=\r\n1", {"a": 1}, True),
    ],
)
def test_a_condition_admits_what_it_says(
    condition: str, row: dict[str, object], expected: bool
) -> None:
    assert holds(condition, row) is expected


def test_what_a_condition_looks_at_is_known() -> None:
    condition = parse("""a = :user.x and ("b c" in :user.y or 'q' in (d, e)) or f is null""")
    assert condition.columns == {"a", "b c", "d", "e", "f"}
    assert condition.attributes == {"x", "y"}


@pytest.mark.parametrize(
    ("condition", "line", "column", "expected"),
    [
        ("", 1, 1, "a column"),
        ("   ", 1, 4, "a column"),
        ("a", 1, 2, "a comparison"),
        ("a =", 1, 4, "a column"),
        ("a = 1 b", 1, 7, "the end"),
        ("a = 1\n  and ?", 2, 7, "a column"),
        ("a = null", 1, 5, "a column"),
        ("a = b", 1, 5, "two columns"),
        ("a in (1, b)", 1, 10, "two columns"),
        ("a in ()", 1, 7, "a column"),
        ("a in (1", 1, 8, "`)`"),
        ("a in 1", 1, 6, "`(`"),
        ("a not = 1", 1, 7, "`in`"),
        ("a is 1", 1, 6, "`null`"),
        ("(a = 1", 1, 7, "`)`"),
        ("a = 'x", 1, 5, "a column"),
        ("a = 1x", 1, 5, "a column"),
        ("a = 1.2.3", 1, 5, "a column"),
        ("a == 1", 1, 4, "a column"),
        ("a = :user", 1, 5, "a column"),
        ("a = :other.x", 1, 5, "a column"),
        ("a.b = 1", 1, 2, "a comparison"),
        ("ａ = 1", 1, 1, "a column"),
        ("a = 1 -- so", 1, 7, "the end"),
        ("a = 1; a = 2", 1, 6, "the end"),
        ("a = f(1)", 1, 5, "two columns"),
        ("a = 1e999", 1, 5, "a number"),
        (f"a = '{'x' * 1001}'", 1, 5, "at most 1000 characters"),
        ("not " * 40 + "true", 1, 133, "at most 32 levels"),
        ("(" * 40 + "true", 1, 34, "at most 32 levels"),
        ("1=1 or " * 500 + "true", 1, 3501, "at most 500 comparisons"),
        ("x" * (MAX_BYTES + 1), 1, 1, "at most 4096 bytes"),
        ("é" * (MAX_BYTES // 2 + 1), 1, 1, "at most 4096 bytes"),
    ],
)
def test_a_bad_condition_is_told_where_and_what_was_expected(
    condition: str, line: int, column: int, expected: str
) -> None:
    with pytest.raises(BadStatement) as caught:
        parse(condition)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert expected in caught.value.expected


def test_at_the_bounds_all_is_well() -> None:
    assert holds("not " * 32 + "true", {})
    assert holds("(" * 32 + "true" + ")" * 32, {})
    assert holds("1=1 or " * 499 + "true", {})
    assert holds(f"a = '{'x' * MAX_TEXT}'", {"a": "x" * MAX_TEXT})
    assert holds("true" + " " * (MAX_BYTES - 4), {})


# --- three truths, against an evaluator that shares nothing with ours ---------------------

Node = tuple[Any, ...]
COLUMNS = ("a", "b", "Odd Name")
ATTRIBUTES = ("region", "level", "areas", "missing")
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SCALARS = (
    st.sampled_from(["", "a", "b", "it's", 'say "so"', "north"])
    | st.integers(-3, 3)
    | st.sampled_from([0.5, -1.0, 2.0])
    | st.booleans()
)
_CONSTANTS = _SCALARS.map(lambda value: ("constant", value))
_COLUMN = st.sampled_from(COLUMNS).map(lambda name: ("column", name))
_USER = st.sampled_from(ATTRIBUTES).map(lambda name: ("user", name))
_VALUE = _CONSTANTS | _USER
_PAIRS = st.tuples(_COLUMN | _VALUE, _VALUE) | st.tuples(_VALUE, _COLUMN)
_LEAVES = (
    st.tuples(st.just("compare"), st.sampled_from(sorted(_SIGNS)), _PAIRS)
    | st.tuples(st.just("null"), st.booleans(), _COLUMN | _VALUE)
    | st.tuples(st.just("in"), st.booleans(), _COLUMN, st.lists(_VALUE, min_size=1, max_size=3))
    | st.tuples(st.just("in"), st.booleans(), _VALUE, st.lists(_COLUMN, min_size=1, max_size=2))
    | st.tuples(st.just("among"), st.booleans(), _COLUMN | _VALUE, st.sampled_from(ATTRIBUTES))
    | st.tuples(st.just("truth"), st.booleans())
)
_TREES: st.SearchStrategy[Node] = st.recursive(
    _LEAVES,
    lambda inner: (
        st.tuples(st.just("not"), inner)
        | st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3))
    ),
    max_leaves=8,
)
_CELLS: st.SearchStrategy[object] = _SCALARS | st.none() | st.sampled_from([[], {"x": 1}])
_ROWS = st.dictionaries(st.sampled_from(COLUMNS), _CELLS, max_size=3)
_USERS = st.dictionaries(
    st.sampled_from(ATTRIBUTES[:3]), _SCALARS | st.lists(_SCALARS, max_size=3), max_size=3
)


def written(node: Node) -> str:
    match node:
        case ("constant", bool(value)):
            return "TRUE" if value else "false"
        case ("constant", str(value)):
            return "'" + value.replace("'", "''") + "'"
        case ("constant", value):
            return repr(value)
        case ("column", name):
            return f'"{name}"'
        case ("user", name):
            return f":user.{name}"
        case ("compare", sign, (left, right)):
            return f"{written(left)}{sign} {written(right)}"
        case ("null", wanted, operand):
            return f"{written(operand)} is {'' if wanted else 'NOT '}null"
        case ("in", wanted, operand, members):
            listed = ",".join(written(each) for each in members)
            return f"{written(operand)} {'' if wanted else 'not '}in({listed})"
        case ("among", wanted, operand, name):
            return f"{written(operand)} {'' if wanted else 'not '}IN :user.{name}"
        case ("truth", value):
            return "true" if value else "False"
        case ("not", inner):
            return f"not ({written(inner)})"
        case (word, parts):
            return f" {word} ".join(f"({written(each)})" for each in parts)
    raise AssertionError(node)


def sort_of(value: object) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "text"}
    return kinds.get(type(value), "other")


def truth(node: Node, row: Mapping[str, Any], user: Mapping[str, Any]) -> float:
    """1 for yes, 0 for no, ½ for unknown: and is the least, or the greatest."""

    def value(operand: Node) -> Any:
        where, name = operand
        if where == "constant":
            return name
        return (row if where == "column" else user).get(name)

    def compared(sign: str, one: object, other: object) -> float:
        if sort_of(one) == "other" or sort_of(one) != sort_of(other):
            return 0.5
        return float(_SIGNS[sign](one, other))

    match node:
        case ("compare", sign, (left, right)):
            return compared(sign, value(left), value(right))
        case ("null", wanted, operand):
            return float((value(operand) is None) == wanted)
        case ("in", wanted, operand, members):
            found = max(compared("=", value(operand), value(each)) for each in members)
            return found if wanted else 1 - found
        case ("among", wanted, operand, name):
            known = user.get(name)
            values = known if isinstance(known, list) else [known]
            found = max((compared("=", value(operand), each) for each in values), default=0.0)
            return found if wanted else 1 - found
        case ("truth", said):
            return float(said)
        case ("not", inner):
            return 1 - truth(inner, row, user)
        case (word, parts):
            return (min if word == "and" else max)(truth(each, row, user) for each in parts)
    raise AssertionError(node)


@settings(max_examples=1000)
@given(_TREES, _ROWS, _USERS)
def test_a_condition_and_its_negation_agree_with_another_evaluator(
    node: Node, row: dict[str, object], user: dict[str, object]
) -> None:
    expected = truth(node, row, user)
    assert holds(written(node), row, user) is (expected == 1)
    assert holds(f"not ({written(node)})", row, user) is (expected == 0)


_WORDS = st.sampled_from(
    "and or not in is null true false a \"b\" 'c' ( ) , = <> < :user.x :user . 1 1e5 -".split()
)


@settings(max_examples=500)
@given(st.text() | st.lists(_WORDS, max_size=12).map(" ".join) | st.text("()'\"=ao1 \n:.-"))
def test_any_text_is_a_condition_or_a_bad_statement_with_a_place_in_it(text: str) -> None:
    fault = None
    try:
        condition = parse(text)
    except BadStatement as error:
        fault = error
    if fault is None:
        assert condition.text == text
        assert condition.holds({}, {}) in (True, False)
    else:
        lines = text.split("\n")
        assert 1 <= fault.line <= len(lines)
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1


@pytest.mark.parametrize(
    "text",
    [
        "a in (" + ",".join("1" * 4 for _ in range(815)) + ")",
        " or ".join(["a=1"] * 500),
        "'" * 4095,
        '"' * 4095,
        "(" * 4096,
        "-" * 4096,
        "9" * 4096,
        "not " * 1024,
        " " * 4096,
        "a" * 4096,
    ],
)
def test_nothing_that_fits_costs_more_than_a_moment(text: str) -> None:
    started = time.process_time()
    for _ in range(5):
        try:
            condition = parse(text)
        except BadStatement:
            continue
        for place in range(20):
            condition.holds({"a": place + 2}, {})
    assert time.process_time() - started < 1.0


def test_values_read_from_json_compare_as_themselves() -> None:
    row = json.loads('{"a": 1, "b": 1.0, "c": "1", "d": null, "e": 1e2}')
    assert [name for name in row if holds(f"{name} = 1", row)] == ["a", "b"]
    assert holds("e = 100", row)
