"""What planning needs of one typed table: rows, distinct values and NULLs of each column, values.

    column                           told
    `urn`                            nothing: it is on every table
    `id` where no row has its own    nothing
    one with values that do not      nothing: a SELECT of it fails
    fit its fixed type
    text                             counts, and its values of up to `LONGEST_VALUE` characters
    anything else                    counts

A table of edges only is told as such: nobody asks for it by its name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redask.core.planning.value_text import LONGEST_VALUE
from redask.stores.columnar.plan_facts.value_hashes import ValueHashes
from redask.stores.columnar.typed_tables import TableColumn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_EDGES = "urn:reddb:edge:"
_TEXTS = {"text", "varchar", "bpchar"}


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column of the table, and what was counted."""

    column: TableColumn
    distinct: int
    nulls: int


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One state of one table, as some callers read it."""

    rows: int
    columns: tuple[ColumnFacts, ...]
    values: ValueHashes
    only_edges: bool = False

    @property
    def size(self) -> int:
        """How many bytes it takes, by and large."""
        return self.values.size + 200 * (1 + len(self.columns))


def read_facts(
    cursor: "DuckDBPyConnection",
    table: str,
    columns: Sequence[TableColumn],
    *,
    has_ids: bool,
) -> TableFacts:
    """Count a table; `has_ids` is whether a row has an `id` of its own."""
    told = [
        each
        for each in columns
        if each.key is not None and not each.unfit and (has_ids or each.key != "id")
    ]
    rows, edges = _row(
        cursor, f"SELECT count(*), count(*) FILTER (starts_with(c2, '{_EDGES}')) FROM {table}"
    )
    facts = []
    for each in told:
        distinct, known = _row(
            cursor, f"SELECT count(DISTINCT {each.physical}), count({each.physical}) FROM {table}"
        )
        facts.append(ColumnFacts(each, distinct, rows - known))
    texts = {
        number: _values(cursor, table, each.physical)
        for number, each in enumerate(told)
        if each.type.name in _TEXTS and not each.type.is_array
    }
    return TableFacts(rows, tuple(facts), ValueHashes.of(texts), bool(rows) and rows == edges)


def _values(cursor: "DuckDBPyConnection", table: str, column: str) -> list[str]:
    rows = cursor.execute(
        f"SELECT DISTINCT {column} FROM {table} WHERE length({column}) <= {LONGEST_VALUE}"
    ).fetchall()
    return [value for (value,) in rows]


def _row(cursor: "DuckDBPyConnection", query: str) -> tuple[int, ...]:
    found: tuple[int, ...] = cursor.execute(query).fetchone() or ()
    return found
