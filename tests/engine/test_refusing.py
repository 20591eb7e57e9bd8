"""Refusals and conflicts end to end (contract 27): answered, warned, streamed, kept and audited."""

from pathlib import Path

import pytest
from stage import Player, Stage

import redask
from redask.core.model import Answered, AnswerToken
from redask.core.rules.grounding.refused_answers import NOT_IN_THE_SOURCES
from redask.core.rules.prompt import SYSTEM

JANE = {"id": 3, "name": "Jane Peacock", "title": "Sales Support Agent", "phone": "262-3443"}
SALARY = "What is the salary of Jane Peacock?"
REFUSED = ("refused", "attribute_missing: salary of Jane Peacock")


def warned(answer: redask.CitedAnswer) -> list[tuple[str, str]]:
    return [(each.kind, each.detail) for each in answer.validation.warnings]


@pytest.mark.parametrize("strict", [True, False, "supported"])
def test_what_a_row_does_not_say_is_refused_the_same_way_everywhere(
    tmp_path: Path, strict: bool | str
) -> None:
    with redask.open(tmp_path, embedder="none") as db:
        db.put("staff", [JANE])
        options = {"strict": strict, "plan": "off", "using": "extractive", "cache": {"ttl": "5m"}}
        first = db.ask(SALARY, **options)
        assert first.answer.startswith("Nothing here says “salary” of Jane Peacock; nearest:\n\n")
        assert warned(first) == [REFUSED]
        assert [note.marker for note in first.citations] == [1]
        assert len(first.sources_flat) == 1
        row = db.audit(1)[0].row
        assert (row["validation_ok"], row["errors"], row["citations"]) == (True, [], [1])
        again = db.ask(SALARY, **options)
        assert again.cache_hit
        assert (again.answer, again.validation) == (first.answer, first.validation)
        events = list(db.stream(SALARY, **options))
        pieces = [event.text for event in events if isinstance(event, AnswerToken)]
        assert isinstance(events[-1], Answered)
        assert events[-1].answer.validation == first.validation
        assert "".join(pieces) == first.answer


@pytest.mark.parametrize("strict", [True, False, "supported"])
def test_a_model_refuses_with_the_sentence_of_the_prompt(
    harbour: Stage, strict: bool | str
) -> None:
    assert NOT_IN_THE_SOURCES in SYSTEM
    answer = harbour.open(Player("scripted", [NOT_IN_THE_SOURCES])).ask(
        "When does the ferry leave?", strict=strict
    )
    assert warned(answer) == [("refused", "no_evidence: When does the ferry leave?")]


def test_a_model_that_says_more_than_the_sentence_does_not_refuse(harbour: Stage) -> None:
    said = f"{NOT_IN_THE_SOURCES} The ferry is blue."
    answer = harbour.open(Player("scripted", [said])).ask("When does the ferry leave?")
    assert "refused" not in [kind for kind, _ in warned(answer)]
    assert "uncited_claim" in [kind for kind, _ in warned(answer)]


def test_sources_that_disagree_are_both_quoted(tmp_path: Path) -> None:
    texts = ("The ferry leaves at nine.", "The ferry leaves at ten.")
    with redask.open(tmp_path, embedder="none") as db:
        rows = [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)]
        db.put("docs", rows, kind="document")
        answer = db.ask("When does the ferry leave?", using="extractive")
    assert sorted(line.split(" [^")[0] for line in answer.answer.split("\n")) == sorted(texts)
    assert [kind for kind, _ in warned(answer)] == ["conflicting_sources"]
    assert {"nine", "ten"} <= set(warned(answer)[0][1].split())
