"""STRICT SUPPORTED: claims are held to what they cite; elsewhere a wrong one is a warning."""

from typing import Any

import pytest
from stage import Player, Stage

import redask
from redask.core import errors
from redask.core.model import Answered, AnswerReset, AnswerToken, Event, Failed, Mode
from redask.core.rules.audit import answer_hash
from redask.core.wire import envelope, frames, outcomes
from redask.core.wire import json as canonical
from redask.engine import streaming

FERRY = "When does the ferry leave?"
NINE = "The ferry to Amrum leaves at nine [^1]."
PRICE = "A ticket for the ferry costs 14 euros [^2]."
DEAR = "A ticket for the ferry costs 99 euros [^2]."
UNCITED = "The ferry is blue."
WRONG = '"A ticket for the ferry costs 99 euros"'


def row(db: redask.OpenDatabase) -> dict[str, Any]:
    return db.audit(1)[0].row


def kinds(answer: redask.CitedAnswer) -> list[str]:
    return [notice.kind for notice in answer.validation.warnings]


def sent(events: list[Event]) -> list[str]:
    """The pieces that were sent; what was taken back, too."""
    return [event.text for event in events if isinstance(event, AnswerToken)]


@pytest.mark.parametrize("strict", [True, False])
def test_findings_are_warnings_where_support_was_not_asked_for(
    harbour: Stage, strict: bool
) -> None:
    answer = harbour.open(Player("scripted", [f"{DEAR} {UNCITED}"])).ask(FERRY, strict=strict)
    assert kinds(answer) == ["contradicted_claim", "uncited_claim"]
    first, second = answer.validation.warnings
    assert first.detail.startswith(f"{WRONG}: 99")
    assert "is not in [^2]" in first.detail
    assert second.detail == '"The ferry is blue" cites no source'
    assert (answer.validation.ok, answer.retry_count) == (True, 0)


def test_an_answer_that_is_supported_passes_without_a_warning(harbour: Stage) -> None:
    answer = harbour.open(Player("scripted", [f"{NINE} {PRICE}"])).ask(FERRY, strict="supported")
    assert (answer.mode, answer.validation.warnings) == (Mode.STRICT, ())


def test_the_retry_names_the_tokens_and_then_it_is_refused(harbour: Stage) -> None:
    player = Player("scripted", [f"{NINE} {DEAR}", DEAR])
    db = harbour.open(player)
    with pytest.raises(errors.Ungrounded) as caught:
        db.ask(FERRY, strict="supported")
    assert caught.value.message == "the answer says what its sources do not"
    assert [notice.kind for notice in caught.value.errors] == ["contradicted_claim"]
    assert caught.value.detail.startswith(f"{WRONG}: 99")
    hint = player.calls[1][0].user.partition("<sources>")[0]
    assert f"- [contradicted_claim] {WRONG}: 99" in hint
    assert "Say only what a source says" in hint
    written = row(db)
    assert (written["mode"], written["validation_ok"], written["retry_count"]) == (
        "strict",
        False,
        1,
    )
    assert written["errors"] == [
        {"kind": notice.kind, "detail": notice.detail} for notice in caught.value.errors
    ]
    assert (written["answer_hash"], written["citations"]) == (answer_hash(DEAR), [2])
    body: Any = outcomes.body(caught.value)
    assert outcomes.of(caught.value).http == 422
    assert body["validation"]["errors"][0]["kind"] == "contradicted_claim"


def test_the_ferry_at_midnight_is_refused_with_what_the_source_says(harbour: Stage) -> None:
    player = Player("scripted", ["The ferry leaves at midnight [^1]."])
    db = harbour.open(player)
    assert kinds(db.ask(FERRY)) == ["contradicted_claim"]
    with pytest.raises(errors.Ungrounded) as caught:
        db.ask(FERRY, strict="supported")
    said = '"The ferry leaves at midnight": midnight is not in [^1]; the source says nine'
    assert caught.value.detail == said
    assert f"- [contradicted_claim] {said}\n" in player.calls[2][0].user
    assert row(db)["errors"] == [{"kind": "contradicted_claim", "detail": said}]


