"""What one caller may see: `visible`, worked out once for each state of the policies.

Every payload that leaves a store, and every catalogue, goes through `StoreVisibility`: this is
the one place where a store asks `access.policy.grant`. Who may read an entity depends on its
collection's policy and its policy class; what they read of it, on the column projection that
their rule gives. An edge is visible only if both its ends are, and the ends of those that are
edges themselves.

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

from redask.core.access.policy import OPEN, WHOLE, Policy, Principal, Projection, grant, read_policy
from redask.core.errors import AskError
from redask.core.model import Caller, Source
from redask.core.ports import Visibility

UNCLASSIFIED = 0
EDGE_PREFIX = "urn:reddb:edge:"


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


@dataclass(frozen=True, slots=True)
class CollectionVisibility:
    """What may be seen of one collection: how, and of which policy classes."""

    projection: Projection
    policy_classes: frozenset[int]


@dataclass(frozen=True, slots=True)
class StoreVisibility(Visibility):
    """What one caller may see. `collections` has the collections under a policy by number.

    A number that is not in it is open to the whole tenant; None is a collection that is closed.
    """

    collections: Mapping[int, CollectionVisibility | None] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def projection(self, collection: int, policy_class: int) -> Projection | None:
        """How an entity of this collection and policy class is shown; None when it is not."""
        if collection not in self.collections:
            return WHOLE
        seen = self.collections[collection]
        return seen.projection if seen is not None and policy_class in seen.policy_classes else None

    def whole_edges(self, keys: Iterable[int], parts: EdgeParts) -> frozenset[int]:
        """Those of these edges whose ends may be seen, all the way down."""
        wanted = sorted(keys)
        if not wanted or not self.collections:
            return frozenset(wanted)
        return frozenset(wanted) - {
            part.edge
            for part in parts(wanted)
            if self.projection(part.collection, part.policy_class) is None
        }

    def show(self, found: Sequence[StoredEntity], parts: EdgeParts) -> list[Source]:
        """What may be seen of these, as it may be, in their order."""
        if not self.collections:
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
    version: int, policies: Mapping[str, Policy], principal: Principal, known: ClassCatalogue
) -> StoreVisibility:
    """What a principal may see in this state of the policies of the tenant."""
    if not policies:
        return StoreVisibility(version)
    collections: dict[int, CollectionVisibility | None] = {}
    keys = {OPEN: OPEN}
    denied = set()
    for name, policy in sorted(policies.items()):
        granted = grant(policy, principal)
        number = known.collection(name)
        if granted is None:
            denied.add(name)
            if number is not None:
                collections[number] = None
        elif number is not None:
            classes = known.classes(number) if policy.columns else [(UNCLASSIFIED, "")]
            admitted = [(each, value) for each, value in classes if granted.admits(value)]
            numbers = frozenset(each for each, _ in admitted)
            collections[number] = CollectionVisibility(granted.projection, numbers)
            for _, value in admitted:
                keys[policy.projection_key(value, granted.projection)] = policy.class_key(value)
    return StoreVisibility(version, keys, frozenset(denied), collections)


@lru_cache(1000)
def stored_policy(collection: str, document: str) -> Policy:
    """What was stored, or, when it cannot be read (any more), a policy that lets nobody in."""
    try:
        return read_policy(collection, json.loads(document))
    except (AskError, ValueError):
        return Policy(collection, ())


def keys_of(
    policy: Policy | None, policy_class: str, payload: str | None
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """For the change log: an entity's class key, and its payload by projection key."""
    if payload is None or policy is None:
        return OPEN, () if payload is None else ((OPEN, payload),)
    projections = [
        (policy.projection_key(policy_class, projection), projection.show(payload))
        for projection in policy.projections
    ]
    return policy.class_key(policy_class), tuple(projections)
