"""What digits with separators can mean."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.equivalence.numerals import last_step, readings


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("1234", ["1234"]),
        ("1,234,567", ["1234567"]),
        ("1.234.567", ["1234567"]),
        ("1'234", ["1234"]),
        ("1\u00a0234", ["1234"]),
        ("1\u2009234\u2009567", ["1234567"]),
        ("1,234.56", ["1234.56"]),
        ("1.234,56", ["1234.56"]),
        ("1,5", ["1.5"]),
        ("0·5", ["0.5"]),
        ("0.123", ["0.123"]),
        ("0,123", ["0.123"]),
        ("1,23,456", ["123456"]),
        ("1,00,000.5", ["100000.5"]),
        ("1,234", ["1234", "1.234"]),
        ("1.234", ["1.234", "1234"]),
        ("1,000", ["1000"]),
        ("1.000", ["1", "1000"]),
        (".5", ["0.5"]),
        ("1.2.3", []),
        ("12.03.2019", []),
        ("1,23,4", []),
        ("1,234,5", []),
        ("1" * 41, []),
    ],
)
def test_separators_are_read(written: str, values: list[str]) -> None:
    assert [value for value, _ in readings(written)] == [Fraction(value) for value in values]


@pytest.mark.parametrize(
    ("written", "step"),
    [("3200000", 100_000), ("3,201", 1), ("0", 1), ("2.50", Fraction(1, 100)), ("10", 10)],
)
def test_the_step_is_that_of_the_last_digit_that_shows(written: str, step: Fraction) -> None:
    assert readings(written)[0][1] == step


def test_the_step_of_a_fraction_is_one_part() -> None:
    assert last_step(Fraction(2, 3)) == Fraction(1, 3)


@given(st.integers(0, 10**20))
def test_grouping_digits_changes_no_value(number: int) -> None:
    assert readings(f"{number:,}")[0] == readings(str(number))[0]
