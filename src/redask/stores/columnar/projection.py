"""The columnar projection of a database: `Projection(directory, store, audit)`.

    with projection.reading(caller) as tables:
        tables.columns("tickets")       name, type and name in DuckDB of each column
        tables.physical("tickets")      the table's name in DuckDB
        tables.cursor.execute(…)        in the state that `reading` found, for one thread

Everything is derived from the store's change log: deleting the directory loses nothing. DuckDB is
imported when somebody first reads. Threads may share a projection; processes open one each.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redask.core.access.policy import must_own
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.ports import AuditLog
from redask.core.sql.types import SqlType
from redask.stores.backend import EntityStore
from redask.stores.columnar.audit_table import ACCESS_LOG, AUDIT
from redask.stores.columnar.generations.generation_files import folder_of
from redask.stores.columnar.readable_tables import ReadableTables
from redask.stores.columnar.tenant_projection import TenantProjection


class ColumnarProjection:
    """All tenants of one database; `close` it."""

    def __init__(
        self,
        directory: Path,
        store: EntityStore,
        audit: AuditLog | None = None,
        access: AuditLog | None = None,
    ) -> None:
        self._directory = directory
        self._store = store
        self._logs = {AUDIT: audit} | ({} if access is None else {ACCESS_LOG: access})
        self._lock = threading.Lock()
        self._tenants: dict[str, TenantProjection] = {}

    @contextmanager
    def reading(self, caller: Caller) -> Iterator[ReadableTables]:
        """The caller's tables, caught up, in one state; `CorruptIndex` may be tried once more."""
        with self._tenant(caller.tenant).reading(caller) as tables:
            yield tables

    def version(self, caller: Caller) -> tuple[int, int, str]:
        """Changes whenever anything that the caller can read, or its types, may have changed."""
        view = self._store.view(caller)
        return view.watermark, view.visibility.version, view.history

    def fix_type(self, table: str, column: str, kind: SqlType | None, caller: Caller) -> None:
        """Fix a column's type, or (None) let it come from the data again; for owners.

        Refused while a value does not fit. One that comes later makes a SELECT of the column fail.
        """
        must_own(caller)
        with self.reading(caller) as tables:
            found = tables.key(table, column)
            if found is None:
                raise BadAsk(f"table {table!a} has no column {column!a} whose type can be fixed")
            collection, key = found
            if kind is not None:
                if key == "id" and (kind.is_array or kind.name == "jsonb"):
                    raise BadAsk(f"the column id is a scalar, not {kind}")
                count, example = tables.misfits(collection, key, kind)
                if count:
                    raise BadAsk(
                        f"{count} values of {table}.{column} are not of type {kind.sql_name},"
                        f" such as that of {example}",
                        detail=example,
                    )
        self._store.set_column_type(collection, key, None if kind is None else str(kind), caller)

    def close(self) -> None:
        """Let go of everything; running statements end first."""
        with self._lock:
            tenants, self._tenants = self._tenants, {}
        for tenant in tenants.values():
            tenant.close()

    def _tenant(self, name: str) -> TenantProjection:
        with self._lock:
            if name not in self._tenants:
                folder = folder_of(self._directory, name)
                self._tenants[name] = TenantProjection(folder, name, self._store, self._logs)
            return self._tenants[name]
