"""How an ask ended, told by its audit row and the reason beside it."""

import pytest

from redask.core.model import Notice
from redask.core.rules.auditing.ask_outcomes import AskOutcome, outcome_of, reason_of
from redask.core.rules.grounding import refused_answers


@pytest.mark.parametrize(
    ("ok", "errors", "refused", "outcome"),
    [
        (True, [], "", AskOutcome.ANSWERED),
        (True, ["provider_failed"], "", AskOutcome.ANSWERED),
        (True, [], "no_evidence", AskOutcome.REFUSED),
        (True, None, "no_sources", AskOutcome.REFUSED),
        (False, ["timeout_ms"], "", AskOutcome.FAILED),
        (False, None, "", AskOutcome.FAILED),
        (False, ["provider_failed", "cancelled"], "", AskOutcome.CANCELLED),
        (False, ["cancelled"], "no_evidence", AskOutcome.CANCELLED),
    ],
)
def test_the_row_and_the_reason_beside_it_tell_the_outcome(
    ok: bool, errors: list[str] | None, refused: str, outcome: AskOutcome
) -> None:
    told = None if errors is None else [{"kind": kind, "detail": ""} for kind in errors]
    assert outcome_of({"validation_ok": ok, "errors": told}, refused) is outcome


def test_the_reason_is_one_word_and_holds_none_of_the_question() -> None:
    secret = refused_answers.not_mentioned(["Zaphod"]).warning
    assert reason_of([Notice("usage_estimated", "x"), secret]) == "entity_missing"
    assert reason_of([refused_answers.no_evidence("").warning]) == "no_evidence"
    assert reason_of([Notice("no_sources", "nothing in the data")]) == "no_sources"
    assert reason_of([Notice("usage_estimated", "refused: x")]) == ""
    assert reason_of([]) == ""
