"""Providers with what the settings say about them: opened once, listed, tried.

`ProviderPool` gives the engine its providers, and says who is passed over as the default; `survey`
and `check_provider` are for `redask providers`.
"""

import asyncio
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict

from redask.core import settings as choices
from redask.core.endpoints import Endpoint
from redask.core.errors import AskError, BadAsk, ProviderFailed
from redask.core.model import Knobs, Prompt
from redask.core.ports import Connected, Provider
from redask.core.provider_table import PROVIDERS
from redask.core.rules import capabilities, failover
from redask.providers.registry import install_hint, installed, open_provider

_OPENED_MOST = 64  # models come from callers, who may name many
_CHECK = Prompt("Answer with one word.", "Say yes.", "Say yes.", ())
_CHECK_SECONDS = 30
_CHECK_TOKENS = 16


class ProviderPool:
    """Providers by name and model, each opened once, with what the settings say about it."""

    def __init__(self, settings: choices.Settings, given: Mapping[str, Provider]) -> None:
        self._settings = settings
        self._given = given
        self._opened: dict[tuple[str, str | None], Provider] = {}
        self._lock = threading.Lock()

    def __call__(self, name: str, model: str | None) -> Provider:
        """The provider, which may take a moment the first time."""
        if name in self._given:
            return self._given[name]
        with self._lock:
            if (name, model) not in self._opened:
                if len(self._opened) >= _OPENED_MOST:
                    self._opened.clear()
                self._opened[name, model] = _open(self._settings, name, model)
            return self._opened[name, model]

    def passed_over(self) -> tuple[str, ...]:
        """A sentence for each provider that would be the default if its package were there.

        None where the settings name a provider: then nobody is passed over.
        """
        settings = self._settings
        if settings.fallback or settings.default_provider:
            return ()
        missing = [name for name in without_package(settings) if name not in self._given]
        keyed = {name for name, each in settings.endpoints.items() if each.api_key}
        chosen = failover.choose_default(keyed.difference(missing))
        return tuple(
            f"{missing_package(name)}; until then {chosen} answers"
            for name in missing
            if failover.choose_default({name, chosen}) == name
        )

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for provider in self._opened.values():
            if isinstance(provider, Connected):
                await provider.aclose()


def _open(settings: choices.Settings, name: str, model: str | None) -> Provider:
    endpoint = settings.endpoints.get(name, Endpoint())
    return open_provider(
        name,
        model or endpoint.model,
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        prices=settings.prices.get(name, {}),
    )


def without_package(settings: choices.Settings) -> list[str]:
    """The providers that have a key, but not the package they need."""
    return [
        name
        for name, row in PROVIDERS.items()
        if settings.endpoints.get(name, Endpoint()).api_key and not installed(row)
    ]


def missing_package(name: str) -> str:
    """What to tell about one of them."""
    return f"{name} has a key, but its package is missing: {install_hint(PROVIDERS[name])}"


def survey(settings: choices.Settings) -> list[dict[str, object]]:
    """Every provider: its model and key variable, whether it is ready, what it can do."""
    found: list[dict[str, object]] = []
    for name, row in PROVIDERS.items():
        endpoint = settings.endpoints.get(name, Endpoint())
        has_key = endpoint.api_key is not None
        found.append(
            {
                "capabilities": asdict(capabilities.of(name, settings.capabilities)),
                "extra": row.extra,
                "installed": installed(row),
                "key": "present" if has_key else "missing" if row.key_variable else "not needed",
                "key_variable": row.key_variable,
                "model": endpoint.model or row.model,
                "name": name,
            }
        )
    return found


async def check_provider(settings: choices.Settings, name: str) -> dict[str, object]:
    """One tiny call to a provider: what it answered with, or why it did not."""
    started = time.perf_counter()
    try:
        if name not in PROVIDERS:
            raise BadAsk(f"there is no provider {name!a}", detail=", ".join(sorted(PROVIDERS)))
        provider = _open(settings, name, None)
        can = capabilities.of(name, settings.capabilities)
        knobs = Knobs(
            0.0 if can.supports_temperature_zero else None, 1 if can.supports_seed else None
        )
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                completion = await provider.complete(_CHECK, knobs, max_tokens=_CHECK_TOKENS)
        finally:
            if isinstance(provider, Connected):
                await provider.aclose()
    except TimeoutError:
        return _failed_check(name, "timeout", f"no answer within {_CHECK_SECONDS} seconds")
    except ProviderFailed as error:
        return _failed_check(name, error.kind, error.said)
    except AskError as error:
        return _failed_check(name, error.kind, error.message)
    return {
        "build": completion.build,
        "milliseconds": round((time.perf_counter() - started) * 1000),
        "model": completion.model,
        "name": name,
        "ok": True,
    }


def _failed_check(name: str, kind: str, message: str) -> dict[str, object]:
    return {"kind": kind, "message": message, "name": name, "ok": False}
