"""How to reach a provider: `Access`, checked before a connection is opened.

    no key where one is needed       Misconfigured, naming the variable to set
    a key that cannot be sent        Misconfigured: it holds white space or is not ASCII
    an invalid base URL              Misconfigured, naming the variable; a user, password, query or
                                     fragment in it is refused, for URLs end up in logs
    no model                         Misconfigured, naming the variable

The key is never part of a message or a `repr`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

from redask.core.errors import Misconfigured
from redask.core.rules.price_list import TokenPrice


@dataclass(frozen=True, slots=True)
class Access:
    """What opens a provider: its name and model, key and address, and the user's prices."""

    provider: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    prices: Mapping[str, TokenPrice] = field(default_factory=lambda: MappingProxyType({}))


def check_model(provider: str, model: str) -> None:
    """Refuse to open a provider without a model."""
    if not model:
        variable = f"REDASK_{provider.upper()}_MODEL"
        raise Misconfigured(
            f"{provider} has no model of its own: set {variable}, or name one with MODEL",
            detail=variable,
        )


def check_key(provider: str, key: str | None, variable: str | None) -> None:
    """Refuse a missing key, or one that is invalid in an HTTP header."""
    named = variable or f"REDASK_{provider.upper()}_API_KEY"
    if key is None:
        if variable is not None:
            raise Misconfigured(f"{provider} needs a key: set {named}", detail=named)
    elif not key or not key.isascii() or not key.isprintable() or " " in key:
        raise Misconfigured(f"{named} holds characters that no key has", detail=named)


def check_url(provider: str, url: str | None) -> None:
    """Refuse an invalid base URL."""
    variable = f"REDASK_{provider.upper()}_BASE_URL"
    if not url:
        raise Misconfigured(f"{provider} has no address: set {variable}", detail=variable)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if not host or parts.scheme not in ("http", "https") or not url.isprintable() or " " in url:
        raise Misconfigured(
            f"{variable} is no address: it must look like https://host/v1", detail=variable
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise Misconfigured(
            f"{variable} must be an address alone: no user, password, query or fragment",
            detail=variable,
        )
