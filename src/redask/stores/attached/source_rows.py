"""Rows of attached tables as entities: whole tables, or what became of some keys.

    all_rows(…)     every row that the role sees
    rows_of(…)      rows by key: an entity each, and the URNs of keys that have no row any more
    visible(…)      how many rows the role sees, and a sum over their keys
    EdgeQuery(…)    the edges of a foreign key: of all rows of a table, or of some; the role sees
                    both ends

The id of a row is its key, several columns joined by commas. Rows come in batches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any

from redask.core.model import Kind, Urn
from redask.core.ports import DeclaredKey, Entity
from redask.core.rules import urn as urns
from redask.stores import entity_rows
from redask.stores.attached.attachment import AttachedTable, SourceForeignKey
from redask.stores.attached.source_connection import Connection
from redask.stores.attached.source_types import address_sql, payload_sql, payload_value, quoted

BATCH = 1000
_DIGITS = 15
SourceKey = tuple[str, ...]  # a key's columns as text


def table_sql_name(table: AttachedTable) -> str:
    """Schema and table, as SQL has them."""
    return f"{quoted(table.schema)}.{quoted(table.name)}"


def all_rows(connection: Connection, table: AttachedTable) -> Iterator[list[Entity]]:
    """The rows of a table, in batches."""
    chosen = [address_sql(each) for each in table.key]
    chosen += [payload_sql(each) for each in table.columns]
    text = f"SELECT {', '.join(chosen)} FROM {table_sql_name(table)}"
    for rows in batches(connection, text):
        yield [_entity(table, row) for row in rows]


def rows_of(
    connection: Connection, table: AttachedTable, keys: Sequence[SourceKey]
) -> Iterator[tuple[list[tuple[SourceKey, Entity]], list[SourceKey]]]:
    """In batches: the rows of these keys, and those keys that have none; keys as in URNs."""
    for start in range(0, len(keys), BATCH):
        some = keys[start : start + BATCH]
        wanted, values = _wanted(table, some)
        own = [f"to_jsonb(w.k{n}) #>> '{{}}'" for n, _ in enumerate(table.key)]
        chosen = [*own, "t.found", *(f"t.v{n}" for n, _ in enumerate(table.columns))]
        payloads = [f"{payload_sql(e)} AS v{n}" for n, e in enumerate(table.columns)]
        keyed = [f"{quoted(each)} AS k{n}" for n, each in enumerate(table.key)]
        inner = (
            f"SELECT TRUE AS found, {', '.join((*payloads, *keyed))} FROM {table_sql_name(table)}"
        )
        matches = " AND ".join(f"t.k{n} = w.k{n}" for n, _ in enumerate(table.key))
        text = f"SELECT {', '.join(chosen)} FROM {wanted} LEFT JOIN ({inner}) AS t ON {matches}"
        found: dict[SourceKey, Entity] = {}
        gone: dict[SourceKey, None] = {}
        width = len(table.key)
        for row in connection.execute(text, values).fetchall():
            if row[width]:
                found[row[:width]] = _entity(table, (*row[:width], *row[width + 1 :]))
            else:
                gone[row[:width]] = None
        yield list(found.items()), list(gone)


def visible(connection: Connection, table: AttachedTable) -> tuple[int, int]:
    """How many rows the role sees, and the sum of `key_sum` of their keys."""
    joined = " || chr(31) || ".join(f"({address_sql(each)})" for each in table.key)
    number = f"('x' || substr(md5({joined}), 1, {_DIGITS}))::bit({4 * _DIGITS})::bigint"
    found = connection.execute(
        f"SELECT count(*), coalesce(sum({number}), 0) FROM {table_sql_name(table)}"
    ).fetchone()
    rows, total = found or (0, 0)
    return int(rows), int(total)


def key_sum(key: SourceKey) -> int:
    """A number of a key; sums of them tell sets of keys apart."""
    return int(md5("\x1f".join(key).encode(), usedforsecurity=False).hexdigest()[:_DIGITS], 16)


def filters_rows(connection: Connection, table: AttachedTable) -> bool:
    """Whether row level security is in force for the role on a table."""
    found = connection.execute("SELECT row_security_active($1)", (table_sql_name(table),))
    return found.fetchone() == (True,)


@dataclass(frozen=True, slots=True)
class EdgeQuery:
    """The edges of a foreign key: from rows of a table to rows of another, or of the same."""

    table: AttachedTable
    reference: SourceForeignKey
    target: AttachedTable
    edge_key: bytes

    def every(self, connection: Connection) -> Iterator[list[Entity]]:
        """Those of all rows."""
        return self._made(connection, self._text(), ())

    def of_rows(
        self, connection: Connection, keys: Sequence[SourceKey], *, there: bool = False
    ) -> Iterator[list[Entity]]:
        """Those of rows with these keys, of the table here or of the one there."""
        keyed, side = (self.target, "p") if there else (self.table, "c")
        for start in range(0, len(keys), BATCH):
            wanted, values = _wanted(keyed, keys[start : start + BATCH])
            text = f"{self._text()} JOIN {wanted} ON {_matches(keyed, side)}"
            yield from self._made(connection, text, values)

    def _text(self) -> str:
        child = [address_sql(each, "c.") for each in self.table.key]
        parent = [address_sql(each, "p.") for each in self.target.key]
        condition = " AND ".join(
            f"c.{quoted(a)} = p.{quoted(b)}"
            for a, b in zip(self.reference.columns, self.reference.target_columns, strict=True)
        )
        return (
            f"SELECT {', '.join((*child, *parent))} FROM {table_sql_name(self.table)} AS c"
            f" JOIN {table_sql_name(self.target)} AS p ON {condition}"
        )

    def _made(
        self, connection: Connection, text: str, values: Sequence[object]
    ) -> Iterator[list[Entity]]:
        label = DeclaredKey(self.table.collection, self.reference.columns).label
        width = len(self.table.key)
        for rows in batches(connection, text, values):
            made = {}
            for row in rows:
                ends = urn_of(self.table, row[:width]), urn_of(self.target, row[width:])
                edge = entity_rows.link(ends[0], label, ends[1], self.edge_key)
                made[edge.urn] = edge
            yield list(made.values())


def batches(
    connection: Connection, text: str, values: Sequence[object] = ()
) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a query, page by page, of which only one is in memory."""
    with connection.cursor(name="redask_rows") as cursor:
        cursor.execute(text, values or None)
        while rows := cursor.fetchmany(BATCH):
            yield rows


