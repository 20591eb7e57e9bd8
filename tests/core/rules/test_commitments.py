"""rules.auditing.commitments: the format; erasing keeps the leaf, and what is left opens."""

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules.auditing.commitments import (
    Opening,
    leaf,
    read_opening,
    values_of,
    without,
)
from redask.core.wire.json import text

NONCE = "5a" * 32
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\é,:{}[] \n'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=6,
)
ROWS = st.dictionaries(st.text(alphabet="abc_é", min_size=1), JSON, max_size=6)


def encoded(row: dict[str, object]) -> dict[str, str]:
    return {name: text(value) for name, value in row.items()}


def test_a_leaf_is_that_of_the_format() -> None:
    salts = hashlib.shake_256(NONCE.encode()).hexdigest(64)
    lines = [
        "a " + hashlib.sha256(f"{salts[:64]} 1".encode()).hexdigest(),
        "b " + hashlib.sha256(f'{salts[64:]} "é"'.encode()).hexdigest(),
    ]
    expected = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert leaf({"b": '"é"', "a": "1"}, Opening(NONCE)) == expected


@given(ROWS)
def test_values_are_read_as_they_are_written(row: dict[str, object]) -> None:
    assert values_of(text(row)) == encoded(row)


@given(ROWS, st.data())
def test_erasing_keeps_the_leaf_and_no_salt_of_what_is_gone(
    row: dict[str, object], data: st.DataObject
) -> None:
    values, opening = encoded(row), Opening(NONCE)
    whole = leaf(values, opening)
    for _ in range(2):
        names = data.draw(st.sets(st.sampled_from(sorted(row)))) if row else set()
        values, opening = without(values, opening, names)
        assert not names & values.keys()
        stored = opening.stored()
        assert NONCE not in stored
        assert leaf(values, read_opening(stored)) == whole
        assert set(json.loads(stored)["salts"]) == values.keys()


def test_another_value_name_or_nonce_is_another_leaf() -> None:
    made = leaf({"a": "1", "b": "2"}, Opening(NONCE))
    others = [
        leaf({"a": "1", "b": "3"}, Opening(NONCE)),
        leaf({"a": "1", "c": "2"}, Opening(NONCE)),
        leaf({"a": "2", "b": "1"}, Opening(NONCE)),
        leaf({"a": "1"}, Opening(NONCE)),
        leaf({"a": "1", "b": "2"}, Opening("6b" * 32)),
    ]
    assert len({made, *others}) == 6


def test_a_nonce_is_stored_as_it_is() -> None:
    assert Opening(NONCE).stored() == NONCE
    assert read_opening(NONCE) == Opening(NONCE)
