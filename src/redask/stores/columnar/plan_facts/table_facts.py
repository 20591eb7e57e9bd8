"""What planning needs of one typed table: rows, distinct values and NULLs of each column, values.

    column                           told
    `urn`                            nothing: it is on every table
    `id` where no row has its own    nothing
    one with values that do not      nothing: a SELECT of it fails
    fit its fixed type
    text                             counts, and its values of up to `LONGEST_VALUE` characters
    anything else                    counts

A table of nothing but documents, vectors or edges is no table to plan with: it is searched.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redask.core.model import Kind
from redask.core.planning.flag_values import INTEGERS, MOST_VALUES, TEXTS, ColumnFlag, flag_of
from redask.core.planning.value_text import LONGEST_VALUE
from redask.stores.columnar.plan_facts.value_hashes import ColumnValue, ValueHashes
from redask.stores.columnar.typed_tables import TableColumn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SEARCHED = " OR ".join(
    f"starts_with(c2, 'urn:reddb:{kind}:')" for kind in (Kind.DOCUMENT, Kind.VECTOR, Kind.EDGE)
)


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column of the table, and what was counted."""

    column: TableColumn
    distinct: int
    nulls: int
    flag: ColumnFlag | None = None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One state of one table, as some callers read it."""

    rows: int
    columns: tuple[ColumnFacts, ...]
    values: ValueHashes
    is_table: bool = True

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
    told = told_columns(columns, has_ids=has_ids)
    rows, searched = _rows(cursor, table)
    if rows and rows == searched:
        return TableFacts(rows, (), ValueHashes.of({}), is_table=False)
    facts = []
    for each in told:
        distinct, known = _row(
            cursor, f"SELECT count(DISTINCT {each.physical}), count({each.physical}) FROM {table}"
        )
        flag = _flag(cursor, table, each, distinct)
        facts.append(ColumnFacts(each, distinct, rows - known, flag))
    texts = {
        number: _values(cursor, table, each.physical)
        for number, each in enumerate(told)
        if _is_text(each)
    }
    return TableFacts(rows, tuple(facts), ValueHashes.of(texts))


def following_facts(
    known: TableFacts, cursor: "DuckDBPyConnection", table: str, changed: tuple[str, str]
) -> TableFacts | None:
    """The facts of a table of which some rows changed; None when it is to be counted anew.

    `changed` are queries of these rows, as they were when the facts were counted and as they are.
    A value is new, or none of it is left, by the number of rows that have it now and had it then.
    """
    for name, query in zip(("facts_before", "facts_after"), changed, strict=True):
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")
    rows, searched = _rows(cursor, table)
    if rows and rows == searched:
        return None
    facts = []
    came: list[ColumnValue] = []
    went: list[ColumnValue] = []
    for number, each in enumerate(known.columns):
        column = each.column.physical
        distinct, is_same = each.distinct, True
        for value, difference, now in cursor.execute(_CHANGED.format(c=column, t=table)).fetchall():
            is_same &= bool(now) and now != difference
            if now and now == difference:
                distinct += 1
                came += [(number, value)] if _is_text(each.column) else []
            elif not now:
                distinct -= 1
                went += [(number, value)] if _is_text(each.column) else []
        flag = each.flag if is_same else _flag(cursor, table, each.column, distinct)
        (nulls,) = _row(cursor, f"SELECT count(*) - count({column}) FROM {table}")
        facts.append(ColumnFacts(each.column, distinct, nulls, flag))
    values = known.values.after(came, went)
    if values is None:
        return None
    return TableFacts(rows, tuple(facts), values)


# a value, by how many rows more have it, and how many have it now
_CHANGED = """
WITH difference AS (
    SELECT v, sum(n) AS n FROM (
        SELECT {c} AS v, -1 AS n FROM temp.main.facts_before
        UNION ALL SELECT {c}, 1 FROM temp.main.facts_after
    ) WHERE v IS NOT NULL GROUP BY v HAVING sum(n) <> 0
), present AS (
    SELECT {c} AS v, count(*) AS n FROM {t} WHERE {c} IN (SELECT v FROM difference) GROUP BY {c}
)
SELECT difference.v, difference.n, coalesce(present.n, 0)
FROM difference LEFT JOIN present ON present.v = difference.v
"""


def told_columns(columns: Sequence[TableColumn], *, has_ids: bool) -> list[TableColumn]:
    """The columns that are told of; `has_ids` is whether a row has an `id` of its own."""
    return [
        each
        for each in columns
        if each.key is not None and not each.unfit and (has_ids or each.key != "id")
    ]


def _is_text(column: TableColumn) -> bool:
    return column.type.name in TEXTS and not column.type.is_array


def _flag(
    cursor: "DuckDBPyConnection", table: str, column: TableColumn, distinct: int
) -> ColumnFlag | None:
    """What a column stores for yes and no, if it is a flag; only a few values are looked at."""
    kind, name = column.type.name, column.physical
    if column.type.is_array:
        return None
    values: list[object] = []
    if kind in INTEGERS | TEXTS and distinct <= MOST_VALUES:
        query = f"SELECT DISTINCT {name} FROM {table} WHERE {name} IS NOT NULL ORDER BY {name}"
        values = [value for (value,) in cursor.execute(query).fetchall()]
    return flag_of(kind, values)


def _rows(cursor: "DuckDBPyConnection", table: str) -> tuple[int, ...]:
    """How many rows there are, and how many of them are to be searched only."""
    return _row(cursor, f"SELECT count(*), count(*) FILTER ({_SEARCHED}) FROM {table}")


def _values(cursor: "DuckDBPyConnection", table: str, column: str) -> list[str]:
    rows = cursor.execute(
        f"SELECT DISTINCT {column} FROM {table} WHERE length({column}) <= {LONGEST_VALUE}"
    ).fetchall()
    return [value for (value,) in rows]


def _row(cursor: "DuckDBPyConnection", query: str) -> tuple[int, ...]:
    found: tuple[int, ...] = cursor.execute(query).fetchone() or ()
    return found
