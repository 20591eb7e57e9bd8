"""Policies and policy classes of one tenant in one transaction: the SQL of `policy_classes`.

`changes` counts what may change who sees what (`tenants.access`). The table and the columns of
policy classes are called `labels` and `label` on disk.
"""

import sqlite3
from collections.abc import Mapping

from redask.core.access.policy import Policy
from redask.stores.policy_classes import (
    AddressedEntity,
    KeyColumns,
    PolicyChange,
    check_addresses,
    class_of,
)
from redask.stores.sqlite import visibility_queries
from redask.stores.visibility import UNCLASSIFIED


class ClassNumbers:
    """The policies of one tenant, and the numbers of the policy classes they give."""

    def __init__(self, connection: sqlite3.Connection, tenant: int, name: str) -> None:
        self._db = connection
        self._tenant = tenant
        self._policies = visibility_queries.policies(connection, name)
        self._known: dict[tuple[int, str], int] = {}
        self._keys: KeyColumns | None = None
        self.changes = 0

    def of(self, collection_id: int, entity: AddressedEntity) -> int:
        """The number of an entity's policy class, made when there is none."""
        value = class_of(self._policies, entity, self.keys) if self._policies else None
        if value is None:
            return UNCLASSIFIED
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

    @property
    def keys(self) -> KeyColumns:
        """What the keys that are declared make of columns; read when they matter."""
        if self._keys is None:
            declared = visibility_queries.declared_keys(self._db, self._tenant)
            self._keys = KeyColumns.of(declared)
        return self._keys

    def forget_keys(self) -> None:
        """Read the declared keys anew: others were declared."""
        self._keys = None

    def check(self, entity: AddressedEntity) -> None:
        """Refuse the policy of an entity's collection if it hides the entity's address."""
        policy = self._policies.get(entity.collection)
        if policy is not None:
            check_addresses(policy, entity, self.keys)

    @property
    def policies(self) -> Mapping[str, Policy]:
        """The policies as they are now, by collection."""
        return self._policies

    def replace(self, collection: str, policy: Policy | None, document: str) -> PolicyChange:
        """Put a collection under another policy, or none. → what that changes"""
        before = self._policies.pop(collection, None)
        place = (self._tenant, collection)
        self._db.execute("DELETE FROM policies WHERE tenant = ? AND collection = ?", place)
        if policy is not None:
            self._policies[collection] = policy
            self._db.execute("INSERT INTO policies VALUES (?, ?, ?)", (*place, document))
        self.changes += 1
        return PolicyChange(before, policy)

    def forget(self, collection_id: int) -> None:
        """Forget the policy classes of a collection, to give them anew."""
        self._db.execute("DELETE FROM labels WHERE collection = ?", (collection_id,))
        self._known.clear()
