"""Canonical JSON: the bytes of json.dumps, and our own error for whatever has none."""

import datetime
import decimal
import json as stdlib
import math
import os
import subprocess
import sys
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import BadAsk, NotCanonical
from redask.core.wire import json, outcomes


def oracle(value: object) -> bytes:
    """The sentence of the contract, as it stands there."""
    return stdlib.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def refused(value: object) -> NotCanonical:
    with pytest.raises(NotCanonical) as caught:
        json.encode(value)
    return caught.value


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
    | st.text()
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_ODD_KEYS = st.text(st.characters()) | st.integers() | st.none()
_ANYTHING = st.recursive(
    _SCALARS | st.floats() | st.text(st.characters()) | st.binary() | st.just({1}),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_ODD_KEYS, inner, max_size=2),
    max_leaves=4,
)


@given(_VALUES)
def test_the_bytes_are_those_of_json_dumps(value: object) -> None:
    assert json.encode(value) == oracle(value)
    assert json.text(value) == oracle(value).decode()
    assert stdlib.loads(json.encode(value)) == value


@given(st.dictionaries(st.text(), _SCALARS))
def test_equal_input_gives_equal_bytes_in_any_insertion_order(value: dict[str, object]) -> None:
    assert json.encode(dict(reversed(value.items()))) == json.encode(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, b"{}"),
        ([], b"[]"),
        ((), b"[]"),
        ("", b'""'),
        ({"b": 1, "a": [True, False, None]}, b'{"a":[true,false,null],"b":1}'),
        ({"": {"x": {}}}, b'{"":{"x":{}}}'),
        ({"Z": 1, "a": 2, "É": 3, "😀": 4, "\uffff": 5}, '{"Z":1,"a":2,"É":3,"\uffff":5,"😀":4}'),
        ("é😀\u2028", '"é😀\u2028"'),
        ('\x00\x1f\x7f"\\/\n\r\t\b\f', b'"\\u0000\\u001f\x7f\\"\\\\/\\n\\r\\t\\b\\f"'),
        (0.0, b"0.0"),
        (-0.0, b"0.0"),
        ([{"cost_usd": -0.0}], b'[{"cost_usd":0.0}]'),
        (1e16, b"1e+16"),
        (1e-7, b"1e-07"),
        (0.1 + 0.2, b"0.30000000000000004"),
        (12181976676831968970, b"12181976676831968970"),
        (2**64 - 1, b"18446744073709551615"),
        (-(2**63), b"-9223372036854775808"),
    ],
)
def test_a_value_has_these_bytes(value: object, expected: bytes | str) -> None:
    assert json.encode(value) == (expected.encode() if isinstance(expected, str) else expected)


@pytest.mark.parametrize("digits", [4200, 4215, 4300, 4301, 20_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_are_exact_at_any_size(digits: int, sign: int) -> None:
    whole = "7" + "0123456789" * (digits // 10)
    number = 0
    for position in range(0, len(whole), 1000):  # int() reads at most 4,300 digits at once
        part = whole[position : position + 1000]
        number = number * 10 ** len(part) + int(part)
    assert json.text([sign * number]) == f"[{'-' if sign < 0 else ''}{whole}]"


class Word(StrEnum):
    A = "a"


class Number(IntEnum):
    ONE = 1


class Other(Enum):
    X = "x"


def test_texts_and_numbers_of_a_subclass_are_texts_and_numbers() -> None:
    assert json.encode({Word.A: [Word.A, Number.ONE]}) == b'{"a":["a",1]}'


@pytest.mark.parametrize(
    ("value", "where", "why"),
    [
        (math.nan, "$", "nan is not a JSON number"),
        ([1, math.inf], "$[1]", "inf is not a JSON number"),
        ({"a": [0, {"b": -math.inf}]}, "$.a[1].b", "-inf is not a JSON number"),
        ({"a": {1: 2}}, "$.a", "a key is a string, not int"),
        ({None: 1}, "$", "a key is a string, not NoneType"),
        ({True: 1}, "$", "a key is a string, not bool"),
        ({"a": 1, 1.5: 2}, "$", "a key is a string, not float"),
        ({("a",): 1}, "$", "a key is a string, not tuple"),
        ([b"x"], "$[0]", "bytes is not a JSON type"),
        ({1, 2}, "$", "set is not a JSON type"),
        (frozenset(), "$", "frozenset is not a JSON type"),
        (decimal.Decimal(1), "$", "Decimal is not a JSON type"),
        ([[datetime.date(2024, 1, 1)]], "$[0][0]", "date is not a JSON type"),
        (Other.X, "$", "Other is not a JSON type"),
        (object(), "$", "object is not a JSON type"),
        (range(3), "$", "range is not a JSON type"),
        (1j, "$", "complex is not a JSON type"),
        ({"a": iter(())}, "$.a", "tuple_iterator is not a JSON type"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_path(
    value: object, where: str, why: str
) -> None:
    error = refused(value)
    assert (error.detail, error.message) == (where, why)
    assert isinstance(error, BadAsk)


@pytest.mark.parametrize("code", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_lone_surrogates_are_refused_wherever_they_stand(code: int) -> None:
    surrogate = chr(code)
    for value in (surrogate, [f"a{surrogate}b"], {surrogate: 1}, {"a": {f"x{surrogate}": 1}}):
        assert refused(value).message == "a lone surrogate has no UTF-8"
        with pytest.raises(NotCanonical):
            json.text(value)


def test_a_lone_surrogate_is_found_by_what_stands_before_it() -> None:
    assert refused(["x" * 30 + "\ud800"]).detail == f"after '{'x' * 20}'"
    assert refused("\ud800").detail == "after '\"'"


@pytest.mark.parametrize(
    "value",
    [{"\ud800": math.nan}, {"a\ud800": [{1: 2}]}, "x\ud800", {"\n\x00": object()}],
)
def test_the_error_itself_can_always_be_shown(value: object) -> None:
    assert json.encode(outcomes.body(refused(value)))


def test_nesting_is_bounded_so_that_no_value_breaks_the_stack() -> None:
    def nested(depth: int, wrap: Any) -> object:
        value: object = 1
        for _ in range(depth):
            value = wrap(value)
        return value

    for wrap in (lambda inner: [inner], lambda inner: {"a": inner}):
        assert json.encode(nested(256, wrap)) == oracle(nested(256, wrap))
        for depth in (257, 100_000):
            error = refused(nested(depth, wrap))
            assert error.message == "a value is nested more than 256 levels deep"


def test_a_value_that_holds_itself_is_refused() -> None:
    ring: list[object] = []
    ring.append(ring)
    refused(ring)


@given(_ANYTHING)
def test_anything_is_encoded_or_refused_with_our_own_error(value: object) -> None:
    try:
        encoded = json.encode(value)
    except NotCanonical:
        return
    assert encoded.decode() == json.text(value)


def test_every_process_gives_the_same_bytes() -> None:
    code = (
        "from redask.core.wire.json import encode\n"
        "print(encode({name: {name: 1} for name in {'a', 'b', 'c', 'd', 'Z', '1'}}))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
