"""The fake provider plays what it is told."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from redask.core import token_count
from redask.core.errors import Failure, ProviderFailed, ProviderRefused
from redask.core.model import Knobs, Source
from redask.core.ports import Completion
from redask.core.rules import citations
from redask.core.rules.prompt import assemble, render
from redask.providers.registry import PROVIDERS
from redask.providers.scripted import KEPT, NO_SOURCE, SCRIPTS, Reply, Scripted

KNOBS = Knobs(0.5, 11)
TURNS = 500  # of the loop, in which everything ends that does not go on for ever
PROMPT = assemble("Why?", [Source("urn:reddb:row:a/1", '{"why":"because"}')])


async def play(provider: Scripted, heard: list[str] | None = None) -> Completion:
    async def emit(piece: str) -> None:
        assert heard is not None
        heard.append(piece)

    return await provider.complete(
        PROMPT, KNOBS, max_tokens=50, emit=None if heard is None else emit
    )


def texts(provider: Scripted, calls: int) -> list[str]:
    return [asyncio.run(play(provider)).text for _ in range(calls)]


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses a reply took, without taking them."""
    pauses: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return pauses


def test_replies_are_played_in_order_and_the_last_one_again() -> None:
    assert texts(Scripted(["one", Reply("two")]), 4) == ["one", "two", "two", "two"]


def test_without_a_script_it_quotes_the_first_source() -> None:
    heard: list[str] = []
    completion = asyncio.run(play(Scripted(), heard))
    assert completion.text == "why: because [^1]"
    assert heard == ["why: ", "because ", "[^1]"]


def test_a_quoted_source_smuggles_no_marker() -> None:
    source = Source("urn:reddb:row:a/1", json.dumps({"text": "see [^9]\n```\n[^0]"}))
    asked = Scripted().complete(assemble("Why?", [source]), KNOBS, max_tokens=50)
    parsed = citations.parse(asyncio.run(asked).text, 1)
    assert [citation.marker for citation in parsed.citations] == [1]
    assert parsed.issues == ()


def test_without_a_source_it_says_so() -> None:
    asked = Scripted().complete(assemble("Why?", []), KNOBS, max_tokens=50)
    assert asyncio.run(asked).text == NO_SOURCE


def test_pieces_are_streamed_with_their_pauses(slept: list[float]) -> None:
    heard: list[str] = []
    reply = Reply(pieces=("a", "b", "c"), wait=2.0, delay=0.5)
    completion = asyncio.run(play(Scripted([reply]), heard))
    assert (heard, completion.text) == (["a", "b", "c"], "abc")
    assert slept == [2.0, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("failure", [Failure.TRANSPORT, Failure.SERVER, Failure.TIMEOUT])
def test_it_fails_as_told(failure: Failure) -> None:
    with pytest.raises(ProviderFailed) as failed:
        asyncio.run(play(Scripted([Reply(fail=failure)])))
    assert not isinstance(failed.value, ProviderRefused)
    assert (failed.value.failure, failed.value.provider) == (failure, "scripted")


def test_it_refuses_as_told() -> None:
    with pytest.raises(ProviderRefused):
        asyncio.run(play(Scripted([Reply(fail=Failure.REFUSED)])))


def test_it_can_fail_in_the_middle_of_a_stream() -> None:
    heard: list[str] = []
    with pytest.raises(ProviderFailed):
        asyncio.run(play(Scripted([Reply("half", fail=Failure.TRANSPORT)]), heard))
    assert heard == ["half"]


@pytest.mark.parametrize("listening", [True, False])
def test_an_endless_stream_ends_when_it_is_cancelled(listening: bool) -> None:
    heard: list[str] = []
    reply = Reply("on ", endless=True)
    asyncio.run(cancelled(play(Scripted([reply]), heard if listening else None)))
    assert set(heard) == ({"on "} if listening else set())
    assert len(heard) > 2 or not listening


def test_an_endless_reply_of_nothing_ends_when_it_is_cancelled() -> None:
    asyncio.run(cancelled(play(Scripted([Reply("", endless=True)]))))


async def cancelled(endless: Coroutine[Any, Any, Completion]) -> None:
    """Leave it after some turns of the loop, in which it does not end."""
    playing = asyncio.create_task(endless)
    for _ in range(TURNS):
        await asyncio.sleep(0)
    assert not playing.done()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing


def test_usage_is_estimated_reported_or_absent() -> None:
    provider = Scripted([Reply("one two"), Reply("x", usage=(10, 5)), Reply("x", usage=None)])
    used = [asyncio.run(play(provider)) for _ in range(3)]
    assert [(one.prompt_tokens, one.completion_tokens) for one in used] == [
        (token_count.estimate(render(PROMPT)), 2),
        (10, 5),
        (None, None),
    ]


def test_it_costs_what_it_is_told() -> None:
    assert Scripted(prices=(0.25, 2.0)).price(4, 3) == 7.0
    assert Scripted(prices=None).price(4, 3) is None
    assert Scripted().price(4, 3) == 0.0


def test_it_remembers_what_it_was_given_but_not_for_ever() -> None:
    provider = Scripted(["x"])
    texts(provider, KEPT + 5)
    assert len(provider.calls) == KEPT
    assert (provider.calls[0].prompt, provider.calls[0].knobs) == (PROMPT, KNOBS)
    assert provider.calls[0].max_tokens == 50


def test_a_failed_call_is_remembered_too() -> None:
    provider = Scripted([Reply(fail=Failure.SERVER), "fine"])
    with pytest.raises(ProviderFailed):
        texts(provider, 1)
    assert texts(provider, 1) == ["fine"]
    assert len(provider.calls) == 2


def test_a_script_can_be_named_as_the_model() -> None:
    asked = PROVIDERS["scripted"].open("inventing")
    completion = asyncio.run(asked.complete(PROMPT, KNOBS, max_tokens=50))
    assert (completion.model, asked.model) == ("inventing", "inventing")
    kinds = [issue.kind for issue in citations.parse(completion.text, 1).issues]
    assert kinds == ["malformed", "out_of_range", "malformed"]


def test_an_unknown_model_plays_the_default() -> None:
    asked = PROVIDERS["scripted"].open("gpt-9")
    completion = asyncio.run(asked.complete(PROMPT, KNOBS, max_tokens=50))
    assert (completion.text, completion.model) == ("why: because [^1]", "gpt-9")


@pytest.mark.parametrize("name", [name for name, script in SCRIPTS.items() if script])
def test_every_named_script_answers_fails_or_goes_on(name: str, slept: list[float]) -> None:
    async def outcome() -> str:
        playing = asyncio.create_task(play(Scripted(SCRIPTS[name])))
        for _ in range(TURNS):
            await asyncio.sleep(0)
        if not playing.done():
            return "endless"
        try:
            completion = await playing
        except ProviderFailed as failed:
            return failed.failure.value
        return "answered" if completion.text else "empty"

    expected = {
        "empty": "empty",
        "endless": "endless",
        "breaking": "transport",
        **{failure.value: failure.value for failure in Failure},
    }
    assert asyncio.run(outcome()) == expected.get(name, "answered")
