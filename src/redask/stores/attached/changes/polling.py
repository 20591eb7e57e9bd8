"""Changes by polling: rows of transactions that ended since, or with a larger value of a column.

    polling           by `xmin`, the transaction that wrote a row: none is missed, however late it
                      commits, and nothing is needed of the table. Each poll reads all of it in the
                      source, and sends what changed
    polling:COLUMN    rows whose column is at or above the largest that was seen; with an index that
                      is cheap. Of a time, OVERLAP before it is read again, for transactions that
                      commit late: one that takes longer is missed, so prefer triggers there

Rows that are gone are noticed by what is left: see `table_sync`.
"""

import json

from redask.core.errors import BadAsk
from redask.stores.attached.attachment import AttachedTable, Attachment
from redask.stores.attached.changes import Changed
from redask.stores.attached.source_connection import AttachedDatabase, Connection
from redask.stores.attached.source_rows import SourceKey, batches, table_sql_name
from redask.stores.attached.source_types import address_sql, quoted

OVERLAP = "60 seconds"
_MOST_AGE = 2**30  # transactions; beyond, numbers of 32 bits say nothing any more
_NOW = (
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text,"
    " pg_snapshot_xmax(pg_current_snapshot())::text"
)
_TIMES = ("timestamp", "date")


class Polling:
    """See the module."""

    def __init__(self, attachment: Attachment, _source: AttachedDatabase) -> None:
        self._tables = attachment.tables
        self._column = attachment.changes.partition(":")[2] or None
        for table in attachment.tables if self._column else ():
            if self._column not in {each.name for each in table.columns}:
                message = f"{table.full_name[:200]!a} has no column {self._column!a} to poll by"
                raise BadAsk(message, detail="changes")

    def install(self) -> None:
        """Nothing is needed."""

    def position(self, reader: Connection) -> str:
        """The oldest transaction that still runs; or the largest value of each table's column."""
        if self._column is None:
            return str((reader.execute(_NOW).fetchone() or ("0",))[0])
        found = {each.full_name: self._largest(reader, each) for each in self._tables}
        return json.dumps(found)

    def changed(self, reader: Connection, after: str) -> Changed:
        """Rows that were written since, by key."""
        now = self.position(reader)
        keys: dict[str, list[SourceKey]] = {}
        if self._column is None:
            last = int((reader.execute(_NOW).fetchone() or ("0", "0"))[1])
            if last - int(after) >= _MOST_AGE:
                return Changed(now, whole=frozenset(each.full_name for each in self._tables))
            number = int(after) % 2**32
            where = f"age(xmin) <= age('{number}'::xid) OR xmin = '{number}'::xid"
            keys = {each.full_name: _keys(reader, each, where, ()) for each in self._tables}
        else:
            known = json.loads(after)
            for table in self._tables:
                where, values = self._since(table, known.get(table.full_name))
                keys[table.full_name] = _keys(reader, table, where, values)
        return Changed(now, keys, untold=True)

    def forget(self, position: str) -> None:
        """Nothing was kept."""

    def uninstall(self) -> None:
        """Nothing was made."""

    def _largest(self, reader: Connection, table: AttachedTable) -> str | None:
        name = quoted(self._column or "")
        text = f"SELECT max({name})::text FROM {table_sql_name(table)}"
        found: tuple[str | None, ...] = reader.execute(text).fetchone() or (None,)
        return found[0]

    def _since(self, table: AttachedTable, known: str | None) -> tuple[str, tuple[object, ...]]:
        if known is None:
            return "TRUE", ()
        kind = table.column(self._column or "").type
        overlap = f" - interval '{OVERLAP}'" if kind.startswith(_TIMES) else ""
        return f"{quoted(self._column or '')} >= ($1::text)::{kind}{overlap}", (known,)


def _keys(
    reader: Connection, table: AttachedTable, where: str, values: tuple[object, ...]
) -> list[SourceKey]:
    chosen = ", ".join(address_sql(each) for each in table.key)
    text = f"SELECT {chosen} FROM {table_sql_name(table)} WHERE {where}"
    return [tuple(row) for rows in batches(reader, text, values) for row in rows]
