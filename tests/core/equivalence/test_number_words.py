"""Numbers in English words."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.equivalence.number_words import CARDINALS, read

_WORDS = {value: word for word, value in CARDINALS.items()}


def spell(number: int, joint: str) -> str:
    """A number below a million in words."""
    if number >= 1000:
        rest = f" {spell(number % 1000, joint)}" if number % 1000 else ""
        return f"{spell(number // 1000, joint)} thousand{rest}"
    if number >= 100:
        rest = f"{joint}{spell(number % 100, joint)}" if number % 100 else ""
        return f"{_WORDS[number // 100]} hundred{rest}"
    if number in _WORDS:
        return _WORDS[number]
    return f"{_WORDS[number - number % 10]}-{_WORDS[number % 10]}"


@given(st.integers(0, 999_999), st.sampled_from([" ", " and "]))
def test_every_number_below_a_million_is_read(number: int, joint: str) -> None:
    written = spell(number, joint)
    found = read(written, 0)
    assert found is not None
    assert (int(found.value), found.end, found.ordinal) == (number, len(written), False)


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ("a dozen eggs", 12, "a dozen"),
        ("two dozen", 24, "two dozen"),
        ("a hundred and five", 105, "a hundred and five"),
        ("two million three hundred thousand", 2_300_000, "two million three hundred thousand"),
        ("twenty - one", 21, "twenty - one"),
        ("nineteen ninety-nine", 19, "nineteen"),
        ("two and three", 2, "two"),
        ("two and a half million", Fraction(5, 2), "two and a half"),
        ("two and a cat", 2, "two"),
        ("three quarters of", Fraction(3, 4), "three quarters"),
        ("one third of", Fraction(1, 3), "one third"),
        ("two-thirds", Fraction(2, 3), "two-thirds"),
        ("two third parties", 2, "two"),
        ("half of", Fraction(1, 2), "half"),
        ("a quarter of it", Fraction(1, 4), "a quarter"),
        ("one child", 1, "one"),
        ("five hundredth", 5, "five"),
        ("three thousand million", 3000, "three thousand"),
        ("one hundred hundred", 100, "one hundred"),
    ],
)
def test_a_number_is_read_as_far_as_it_goes(text: str, value: Fraction, written: str) -> None:
    found = read(text, 0)
    assert found is not None
    assert (found.value, text[: found.end]) == (value, written)


@pytest.mark.parametrize(
    ("text", "value"),
    [("first", 1), ("twenty-first", 21), ("thirtieth", 30), ("two hundred and tenth", 210)],
)
def test_ordinals_are_marked(text: str, value: int) -> None:
    found = read(text, 0)
    assert found is not None
    assert (int(found.value), found.ordinal, found.end) == (value, True, len(text))


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("no one came", 3),
        ("the one that", 4),
        ("one of the", 0),
        ("one's own", 0),
        ("half-life", 0),
        ("a cat", 0),
        ("a", 0),
        ("a third party", 0),
        ("cats", 0),
        ("!", 0),
    ],
)
def test_words_that_say_no_number_are_none(text: str, position: int) -> None:
    assert read(text, position) is None


def test_a_text_of_number_words_only_is_read_in_bounded_parts() -> None:
    found = read("nine hundred nine " * 1000, 0)
    assert found is not None
    assert found.end == len("nine hundred nine")
