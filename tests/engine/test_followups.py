"""Contract 25 end to end: what is understood is searched, prompted and hashed; else no change."""

import asyncio
import hashlib

import pytest
from stage import Player, Stage

import redask
from redask.core import errors
from redask.core.model import Answered, Failed, Turn
from redask.core.wire import json as canonical

TALK = [{"question": "When does the Amrum ferry leave?", "answer": "At nine. [^1]"}]
LEANS = "And its price?"
WHOLE = "What is the price of Amrum?"
ALONE = "Is the lighthouse open on Sundays?"
OFF = {"plan": "off"}


def kinds(answer: redask.CitedAnswer) -> list[str]:
    return [each.kind for each in answer.validation.warnings]


def test_the_question_as_understood_is_asked_and_the_row_keeps_the_one_that_was(
    harbour: Stage,
) -> None:
    player = Player("scripted", ["14 euros [^1]."])
    db = harbour.open(player)
    answer = db.ask(LEANS, history=TALK, **OFF)
    prompt, knobs = player.calls[0]
    assert prompt.question == WHOLE
    assert f"<question>\n{WHOLE}\n</question>" in prompt.user
    warning = answer.validation.warnings[0]
    assert (warning.kind, warning.detail) == ("understood_as", WHOLE)
    entry = db.audit(1)[0]
    assert (entry.row["question"], entry.understood) == (LEANS, WHOLE)
    assert len(entry.row) == 20
    db.ask(WHOLE, **OFF)
    assert player.calls[1] == (prompt, knobs)  # the seed is that of the whole question
    assert db.audit(1)[0].understood == ""


def test_explain_is_about_the_whole_question_and_shows_the_one_that_was_asked(
    harbour: Stage,
) -> None:
    db = harbour.open(Player("scripted", ["x"]))
    plan, whole = db.explain(LEANS, history=TALK, **OFF), db.explain(WHOLE, **OFF)
    assert plan["question"] == LEANS
    assert {**plan, "question": WHOLE} == whole
    found = db.search(LEANS, history=TALK)
    assert found.notes == (f"understood_as: {WHOLE}",)
    assert found.hits == db.search(WHOLE).hits
    assert db.query_plan(LEANS, history=TALK) == db.query_plan(WHOLE)


@pytest.mark.parametrize("toml", ["", '[ask]\nfollowups = "model"'])
def test_a_question_that_stands_alone_differs_in_no_byte(harbour: Stage, toml: str) -> None:
    player = Player("scripted", ["Open on Sundays [^1]."])
    db = harbour.open(player, toml=toml)
    plain = db.ask(ALONE, **OFF)
    row = db.audit(1)[0]
    after = db.ask(ALONE, history=TALK, **OFF)
    again = db.audit(1)[0]
    assert canonical.encode(after.to_dict()) == canonical.encode(plain.to_dict())
    assert player.calls[0] == player.calls[1]
    assert len(player.calls) == 2
    assert canonical.encode(row.row) == canonical.encode(again.row)
    assert again.understood == ""
    assert db.explain(ALONE, history=TALK, **OFF) == db.explain(ALONE, **OFF)


def test_an_answer_is_shared_with_the_whole_question_in_the_cache(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["14 euros [^1]."]))
    cached = {**OFF, "cache": {"ttl": "5m"}}
    first = db.ask(LEANS, history=TALK, **cached)
    second = db.ask(WHOLE, **cached)
    third = db.ask(LEANS, history=TALK, **cached)
    assert [each.cache_hit for each in (first, second, third)] == [False, True, True]
    assert ["understood_as" in kinds(each) for each in (first, second, third)] == [
        True,
        False,
        True,
    ]
    assert db.audit(1)[0].understood == WHOLE


def test_a_model_makes_it_whole_where_the_settings_say_so(harbour: Stage) -> None:
    player = Player("scripted", ["How much is the ferry?", "14 euros [^1]."], cost=0.5)
    db = harbour.open(player, toml='[ask]\nfollowups = "model"')
    answer = db.ask(LEANS, history=TALK, **OFF)
    assert [prompt.question for prompt, _ in player.calls] == [LEANS, "How much is the ferry?"]
    assert "<answer>At nine. [^1]</answer>" in player.calls[0][0].user
    assert answer.validation.warnings[0].detail == "How much is the ferry?"
    entry = db.audit(1)[0]
    assert entry.understood == "How much is the ferry?"
    assert (answer.cost_usd, entry.row["cost_usd"]) == (1.0, 1.0)
    assert answer.prompt_tokens == 200


@pytest.mark.parametrize(
    ("reply", "understood"), [("Sure!\nHere it is", WHOLE), ("", WHOLE), (LEANS, "")]
)
def test_a_reply_that_is_no_question_leaves_it_to_the_rule(
    harbour: Stage, reply: str, understood: str
) -> None:
    player = Player("scripted", [reply, "14 euros [^1]."])
    db = harbour.open(player, toml='[ask]\nfollowups = "model"')
    db.ask(LEANS, history=TALK, **OFF)
    assert db.audit(1)[0].understood == understood


