"""What `visibility` needs to know, by SQL; `VisibilityCache` keeps what it made of it.

`tenants.access` counts whatever may change an answer of `grant` (policies, users, new policy
classes, new collections under a policy), and is read anew for each statement: so a change of
policy holds for the next one.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from redask.core.access.policy import Principal
from redask.core.model import Caller
from redask.core.ports import DeclaredKey
from redask.stores.relational.relabelling import transitions
from redask.stores.relational.sql_database import SqlConnection
from redask.stores.visibility import (
    UNCLASSIFIED,
    UNRULED,
    EdgePart,
    EdgeParts,
    KnownClass,
    StoreVisibility,
    principal_of,
    visible,
)

_CALLERS = 1000  # whose visibility is remembered
_PARTS = """
    WITH RECURSIVE parts(edge, key) AS (
        SELECT key, CASE place WHEN 0 THEN source ELSE target END
        FROM edges JOIN (SELECT 0 AS place UNION ALL SELECT 1) AS ends ON true
        WHERE key IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
        UNION
        SELECT parts.edge, CASE place WHEN 0 THEN source ELSE target END
        FROM parts JOIN edges ON edges.key = parts.key
        JOIN (SELECT 0 AS place UNION ALL SELECT 1) AS ends ON true
    )
    SELECT edge, collection, label FROM parts JOIN entities ON entities.key = parts.key"""


_HANGING_ON = """
    SELECT DISTINCT edge.collection FROM entities AS tip
    JOIN edges ON edges.source = tip.key OR edges.target = tip.key
    JOIN entities AS edge ON edge.key = edges.key
    WHERE tip.collection = ?"""


class VisibilityCache:
    """What callers may see, kept until something changes it; threads may share it."""

    def __init__(self, *, closed: bool) -> None:
        self._known: dict[Caller, StoreVisibility] = {}
        self._closed = closed

    def of(self, connection: SqlConnection, caller: Caller) -> StoreVisibility:
        """What the caller may see in the state that the connection reads."""
        version = access_number(connection, caller.tenant)
        known = self._known.get(caller)
        if known is None or known.version != version:
            if len(self._known) >= _CALLERS:
                self._known.clear()
            known = self._known[caller] = visible(
                version,
                transitions.in_force(connection, caller.tenant, closed=self._closed),
                principal(connection, caller),
                _Numbers(connection, caller.tenant),
                closed=self._closed,
            )
        return known


def edge_parts(connection: SqlConnection) -> EdgeParts:
    """What edges hang on, all the way down."""
    return partial(_edge_parts, connection)


def declared_keys(connection: SqlConnection, tenant: int | None) -> list[DeclaredKey]:
    """The keys that a tenant's origins declare, by path and in their order."""
    rows = connection.execute(
        "SELECT collection, columns, target, target_columns FROM ingest_origins"
        " CROSS JOIN declared_keys ON origin = id WHERE tenant = ? ORDER BY path, place",
        (tenant,),
    ).fetchall()
    return list(_declared(tuple(rows)))


@lru_cache(maxsize=16)  # every plan of a question reads them
def _declared(rows: tuple[tuple[str, str, str, str], ...]) -> tuple[DeclaredKey, ...]:
    """Keys as they are stored."""
    return tuple(
        DeclaredKey(own, tuple(json.loads(columns)), target, tuple(json.loads(referenced)))
        for own, columns, target, referenced in rows
    )


@dataclass(frozen=True, slots=True)
class _Numbers:
    """`visibility.ClassCatalogue` of a tenant."""

    connection: SqlConnection
    tenant: str

    def collection(self, name: str) -> int | None:
        found = self.connection.execute(
            "SELECT collections.id FROM collections JOIN tenants ON tenants.id = tenant"
            " WHERE tenants.name = ? AND collections.name = ?",
            (self.tenant, name),
        ).fetchone()
        return found[0] if found else None

    def classes(self, collection: int) -> Sequence[KnownClass]:
        found = self.connection.execute(
            "SELECT labels.id, value, facts FROM labels"
            " LEFT JOIN class_layouts ON class_layouts.id = layout WHERE labels.collection = ?",
            (collection,),
        ).fetchall()
        name = self._name(collection) if found else ""
        return [
            KnownClass(number, value, transitions.layout_of(name, facts) or UNRULED)
            for number, value, facts in found
        ]

    def has_open_rows(self, collection: int) -> bool:
        held = "SELECT 1 FROM holdings WHERE collection = ? AND label = ?"
        found = self.connection.execute(held, (collection, UNCLASSIFIED)).fetchone()
        return found is not None

    def hanging_on(self, collection: int) -> frozenset[str]:
        found: set[int] = set()
        wanted = [collection]
        while wanted:
            rows = self.connection.execute(_HANGING_ON, (wanted.pop(),)).fetchall()
            more = {number for (number,) in rows} - found
            found |= more
            wanted += more
        return frozenset(map(self._name, found))

    def _name(self, collection: int) -> str:
        found = self.connection.execute("SELECT name FROM collections WHERE id = ?", (collection,))
        return str(found.fetchone()[0])

    def classified(self) -> Sequence[str]:
        found = self.connection.execute(
            "SELECT DISTINCT collections.name FROM labels"
            " JOIN collections ON collections.id = collection"
            " JOIN tenants ON tenants.id = tenant WHERE tenants.name = ?",
            (self.tenant,),
        )
        return [name for (name,) in found.fetchall()]


def _edge_parts(connection: SqlConnection, keys: Sequence[int]) -> Iterable[EdgePart]:
    return map(EdgePart._make, connection.execute(_PARTS, (json.dumps(keys),)))


def access_number(connection: SqlConnection, tenant: str) -> int:
    found = connection.execute("SELECT access FROM tenants WHERE name = ?", (tenant,)).fetchone()
    return found[0] if found else 0


def principal(connection: SqlConnection, caller: Caller) -> Principal:
    """The caller with the attributes that are known of the user."""
    found = connection.execute(
        "SELECT attributes FROM users JOIN tenants ON id = tenant"
        " WHERE tenants.name = ? AND users.name = ?",
        (caller.tenant, caller.user),
    ).fetchone()
    return principal_of(caller, json.loads(found[0]) if found else None)
