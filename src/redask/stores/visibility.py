"""What one caller may see: `visible`, worked out once for each state of the policies.

Every payload that leaves a store, and every catalogue, goes through `StoreVisibility`: this is
the one place where a store asks `access.policy.grant`. Who may read an entity depends on its
collection's policy and its policy class; what they read of it, on the column projection that
their rule gives. An edge is visible only if both its ends are, and the ends of those that are
edges themselves; what tells a column, by an address or an edge, only to who may see that column.

Collections and policy classes are known by the store's own numbers; class 0 is that of an entity
whose policy, if there is one, looks at no column. A store counts whatever may change an answer
of `grant` (policies, users, new policy classes, new collections): that is the `version`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, Protocol

from redask.core.access.policy import (
    OPEN,
    OWNER,
    WHOLE,
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
_UNRULED = Policy("", ())  # gives the words for classes of what no policy speaks of


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

    def classes(self, collection: int) -> Sequence[tuple[int, str]]:
        """The policy classes of a collection, by number and by value."""

    def classified(self) -> Sequence[str]:
        """The names of the collections that have policy classes."""


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
    if not policies and not closed:
        return StoreVisibility(version)
    granted = {name: grant(policy, principal) for name, policy in policies.items()}
    collections: dict[int, CollectionVisibility | None] = {}
    keys = {} if closed else {OPEN: OPEN}
    for name in sorted({*policies, *(() if closed else known.classified())}):
        number = known.collection(name)
        if number is None:
            continue
        given, policy = granted.get(name, Grant()), policies.get(name)
        collections[number] = None
        if given is not None:
            classes = [*known.classes(number)]
            if policy is None or not policy.columns:
                classes.append((UNCLASSIFIED, ""))
            admitted = [(each, value) for each, value in classes if _admits(given, value, granted)]
            numbers = frozenset(each for each, _ in admitted)
            collections[number] = CollectionVisibility(given.projection, numbers)
            for _, value in admitted:
                if policy is not None or value:
                    ruled = policy or _UNRULED
                    keys[ruled.projection_key(value, given.projection)] = ruled.class_key(value)
    denied = frozenset(name for name, given in granted.items() if given is None)
    return StoreVisibility(version, keys, denied, closed, collections)


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
    policy: Policy | None, policy_class: str, payload: str | None
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """For the change log: an entity's class key, and its payload by projection key."""
    if payload is None:
        return OPEN, ()
    if policy is None and not policy_class:
        return OPEN, ((OPEN, payload),)
    ruled = policy or _UNRULED
    projections = [
        (ruled.projection_key(policy_class, projection), projection.show(payload))
        for projection in ruled.projections
    ]
    return ruled.class_key(policy_class), tuple(projections)
