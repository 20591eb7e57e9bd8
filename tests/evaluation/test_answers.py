"""How answers are scored against what is known to be right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.evaluation.answers import (
    cites,
    cites_all,
    contains_answer,
    contains_sentence,
    gold_words,
    normalise,
)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("The Normans came to a region in France. [^1]", "France"),
        ("It was the Edict of Nantes.", "the edict of nantes"),
        ("He said: “An end!”", "end"),
        ("It lasted 1169–1171.", "1169"),
        ("It lasted from 1169-1171", "1169–1171"),
        ("divided by the mass of the system.:19-1", "mass of the system"),
        ("In the   10th\nand 11th centuries", "10th and 11th centuries"),
        ("Zürich [^2]", "zürich"),
        (r"see \[^7] there [^1]", "[^7]"),
    ],
)
def test_a_gold_answer_is_found_whatever_its_case_articles_and_punctuation(
    answer: str, gold: str
) -> None:
    assert contains_answer(answer, [gold])
    assert contains_sentence(answer, ["nothing of the kind", gold])


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("It was in 1943.", "4"),
        ("An answer. [^4]", "4"),
        ("Frances left.", "France"),
        ("in 10th centuries", "10th and 11th centuries"),
        ("Anything at all", ""),
        ("Anything at all", "the"),
        ("Anything at all", "?!"),
        ("", "France"),
    ],
)
def test_parts_of_words_markers_and_empty_gold_do_not_count(answer: str, gold: str) -> None:
    assert not contains_answer(answer, [gold])


def test_without_gold_nothing_is_contained() -> None:
    assert not contains_answer("Anything at all", [])


def test_one_gold_passage_among_those_cited_is_enough() -> None:
    assert cites({"p1", "p2"}, ["p9", "p2"])
    assert not cites({"p1"}, ["p2"])
    assert not cites(set(), ["p2"])
    assert not cites({"p1"}, [])


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_with_words_contains_itself(text: str, others: list[str]) -> None:
    plain = text.replace("[^", "").replace("\\", "")
    assert contains_answer(plain, [*others, plain]) or not normalise(plain)


def test_all_gold_passages_must_be_cited_where_several_hops_are_needed() -> None:
    assert cites_all({"a", "b", "c"}, {"a": 1, "b": 1})
    assert not cites_all({"a", "c"}, {"a": 1, "b": 1})
    assert not cites_all({"a"}, {})


@pytest.mark.parametrize(
    ("answer", "gold", "share"),
    [
        ("The ferry leaves at nine. [^9]", ["ferry nine"], 1.0),
        ("The ferry leaves at ten. [^9]", ["ferry nine"], 0.5),
        ("The ferry", ["boat at nine", "a ferry"], 1.0),
        ("[^9]", ["9"], 0.0),
        ("Anything", [], 0.0),
        ("Anything", ["the"], 0.0),
    ],
)
def test_the_share_of_the_gold_words_is_of_the_best_gold_answer(
    answer: str, gold: list[str], share: float
) -> None:
    assert gold_words(answer, gold) == share