def urn_of(table: AttachedTable, key: Sequence[str]) -> str:
    """The URN of the row with this key."""
    return urns.encode(_address(table, key))


def _address(table: AttachedTable, key: Sequence[str]) -> Urn:
    return Urn(Kind.ROW, table.collection, ",".join(map(_part, key)))


def _part(value: str) -> str:
    """One column of a key, escaped so that different keys give different ids."""
    return value.replace("%", "%25").replace(",", "%2C") or "''"


def _entity(table: AttachedTable, row: Sequence[Any]) -> Entity:
    width = len(table.key)
    content = {
        column.name: payload_value(column, value)
        for column, value in zip(table.columns, row[width:], strict=True)
    }
    return entity_rows.entity(_address(table, row[:width]), content)


def _wanted(table: AttachedTable, keys: Sequence[SourceKey]) -> tuple[str, list[Any]]:
    """Keys as a table `w`, of the columns' own types, and its parameters."""
    casts = ", ".join(
        f"k{n}::{table.column(each).type} AS k{n}" for n, each in enumerate(table.key)
    )
    names = ", ".join(f"k{n}" for n, _ in enumerate(table.key))
    arrays = ", ".join(f"${n}::text[]" for n, _ in enumerate(table.key, 1))
    columns = [list(column) for column in zip(*keys, strict=True)]
    return f"(SELECT {casts} FROM unnest({arrays}) AS u({names})) AS w", columns


def _matches(table: AttachedTable, side: str) -> str:
    return " AND ".join(f"{side}.{quoted(each)} = w.k{n}" for n, each in enumerate(table.key))
