"""Inflections of one word have the same token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.providers.extractive.word_forms import Tokenizer


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("shipped", "shipping"),
        ("FERRIES", "ferry"),
        ("Fiancées", "fiancee"),
        ("Cafe\u0301", "café"),
        ("the ferry's", "ferry"),
        ("and ferry or", "ferry"),
    ],
)
def test_forms_of_a_word_are_one_token(one: str, other: str) -> None:
    assert Tokenizer().tokens(one) == Tokenizer().tokens(other) != []


def test_scripts_without_spaces_become_pairs_of_characters() -> None:
    assert Tokenizer().tokens("渡轮九点") == ["渡轮", "轮九", "九点"]
    assert Tokenizer().tokens("船") == ["船"]
    assert Tokenizer().tokens("iPhone渡轮x") == ["iphon", "渡轮", "x"]


def test_stop_words_can_be_kept() -> None:
    assert Tokenizer().tokens("to be or not") == []
    assert Tokenizer(frozenset()).tokens("to be or not") == ["to", "be", "or", "not"]


@given(st.text())
def test_a_second_reading_finds_the_same(text: str) -> None:
    tokenizer = Tokenizer()
    assert tokenizer.tokens(text) == tokenizer.tokens(text) == Tokenizer().tokens(text)
