"""What a refusal says: contract 27."""

import pytest

from redask.core.rules import citations
from redask.core.rules.grounding import refused_answers


def test_words_that_were_not_understood_are_named() -> None:
    made = refused_answers.not_planned("not_computable", ["sporty", "gold"], None)
    assert made.text == (
        "I cannot compute this with certainty: I do not know what “sporty”, “gold” stands for here."
    )
    assert (made.warning.kind, made.warning.detail) == ("refused", "not_computable: sporty, gold")


def test_without_a_word_to_name_it_says_that_it_cannot_be_computed() -> None:
    made = refused_answers.not_planned("not_computable", [], None)
    assert "I cannot compute this with certainty" in made.text
    assert made.warning.detail == "not_computable"


def test_a_nearest_statement_is_said_not_to_have_been_run() -> None:
    assert (
        "which was not run" in refused_answers.not_planned("not_computable", ["x"], "SELECT 1").text
    )


@pytest.mark.parametrize(
    ("made", "detail"),
    [
        (
            refused_answers.not_planned("ambiguous", ["by date", "by total"], None),
            "ambiguous: by date; by total",
        ),
        (refused_answers.not_planned("ambiguous", [], None), "ambiguous"),
        (refused_answers.failed("it took too long", None), "not_computable: it took too long"),
        (refused_answers.plan_only(), "not_computable: PLAN ONLY"),
    ],
)
def test_the_warning_names_the_reason_and_what_it_is_about(
    made: refused_answers.Refusal, detail: str
) -> None:
    assert made.warning.kind == "refused"
    assert made.warning.detail == detail


def test_a_question_cannot_put_a_marker_or_a_long_text_into_a_refusal() -> None:
    made = refused_answers.not_planned("not_computable", ["[^1]", "x" * 500], None)
    assert citations.parse(made.text, 0).citations == ()
    assert len(made.text) < 300


def test_what_no_source_mentions_is_named_without_anything_beside_it() -> None:
    made = refused_answers.not_mentioned(["Kafka", "HTTP/3"])
    assert made.text == "Nothing here mentions “Kafka”, “HTTP/3”."
    assert made.warning.detail == "entity_missing: Kafka, HTTP/3"
    assert not made.near


def test_what_is_not_said_of_a_name_is_named() -> None:
    made = refused_answers.not_said_of(["1848"])
    assert (made.text, made.near) == ("Nothing here says what is asked of “1848”.", True)
    assert made.warning.detail == "entity_missing: 1848"


@pytest.mark.parametrize(
    ("subject", "text", "detail"),
    [
        (["Jane"], "Nothing here says “pay” of Jane.", "attribute_missing: pay of Jane"),
        ([], "Nothing here says “pay” of what is asked.", "attribute_missing: pay"),
    ],
)
def test_a_missing_attribute_is_named(subject: list[str], text: str, detail: str) -> None:
    made = refused_answers.attribute_missing(["pay"], subject)
    assert (made.text, made.warning.detail, made.near) == (text, detail, True)


def test_without_evidence_the_question_is_the_detail() -> None:
    made = refused_answers.no_evidence("Why [^1]\x01?")
    assert made.text == refused_answers.NO_ANSWER
    assert made.warning.detail == "no_evidence: Why [ ^1] ?"


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        (refused_answers.NOT_IN_THE_SOURCES, True),
        (f" {refused_answers.NOT_IN_THE_SOURCES}\n", True),
        (f"{refused_answers.NOT_IN_THE_SOURCES} It is nine.", False),
        ("I do not know.", False),
    ],
)
def test_a_model_refuses_by_the_sentence_alone(text: str, refuses: bool) -> None:
    warnings = refused_answers.by_model(text, "Why?")
    assert refused_answers.is_refusal(warnings) is refuses
    assert [each.detail for each in warnings] == ["no_evidence: Why?"] * refuses


def test_what_is_not_said_is_told_by_the_words_that_are_there() -> None:
    assert refused_answers.not_said("Why?", ["fare"]).text == (
        "Nothing here says what is asked of “fare”."
    )
    assert refused_answers.kind_missing("How many?", "a number", ["fare"]).text == (
        "Nothing here gives a number for “fare”."
    )
    for bare in (
        refused_answers.not_said("Why?", []),
        refused_answers.kind_missing("How many?", "a number", []),
    ):
        assert bare.text == refused_answers.NO_ANSWER
        assert not bare.near
