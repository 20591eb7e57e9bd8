"""Who can answer: PROVIDERS, one row for each token of USING.

To add one: a file with a class that keeps `ports.Provider`, and a row here. The row enrols it
in the contract suite (tests/contract/test_providers.py), the command line and the docs. Openers
import their module when they are called, so that nobody pays for an SDK they do not use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from redask.ports import Provider


@dataclass(frozen=True, slots=True)
class Access:
    """What an opener is given: the model to use, and how to reach it where that matters."""

    model: str
    api_key: str | None = None
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One provider; `model` is used when neither MODEL nor the settings name one."""

    name: str
    model: str
    needs_key: bool
    opener: Callable[[Access], Provider]

    def open(
        self, model: str | None = None, *, api_key: str | None = None, base_url: str | None = None
    ) -> Provider:
        """The provider, ready to be asked."""
        return self.opener(Access(model or self.model, api_key, base_url))


def _extractive(_: Access) -> Provider:
    from redask.providers.extractive import Extractive

    return Extractive()


def _scripted(access: Access) -> Provider:
    from redask.providers.scripted import SCRIPTS, Scripted

    return Scripted(SCRIPTS.get(access.model, ()), model=access.model)


_ROWS = (
    ProviderRow("extractive", "extractive-1", needs_key=False, opener=_extractive),
    ProviderRow("scripted", "scripted-1", needs_key=False, opener=_scripted),
)
PROVIDERS: Mapping[str, ProviderRow] = {row.name: row for row in _ROWS}
