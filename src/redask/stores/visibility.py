"""What one caller may see: `visible`, worked out once for each state of the policies.

Every payload that leaves a store, and every catalogue, goes through `StoreVisibility`: this is
the one place where a store asks `access.policy.grant`. Who may read an entity depends on its
collection's policy and its policy class; what they read of it, on the column projection that
their rule gives. An edge is visible only if both its ends are, and the ends of those that are
edges themselves; what tells a column, by an address or an edge, only to who may see that column.

Collections and policy classes are known by the store's own numbers; class 0 is that of an entity
that no policy spoke of when it was classified. A class is of a layout: who needs a column or a
projection that the layout has not sees none of it, until it is classified anew. A store counts
whatever may change an answer of `grant` (policies, users, new policy classes, new collections):
that is the `version`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple, Protocol

from redask.core.access.policy import (
    OPEN,
    OWNER,
    WHOLE,
    ClassLayout,
    Grant,
    Policy,
    Principal,
    Projection,
    grant,
    read_policy,
)
from redask.core.errors import AskError
from redask.core.model import Caller, Source
from redask.core.ports import Visibility
from redask.stores.policy_classes import shows, split_class

UNCLASSIFIED = 0
EDGE_PREFIX = "urn:reddb:edge:"
_GUESSABLE = (
    "who finds the id of an edge in the audit log can find out by trying which edge it is: ids are"
    " made with a key in databases that are made from now on"
)
UNRULED = ClassLayout("")  # gives the words for classes of what no policy speaks of


class StoredEntity(NamedTuple):
    """An entity as it was found: its URN, its numbers, and the whole payload."""

    urn: str
    key: int
    collection: int
    policy_class: int
    payload: str


class EdgePart(NamedTuple):
    """What an edge hangs on, directly or through other edges: an entity's numbers."""

    edge: int
    collection: int
    policy_class: int


EdgeParts = Callable[[Sequence[int]], Iterable[EdgePart]]


class ClassCatalogue(Protocol):
    """The numbers a store gave to its collections and policy classes."""

    def collection(self, name: str) -> int | None:
        """The number of a collection; None when there is none of this name."""

    def classes(self, collection: int) -> "Sequence[KnownClass]":
        """The policy classes of a collection, without `UNCLASSIFIED`."""

    def classified(self) -> Sequence[str]:
        """The names of the collections that have policy classes."""

    def has_open_rows(self, collection: int) -> bool:
        """Whether a collection holds entities of class 0."""

    def hanging_on(self, collection: int) -> frozenset[str]:
        """The names of collections with edges that hang on such, directly or through edges."""


@dataclass(frozen=True, slots=True)
class KnownClass:
    """A policy class by number and value, and the layout that it is of."""

    number: int
    value: str
    layout: ClassLayout

    def keys(self, projection: Projection) -> tuple[str, str]:
        """The words for a projection of it, and for itself."""
        if self.number == UNCLASSIFIED:
            return OPEN, OPEN
        layout = self.layout
        return layout.projection_key(self.value, projection), layout.class_key(self.value)


@dataclass(frozen=True, slots=True)
class CollectionVisibility:
    """What may be seen of one collection: how, and of which policy classes."""

    projection: Projection
    policy_classes: frozenset[int]


@dataclass(frozen=True, slots=True)
class StoreVisibility(Visibility):
    """What one caller may see. `collections` has the collections under a policy by number.

    A number that is not in it is open to the whole tenant, unless what has no policy is `closed`;
    None is a collection that is closed.
    """

    collections: Mapping[int, CollectionVisibility | None] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def projection(self, collection: int, policy_class: int) -> Projection | None:
        """How an entity of this collection and policy class is shown; None when it is not."""
        if collection not in self.collections:
            return None if self.closed else WHOLE
        seen = self.collections[collection]
        return seen.projection if seen is not None and policy_class in seen.policy_classes else None

    @property
    def sees_all(self) -> bool:
        """Whether nothing is hidden from this caller."""
        return not self.collections and not self.closed

    def classes(self) -> str:
        """The policy classes that may be read, as JSON; empty where nothing is hidden.

        A collection that is not named is open to the whole tenant, unless `closed`.
        """
        if self.sees_all:
            return ""
        readable = {
            str(number): sorted(seen.policy_classes) if seen else []
            for number, seen in self.collections.items()
        }
        return json.dumps({"closed": self.closed, "collections": readable})

    def knows(self, collection: int) -> bool:
        """Whether a collection is there for this caller, whatever it holds."""
        return not self.closed or collection in self.collections

    def whole_edges(self, keys: Iterable[int], parts: EdgeParts) -> frozenset[int]:
        """Those of these edges whose ends may be seen, all the way down."""
        wanted = sorted(keys)
        if not wanted or self.sees_all:
            return frozenset(wanted)
        return frozenset(wanted) - {
            part.edge
            for part in parts(wanted)
            if self.projection(part.collection, part.policy_class) is None
        }

    def show(self, found: Sequence[StoredEntity], parts: EdgeParts) -> list[Source]:
        """What may be seen of these, as it may be, in their order."""
        if self.sees_all:
            return [Source(each.urn, each.payload) for each in found]
        edges = self.whole_edges(
            (each.key for each in found if each.urn.startswith(EDGE_PREFIX)), parts
        )
        shown = []
        for urn, key, collection, policy_class, payload in found:
            projection = self.projection(collection, policy_class)
            if projection is not None and (key in edges or not urn.startswith(EDGE_PREFIX)):
                shown.append(Source(urn, projection.show(payload)))
        return shown


