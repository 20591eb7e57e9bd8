"""What every provider promises; each row of PROVIDERS is held to it.

A provider that needs a key needs a server to talk to: its row is opened against a fake one in
its own tests, and joins EVERY here through OPENED.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from redask.model import Knobs, Prompt, Source
from redask.ports import Completion, Provider
from redask.providers import PROVIDERS
from redask.rules import capabilities, citations
from redask.rules.prompt import assemble

OPENED: dict[str, Callable[[], Provider]] = {
    name: row.open for name, row in PROVIDERS.items() if not row.needs_key
}
EVERY = pytest.mark.parametrize("open_one", OPENED.values(), ids=OPENED.keys())
Open = Callable[[], Provider]

KNOBS = Knobs(0.0, 7)
SOURCES = (
    Source("urn:reddb:document:docs/1", '{"text":"The ferry leaves at nine. It is red."}'),
    Source("urn:reddb:row:boats/2", '{"colour":"red","id":2,"name":"The ferry"}'),
)
PROMPT = assemble("When does the ferry leave?", SOURCES)


async def complete(
    provider: Provider, emit: Callable[[str], Awaitable[None]] | None = None
) -> Completion:
    return await provider.complete(PROMPT, KNOBS, max_tokens=200, emit=emit)


def test_every_row_stands_under_its_own_name_and_has_capabilities_of_its_own() -> None:
    for name, row in PROVIDERS.items():
        assert row.name == name
        assert name in {*capabilities.PINNED, *capabilities.OURS}


def test_every_row_that_needs_a_key_is_opened_by_this_suite() -> None:
    assert OPENED.keys() == PROVIDERS.keys()


@EVERY
def test_it_says_who_it_is_and_what_it_can_do(open_one: Open) -> None:
    provider = open_one()
    row = PROVIDERS[provider.name]
    assert provider.model == row.model
    assert provider.capabilities == capabilities.of(provider.name)


@EVERY
@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1])
def test_a_narrowed_seed_fits_every_wire_and_stays_narrow(open_one: Open, seed: int) -> None:
    provider = open_one()
    narrowed = provider.narrow(seed)
    assert 0 <= narrowed < 2**63
    assert provider.narrow(narrowed) == narrowed


@EVERY
def test_a_price_is_unknown_or_not_negative(open_one: Open) -> None:
    price = open_one().price(1000, 1000)
    assert price is None or price >= 0.0


@EVERY
def test_what_is_emitted_is_the_text(open_one: Open) -> None:
    pieces: list[str] = []

    async def emit(piece: str) -> None:
        pieces.append(piece)

    completion = asyncio.run(complete(open_one(), emit))
    assert "".join(pieces) == completion.text
    assert "" not in pieces


@EVERY
def test_the_text_is_the_same_without_a_listener(open_one: Open) -> None:
    async def emit(piece: str) -> None:
        assert piece

    heard = asyncio.run(complete(open_one(), emit))
    assert asyncio.run(complete(open_one())) == heard


@EVERY
def test_asking_again_gives_the_same(open_one: Open) -> None:
    provider = open_one()
    first = asyncio.run(complete(provider))
    assert asyncio.run(complete(provider)) == first
    assert asyncio.run(complete(open_one())) == first


@EVERY
def test_it_answers_from_the_sources_and_cites_them(open_one: Open) -> None:
    provider = open_one()
    text = asyncio.run(complete(provider)).text
    parsed = citations.parse(text, len(SOURCES))
    assert parsed.issues == ()
    assert parsed.citations or not provider.capabilities.supports_citations


@EVERY
def test_it_answers_many_at_once_as_one_by_one(open_one: Open) -> None:
    async def many() -> list[Completion]:
        provider = open_one()
        return await asyncio.gather(*(complete(provider) for _ in range(8)))

    alone = asyncio.run(complete(open_one()))
    assert asyncio.run(many()) == [alone] * 8


@EVERY
def test_it_does_not_fail_without_sources(open_one: Open) -> None:
    asked = open_one().complete(assemble("Is anybody there?", ()), KNOBS, max_tokens=200)
    parsed = citations.parse(asyncio.run(asked).text, 0)
    assert parsed.citations == ()
    assert parsed.issues == ()


@EVERY
@pytest.mark.parametrize("at", ["start", "first piece"])
def test_a_cancelled_call_stops_and_leaves_nothing_behind(open_one: Open, at: str) -> None:
    pieces: list[str] = []

    async def cancelled() -> None:
        reached = asyncio.Event()

        async def emit(piece: str) -> None:
            pieces.append(piece)
            reached.set()
            await asyncio.Event().wait()

        provider = open_one()
        call = asyncio.create_task(complete(provider, emit))
        await (reached.wait() if at == "first piece" else asyncio.sleep(0))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert asyncio.all_tasks() == {asyncio.current_task()}
        # and it still answers the next one
        assert (await complete(provider)).text

    asyncio.run(cancelled())
    assert len(pieces) == (1 if at == "first piece" else 0)


@EVERY
def test_the_prompt_is_left_as_it_was(open_one: Open) -> None:
    given = Prompt(PROMPT.system, PROMPT.user, PROMPT.question, PROMPT.sources, {"ferry": 2.0})
    asyncio.run(open_one().complete(given, KNOBS, max_tokens=200))
    assert given.weights == {"ferry": 2.0}
    assert given.sources == SOURCES
