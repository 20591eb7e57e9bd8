"""The numbers of policy classes of one tenant in one transaction: the SQL of `policy_classes`.

What is written is classified by the layout that its collection is on the way to; see `relabelling`.
`changes` counts what may change who sees what (`tenants.access`). The table and the columns of
policy classes are called `labels` and `label` on disk.
"""

from redask.stores.policy_classes import AddressedEntity, KeyColumns, class_of
from redask.stores.relational import visibility_queries
from redask.stores.relational.relabelling import transitions
from redask.stores.relational.sql_database import SqlConnection
from redask.stores.visibility import UNCLASSIFIED


class ClassNumbers:
    """The layouts of one tenant's collections, and the numbers of their policy classes."""

    def __init__(self, connection: SqlConnection, tenant: int, name: str) -> None:
        self._db = connection
        self._tenant = tenant
        self._name = name
        self._known: dict[tuple[int, str], int] = {}
        self._keys: KeyColumns | None = None
        self.layouts = transitions.target_layouts(connection, name)
        self.changes = 0

    def of(self, collection_id: int, entity: AddressedEntity) -> int:
        """The number of an entity's policy class, made when there is none."""
        value = class_of(self.layouts, entity, self.keys) if self.layouts else None
        if value is None:
            return UNCLASSIFIED
        known = self._known.get((collection_id, value))
        if known is None:
            layout = self.layouts.get(entity.collection)
            number = transitions.layout_number(self._db, collection_id, layout)
            place = (collection_id, value, number)
            made = self._db.execute(
                "INSERT INTO labels (collection, value, layout) SELECT ?1, ?2, ?3 WHERE NOT EXISTS"
                " (SELECT 1 FROM labels WHERE collection = ?1 AND value = ?2 AND layout = ?3)",
                place,
            )
            self.changes += made.rowcount
            (known,) = self._db.execute(
                "SELECT id FROM labels WHERE collection = ? AND value = ? AND layout = ?", place
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

    def forget_layouts(self) -> None:
        """Read the layouts anew: collections are on the way to others."""
        self.layouts = transitions.target_layouts(self._db, self._name)
        self._known.clear()
        self.changes += 1