def test_the_retry_can_mend_it_and_leaves_no_error(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [DEAR, PRICE]))
    answer = db.ask(FERRY, strict="supported")
    assert (answer.answer, answer.retry_count, kinds(answer)) == (PRICE, 1, [])
    assert row(db)["errors"] == []


@pytest.mark.parametrize("said", [UNCITED, "At nine.", f"{NINE} {UNCITED}", "At nine [^9]."])
def test_an_answer_with_a_claim_that_cites_nothing_never_passes(harbour: Stage, said: str) -> None:
    db = harbour.open(Player("scripted", [said]))
    with pytest.raises(errors.Ungrounded) as caught:
        db.ask(FERRY, strict="supported")
    assert "uncited_claim" in [notice.kind for notice in caught.value.errors]
    ended = list(db.stream(FERRY, strict="supported"))[-1]
    assert isinstance(ended, Failed)
    assert isinstance(ended.error, errors.Ungrounded)


def test_the_fixed_sentence_without_sources_is_no_claim(stage: Stage) -> None:
    answer = stage.open(Player("scripted", ["x"])).ask(FERRY, strict="supported", evidence=True)
    assert kinds(answer) == ["no_sources"]
    assert answer.evidence == ()


def test_the_settings_can_ask_for_it(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [DEAR]), toml='[ask]\nstrict = "supported"')
    with pytest.raises(errors.Ungrounded):
        db.ask(FERRY)
    assert kinds(db.ask(FERRY, strict="on")) == ["contradicted_claim"]
    assert db.explain(FERRY)["mode"] == "strict"
    assert db.strictness(FERRY) == "supported"


def test_a_provider_that_cannot_cite_says_that_it_is_not_enforced(harbour: Stage) -> None:
    db = harbour.open(Player("ollama", [DEAR]))
    answer = db.ask(FERRY, strict="supported")
    assert answer.mode is Mode.LENIENT
    assert kinds(answer) == ["mode_fallback", "contradicted_claim"]
    assert "STRICT SUPPORTED is not enforced" in answer.validation.warnings[0].detail
    assert db.strictness(FERRY, strict="supported") == "off"


@pytest.mark.parametrize("first", [True, False])
def test_a_kept_answer_says_so_too_whatever_was_asked_for_first(
    harbour: Stage, first: bool
) -> None:
    db = harbour.open(Player("ollama", [NINE]))
    before = db.ask(FERRY, strict=first, cache={"ttl": "1h"})
    again = db.ask(FERRY, strict="supported", cache={"ttl": "1h"})
    assert again.cache_hit
    assert [warning.kind for warning in again.validation.warnings] == ["mode_fallback"]
    assert "STRICT SUPPORTED is not enforced" in again.validation.warnings[0].detail
    assert db.ask(FERRY, strict=first, cache={"ttl": "1h"}).validation == before.validation


def test_a_kept_answer_is_held_to_what_this_call_asks_for(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [DEAR, PRICE]))
    assert kinds(db.ask(FERRY, cache={"ttl": "1h"})) == ["contradicted_claim"]
    assert db.ask(FERRY, cache={"ttl": "1h"}).cache_hit
    strict = db.ask(FERRY, strict="supported", cache={"ttl": "1h"})
    assert (strict.cache_hit, strict.answer) == (False, PRICE)
    assert db.ask(FERRY, strict="supported", cache={"ttl": "1h"}).cache_hit


