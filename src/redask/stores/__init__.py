"""Where the truth can live: one row for each store. `open_store(location)` picks by scheme.

    location                        row
    a directory (the default)       sqlite

A new store is one file and one row here; the row enrols it in the contract suite of the
stores. `Truth` is what every row gives: the engine's `Store` and, around it, what catalogues
and `doctor` need.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from redask.errors import Misconfigured
from redask.model import Caller, Source
from redask.ports import Entity, OriginManifest, Store
from redask.stores.records import Collection, Column, Statistics
from redask.stores.sqlite import GIVEN, SqliteStore


class Truth(Store, Protocol):
    """A whole store: what `ports.Store` promises, the catalogues and its health.

    `identity` is drawn at random when a store is made: an index that was built from
    another store notices by it. `manifest` knows which entities came from which file.
    """

    identity: str

    @property
    def manifest(self) -> OriginManifest:
        """Which entities came from which file."""

    def put(self, entities: Sequence[Entity], caller: Caller, *, model: str = GIVEN) -> int:
        """As in `Store`; `model` names what made the vectors of these entities."""

    def get(self, urn: str, caller: Caller) -> Source | None:
        """One entity, or None when there is none that the caller may see."""

    def page(
        self, collection: str, caller: Caller, *, after: str = "", limit: int = 100
    ) -> list[Source]:
        """The next entities of a collection in the order of their URNs, after a given one."""

    def set_language(self, collection: str, language: str | None, caller: Caller) -> int:
        """Declare a collection's language (None: detect it). → last sequence."""

    def collections(self, caller: Caller) -> list[Collection]:
        """The collections that hold something or have a language, by name."""

    def columns(self, collection: str, caller: Caller) -> list[Column]:
        """The columns of a collection, by name."""

    def setting(self, name: str) -> str | None:
        """A setting kept with the data, or None."""

    def set_setting(self, name: str, value: str | None) -> None:
        """Keep a setting with the data; None forgets it."""

    def statistics(self, caller: Caller) -> Statistics:
        """What `doctor` tells about this store and the caller's tenant."""

    def check(self) -> list[str]:
        """Read everything and name what is wrong; an empty list means all is well."""

    def close(self) -> None:
        """Let go of the store."""


@dataclass(frozen=True, slots=True)
class StoreRow:
    """A kind of store: `scheme` is how its locations start (empty: a plain directory)."""

    name: str
    scheme: str
    open: Callable[[str], Truth]


def _open_directory(location: str) -> Truth:
    return SqliteStore(Path(location))


STORES = (StoreRow("sqlite", "", _open_directory),)


def open_store(location: str) -> Truth:
    """Open the store at `location`, making it when there is none."""
    if "\0" in location:
        raise Misconfigured("the location of a store holds a NUL character")
    scheme, mark, _ = location.partition("://")
    wanted = scheme + mark if mark else ""
    for row in STORES:
        if row.scheme == wanted:
            return row.open(location)
    raise Misconfigured(f"no store knows locations that start with {wanted}")
