"""words_in_text: what is a word, and what are numbers, dates, codes and keys."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules.search.words_in_text import has_words

WORDED = """ferry|a late ferry|Straße|HARBOUR|THE FERRY LATE|don't|high-speed
    |Theodor-Heuss-Straße 34
    |(late)|“late”|3 May 2009|order FDD-12316|rock'n'roll|Ελλάδα|корабль|海港|2023年东京奥运会|ท่าเรือ
    |id: ferry|no ferry|Av. 2170|12 kg|São"""
WORDLESS = """|  |12|12.50|-3|1e9|2009-01-05|2009-01-05T10:00:00Z|05/01/2009 10:00|FDD-12316|EUR
    |NEW|USA|a1b2c3d4|550e8400-e29b-41d4-a716-446655440000|me@example.org|https://example.org/ferry
    |+49 30 1234|x|A|true|No|null|n/a|None|snake_case|70174|12,5 %|…|---|5月|$9.99|C:\\ferry"""


@pytest.mark.parametrize("text", [each.strip() for each in WORDED.split("|")])
def test_what_says_something_has_words(text: str) -> None:
    assert has_words(text)


@pytest.mark.parametrize("text", [each.strip() for each in WORDLESS.split("|")])
def test_numbers_dates_codes_and_keys_have_none(text: str) -> None:
    assert not has_words(text)


@given(st.text(), st.text())
def test_what_is_added_after_white_space_takes_no_word_away(text: str, more: str) -> None:
    assert has_words(f"{text} {more}") == (has_words(text) or has_words(more))


@given(st.text(alphabet="0123456789.,:;-+/ \n€$%()"))
def test_no_text_of_digits_and_signs_has_words(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize("unit", ["a", "ab1", "A ", "1", "海", "'", "a'", "_"])
def test_it_takes_linear_time_on_any_text(unit: str) -> None:
    started = time.process_time()
    has_words(unit * (200_000 // len(unit)))
    assert time.process_time() - started < 60  # guards against hanging
