"""Forms of a word: parts of CamelCase, folding, distances."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.index.analysis import spellings
from redask.index.analysis.spellings import distance, folded, parts, split, tolerance


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("HTTPTransport", ["http", "transport"]),
        ("followRedirects", ["follow", "redirects"]),
        ("getURL", ["get", "url"]),
        ("OAuth2Client", ["oauth2", "client"]),
        ("AsyncHTTPTransport", ["async", "http", "transport"]),
        *((word, []) for word in ("iPhone", "PhD", "IDs", "HTTP", "Transport", "plain", "", "B2B")),
        ("aB" * 51, []),  # nobody types that
    ],
)
def test_the_parts_of_camel_case(word: str, found: list[str]) -> None:
    assert split(word) == found


def test_the_parts_of_a_text_come_once_and_in_order() -> None:
    assert parts("A BaseTransport, an HTTPTransport; das große.") == ["base", "transport", "http"]
    assert parts("no word in mixed case, though some Begin so; ÀÉ \ud800") == []


@given(st.text(max_size=60))
def test_parts_are_letters_and_digits_in_lower_case_of_the_text(text: str) -> None:
    for part in parts(text):
        assert part in text.lower()
        assert part.isascii()
        assert part == part.lower()
        assert len(part) > 1


@pytest.mark.parametrize(
    ("word", "edits"),
    [("cats", 0), ("ferry", 1), ("receive", 1), ("receiving", 2), ("x" * 101, 0), ("b2bx", 0)],
)
def test_short_words_and_numbers_are_meant_as_written(word: str, edits: int) -> None:
    assert tolerance(word) == edits


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("", "", 0),
        ("receive", "receive", 0),
        ("recieve", "receive", 1),
        ("recive", "receive", 1),
        ("receivee", "receive", 1),
        ("reseive", "receive", 1),
        ("resieve", "receive", 2),
        ("ab", "ba", 1),
        ("abc", "xyz", 3),
        ("abcd", "", 3),
    ],
)
def test_the_distance_counts_edits_and_swaps_up_to_a_limit(
    one: str, other: str, edits: int
) -> None:
    assert distance(one, other, 2) == edits
    assert distance(other, one, 2) == edits


def test_spellings_are_compared_without_case_and_accents() -> None:
    assert [folded(word) for word in ("Señal", "ZÜRICH", "plain")] == ["senal", "zurich", "plain"]


WORDS = st.text("abc", max_size=8)


@given(WORDS, WORDS)
def test_a_distance_within_the_limit_does_not_depend_on_it(one: str, other: str) -> None:
    exact = distance(one, other, 20)
    for limit in (0, 1, 2, 3):
        assert distance(one, other, limit) == min(exact, limit + 1)
    assert abs(len(one) - len(other)) <= exact <= max(len(one), len(other))


def test_a_long_word_is_measured_in_bounded_time() -> None:
    most = spellings.MAX_LETTERS
    assert distance("a" * most, "b" * most, 2) == 3
