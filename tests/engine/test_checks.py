"""Every check of `validation.CHECKS` judges what providers answer and what the cache kept."""

from collections.abc import Sequence
from typing import Any

import pytest
from stage import Player, Stage

import redask
from redask.core import errors
from redask.core.model import Issue, Notice, Source
from redask.core.rules import validation
from redask.core.rules.audit import answer_hash
from redask.core.rules.validation import ReadAnswer

FERRY = "When does the ferry leave?"


def last_row(db: redask.OpenDatabase) -> dict[str, Any]:
    return db.audit(1)[0].row


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_an_empty_answer_is_asked_for_again_and_then_given_up(harbour: Stage, blank: str) -> None:
    player = Player("scripted", [blank])
    db = harbour.open(player)
    with pytest.raises(errors.Ungrounded) as caught:
        db.ask(FERRY)
    assert caught.value.message == "the answer is empty"
    assert caught.value.errors == (Notice("malformed", "empty answer"),)
    assert "- [malformed] empty answer\n" in player.calls[1][0].user
    row = last_row(db)
    assert row["answer_hash"] == answer_hash(blank)
    assert row["errors"] == [{"kind": "malformed", "detail": "empty answer"}]
    assert (row["validation_ok"], row["retry_count"], row["citations"]) == (False, 1, [])


def test_an_empty_answer_is_mended_by_the_retry(harbour: Stage) -> None:
    answer = harbour.open(Player("scripted", ["", "At nine [^1]."])).ask(FERRY)
    assert (answer.answer, answer.retry_count) == ("At nine [^1].", 1)


def test_a_lenient_empty_answer_is_warned_of_and_is_no_hit_for_a_strict_ask(
    harbour: Stage,
) -> None:
    db = harbour.open(Player("scripted", ["", "At nine [^1]."]))
    answer = db.ask(FERRY, strict=False, cache={"ttl": "1h"})
    assert (answer.answer, answer.validation.ok) == ("", True)
    assert answer.validation.warnings == (Notice("malformed", "empty answer"),)
    assert db.ask(FERRY, strict=False, cache={"ttl": "1h"}).cache_hit
    again = db.ask(FERRY, cache={"ttl": "1h"})
    assert (again.cache_hit, again.answer) == (False, "At nine [^1].")


def test_a_check_that_is_added_judges_fresh_and_cached_answers(
    harbour: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_short(answer: ReadAnswer, sources: Sequence[Source]) -> tuple[Issue, ...]:
        cited = sum(source.payload.count("ferry") for source in sources)
        short = len(answer.text) < 10 and cited
        return (Issue("too_short", (0, 0), f"{cited} ferries"),) if short else ()

    player = Player("scripted", ["At [^1].", "At nine, or later [^1]."])
    db = harbour.open(player)
    db.ask(FERRY, cache={"ttl": "1h"})
    assert db.ask(FERRY, cache={"ttl": "1h"}).cache_hit
    monkeypatch.setattr(validation, "CHECKS", (*validation.CHECKS, too_short))
    again = db.ask(FERRY, cache={"ttl": "1h"})  # what is kept does not pass any more
    assert (again.cache_hit, again.answer) == (False, "At nine, or later [^1].")
    player.replies, player.calls = ["At [^1]."], []
    with pytest.raises(errors.Ungrounded) as caught:
        db.ask(FERRY)
    assert [notice.kind for notice in caught.value.errors] == ["too_short"]
