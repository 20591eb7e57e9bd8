"""What one caller may see: `look`, worked out once for each state of the policies.

Every payload that leaves a store, and every catalogue, goes through `StoreVisibility`: this is the
one place where a store asks `access.policy.grant`. Who may read an entity depends on its
collection's policy and its label; what they read of it, on the projection their rule gives. An edge
is visible only if both its ends are, and the ends of those that are edges themselves.

`tenants.access` counts whatever may change an answer of `grant` (policies, users, new labels,
new collections under a policy), and is read anew for each statement: so a change of policy
holds for the next one.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from redask.core.access.policy import (
    OPEN,
    WHOLE,
    Grant,
    Policy,
    Principal,
    Projection,
    grant,
    read_policy,
)
from redask.core.errors import AskError
from redask.core.model import Caller
from redask.core.ports import Visibility

_PARTS = """
    WITH RECURSIVE parts(edge, key) AS (
        SELECT key, source FROM edges WHERE key IN (SELECT value FROM json_each(?1))
        UNION SELECT key, target FROM edges WHERE key IN (SELECT value FROM json_each(?1))
        UNION SELECT parts.edge, source FROM parts JOIN edges ON edges.key = parts.key
        UNION SELECT parts.edge, target FROM parts JOIN edges ON edges.key = parts.key
    )
    SELECT edge, collection, label FROM parts JOIN entities ON entities.key = parts.key"""


@dataclass(frozen=True, slots=True)
class CollectionVisibility:
    """What may be seen of one collection: how, and of which labels."""

    projection: Projection
    labels: frozenset[int]


@dataclass(frozen=True, slots=True)
class StoreVisibility(Visibility):
    """What one caller may see. `collections` has the collections under a policy by number.

    A number that is not in it is open to the whole tenant; None is a collection that is closed.
    """

    collections: Mapping[int, CollectionVisibility | None] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def projection(self, collection_id: int, label: int) -> Projection | None:
        """How an entity of this collection and label is shown; None when it is not."""
        if collection_id not in self.collections:
            return WHOLE
        collection = self.collections[collection_id]
        return (
            collection.projection if collection is not None and label in collection.labels else None
        )

    def whole_edges(self, connection: sqlite3.Connection, keys: Iterable[int]) -> frozenset[int]:
        """Those of these edges whose ends may be seen, all the way down."""
        wanted = sorted(keys)
        if not wanted or not self.collections:
            return frozenset(wanted)
        parts = connection.execute(_PARTS, (json.dumps(wanted),))
        broken = {
            edge
            for edge, collection_id, label in parts
            if self.projection(collection_id, label) is None
        }
        return frozenset(wanted) - broken


EVERYTHING = StoreVisibility()


def access_number(connection: sqlite3.Connection, tenant: str) -> int:
    """The state of a tenant's policies."""
    found = connection.execute("SELECT access FROM tenants WHERE name = ?", (tenant,)).fetchone()
    return found[0] if found else 0


def policies(connection: sqlite3.Connection, tenant: str) -> dict[str, Policy]:
    """A tenant's policies by collection."""
    found = connection.execute(
        "SELECT collection, document FROM policies JOIN tenants ON id = tenant WHERE name = ?",
        (tenant,),
    )
    return {name: _policy(name, document) for name, document in found.fetchall()}


@lru_cache(1000)
def _policy(collection: str, document: str) -> Policy:
    """What was stored, or, when it cannot be read (any more), a policy that lets nobody in."""
    try:
        return read_policy(collection, json.loads(document))
    except (AskError, ValueError):
        return Policy(collection, ())


def principal(connection: sqlite3.Connection, caller: Caller) -> Principal:
    """The caller with the attributes that are known of the user."""
    found = connection.execute(
        "SELECT attributes FROM users JOIN tenants ON id = tenant"
        " WHERE tenants.name = ? AND users.name = ?",
        (caller.tenant, caller.user),
    ).fetchone()
    return Principal(caller, json.loads(found[0])) if found else Principal(caller)


def look(connection: sqlite3.Connection, caller: Caller, version: int) -> StoreVisibility:
    """Work out what a caller may see in this state of the policies."""
    ruled = policies(connection, caller.tenant)
    if not ruled:
        return StoreVisibility(version)
    who = principal(connection, caller)
    collections: dict[int, CollectionVisibility | None] = {}
    marks = {OPEN: OPEN}
    denied = set()
    for name, policy in sorted(ruled.items()):
        granted = grant(policy, who)
        collection_id = _collection_id(connection, caller.tenant, name)
        if granted is None:
            denied.add(name)
        if collection_id is not None:
            admitted = (
                None if granted is None else _admitted(connection, collection_id, policy, granted)
            )
            collections[collection_id] = (
                None if granted is None or admitted is None else admitted[0]
            )
            if granted is not None and admitted is not None:
                for value in admitted[1]:
                    marks[policy.mark(value, granted.projection)] = policy.mark(value)
    return StoreVisibility(version, marks, frozenset(denied), collections)


def _collection_id(connection: sqlite3.Connection, tenant: str, name: str) -> int | None:
    found = connection.execute(
        "SELECT collections.id FROM collections JOIN tenants ON tenants.id = tenant"
        " WHERE tenants.name = ? AND collections.name = ?",
        (tenant, name),
    ).fetchone()
    return found[0] if found else None


def _admitted(
    connection: sqlite3.Connection, collection_id: int, policy: Policy, granted: Grant
) -> tuple[CollectionVisibility, list[str]]:
    """The labels that are granted, by number and by value."""
    known = [(0, "")]
    if policy.columns:
        known = connection.execute(
            "SELECT id, value FROM labels WHERE collection = ?", (collection_id,)
        ).fetchall()
    admitted = [(number, value) for number, value in known if granted.admits(value)]
    numbers = frozenset(number for number, _ in admitted)
    return CollectionVisibility(granted.projection, numbers), [value for _, value in admitted]