EVERYTHING = StoreVisibility()
_UNCLASSIFIED = KnownClass(UNCLASSIFIED, "", UNRULED)


def principal_of(caller: Caller, known: Mapping[str, object] | None) -> Principal:
    """The caller with what is known of the user: what came with the sign-in, else this."""
    given = known or {} if caller.attributes is None else dict(caller.attributes)
    return Principal(caller, given)


def visible(
    version: int,
    policies: Mapping[str, Policy],
    principal: Principal,
    known: ClassCatalogue,
    *,
    closed: bool = False,
) -> StoreVisibility:
    """What a principal may see in this state of the policies of the tenant.

    `closed` is what has no policy, to all but the owner.
    """
    closed = closed and principal.caller.role != OWNER
    granted = {name: grant(policy, principal) for name, policy in policies.items()}
    identity = _identity(principal, granted, closed)
    if not policies and not closed:
        return StoreVisibility(version, identity=identity)
    unclassified = () if closed else (_UNCLASSIFIED,)
    admitted: dict[str, list[KnownClass]] = {}
    withheld: set[str] = set()
    hanging: set[str] = set()  # collections of edges, some on entities that are withheld
    for name in sorted({*policies, *(() if closed else known.classified())}):
        number = known.collection(name)
        if number is not None:
            given = granted.get(name, Grant())
            admitted[name] = [
                each
                for each in (*known.classes(number), *unclassified)
                if given and given.fits(each.layout) and _admits(given, each.value, granted)
            ]
            if _UNCLASSIFIED not in admitted[name] and known.has_open_rows(number):
                withheld.add(name)
                hanging |= known.hanging_on(number)
    collections: dict[int, CollectionVisibility | None] = {}
    keys = {} if closed else {OPEN: OPEN}
    for name in sorted({*admitted, *hanging}):
        number, given = known.collection(name), granted.get(name, Grant())
        if number is None:
            continue
        collections[number] = None
        if given is not None and name not in hanging:
            numbers = frozenset(each.number for each in admitted[name])
            collections[number] = CollectionVisibility(given.projection, numbers)
            keys |= dict(each.keys(given.projection) for each in admitted[name])
    denied = frozenset(name for name, given in granted.items() if given is None)
    not_open = frozenset((OPEN, name) for name in withheld | hanging)
    return StoreVisibility(version, keys, denied, closed, identity, not_open, collections)


def _identity(principal: Principal, granted: Mapping[str, Grant | None], closed: bool) -> str:
    """Who it is, and what the policies give them; not what the data holds of it."""
    rules = {
        name: given and [*given.projection.order(), given.rows and given.rows.text]
        for name, given in granted.items()
        if closed or given is None or given.rows or given.projection != WHOLE
    }
    told = [dict(principal.values()), rules, closed]
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _admits(given: Grant, policy_class: str, granted: Mapping[str, Grant | None]) -> bool:
    """Whether entities of a class may be read: their rows, and each column that they tell."""
    seen, told = split_class(policy_class)
    for name, columns in told.items():
        other = granted.get(name, Grant())
        if other is None or not shows(other.projection, columns):
            return False
    return given.admits(seen)


@lru_cache(1000)
def stored_policy(collection: str, document: str) -> Policy:
    """What was stored, or, when it cannot be read (any more), a policy that lets nobody in."""
    try:
        return read_policy(collection, json.loads(document))
    except (AskError, ValueError):
        return Policy(collection, ())


def faults_of(
    documents: Sequence[tuple[str, str]], held: Iterable[tuple[str, str, int]], *, guessable: bool
) -> list[str]:
    """What is wrong with policies that are in force, in sentences.

    `held` are collections, policy classes by value, and how many entities each has; `guessable`
    says that there are edges whose ids are made of their content alone.
    """
    faults = [_GUESSABLE] if guessable and documents else []
    for name, document in documents:
        try:
            read_policy(name, json.loads(document))
        except (AskError, ValueError) as error:
            faults.append(f"the policy of {name!a} lets nobody in but the owner: {error}")
    counts: dict[tuple[str, str], int] = {}
    for name, policy_class, count in held:
        told = split_class(policy_class)[1]
        if name in told:
            columns = told[name]
            what = "a column" if columns is None else ", ".join(columns)
            counts[name, what] = counts.get((name, what), 0) + count
    for (name, what), count in sorted(counts.items()):
        faults.append(
            f"the policy of {name!a} hides {what}, which is part of the address of {count} of what"
            " it holds: whoever may not see it reads none of those"
        )
    return faults


def keys_of(
    layout: ClassLayout | None, policy_class: str | None, payload: str | None
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """For the change log: an entity's class key, and its payload by projection key.

    `layout` is that of the class; None is that of what no policy speaks of.
    """
    if payload is None:
        return OPEN, ()
    if policy_class is None:
        return OPEN, ((OPEN, payload),)
    ruled = layout or UNRULED
    projections = [
        (ruled.projection_key(policy_class, projection), projection.show(payload))
        for projection in ruled.projections
    ]
    return ruled.class_key(policy_class), tuple(projections)
