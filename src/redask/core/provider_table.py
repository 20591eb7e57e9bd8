"""Who can answer: PROVIDERS, one row for each token of USING. A provider is added here, once.

    name           the token, in ASCII lower case
    adapter        the kind of wire; `providers.registry` opens it by this name
    model          used when neither MODEL nor the settings name one; "" for one that must be told
    capabilities   what it can do: `rules.capabilities`
    preferred      whether its key alone makes it the default, in the order of this table
    key_variable   the usual variable of a key that it needs; None if it needs none
    base_url       where it is reached unless the settings say otherwise; "" for one that must be
                   told, None for one without an address
    sdk, extra     the package it needs, and the extra of redask that installs it
    prices         where the price of a call comes from
    quirks         how an OpenAI-compatible host differs from the others
    built_in       needs nothing from outside, so no setting is about it
    quotes         quotes its sources, and writes nothing of its own: no statements either
    for_tests      plays a provider, and is not there in a server: `ask.providers.testing`

An OpenAI-compatible host is a row alone. A provider with a wire of its own is also an adapter: a
file that keeps `ports.Provider` and its name in `registry.ADAPTERS`. The row enrols it in the
defaults, the settings, `redask providers`, the reference page and the contract suite.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from redask.core.model import Capabilities

FULL = Capabilities(True, True, True, True)
CONSERVATIVE = Capabilities(False, False, True, False)  # of `custom`, and of any unknown token
OPENAI_COMPATIBLE = "openai_compatible"


class PriceSource(Enum):
    """Where the price of a call comes from, if the settings give none."""

    FREE = "it costs nothing by definition"
    TABLE = "the table of genai-prices, under the provider's name"
    SETTINGS = "nowhere else: it is unknown"


class SeedRange(Enum):
    """What seeds a wire can carry."""

    SIGNED_64 = "signed 64 bits"
    BITS_32 = "32 bits, without 2^32-1"


@dataclass(frozen=True, slots=True)
class Quirks:
    """How the wire of one OpenAI-compatible host differs; the defaults are the usual."""

    seeds: SeedRange = SeedRange.SIGNED_64
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"


USUAL = Quirks()


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One provider; see the module."""

    name: str
    adapter: str
    model: str
    capabilities: Capabilities
    prices: PriceSource
    preferred: bool = False
    key_variable: str | None = None
    base_url: str | None = None
    sdk: str | None = None
    extra: str | None = None
    quirks: Quirks = USUAL
    built_in: bool = False
    quotes: bool = False
    for_tests: bool = False


def host(
    name: str,
    model: str,
    base_url: str,
    capabilities: Capabilities = FULL,
    prices: PriceSource = PriceSource.TABLE,
    *,
    needs_key: bool = True,
    quirks: Quirks = USUAL,
) -> ProviderRow:
    """The row of an OpenAI-compatible host; one that needs a key is preferred if it is there."""
    return ProviderRow(
        name,
        OPENAI_COMPATIBLE,
        model,
        capabilities,
        prices,
        preferred=needs_key,
        key_variable=f"{name.upper()}_API_KEY" if needs_key else None,
        base_url=base_url,
        sdk="openai",
        quirks=quirks,
    )


_ROWS = (
    host(
        "openai",
        "gpt-4o-mini",
        "https://api.openai.com/v1",
        quirks=Quirks(limit_name="max_completion_tokens"),
    ),
    ProviderRow(
        "anthropic",
        "anthropic",
        "claude-haiku-4-5",
        Capabilities(True, False, True, True),
        PriceSource.TABLE,
        preferred=True,
        key_variable="ANTHROPIC_API_KEY",
        base_url="https://api.anthropic.com",
        sdk="anthropic",
        extra="anthropic",
    ),
    host("groq", "llama-3.3-70b-versatile", "https://api.groq.com/openai/v1"),
    host("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "https://api.together.xyz/v1"),
    host("openrouter", "openai/gpt-4o-mini", "https://openrouter.ai/api/v1"),
    host("venice", "llama-3.3-70b", "https://api.venice.ai/api/v1", prices=PriceSource.SETTINGS),
    host("deepseek", "deepseek-chat", "https://api.deepseek.com/v1"),
    host(
        "ollama",
        "llama3.2",
        "http://localhost:11434/v1",
        Capabilities(False, True, True, True),
        PriceSource.FREE,
        needs_key=False,
        quirks=Quirks(seeds=SeedRange.BITS_32),
    ),
    ProviderRow(
        "huggingface",
        "huggingface",
        "meta-llama/Llama-3.1-8B-Instruct",
        Capabilities(False, False, True, False),
        PriceSource.SETTINGS,
        key_variable="HF_TOKEN",
        base_url="https://router.huggingface.co/v1",
        sdk="huggingface_hub",
        extra="huggingface",
    ),
    ProviderRow(
        "local",
        "local",
        "",
        Capabilities(False, False, False, False),
        PriceSource.FREE,
        sdk="xllamacpp",
        extra="local",
    ),
    host("custom", "", "", CONSERVATIVE, PriceSource.SETTINGS, needs_key=False),
    ProviderRow(
        "extractive",
        "extractive",
        "extractive-10",
        Capabilities(True, False, False, True),
        PriceSource.FREE,
        built_in=True,
        quotes=True,
    ),
    ProviderRow(
        "scripted",
        "scripted",
        "scripted-1",
        FULL,
        PriceSource.FREE,
        built_in=True,
        for_tests=True,
    ),
)
PROVIDERS: Mapping[str, ProviderRow] = {row.name: row for row in _ROWS}


def rows(*, for_tests: bool) -> list[str]:
    """The names of the providers there are, those that play one too or not."""
    return [name for name, row in PROVIDERS.items() if for_tests or not row.for_tests]


def writes(name: str) -> bool:
    """Whether a provider can be asked for a statement; one without a row can."""
    return name not in PROVIDERS or not PROVIDERS[name].quotes