def test_a_model_that_fails_ends_the_ask_as_any_call_does(harbour: Stage) -> None:
    failure = errors.ProviderFailed("scripted", errors.Failure.REFUSED, "no")
    db = harbour.open(Player("scripted", [failure]), toml='[ask]\nfollowups = "model"')
    with pytest.raises(errors.ProviderFailed):
        db.ask(LEANS, history=TALK, **OFF)
    assert [each["kind"] for each in db.audit(1)[0].row["errors"]] == ["provider_refused"]  # type: ignore[attr-defined]


def test_the_built_in_answerer_writes_nothing_so_the_rule_holds(harbour: Stage) -> None:
    db = harbour.open(toml='[ask]\nfollowups = "model"')
    assert "understood_as" in kinds(db.ask(LEANS, history=TALK, using="extractive", **OFF))


def test_where_questions_are_hashed_so_is_the_understood_one(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["x [^1]"]), toml='[ask.audit]\nquestion = "hash"')
    db.ask(LEANS, history=TALK, **OFF)
    entry = db.audit(1)[0]
    assert entry.understood == f"sha256:{hashlib.sha256(WHOLE.encode()).hexdigest()}"


def test_a_history_that_is_none_is_refused_and_leaves_no_row(harbour: Stage) -> None:
    db = harbour.open()
    with pytest.raises(errors.BadAsk) as caught:
        db.ask(LEANS, history=[*TALK, {"question": "", "answer": ""}])
    assert caught.value.detail == "history[1].question"
    assert db.audit() == []


def test_history_opens_nothing_to_a_caller(harbour: Stage) -> None:
    with redask.open(harbour.directory, embedder="none") as db:
        db.put("secrets", [{"id": 1, "text": "The price of Amrum is a secret of the board."}])
        db.set_policy("secrets", {"read": [{"roles": ["board"]}]})
        db.add_user("mia", role="sales")
        mia = db.signed_in(db.make_token("mia"))
        shown = mia.ask(LEANS, history=TALK, using="extractive", **OFF)
        assert all(":secrets/" not in source.urn for source in shown.sources_flat)
        assert "secret" not in shown.answer


def test_a_conversation_keeps_its_turns_as_they_were_understood(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1].", "14 euros [^1].", errors.AskError("x"), "y [^1]"])
    talk = harbour.open(player).conversation()
    talk.ask("When does the Amrum ferry leave?", **OFF)
    talk.ask(LEANS, **OFF)
    with pytest.raises(redask.AskError):
        talk.ask("Who runs it?", **OFF)
    assert talk.turns == (
        Turn("When does the Amrum ferry leave?", "At nine [^1]."),
        Turn(WHOLE, "14 euros [^1]."),
    )
    answer = talk.ask("Who runs it?", **OFF)
    assert answer.validation.warnings[0].detail == "Who runs Amrum?"


def test_a_conversation_stays_within_the_bounds_of_a_history(harbour: Stage) -> None:
    player = Player("scripted", ["x" * 30_000])
    talk = harbour.open(player, toml="[ask]\nmax_completion_tokens = 9999").conversation()
    for _ in range(4):
        talk.ask(ALONE, strict=False, **OFF)
    assert len(talk.turns) == 2
    short = harbour.open(Player("scripted", ["x [^1]"])).conversation()
    for _ in range(22):
        short.ask(ALONE, **OFF)
    assert len(short.turns) == 20


def test_a_conversation_with_asyncio(harbour: Stage) -> None:
    async def main() -> redask.CitedAnswer:
        async with await redask.aopen(harbour.directory, embedder="none") as db:
            talk = db.conversation()
            await talk.ask("When does the Amrum ferry leave?", using="extractive", **OFF)
            return await talk.ask(LEANS, using="extractive", **OFF)

    assert "understood_as" in kinds(asyncio.run(main()))


def test_a_streamed_question_is_a_turn_once_it_is_answered(harbour: Stage) -> None:
    gone = errors.ProviderFailed("scripted", errors.Failure.SERVER, "gone")
    talk = harbour.open(
        Player("scripted", ["At nine. [^1]", gone, "14 euros [^1]."])
    ).conversation()
    asked = TALK[0]["question"]
    events = list(talk.stream(asked, **OFF))
    assert isinstance(events[-1], Answered)
    first = Turn(asked, "At nine. [^1]")
    assert list(talk.turns) == [first]
    assert isinstance(list(talk.stream(LEANS, **OFF))[-1], Failed)
    assert list(talk.turns) == [first]
    list(talk.stream(LEANS, **OFF))
    assert list(talk.turns) == [first, Turn(WHOLE, "14 euros [^1].")]


def test_so_it_is_with_asyncio(harbour: Stage) -> None:
    async def talking() -> tuple[Turn, ...]:
        db = harbour.open(Player("scripted", ["At nine. [^1]", "14 euros [^1]."]))
        talk = db._async.conversation()
        for question in (TALK[0]["question"], LEANS):
            async for event in talk.stream(question, **OFF):
                last = event
            assert isinstance(last, Answered)
        return talk.turns

    assert asyncio.run(talking())[1] == Turn(WHOLE, "14 euros [^1].")
