"""rules.tokens: the estimate follows its table and stays linear."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.token_count import estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("   \t", 0),
        ("\n\n", 2),
        ("question", 1),
        ("questions", 2),
        ("a" * 12, 2),
        ("a" * 13, 3),
        ("123", 1),
        ("1234", 2),
        ("a,b", 3),
        ("年度", 2),
        ('{"a":1}', 7),
    ],
)
def test_each_row_of_the_table(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(st.text(), st.text())
def test_two_lines_have_the_tokens_of_both(first: str, second: str) -> None:
    assert estimate(first + "\n" + second) == estimate(first) + 1 + estimate(second)


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"])))
def test_a_text_never_has_more_tokens_than_characters(text: str) -> None:
    assert 0 <= estimate(text) <= len(text)


@given(st.text(alphabet=st.sampled_from("aZ09 \n,é年"), max_size=200))
def test_the_count_is_that_of_its_pieces_one_by_one(text: str) -> None:
    pieces = re.findall(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]|\n", text)
    each = (1 if len(piece) <= 8 else -(-len(piece) // 6) for piece in pieces)
    assert estimate(text) == sum(each)
