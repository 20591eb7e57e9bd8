"""Rows as JSON: the bytes of canonical JSON of the same rows as objects, and never too many."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.api.select_rows import SelectRows
from redask.core.errors import LimitExceeded
from redask.core.ports import SelectResult
from redask.core.wire import json as canonical
from redask.core.wire import row_json
from redask.core.wire.row_json import MAX_SAFE, PIECE_BYTES, for_browsers

VALUES: list[object] = [
    *(None, True, 1, -(2**63), MAX_SAFE, MAX_SAFE + 1, 0.5, float("nan"), 1e20, "ü\n\"'", ""),
    *(Decimal("12.50"), date(2026, 5, 4), time(9, 30), datetime(2026, 5, 4, tzinfo=UTC)),
    *(UUID(int=7), b"\x00\xff", [1, None, [2**60]], [], "\u2028"),
]
CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.lists(st.integers(-(2**70), 2**70), max_size=3),
)


def rows_json(names: list[str], rows: Iterable[tuple[object, ...]], **how: Any) -> bytes:
    """All its pieces."""
    return b"".join(row_json.rows_json(names, rows, **how))


def as_objects(names: list[str], rows: list[tuple[object, ...]], browsers: bool) -> bytes:
    """The long way: a dict for each row."""
    columns = tuple((name, "text") for name in names)
    plain = SelectRows(SelectResult(columns, rows)).json_rows()
    return canonical.encode(for_browsers(plain) if browsers else plain)


@pytest.mark.parametrize("browsers", [True, False])
def test_every_kind_of_value_is_written_as_objects_would_be(browsers: bool) -> None:
    names = [f"c{n}" for n in range(len(VALUES))]
    rows = [tuple(VALUES), tuple(reversed(VALUES))]
    assert rows_json(names, rows, browsers=browsers) == as_objects(names, rows, browsers)


def test_integers_that_a_browser_would_round_are_texts_for_it() -> None:
    rows = [(2**53, 2**53 - 1, [-(2**53)], {"a": 2**60})]
    for_it = rows_json(["a", "b", "c", "d"], rows, browsers=True)
    others = rows_json(["a", "b", "c", "d"], rows, browsers=False)
    assert b'"a":"9007199254740992","b":9007199254740991,"c":["-9007199254740992"]' in for_it
    assert b'"d":{"a":"1152921504606846976"}' in for_it
    assert b'"a":9007199254740992,' in others


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=4), st.booleans())
def test_rows_are_written_as_objects_would_be(
    rows: list[tuple[object, ...]], browsers: bool
) -> None:
    for names in (["b", "a", "b"], ["a", "a_2", "a"], ["", "ü", "\n"]):
        assert rows_json(names, rows, browsers=browsers) == as_objects(names, rows, browsers)


def test_no_rows_and_no_columns_are_lists_and_objects_too() -> None:
    assert rows_json(["a"], [], browsers=True) == b"[]"
    assert rows_json([], [(), ()], browsers=True) == b"[{},{}]"


def test_what_becomes_too_long_is_refused_before_it_is_whole() -> None:
    taken: list[int] = []

    def rows() -> Iterator[tuple[str]]:
        for number in range(1000):
            taken.append(number)
            yield ("x" * 100,)

    with pytest.raises(LimitExceeded, match=r"larger than 0\.00100136 MiB as JSON") as refused:
        rows_json(["a"], rows(), browsers=True, most=1050)
    assert refused.value.limit == "result_bytes"
    assert len(taken) == 10
    assert len(rows_json(["a"], [("x" * 100,)] * 9, browsers=True, most=982)) == 982


def test_a_long_result_comes_in_pieces_none_much_longer_than_another() -> None:
    rows: list[tuple[object, ...]] = [(number, "x" * 1000) for number in range(1000)]
    pieces = list(row_json.rows_json(["a", "b"], rows, browsers=True))
    assert [len(piece) // PIECE_BYTES for piece in pieces] == [1, 1, 1, 0]
    assert max(map(len, pieces)) < PIECE_BYTES + 1100
    assert b"".join(pieces) == as_objects(["a", "b"], rows, True)
    assert list(row_json.rows_json(["a"], [(1,)], browsers=True)) == [b'[{"a":1}]']
