"""The next state of a materialised table without making it of JSON again: `Patcher.next_table`.

Rows are in the order of URNs, whatever the history. So a few rows that changed are put in their
places: the new table is copied from stretches of the old one and of the new rows, in order. More
than `MAX_GAPS` stretches are sorted instead.

It is a copy and no view over the stretches: DuckDB adds up each part of a UNION ALL by itself, so
that sums of doubles would have other bits than those of a table that is made now.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from redask.stores.columnar.duckdb_connections import literal
from redask.stores.columnar.typed_tables import TableColumn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SMALL = 10_000  # rows that are sorted in a few ms
MAX_GAPS = 8
_SAMPLED = 1000


class Place(NamedTuple):
    """Where a URN belongs in a table: the number of rows before it, and whether it is there."""

    before: int
    present: bool


@dataclass(slots=True)
class SortedTable:
    """A table in the order of URNs that never changes; one of the generation is not `owned`."""

    name: str
    rows: int
    owned: bool = True
    samples: list[str] = field(default_factory=list)  # every thousandth URN, once looked for


@dataclass(slots=True)
class MaterialisedTable:
    """What some callers read of a collection after a step; `name` may be a view of the table."""

    name: str
    collection: str
    groups: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    step: int
    sorted: SortedTable
    readers: int = 0
    used: int = 0


def places(
    connection: "DuckDBPyConnection", table: SortedTable, urns: Sequence[str]
) -> dict[str, Place]:
    """The places of some URNs in a table, found by every thousandth row."""
    if urns and not table.samples:
        sampled = f"SELECT c2 FROM {table.name} WHERE rowid % {_SAMPLED} = 0"
        table.samples = [urn for (urn,) in connection.execute(sampled).fetchall()]
    found = {}
    for urn in urns:
        first = max(bisect_right(table.samples, urn) - 1, 0) * _SAMPLED
        stretch = connection.execute(
            f"SELECT c2 FROM {table.name} WHERE rowid >= {first} AND rowid < {first + _SAMPLED}"
        ).fetchall()
        near = [each for (each,) in stretch]
        place = bisect_left(near, urn)
        found[urn] = Place(first + place, place < len(near) and near[place] == urn)
    return found


def stretches(
    changed: Sequence[tuple[str, Place]], patch: Sequence[str], size: int
) -> list[tuple[bool, int, int]]:
    """The rows in order: whether from the patch, the first one, and the one after the last."""
    found: list[tuple[bool, int, int]] = []

    def add(patched: bool, first: int, end: int) -> None:
        if first == end:
            return
        if found and found[-1][0] == patched and found[-1][2] == first:
            found[-1] = (patched, found[-1][1], end)
        else:
            found.append((patched, first, end))

    numbers = {urn: number for number, urn in enumerate(patch)}
    done = 0
    for urn, place in sorted(changed):
        add(False, done, place.before)
        if urn in numbers:
            add(True, numbers[urn], numbers[urn] + 1)
        done = place.before + place.present
    add(False, done, size)
    return found


class Patcher:
    """Makes tables of other tables on one connection."""

    def __init__(self, connection: "DuckDBPyConnection", new_name: Callable[[str], str]) -> None:
        self._connection = connection
        self._new_name = new_name

    def next_table(
        self,
        old: MaterialisedTable,
        changed: Sequence[tuple[int, str]],
        rows: Callable[[Sequence[int]], str],
        step: int,
    ) -> MaterialisedTable:
        """The table after a step: `rows` gives the query of the typed rows of some keys."""
        base, patch, name = old.sorted, self._new_name("p"), self._new_name("t")
        keys = sorted(key for key, _ in changed)
        urns = [urn for _, urn in changed]
        self._connection.execute(f"CREATE TABLE {patch} AS {rows(keys)}")
        parts: list[tuple[bool, int, int]] = []
        if base.rows > SMALL and len(urns) <= MAX_GAPS:
            where = places(self._connection, base, urns)
            patched = self._connection.execute(f"SELECT c2 FROM {patch}").fetchall()
            parts = stretches(list(where.items()), [urn for (urn,) in patched], base.rows)
        query = " UNION ALL ".join(
            f"SELECT * FROM {patch if new else base.name} WHERE rowid >= {first} AND rowid < {end}"
            for new, first, end in parts
        )
        if not parts:
            gone = f"(SELECT unnest(from_json({literal(json.dumps(urns))}, '[\"VARCHAR\"]')))"
            query = (
                f"SELECT * FROM {base.name} WHERE c2 NOT IN {gone}"
                f" UNION ALL SELECT * FROM {patch} ORDER BY c2"
            )
        self._connection.execute(f"CREATE TABLE {name} AS {query}")
        self._connection.execute(f"DROP TABLE {patch}")
        (count,) = self._connection.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)
        return MaterialisedTable(
            name, old.collection, old.groups, old.columns, step, SortedTable(name, count)
        )
