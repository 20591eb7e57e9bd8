"""A column's type is that of its values, whatever their order and their history."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.sql.column_names import MAX_BYTES, sql_names
from redask.core.sql.column_typing import column_type, is_mixed, value_classes

UUID = "550e8400-e29b-41d4-a716-446655440000"
VECTORS: list[tuple[str, list[object]]] = [
    ("text", []),
    ("text", [None, None]),
    ("bool", [True, None, False]),
    ("int4", [1, -(2**31), 2**31 - 1, None]),
    ("int8", [1, 2**31]),
    ("int8", [-(2**31) - 1]),
    ("int8", [2**63 - 1, -(2**63)]),
    ("numeric(38,0)", [1, 2**63]),
    ("numeric(38,0)", [10**38 - 1, -(10**38) + 1]),
    ("text", [10**38]),
    ("numeric(18,2)", [0.99, 1]),
    ("numeric(18,1)", [1.0]),
    ("numeric(18,10)", [0.5000000005]),
    ("float8", [0.00012345678901]),
    ("numeric(38,2)", [0.99, 10**17]),
    ("numeric(38,10)", [0.1234567891, 10**27]),
    ("text", [0.5, 10**38]),
    ("float8", [0.5, 2**200]),
    ("text", [0.5, 10**38 + 1]),
    ("float8", [0.1 + 0.2]),
    ("float8", [1e-05]),
    ("float8", [1e20, 1]),
    ("text", [0.1 + 0.2, 2**53 + 1]),
    ("numeric(18,1)", [123456789012345.0]),
    ("float8", [1234567890123456.0]),
    ("date", ["2020-02-29", "0001-01-01", "9999-12-31"]),
    ("text", ["2021-02-29"]),
    ("text", ["1900-02-29"]),
    ("date", ["2000-02-29"]),
    ("text", ["0000-01-01"]),
    ("text", ["2021-13-01"]),
    ("text", ["2021-1-1"]),
    ("text", ["2021-01-01\n"]),
    ("text", ["٢٠٢١-01-01"]),
    ("timestamp", ["2020-01-01T23:59:59", "2020-01-01 00:00:00.123456", "2020-01-01"]),
    ("text", ["2020-01-01T24:00:00"]),
    ("text", ["2020-01-01T23:59:60"]),
    ("text", ["2020-01-01T23:59:59.1234567"]),
    ("timestamptz", ["2020-01-01T00:00:00Z", "2020-01-01 00:00:00.5-03:30"]),
    ("text", ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"]),
    ("text", ["2020-01-01T00:00:00Z", "2020-01-01"]),
    ("text", ["0001-01-01T00:00:00+01:00"]),
    ("text", ["9999-12-31T23:00:00-02:00"]),
    ("text", ["2020-01-01T00:00:00+16:00"]),
    ("time", ["12:00:00", "00:00:00.5"]),
    ("text", ["12:00"]),
    ("uuid", [UUID]),
    ("text", [UUID.upper()]),
    ("int4", ["7", "-12", "0"]),
    ("int8", ["7", "2147483648"]),
    ("numeric(38,0)", ["7", "9" * 38]),
    ("text", ["9" * 39]),
    ("numeric(18,2)", ["7", "-0.50", "1.5"]),
    ("numeric(38,20)", ["0." + "1" * 20]),
    ("text", ["0." + "1" * 38]),
    ("int4", ["7", 7]),
    ("numeric(18,2)", [9.99, "12.50", 7]),
    ("text", [0.1 + 0.2, "12.50"]),
    ("text", [9.99, "012.50"]),
    ("text", [True, "7"]),
    ("text", ["2020-01-01", "7"]),
    ("int4[]", [[1, 2], [], [None]]),
    ("numeric(18,1)[]", [[0.5, 2]]),
    ("date[]", [["2020-01-01"]]),
    ("text[]", [["a", "7"], ["b"]]),
    ("text[]", [[], [None]]),
    ("bool[]", [[True]]),
    ("jsonb", [[1, "a"]]),
    ("jsonb", [[1], ["a"]]),
    ("jsonb", [[[1]]]),
    ("jsonb", [[{}]]),
    ("jsonb", [[10**38]]),
    ("jsonb", [{}, [1], None]),
    ("text", [{}, 1]),
    ("text", [[1], "a"]),
    ("text", [True, 1]),
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(-1000, 1000, places=2).map(float)
    | st.text(max_size=5)
    | st.dates().map(str)
    | st.datetimes().map(str)
    | st.times().map(str)
    | st.uuids().map(str)
    | st.integers().map(str)
)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.just({"a": 1})


def classes(values: list[object]) -> set[str]:
    return {each for value in values for each in value_classes(value)}


@pytest.mark.parametrize("odd", ["007", "+49", "1e5", "-0", "-0.0", "", " 7", "7.", ".5"])
def test_a_number_in_an_odd_spelling_is_text(odd: str) -> None:
    assert str(column_type(classes(["7", odd]))) == "text"


@pytest.mark.parametrize(("expected", "values"), VECTORS)
def test_a_column_has_the_type_of_its_values(expected: str, values: list[object]) -> None:
    assert str(column_type(classes(values))) == expected


@given(st.lists(VALUES, max_size=6), st.randoms())
def test_the_order_of_rows_does_not_matter(values: list[object], shuffled: object) -> None:
    other = list(values)
    shuffled.shuffle(other)  # type: ignore[attr-defined]
    assert column_type(classes(values)) == column_type(classes([*other, None, *values]))


@given(st.lists(VALUES, max_size=6), st.lists(VALUES, max_size=6))
def test_rows_that_are_gone_leave_the_type_they_found(
    values: list[object], gone: list[object]
) -> None:
    counts: Counter[str] = Counter()
    for value in [*values, *gone]:
        counts.update(value_classes(value))
    for value in gone:
        counts.subtract(value_classes(value))
    left = {each for each, count in counts.items() if count}
    assert column_type(left) == column_type(classes(values))


@pytest.mark.parametrize(
    ("mixed", "values"),
    [
        (True, ["a", 1]),
        (True, [{}, 1]),
        (True, [10**38]),
        (False, ["a", None]),
        (False, [1]),
        (False, []),
        (False, [{}]),
    ],
)
def test_a_mixed_column_is_known(mixed: bool, values: list[object]) -> None:
    assert is_mixed(classes(values)) is mixed


def test_names_that_postgresql_can_have_stay_as_they_are() -> None:
    keys = ["Name", "name", "a" * 63, "größe", "x y", 'q"']
    assert sql_names(keys) == {key: key for key in keys}


def test_other_names_are_cut_unique_and_independent_of_their_neighbours() -> None:
    long = ["ä" * 40, "ä" * 41, "", "b" * 64]
    names = sql_names(long)
    assert len(set(names.values())) == 4
    assert all(0 < len(name.encode()) <= MAX_BYTES for name in names.values())
    assert [sql_names([key])[key] for key in long] == [names[key] for key in long]


def test_a_name_that_is_taken_gets_the_next_number_that_is_free() -> None:
    assert sql_names(["urn", "urn_2"], taken=("id", "urn")) == {"urn": "urn_3", "urn_2": "urn_2"}
    short = sql_names(["b" * 64])["b" * 64]
    assert sql_names(["b" * 64, short])["b" * 64] == f"{short[:61]}_2"


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=80), max_size=8))
def test_every_key_has_a_name_of_its_own(keys: list[str]) -> None:
    names = sql_names(keys, taken=("id", "urn"))
    assert set(names) == set(keys)
    assert len({"id", "urn", *names.values()}) == len(set(keys)) + 2
    assert all(len(name.encode()) <= MAX_BYTES for name in names.values())
