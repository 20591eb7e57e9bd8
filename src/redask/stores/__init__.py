"""Where the store can live: one row for each store. `open_store(location)` picks by scheme.

    location                        row
    a directory (the default)       sqlite

A new store is one file and one row here; the row enrols it in the contract suite of the
stores. `EntityStore` is what every row gives: the engine's `Store` and, around it, what catalogues
and `doctor` need.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from redask.core.access.credentials import TokenFacts, User, Verifiers
from redask.core.errors import Misconfigured
from redask.core.model import Caller, Source
from redask.core.ports import Entity, OriginManifest, SelectShape, Store, TableShape, VectorStore
from redask.stores.sqlite.select.prepared import SELECT_MS, SELECT_ROWS
from redask.stores.sqlite.store import SqliteStore
from redask.stores.sqlite.writer import GIVEN
from redask.stores.statistics import Collection, Column, Statistics


class Users(Protocol):
    """Users and tokens; all but the first three are for owners, about the owner's tenant."""

    def sign_in(self, token: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is, or `Unauthenticated`; `tenant` is the one it must be for."""

    def verifiers(self, user: str, tenant: str, now: int) -> Verifiers:
        """What a proof of knowing one of the user's tokens is checked against."""

    def held(self, ident: str, now: int) -> Caller:
        """Whose token it is that was proven; `Unauthenticated` once it is not good any more."""

    def users(self, caller: Caller) -> list[User]:
        """The users, by name."""

    def add(self, name: str, role: str, attributes: Mapping[str, object], caller: Caller) -> User:
        """A new user."""

    def change(
        self,
        name: str,
        role: str | None,
        attributes: Mapping[str, object] | None,
        caller: Caller,
    ) -> User:
        """Give a user another role, or other attributes in place of all there are."""

    def remove(self, name: str, now: int, caller: Caller) -> None:
        """Forget a user, and revoke the user's tokens."""

    def tokens(self, caller: Caller) -> list[TokenFacts]:
        """The tokens, the oldest first, without their secrets."""

    def make_token(self, user: str, now: int, seconds: int | None, caller: Caller) -> str:
        """A token for a user; nobody can show it again."""

    def revoke(self, ident: str, now: int, caller: Caller) -> None:
        """Let a token open nothing from now on."""


class EntityStore(Store, VectorStore, Protocol):
    """A whole store: what `ports.Store` and `ports.VectorStore` promise, catalogues, health.

    `identity` is drawn at random when a store is made: an index that was built from
    another store notices by it. `manifest` knows which entities came from which file.
    """

    identity: str

    @property
    def people(self) -> Users:
        """Who may sign in."""

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

    def select(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
    ) -> list[dict[str, object]]:
        """The rows of a SELECT over what the caller may see of the collections."""

    def select_now(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
    ) -> list[dict[str, object]] | None:
        """The same for who cannot wait: None when it might take more than a moment."""

    def describe(self, sql: str, caller: Caller, *, timeout_ms: int = SELECT_MS) -> SelectShape:
        """What a SELECT would give, and what its parameters are."""

    def tables(self, caller: Caller) -> list[TableShape]:
        """What the caller can SELECT from, by name."""

    def version(self) -> int:
        """A number that changes with every write, of whichever process."""

    def set_language(self, collection: str, language: str | None, caller: Caller) -> int:
        """Declare a collection's language (None: detect it). → last sequence."""

    def collections(self, caller: Caller) -> list[Collection]:
        """The collections that hold something or have a language, by name."""

    def columns(self, collection: str, caller: Caller) -> list[Column]:
        """The columns of a collection, by name."""

    def policies(self, caller: Caller) -> dict[str, object]:
        """The policies of the caller's tenant, by collection."""

    def set_policy(self, collection: str, document: object | None, caller: Caller) -> int:
        """Put a collection under a policy, or (None) under none. → last sequence."""

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
    open: Callable[[str], EntityStore]


def _open_directory(location: str) -> EntityStore:
    return SqliteStore(Path(location))


STORES = (StoreRow("sqlite", "", _open_directory),)


def open_store(location: str) -> EntityStore:
    """Open the store at `location`, making it when there is none."""
    if "\0" in location:
        raise Misconfigured("the location of a store holds a NUL character")
    scheme, mark, _ = location.partition("://")
    wanted = scheme + mark if mark else ""
    for row in STORES:
        if row.scheme == wanted:
            return row.open(location)
    raise Misconfigured(f"no store knows locations that start with {wanted}")
