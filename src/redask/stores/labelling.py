"""Labels: what the policies of a collection look at in an entity, as a number.

`Labelling(connection, tenant, name)` is one transaction's; `changes` counts what may change who
sees what (`tenants.access`). An entity of a collection whose policy looks at no column has 0.
"""

import sqlite3

from redask.access.policy import Policy
from redask.stores import visibility


class Labelling:
    """The policies of one tenant, and the labels they give."""

    def __init__(self, connection: sqlite3.Connection, tenant: int, name: str) -> None:
        self._db = connection
        self._tenant = tenant
        self._policies = visibility.policies(connection, name)
        self._known: dict[tuple[int, str], int] = {}
        self.changes = 0

    def of(self, home: int, collection: str, content: dict[str, object]) -> int:
        """The number of an entity's label."""
        policy = self._policies.get(collection)
        if policy is None or not policy.columns:
            return 0
        value = policy.label(content)
        known = self._known.get((home, value))
        if known is None:
            made = self._db.execute(
                "INSERT OR IGNORE INTO labels (collection, value) VALUES (?, ?)", (home, value)
            )
            self.changes += made.rowcount
            (known,) = self._db.execute(
                "SELECT id FROM labels WHERE collection = ? AND value = ?", (home, value)
            ).fetchone()
            self._known[home, value] = known
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

    def forget(self, home: int) -> None:
        """Forget the labels of a collection, to give them anew."""
        self._db.execute("DELETE FROM labels WHERE collection = ?", (home,))
        self._known.clear()


def layout(policy: Policy | None) -> object:
    """What of a policy labels and faces depend on."""
    return None if policy is None else (policy.columns, policy.faces)


def hidden(policy: Policy | None) -> frozenset[str]:
    """The columns that a policy hides from anybody."""
    return frozenset() if policy is None else policy.hidden
