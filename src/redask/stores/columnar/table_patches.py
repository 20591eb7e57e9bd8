"""The next state of a materialised table without making it anew: `Patcher.next_table`.

Rows are in the order of URNs, whatever the history. So a few rows that changed are put in their
places by a view: stretches of the old table, which stays as it is, and of a small one that has the
new rows. More than `MAX_GAPS` stretches, or a small table, are copied into a new table in order.
Everything that a view reads is readable by whoever reads the view.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from redask.stores.columnar.duckdb_connections import literal
from redask.stores.columnar.typed_tables import TableColumn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SMALL = 10_000  # rows that are copied in a few ms
MAX_GAPS = 8
_MAX_LOOKED_UP = 16
_SAMPLED = 1000


class Place(NamedTuple):
    """Where a URN belongs in a table: the number of rows before it, and whether it is there."""

    before: int
    present: bool


@dataclass(slots=True)
class SortedTable:
    """A table in the order of URNs that never changes; `users` are the tables made of it."""

    name: str
    rows: int
    owned: bool = True
    users: int = 0
    samples: list[str] = field(default_factory=list)  # every thousandth URN, once looked for


@dataclass(slots=True)
class MaterialisedTable:
    """What some callers read of a collection after a step: a sorted table, perhaps with patches.

    `changed` has the keys and the places of what is otherwise than in the sorted table.
    """

    name: str
    collection: str
    groups: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    step: int
    sorted: SortedTable
    patch: str | None = None
    changed: dict[str, tuple[int, Place]] = field(default_factory=dict)
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
        fresh = [urn for _, urn in changed if urn not in old.changed]
        all_keys = {urn: key for urn, (key, _) in old.changed.items()}
        all_keys |= {urn: key for key, urn in changed}
        few = old.sorted.rows > SMALL and len(fresh) <= _MAX_LOOKED_UP
        if few and all_keys:
            found = places(self._connection, old.sorted, fresh)
            where = {urn: place for urn, (_, place) in old.changed.items()} | found
            patch = self._new_name("p")
            self._connection.execute(f"CREATE TABLE {patch} AS {rows(sorted(all_keys.values()))}")
            urns = [
                urn for (urn,) in self._connection.execute(f"SELECT c2 FROM {patch}").fetchall()
            ]
            parts = stretches(list(where.items()), urns, old.sorted.rows)
            if sum(not patched for patched, _, _ in parts) <= MAX_GAPS:
                name = self._view(old.sorted.name, patch, parts)
                moved = {urn: (key, where[urn]) for urn, key in all_keys.items()}
                after = replace(old, name=name, step=step, patch=patch, changed=moved)
                return replace(after, readers=0, used=0)
            self._connection.execute(f"DROP TABLE {patch}")
        name = self._copy(old.sorted.name, all_keys, rows)
        (count,) = self._connection.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)
        base = SortedTable(name, count)
        after = replace(old, name=name, step=step, sorted=base, patch=None, changed={})
        return replace(after, readers=0, used=0)

    def _view(self, base: str, patch: str, parts: Sequence[tuple[bool, int, int]]) -> str:
        name = self._new_name("v")
        arms = [
            f"SELECT * FROM {patch if patched else base} WHERE rowid >= {first} AND rowid < {end}"
            for patched, first, end in parts
        ] or [f"SELECT * FROM {patch} LIMIT 0"]
        self._connection.execute(f"CREATE VIEW {name} AS {' UNION ALL '.join(arms)}")
        return name

    def _copy(self, base: str, keys: dict[str, int], rows: Callable[[Sequence[int]], str]) -> str:
        name = self._new_name("t")
        self._connection.execute(
            f"CREATE TABLE {name} AS SELECT * FROM {base} WHERE c2 NOT IN"
            f" (SELECT unnest(from_json({literal(json.dumps(sorted(keys)))}, '[\"VARCHAR\"]')))"
            f" UNION ALL SELECT * FROM ({rows(sorted(keys.values()))}) ORDER BY c2"
        )
        return name
