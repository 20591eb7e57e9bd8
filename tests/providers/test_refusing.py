"""Refusals and conflicts of the built-in answerer: what is named as missing, and why."""

import pytest
from quotable import HARBOUR, SHOP, complete, document, row

from redask.core.model import Source
from redask.providers.extractive import excerpts
from redask.providers.extractive.refusals import answerability
from redask.providers.extractive.relevance import ExcerptRanker


def refused(question: str, *sources: Source) -> list[str]:
    return [each.detail for each in complete(question, list(sources)).warnings]


@pytest.mark.parametrize(
    ("question", "detail"),
    [
        ("Why did Zoltan take the ferry to Amrum?", "entity_missing: Zoltan"),
        ("Who paid for ticket 9999 of the ferry?", "entity_missing: 9999"),
        ("Does the ferry have HTTP/3?", "entity_missing: HTTP/3"),
        ("What is the default of max_ferries?", "entity_missing: max_ferries"),
        (
            "How tall is the lighthouse on Sundays?",
            "no_evidence: How tall is the lighthouse on Sundays?",
        ),
        (
            "Who has the phone number of the ferry to Amrum?",
            "attribute_missing: phone number of Amrum",
        ),
        ("volcano eruption temperature", "no_evidence: volcano eruption temperature"),
        ("What does the ferry to Amrum not carry?", "attribute_missing: carry of Amrum"),
    ],
)
def test_the_warning_says_what_is_missing(question: str, detail: str) -> None:
    assert refused(question, *HARBOUR) == [detail]


def test_numbers_are_the_same_with_separators() -> None:
    assert refused("Who built the 10000 engines?", document(1, "Otto built 10,000 engines.")) == []


@pytest.mark.parametrize(
    ("question", "details"),
    [
        ("Who is the manager of Nordfracht?", []),
        ("What is the city of Nordfracht?", []),
        ("What is Nordfracht's shoe size?", ["attribute_missing: shoe size of Nordfracht"]),
        ("What salary does Nordfracht have?", ["attribute_missing: salary of Nordfracht"]),
    ],
)
def test_a_record_is_asked_for_its_fields(question: str, details: list[str]) -> None:
    assert refused(question, *SHOP[:4]) == details


def test_a_row_is_not_the_manager_of_itself() -> None:
    nancy = row("staff", id=2, name="Nancy Edwards", title="Sales Manager", city="Calgary")
    question = "Who is the manager of Nancy Edwards?"
    assert refused(question, nancy) == ["attribute_missing: manager of Nancy Edwards"]
    adams = row("staff", id=3, name="Nancy Edwards", manager="Andrew Adams")
    assert refused(question, adams) == []


def test_how_many_needs_a_number() -> None:
    question = "How many ferries does Amrum have?"
    assert refused(question, document(1, "Amrum does have ferries that sail often.")) == [
        f"no_evidence: {question}"
    ]
    assert refused(question, document(1, "Amrum does have three ferries that sail often.")) == []


def test_a_refusal_is_not_handed_over_in_pieces_and_keeps_the_budget() -> None:
    emitted: list[str] = []
    question = "What is Nordfracht's shoe size?"
    whole = complete(question, SHOP, emitted=emitted).text
    assert emitted == []
    assert whole.split("\n")[0] == "Nothing here says “shoe size” of Nordfracht; nearest:"
    short = complete(question, SHOP, max_tokens=20).text
    assert short == "Nothing here says “shoe size” of Nordfracht."
    assert complete(question, SHOP, max_tokens=1).text == ""


@pytest.mark.parametrize(
    ("one", "other", "detail"),
    [
        ("The ferry leaves at nine.", "The ferry leaves at ten.", "nine in [^1], ten in [^2]"),
        ("The ferry leaves at nine.", "The ferry leaves at 9:00.", None),
        ("The ferry leaves at nine.", "The old ferry of Sylt leaves at ten.", None),
        ("The ferry leaves at nine.", "The ferry leaves at nine or ten.", None),
        ("The ferry leaves at nine.", "The ferry leaves soon.", None),
    ],
)
def test_sources_disagree_only_on_one_value(one: str, other: str, detail: str | None) -> None:
    sources = [document(1, one), document(2, other)]
    warnings = complete("When does the ferry leave?", sources).warnings
    assert [(each.kind, each.detail) for each in warnings] == (
        [("conflicting_sources", detail)] if detail else []
    )


def test_rows_are_two_things_and_no_conflict() -> None:
    sources = [row("trips", id=n, ferry="Amrum", leaves=f"{n}:00") for n in (9, 10)]
    assert complete("When does the ferry to Amrum leave?", sources).warnings == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which mayors sailed to Amrum in the 1700s?", "Mayors Jens and Ole sailed to Amrum then."),
        ("Which ports have 4-5 ferries?", "The ports Husum and Kiel have ferries."),
    ],
)
def test_periods_and_small_counts_may_be_said_otherwise(question: str, text: str) -> None:
    assert refused(question, document(1, text)) == []


@pytest.mark.parametrize(
    ("question", "missing"),
    [("What are two ports of Amrum?", ()), ("What are the 12 ports of Amrum?", ("12",))],
)
def test_a_spelt_count_is_no_value_to_look_for(question: str, missing: tuple[str, ...]) -> None:
    passage = excerpts.read(document(1, "The ports of Amrum are Wittdün and Steenodde."))
    ranker = ExcerptRanker(question, {})
    ranker.add(1, passage)
    assert answerability.measure(question, {1: passage}, ranker.rank()[:1], 0.0).values == missing
