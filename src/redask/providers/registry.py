"""Who can answer: PROVIDERS, one row for each token of USING.

To add one: a file with a class that keeps `ports.Provider`, and a row here; an OpenAI-compatible
host is a row alone. The row enrols it in the contract suite
(tests/contract/test_providers.py), in `redask providers` and in the docs. Openers import their
module when they are called, so that nobody pays for an SDK they do not use; an SDK that is not
installed is `Misconfigured`, with the extra to install.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType

from redask.core.errors import Misconfigured
from redask.core.ports import Provider
from redask.core.rules.price_list import TokenPrice
from redask.providers.vendors.endpoint import Access, check_key, check_model, check_url

_NO_PRICES: Mapping[str, TokenPrice] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One provider; `model` is used when neither MODEL nor the settings name one.

    `key_name` is the variable of a key that it needs, `base_url` where it is reached unless the
    settings say otherwise ("" for one that must be told), `sdk` the package it needs, which
    `extra` installs.
    """

    name: str
    model: str
    opener: Callable[[Access], Provider]
    key_name: str | None = None
    base_url: str | None = None
    sdk: str | None = None
    extra: str | None = None

    @property
    def needs_key(self) -> bool:
        """Whether nothing works without a key."""
        return self.key_name is not None

    @property
    def installed(self) -> bool:
        """Whether its SDK is there."""
        return self.sdk is None or find_spec(self.sdk) is not None

    @property
    def install(self) -> str:
        """What to do when it is not."""
        return f"pip install 'redask[{self.extra}]'" if self.extra else f"install {self.sdk}"

    def open(
        self,
        model: str | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        prices: Mapping[str, TokenPrice] = _NO_PRICES,
    ) -> Provider:
        """The provider, ready to be asked."""
        if not self.installed:
            message = f"{self.name} needs a package: {self.install}"
            raise Misconfigured(message, detail=self.sdk or "")
        check_key(self.name, api_key, self.key_name)
        address = base_url or self.base_url
        if self.base_url is not None:
            check_url(self.name, address)
        check_model(self.name, model or self.model)
        return self.opener(Access(self.name, model or self.model, api_key, address, prices))


def _extractive(_: Access) -> Provider:
    from redask.providers.extractive.answerer import Extractive

    return Extractive()


def _scripted(access: Access) -> Provider:
    from redask.providers.scripted import SCRIPTS, Scripted

    return Scripted(SCRIPTS.get(access.model, ()), model=access.model)


def _openai_compatible(access: Access) -> Provider:
    from redask.providers.vendors.openai_compatible import OpenAICompatible

    return OpenAICompatible(access)


def _anthropic(access: Access) -> Provider:
    from redask.providers.vendors.anthropic import AnthropicMessages

    return AnthropicMessages(access)


def _huggingface(access: Access) -> Provider:
    from redask.providers.vendors.huggingface import HuggingFace

    return HuggingFace(access)


def _local(access: Access) -> Provider:
    from redask.providers.vendors.local import LocalModel

    return LocalModel(access)


def _host(name: str, model: str, base_url: str, *, key: bool = True) -> ProviderRow:
    key_name = f"{name.upper()}_API_KEY" if key else None
    return ProviderRow(name, model, _openai_compatible, key_name, base_url, "openai")


_ROWS = (
    _host("openai", "gpt-4o-mini", "https://api.openai.com/v1"),
    ProviderRow(
        "anthropic",
        "claude-haiku-4-5",
        _anthropic,
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com",
        "anthropic",
        "anthropic",
    ),
    _host("groq", "llama-3.3-70b-versatile", "https://api.groq.com/openai/v1"),
    _host("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "https://api.together.xyz/v1"),
    _host("openrouter", "openai/gpt-4o-mini", "https://openrouter.ai/api/v1"),
    _host("venice", "llama-3.3-70b", "https://api.venice.ai/api/v1"),
    _host("deepseek", "deepseek-chat", "https://api.deepseek.com/v1"),
    _host("ollama", "llama3.2", "http://localhost:11434/v1", key=False),
    ProviderRow(
        "huggingface",
        "meta-llama/Llama-3.1-8B-Instruct",
        _huggingface,
        "HF_TOKEN",
        "https://router.huggingface.co/v1",
        "huggingface_hub",
        "huggingface",
    ),
    ProviderRow("local", "", _local, sdk="xllamacpp", extra="local"),
    _host("custom", "", "", key=False),
    ProviderRow("extractive", "extractive-2", _extractive),
    ProviderRow("scripted", "scripted-1", _scripted),
)
PROVIDERS: Mapping[str, ProviderRow] = {row.name: row for row in _ROWS}