def test_several_markers_in_one_bracket_become_one_each_everywhere(harbour: Stage) -> None:
    said = ["The ferry to Amrum leaves at nine [^1", ", ^2", "]."]
    db = harbour.open(Player("scripted", [said]))
    events = list(db.stream(FERRY, cache={"ttl": "1h"}))
    whole = "The ferry to Amrum leaves at nine [^1][^2]."
    assert "".join(sent(events)) == whole
    assert all("[^1," not in text for text in sent(events))
    assert (row(db)["answer_hash"], row(db)["citations"]) == (answer_hash(whole), [1, 2])
    answer = db.ask(FERRY, cache={"ttl": "1h"})
    assert (answer.cache_hit, answer.answer) == (True, whole)
    assert harbour.open(Player("scripted", ["At nine [^1,2]."])).ask(FERRY).answer == (
        "At nine [^1][^2]."
    )


# --- streams -----------------------------------------------------------------------------


def test_a_stream_is_sent_sentence_by_sentence_and_is_the_answer(harbour: Stage) -> None:
    pieces = [word + " " for word in f"{NINE} {PRICE} {NINE}".split()]
    db = harbour.open(Player("scripted", [pieces]))
    events = list(db.stream(FERRY, strict="supported"))
    assert sent(events) == [f"{NINE} ", f"{PRICE} ", f"{NINE} "]
    assert isinstance(events[-1], Answered)
    assert events[-1].answer.answer == "".join(sent(events))


def test_a_sentence_that_fails_is_never_sent_and_stops_the_provider(harbour: Stage) -> None:
    asked: list[int] = []

    async def invents() -> list[str]:
        asked.append(1)
        return [f"{NINE} ", f"{DEAR} ", "And ", *(f"so {n} " for n in range(50))]

    player = Player("scripted", [invents, f"{NINE} {PRICE}"])
    db = harbour.open(player)
    events = list(db.stream(FERRY, strict="supported"))
    assert not any("99" in text or "so" in text for text in sent(events))
    resets = [event for event in events if isinstance(event, AnswerReset)]
    assert resets == [AnswerReset("retry")]
    last = events[-1]
    assert isinstance(last, Answered)
    assert (last.answer.answer, last.answer.retry_count) == (f"{NINE} {PRICE}", 1)
    assert last.answer.completion_tokens < 60  # of a stream that was stopped, what had come
    folded = canonical.encode(frames.fold(map(frames.of, events)))
    assert folded == canonical.encode(envelope.build(last.answer))
    assert WRONG in player.calls[1][0].user


def test_nothing_is_taken_back_where_nothing_was_sent(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [[f"{DEAR} ", "And so ", "on."], PRICE]))
    events = list(db.stream(FERRY, strict="supported"))
    assert not [event for event in events if isinstance(event, AnswerReset)]
    assert sent(events) == [PRICE]


def test_a_stream_that_fails_twice_ends_in_an_error_and_shows_no_footnote_that_failed(
    harbour: Stage,
) -> None:
    db = harbour.open(Player("scripted", [[f"{NINE} ", f"{DEAR} ", "And so on."]]))
    events = list(db.stream(FERRY, strict="supported"))
    assert not any("99" in text for text in sent(events))
    last = events[-1]
    assert isinstance(last, Failed)
    assert isinstance(last.error, errors.Ungrounded)
    assert [notice.kind for notice in last.error.errors] == ["contradicted_claim"]
    written = row(db)
    assert (written["retry_count"], written["validation_ok"]) == (1, False)
    assert written["citations"] == [1, 2]
    assert written["answer_hash"] == answer_hash(f"{NINE} {DEAR} And so on.")


def test_a_provider_that_does_not_stream_is_sent_at_once_when_it_has_passed(
    harbour: Stage,
) -> None:
    toml = """
[ask.capabilities.scripted]
supports_citations = true
supports_seed = true
supports_temperature_zero = true
supports_streaming = false
"""
    db = harbour.open(Player("scripted", [DEAR, f"{NINE} {PRICE}"]), toml=toml)
    events = list(db.stream(FERRY, strict="supported"))
    assert sent(events) == [f"{NINE} {PRICE}"]


