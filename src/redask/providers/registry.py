"""Providers, opened: `open_provider` finds the row of a token and the adapter that the row names.

Rows are in `core.provider_table`; ADAPTERS has the kinds of wire. An opener imports its module
when it is called, so that nobody pays for an SDK they do not use; an SDK that is not installed is
`Misconfigured`, with the extra to install.
"""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import MappingProxyType

from redask.core.errors import Misconfigured
from redask.core.ports import Provider
from redask.core.provider_table import OPENAI_COMPATIBLE, PROVIDERS, ProviderRow
from redask.core.rules.price_list import TokenPrice
from redask.providers.vendors.endpoint import Access, check_key, check_model, check_url

_NO_PRICES: Mapping[str, TokenPrice] = MappingProxyType({})


def installed(row: ProviderRow) -> bool:
    """Whether the package it needs is there."""
    return row.sdk is None or find_spec(row.sdk) is not None


def is_installed(name: str) -> bool:
    """The same of a provider of our table."""
    return installed(PROVIDERS[name])


def install_hint(row: ProviderRow) -> str:
    """What to do when it is not."""
    return f"pip install 'redask[{row.extra}]'" if row.extra else f"install {row.sdk}"


def open_provider(
    name: str,
    model: str | None = None,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    prices: Mapping[str, TokenPrice] = _NO_PRICES,
) -> Provider:
    """The provider of a token, ready to be asked."""
    row = PROVIDERS[name]
    if not installed(row):
        message = f"{name} needs a package: {install_hint(row)}"
        raise Misconfigured(message, detail=row.sdk or "")
    check_key(name, api_key, row.key_variable)
    address = base_url or row.base_url
    if row.base_url is not None:
        check_url(name, address)
    check_model(name, model or row.model)
    return ADAPTERS[row.adapter](Access(name, model or row.model, api_key, address, prices))


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


ADAPTERS: Mapping[str, Callable[[Access], Provider]] = {
    OPENAI_COMPATIBLE: _openai_compatible,
    "anthropic": _anthropic,
    "huggingface": _huggingface,
    "local": _local,
    "extractive": _extractive,
    "scripted": _scripted,
}
