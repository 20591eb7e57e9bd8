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