def test_elsewhere_a_marker_beyond_the_sources_waits_for_its_sentence(harbour: Stage) -> None:
    pieces = ["At ", "nine ", "[^9", "] or ", "so. ", "At ten [^1]."]
    db = harbour.open(Player("scripted", [pieces]))
    events = list(db.stream(FERRY, strict=False))
    assert sent(events) == ["At ", "nine ", "[^9] or so. ", "At ten [^1]."]


def test_a_caller_who_leaves_leaves_the_hash_of_what_was_sent(harbour: Stage) -> None:
    pieces = [f"{NINE} ", "A ticket ", "for the ", "ferry ", "costs 14 euros [^2]."]
    db = harbour.open(Player("scripted", [pieces]))
    stream = iter(db.stream(FERRY, strict="supported"))
    heard: list[Event] = [next(stream), next(stream)]
    stream.close()  # type: ignore[attr-defined]
    db.ask(FERRY)
    written = db.audit(2)[1].row
    assert sent(heard) == [f"{NINE} "]
    assert written["answer_hash"] in {answer_hash(f"{NINE} "), answer_hash(f"{NINE} {PRICE}")}


def test_what_may_be_long_is_examined_in_a_thread(
    harbour: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    hops: list[object] = []
    inside = streaming.AnswerStream._examine

    async def watched(self: streaming.AnswerStream, text: str) -> Any:
        hop = self.hop

        async def noting(work: Any) -> Any:
            hops.append(work)
            return await hop(work)

        self.hop = noting
        found = await inside(self, text)
        self.hop = hop
        return found

    monkeypatch.setattr(streaming.AnswerStream, "_examine", watched)
    long = " ".join([NINE] * 200)
    db = harbour.open(Player("scripted", [NINE, long]))
    assert db.ask(FERRY).answer == NINE
    assert not hops
    assert db.ask(FERRY).answer == long
    assert len(hops) == 1


# --- evidence ----------------------------------------------------------------------------


def test_evidence_shows_each_claim_and_what_supports_it(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [f"{NINE} {UNCITED}"]))
    answer = db.ask(FERRY, evidence=True)
    assert answer.evidence is not None
    first, second = answer.evidence
    assert (first.span, first.markers, first.verdict) == ((0, len(NINE)), (1,), "supported")
    assert [(each.urn, each.text) for each in first.passages] == [
        ("urn:reddb:row:notes/1", "The ferry to Amrum leaves at nine.")
    ]
    assert first.passages[0].place == {"columns": ["text"]}
    assert (second.markers, second.verdict, second.passages) == ((), "uncited", ())
    assert answer.answer[slice(*second.span)] == UNCITED
    whole = answer.to_dict()
    assert len(whole) == 13
    assert whole["evidence"] == envelope.evidence(answer.evidence)
    assert db.execute(f"ASK '{FERRY}' EVIDENCE")[0].keys() == whole.keys()


def test_without_it_the_envelope_has_its_twelve_keys(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [NINE]))
    assert db.ask(FERRY).evidence is None
    assert len(db.ask(FERRY, evidence=False).to_dict()) == 12


def test_evidence_of_a_kept_answer_is_found_again(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [NINE]))
    first = db.ask(FERRY, evidence=True, cache={"ttl": "1h"})
    plain = db.ask(FERRY, cache={"ttl": "1h"})
    again = db.ask(FERRY, evidence=True, cache={"ttl": "1h"})
    assert (plain.cache_hit, plain.evidence) == (True, None)
    assert (again.cache_hit, again.evidence) == (True, first.evidence)


def test_a_stream_folds_to_the_envelope_with_evidence(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [[f"{NINE} ", PRICE]]))
    events = list(db.stream(FERRY, evidence=True))
    last = events[-1]
    assert isinstance(last, Answered)
    folded = frames.fold(map(frames.of, events))
    assert canonical.encode(folded) == canonical.encode(envelope.build(last.answer))
    assert len(folded["evidence"]) == 2


def test_an_answer_that_claims_nothing_passes(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["The sources do not say. Is it so?"]))
    assert db.ask(FERRY, strict="supported").validation.warnings == ()
