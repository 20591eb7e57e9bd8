"""The state of a database in memory, and how it changes: `Shared.reading`, `Shared.writing`."""

import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from redask.core.access.credentials import TokenFacts, TokenHash, TokenVerifier, User
from redask.core.access.policy import ClassLayout, Policy
from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.core.ports import DeclaredKey, EmbeddingLease, FileLink, Origin
from redask.stores.policy_classes import KeyColumns
from redask.stores.visibility import (
    UNRULED,
    EdgePart,
    KnownClass,
    StoreVisibility,
    principal_of,
    stored_policy,
    visible,
)
from redask.stores.write_rules import VectorSpace, check_tenant


class Row(NamedTuple):
    """An entity that is or was there; a deleted one has no payload."""

    key: int
    urn: str
    collection: str
    seq: int
    payload: str | None
    policy_class: int
    vector: bytes | None = None
    ends: tuple[str, str] | None = None


class Token(NamedTuple):
    """A token, what it is checked against, and whose it is."""

    facts: TokenFacts
    hash: TokenHash
    verifier: TokenVerifier


class Item(NamedTuple):
    """Which origin brought an entity, and at which place."""

    path: str
    place: int


class KnownOrigin(NamedTuple):
    """An origin with its links, and whether they are to be settled."""

    origin: Origin
    links: frozenset[FileLink]
    unlinked: bool
    keys: tuple[DeclaredKey, ...] = ()
    read_at: int | None = None
    seen: tuple[str, ...] = ()  # URNs that the unfinished load has brought so far


@dataclass(slots=True)
class Tenant:
    """Everything of one tenant."""

    seq: int = 0
    version: int = 0
    space: VectorSpace | None = None
    rows: dict[str, Row] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)  # policies by collection
    collections: dict[str, int] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    column_types: dict[tuple[str, str], str] = field(default_factory=dict)
    classes: dict[tuple[int, str], int] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    origins: dict[str, KnownOrigin] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    embedded_through: int = 0
    leases: tuple[EmbeddingLease, ...] = ()
    closed: bool = False  # what has no policy, to who reads this

    def copy(self) -> "Tenant":
        """The same, to be changed without changing this one."""
        made = replace(self)
        for name in _DICTS:
            setattr(made, name, dict(getattr(self, name)))
        return made

    @property
    def policies(self) -> dict[str, Policy]:
        return {name: stored_policy(name, document) for name, document in self.documents.items()}

    def live(self, collection: str | None = None) -> list[Row]:
        """The entities that are there, in the order of their latest changes."""
        rows = (row for row in self.rows.values() if row.payload is not None)
        own = (row for row in rows if collection is None or row.collection == collection)
        return sorted(own, key=lambda row: row.seq)

    def class_value(self, row: Row) -> str | None:
        """The policy class of an entity, by value; None if nothing decides who reads it."""
        values = {number: value for (_, value), number in self.classes.items()}
        return values.get(row.policy_class)

    @property
    def layouts(self) -> dict[str, ClassLayout]:
        return {name: policy.layout for name, policy in self.policies.items()}

    def collection(self, name: str) -> int | None:
        return self.collections.get(name)

    def class_numbers(self, collection: int) -> list[KnownClass]:
        names = {number: name for name, number in self.collections.items()}
        layout = self.layouts.get(names[collection], UNRULED)
        return [
            KnownClass(n, value, layout)
            for (own, value), n in self.classes.items()
            if own == collection
        ]

    @property
    def keys(self) -> KeyColumns:
        """What the keys that origins declare make of columns."""
        return KeyColumns.of(key for _, each in sorted(self.origins.items()) for key in each.keys)

    def visibility(self, caller: Caller) -> StoreVisibility:
        """What a caller may see now."""
        user = self.users.get(caller.user)
        principal = principal_of(caller, user.attributes if user else None)
        numbers = _Numbers(self)
        return visible(self.version, self.policies, principal, numbers, closed=self.closed)

    def edge_parts(self, keys: Iterable[int]) -> Iterator[EdgePart]:
        """What these edges hang on, directly or through other edges."""
        by_key = {row.key: row for row in self.rows.values()}
        for edge in keys:
            todo, seen = list(by_key[edge].ends or ()), set[str]()
            while todo:
                urn = todo.pop()
                if urn not in seen:
                    seen.add(urn)
                    row = self.rows[urn]
                    yield EdgePart(edge, self.collections[row.collection], row.policy_class)
                    todo += row.ends or ()


_DICTS = (
    *("rows", "documents", "collections", "languages", "column_types", "classes"),
    *("users", "tokens", "origins", "items"),
)


class _Numbers:
    """The `ClassCatalogue` of a tenant."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant
        self.collection = tenant.collection

    def classes(self, collection: int) -> list[KnownClass]:
        return self._tenant.class_numbers(collection)

    def classified(self) -> list[str]:
        numbers = {number for number, _ in self._tenant.classes}
        return [name for name, own in self._tenant.collections.items() if own in numbers]

    def has_open_rows(self, collection: int) -> bool:
        return False  # a collection is classified as a whole

    def hanging_on(self, collection: int) -> frozenset[str]:
        return frozenset()


class Shared:
    """The data of one location; every backend that is open on it has the same."""

    def __init__(self, *, keyed: bool = True) -> None:
        self.identity = secrets.token_hex(16)
        self.edge_key = secrets.token_bytes(32) if keyed else b""
        self.secret = secrets.token_bytes(32)
        self.lock = threading.RLock()
        self.tenants: dict[str, Tenant] = {}
        self._numbers = 0

    def next_number(self) -> int:
        """A number that was never given before: of an entity, a collection, a policy class."""
        self._numbers += 1
        return self._numbers


class Access:
    """One open backend's way to the shared data; after `close` everything fails."""

    def __init__(self, shared: Shared, *, unruled_closed: bool = False) -> None:
        self.shared = shared
        self.unruled_closed = unruled_closed
        self.closed = False

    def check(self) -> None:
        if self.closed:
            raise StoreFailed("the database is closed")

    def reading(self, tenant: str) -> Tenant:
        """A state that does not change any more."""
        self.check()
        check_tenant(tenant)
        found = self.shared.tenants.get(tenant) or Tenant()
        return replace(found, closed=self.unruled_closed)

    @contextmanager
    def writing(self, tenant: str) -> Iterator[Tenant]:
        """A copy to change, in place for everybody when left without an exception."""
        self.check()
        check_tenant(tenant)
        with self.shared.lock:
            draft = (self.shared.tenants.get(tenant) or Tenant()).copy()
            yield draft
            self.shared.tenants[tenant] = draft
