"""The user's own prices: read strictly, and dollars by the million."""

import pytest

from redask.core.errors import Misconfigured
from redask.core.provider_table import PROVIDERS, PriceSource
from redask.core.rules.price_list import TokenPrice, read_overrides
from redask.core.settings import load

FREE = ("extractive", "local", "ollama", "scripted")
GOOD = {"input": 0.15, "output": 0.6}


def test_a_price_is_by_the_million_tokens() -> None:
    assert TokenPrice(0.15, 0.6).of(1_000_000, 500_000) == pytest.approx(0.45)
    assert TokenPrice(0.15, 0.6).of(0, 0) == 0.0


def test_prices_are_read_by_lower_cased_provider_and_exact_model() -> None:
    assert read_overrides({"OpenAI": {"My-Model": GOOD}}) == {
        "openai": {"My-Model": TokenPrice(0.15, 0.6)}
    }
    assert read_overrides({}) == {}


@pytest.mark.parametrize("provider", FREE)
def test_what_is_free_by_definition_has_no_price(provider: str) -> None:
    with pytest.raises(Misconfigured, match="by definition"):
        read_overrides({provider: {"m": GOOD}})


@pytest.mark.parametrize(
    "tables",
    [
        {"nobody": {"m": GOOD}},
        {"open\nai": {"m": GOOD}},
        {"openai": {"m": GOOD}, "OPENAI": {"m": GOOD}},
        {"openai": 5},
        {"openai": {"m": 5}},
        {"openai": {"m": {"input": 1}}},
        {"openai": {"m": {**GOOD, "cached": 1}}},
        {"openai": {"m": {"input": -1, "output": 1}}},
        {"openai": {"m": {"input": True, "output": 1}}},
        {"openai": {"m": {"input": float("nan"), "output": 1}}},
        {"openai": {"m": {"input": 1, "output": 1_000_001}}},
        {"openai": {"m\n": {"input": "1", "output": 1}}},
    ],
)
def test_a_price_list_that_does_not_fit_is_misconfigured(tables: dict[str, object]) -> None:
    with pytest.raises(Misconfigured) as caught:
        read_overrides(tables)
    assert caught.value.message.startswith("ask.prices.")
    assert caught.value.message.isprintable()


def test_the_file_holds_prices_and_nothing_else_moves() -> None:
    toml = '[ask.prices.openai."gpt-4o-mini"]\ninput = 1\noutput = 2.5\n'
    assert load(toml).prices == {"openai": {"gpt-4o-mini": TokenPrice(1.0, 2.5)}}
    assert load().prices == {}
    with pytest.raises(Misconfigured, match=r"ask\.prices must be a table"):
        load("[ask]\nprices = 5")


def test_these_are_free_and_no_others() -> None:
    free = {row.name for row in PROVIDERS.values() if row.prices is PriceSource.FREE}
    assert free == set(FREE)
