"""A large source is cut around what matches, to the size that is asked for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Source
from redask.core.rules import prompt
from redask.core.rules.prompting.source_excerpts import excerpt
from redask.core.wire.json import text as canonical

FILLER = "Nothing of note was written down here on that day.\n"
FOUND = "The zebra crossing was opened in 1951.\n"
QUESTION = "When was the zebra crossing opened?"


def source(urn: str = "urn:reddb:document:d/1", **columns: object) -> Source:
    return Source(urn, canonical(columns))


def test_the_excerpt_holds_what_matches_and_says_that_it_is_one() -> None:
    whole = source(text=FILLER * 400 + FOUND + FILLER * 400, line=10, path="a.md")
    made = excerpt(whole, QUESTION, 600, 10**6)
    payload = json.loads(made.payload)
    assert FOUND.strip() in payload["text"]
    assert payload["text"].startswith("…Nothing")
    assert payload["text"].endswith("…")
    assert (payload["path"], made.urn) == ("a.md", whole.urn)
    assert 400 < prompt.source_tokens(made) <= 600
    first = payload["text"].index("The zebra")
    assert payload["line"] + payload["text"].count("\n", 0, first) == 410
    assert excerpt(whole, QUESTION, 600, 10**6) == made


def test_bytes_count_as_well_as_tokens() -> None:
    whole = source(text="é" * 5000 + FOUND + "é" * 5000)
    made = excerpt(whole, QUESTION, 10**6, 3000)
    assert len(made.payload.encode()) <= 3000
    assert "1951" in made.payload


def test_the_most_different_words_win_and_of_equals_the_earliest() -> None:
    text = FILLER * 99 + "zebra zebra zebra\n" + FILLER * 99 + FOUND + FILLER * 99 + FOUND
    made = json.loads(excerpt(source(text=text), QUESTION, 300, 10**6).payload)["text"]
    assert "1951" in made
    nothing = json.loads(excerpt(source(text=FILLER * 500), "tea?", 300, 10**6).payload)["text"]
    assert nothing.startswith("Nothing")


def test_several_texts_are_cut_the_longest_first() -> None:
    whole = source("urn:reddb:row:t/1", a=FILLER * 300, b=FILLER * 280 + FOUND, c="short", n=7)
    made = json.loads(excerpt(whole, QUESTION, 700, 10**6).payload)
    assert (made["c"], made["n"]) == ("short", 7)
    assert len(made["a"]) < len(FILLER * 300)
    many = source("urn:reddb:row:t/1", **{f"c{n}": FILLER * 20 for n in range(30)})
    assert prompt.source_tokens(excerpt(many, QUESTION, 3000, 10**6)) <= 3000
    assert "1951" in made["b"]


@pytest.mark.parametrize(
    "whole",
    [
        Source("urn:reddb:query:postgresql/select", canonical({"rows": [["x" * 9000]]})),
        Source("urn:reddb:row:t/1", canonical(["x" * 9000])),
        Source("urn:reddb:row:t/1", "x " * 9000),
        source(numbers=list(range(9000))),
        source(numbers=list(range(9000)), text=FILLER * 200),
    ],
)
def test_what_cannot_be_cut_stays_as_it_is(whole: Source) -> None:
    assert excerpt(whole, QUESTION, 300, 10**6) is whole


def test_what_fits_stays_as_it_is() -> None:
    whole = source(text=FOUND)
    assert excerpt(whole, QUESTION, 300, 10**6) is whole


@given(st.text(max_size=4000), st.text(max_size=40), st.integers(60, 600))
def test_any_text_is_cut_to_fit_or_left(text: str, question: str, most: int) -> None:
    whole = source(text=text * 3)
    made = excerpt(whole, question, most, most * 4)
    assert made is whole or prompt.source_tokens(made) <= most
