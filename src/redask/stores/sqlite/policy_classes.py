"""Labels: what the policies of a collection look at in an entity, as a number.

`Labelling(connection, tenant, name)` is one transaction's; `changes` counts what may change who
sees what (`tenants.access`). An entity of a collection whose policy looks at no column has 0.
"""

import sqlite3

from redask.core.access.policy import Policy
from redask.stores.sqlite import visibility_queries


class Labelling:
    """The policies of one tenant, and the labels they give."""

    def __init__(self, connection: sqlite3.Connection, tenant: int, name: str) -> None:
        self._db = connection
        self._tenant = tenant
        self._policies = visibility_queries.policies(connection, name)
        self._known: dict[tuple[int, str], int] = {}
        self.changes = 0

    def of(self, collection_id: int, collection: str, content: dict[str, object]) -> int:
        """The number of an entity's label."""
        policy = self._policies.get(collection)
        if policy is None or not policy.columns:
            return 0
        value = policy.label(content)
        known = self._known.get((collection_id, value))
        if known is None:
            made = self._db.execute(
                "INSERT OR IGNORE INTO labels (collection, value) VALUES (?, ?)",
                (collection_id, value),
            )
            self.changes += made.rowcount
            (known,) = self._db.execute(
                "SELECT id FROM labels WHERE collection = ? AND value = ?", (collection_id, value)
            ).fetchone()
            self._known[collection_id, value] = known
        return known

    def replace(self, collection: str, policy: Policy | None, document: str) -> Policy | None:
        """Put a collection under another policy, or none. → the one before"""
        before = self._policies.pop(collection, None)
        place = (self._tenant, collection)
        self._db.execute("DELETE FROM policies WHERE tenant = ? AND collection = ?", place)
        if policy is not None:
            self._policies[collection] = policy
            self._db.execute("INSERT INTO policies VALUES (?, ?, ?)", (*place, document))
        self.changes += 1
        return before

    def forget(self, collection_id: int) -> None:
        """Forget the labels of a collection, to give them anew."""
        self._db.execute("DELETE FROM labels WHERE collection = ?", (collection_id,))
        self._known.clear()


def layout(policy: Policy | None) -> object:
    """What of a policy labels and projections depend on."""
    return None if policy is None else (policy.columns, policy.projections)


def hidden(policy: Policy | None) -> frozenset[str]:
    """The columns that a policy hides from anybody."""
    return frozenset() if policy is None else policy.hidden
