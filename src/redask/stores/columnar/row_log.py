"""Entities as rows in DuckDB: `RowLog.apply` changes, and read the rows of any state since.

    <base>.entity_rows    the rows of a generation, which never change; there may be none
    <tail>.entity_rows    rows since then: `since` and `until` are the steps between which one lives
    <tail>.replaced       keys of the base whose rows ended with a step

A row that ended stays until the tail goes, so that a reader of an earlier step finds it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from redask.core.access.policy import OPEN
from redask.core.ports import Change
from redask.stores.columnar.duckdb_connections import literal
from redask.stores.columnar.edge_groups import (
    Part,
    group_name,
    projection_key,
    required_classes,
)
from redask.stores.columnar.entity_values import Contents, EntityRow, count_values, rows_of
from redask.stores.columnar.row_counts import Deltas, GroupDelta, ProjectionState

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

COLUMNS = "key, urn, collection, class_key, grp, own_id, payload, source, target"
TABLE = (
    "entity_rows (key BIGINT, urn VARCHAR, collection VARCHAR, class_key VARCHAR, grp VARCHAR,"
    " own_id VARCHAR, payload VARCHAR, source VARCHAR, target VARCHAR{more})"
)
_FEW = 100  # keys that are written into a statement
_MANY = 200_000  # keys that are not kept in memory
_LIST = "(SELECT unnest(from_json(?, '[\"{}\"]')))"


class RowLog:
    """The rows of one tenant: a base, and a tail that grows. One thread at a time."""

    def __init__(self, connection: "DuckDBPyConnection", tail: str, base: str | None) -> None:
        self._connection = connection
        self._tail = tail
        self._base = base
        self.tail_rows = 0
        self._in_tail: set[int] | None = set()  # keys with a live row there; None: too many
        self._replaced: set[int] = set()  # keys that have no live row in the base, and might
        self._last_key = -1  # of the base: greater ones are new since
        if base:
            found = connection.execute(f"SELECT max(key) FROM {base}.entity_rows").fetchone()
            self._last_key = -1 if found is None or found[0] is None else found[0]
        connection.execute(
            f"CREATE TABLE {tail}.{TABLE.format(more=', since BIGINT, until BIGINT')}"
        )
        connection.execute(
            f"CREATE TABLE {tail}.replaced"
            " (key BIGINT, urn VARCHAR, collection VARCHAR, since BIGINT)"
        )

    def apply(self, changes: Sequence[Change], state: ProjectionState) -> ProjectionState:
        """The state after these changes, which follow on this one."""
        by_key = {change.key: change for change in changes}
        old = self._live_keys(sorted(by_key))
        contents: Contents = {}
        new = [row for change in by_key.values() for row in rows_of(change, contents)]
        restricted = state.restricted or any(row.class_key != OPEN for row in new)
        if restricted:
            old, new = self._regrouped(old, new, {change.urn for change in changes})
        gone, came = set(old).difference(new), set(new).difference(old)
        last = changes[-1].seq if changes else state.watermark
        deltas: Deltas = {}
        for rows, sign in ((gone, -1), (came, 1)):
            for row in rows:
                delta = deltas.setdefault((row.collection, row.group), GroupDelta())
                delta.rows += sign
                count_values(row, contents, delta.values, sign)
        if not deltas:
            return ProjectionState(state.step, last, state.collections, restricted)
        following = state.after(deltas, last, restricted)
        # an entity goes and comes as a whole: rows are found by its key
        keys = {row.key for row in (*gone, *came)}
        old_rows = [row for row in old if row.key in keys]
        self._write(old_rows, [row for row in new if row.key in keys], following.step)
        return following

    def rows_at(
        self,
        step: int,
        collection: str,
        groups: Iterable[str],
        keys: Iterable[int] | None = None,
    ) -> str:
        """A query of `urn, own_id, payload`: a collection's rows of these groups after a step.

        With `keys`, of these entities only.
        """
        only = "" if keys is None else f" AND key IN ({', '.join(map(str, sorted(keys)))})"
        base = (
            f"SELECT urn, own_id, payload FROM {self._base}.entity_rows"
            f" WHERE {_among(collection, groups)}{only}"
            f" AND key NOT IN (SELECT key FROM {self._tail}.replaced WHERE since <= {step})"
            " UNION ALL "
        )
        tail = f"SELECT urn, own_id, payload FROM {self._tail_at(step, collection, groups)}{only}"
        return f"{base if self._base else ''}{tail}"

    def changed_rows_at(
        self, step: int, collection: str, groups: Iterable[str], keys: Iterable[int]
    ) -> str:
        """The same for entities that changed since the generation: their rows are in the tail."""
        listed = ", ".join(map(str, sorted(keys)))
        rows = self._tail_at(step, collection, groups)
        return f"SELECT urn, own_id, payload FROM {rows} AND key IN ({listed})"

    def _tail_at(self, step: int, collection: str, groups: Iterable[str]) -> str:
        return (
            f"{self._tail}.entity_rows WHERE {_among(collection, groups)} AND since <= {step}"
            f" AND (until IS NULL OR until > {step})"
        )

    def changed(self, collection: str, after: int, step: int) -> str:
        """A query of `key, urn`: what changed in a collection after one step, up to another."""
        mine = f"collection = {literal(collection)}"
        return (
            f"SELECT key, urn FROM {self._tail}.entity_rows WHERE {mine}"
            f" AND (since > {after} AND since <= {step} OR until > {after} AND until <= {step})"
            f" UNION SELECT key, urn FROM {self._tail}.replaced WHERE {mine}"
            f" AND since > {after} AND since <= {step}"
        )

    def all_rows(self) -> str:
        """A query of all columns of all rows as they are now."""
        base = (
            f"SELECT {COLUMNS} FROM {self._base}.entity_rows"
            f" WHERE key NOT IN (SELECT key FROM {self._tail}.replaced) UNION ALL "
        )
        return (
            f"{base if self._base else ''}SELECT {COLUMNS} FROM {self._tail}.entity_rows"
            " WHERE until IS NULL"
        )

    def _live_keys(self, keys: Sequence[int]) -> list[EntityRow]:
        """The present rows of these entities."""
        before = [key for key in keys if key <= self._last_key and key not in self._replaced]
        since = [key for key in keys if self._in_tail is None or key in self._in_tail]
        found: list[EntityRow] = []
        for table, wanted, more in (
            (f"{self._base}.entity_rows", before, ""),
            (f"{self._tail}.entity_rows", since, " AND until IS NULL"),
        ):
            if wanted:
                few = len(wanted) <= _FEW
                listed = f"({', '.join(map(str, wanted))})" if few else _LIST.format("BIGINT")
                rows = self._connection.execute(
                    f"SELECT {COLUMNS} FROM {table} WHERE key IN {listed}{more}",
                    [] if few else [json.dumps(wanted)],
                ).fetchall()
                found += [EntityRow(*row) for row in rows]
        return found

    def _live(self, column: str, values: Sequence[str]) -> list[EntityRow]:
        """The present rows that have one of these texts in a column."""
        if not values:
            return []
        among = f"{column} IN {_LIST.format('VARCHAR')}"
        rows = self._connection.execute(
            f"SELECT {COLUMNS} FROM ({self.all_rows()}) WHERE {among}", [json.dumps(values)]
        ).fetchall()
        return [EntityRow(*row) for row in rows]

    def _write(self, old: Sequence[EntityRow], new: Sequence[EntityRow], step: int) -> None:
        """End these rows, and write those."""
        ended = {row.key: row for row in old if self._is_in_base(row.key)}
        in_tail = sorted({row.key for row in old} - ended.keys())
        self._connection.execute("BEGIN")
        try:
            if ended:
                facts = [(row.key, row.urn, row.collection) for row in ended.values()]
                self._insert(f"{self._tail}.replaced", facts, str(step))
            if in_tail:
                self._connection.execute(
                    f"UPDATE {self._tail}.entity_rows SET until = {step}"
                    f" WHERE until IS NULL AND key IN {_LIST.format('BIGINT')}",
                    [json.dumps(in_tail)],
                )
            if new:
                self._insert(f"{self._tail}.entity_rows", new, f"{step}, NULL")
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self.tail_rows += len(new)
        # an entity may come back under the key that it had before the generation was made
        self._replaced |= ended.keys() | {row.key for row in new if row.key <= self._last_key}
        if self._in_tail is not None:
            self._in_tail.difference_update(row.key for row in old)
            self._in_tail.update(row.key for row in new)
            if len(self._in_tail) > _MANY:
                self._in_tail = None

    def _is_in_base(self, key: int) -> bool:
        return key <= self._last_key and key not in self._replaced

    def _insert(self, table: str, rows: Sequence[tuple[object, ...]], more: str) -> None:
        """Insert rows, a number first and then texts, each column as one JSON text."""
        columns = list(zip(*rows, strict=True))
        kinds = ["BIGINT", *["VARCHAR"] * (len(columns) - 1)]
        values = ", ".join(f"unnest(from_json(?, '[\"{each}\"]'))" for each in kinds)
        given = [json.dumps(column) for column in columns]
        self._connection.execute(f"INSERT INTO {table} SELECT {values}, {more}", given)

    # --- edges under policies --------------------------------------------------------------

    def _regrouped(
        self, old: list[EntityRow], new: list[EntityRow], urns: set[str]
    ) -> tuple[list[EntityRow], list[EntityRow]]:
        """The same, with edges in their groups, and with edges that move to another group."""
        before = {row.urn: Part(row.class_key, row.source, row.target) for row in old}
        after = {row.urn: Part(row.class_key, row.source, row.target) for row in new}
        nothing = Part(OPEN, None, None)  # what is not there asks for no class either
        moved = sorted(urn for urn in urns if before.get(urn, nothing) != after.get(urn, nothing))
        others = self._hanging_on(moved, urns)
        old = [*old, *others]
        new = [*new, *others]
        edges = {
            row.urn: (row.source, row.target)
            for row in new
            if row.source is not None and row.target is not None
        }
        known = {**dict.fromkeys(urns), **after}
        required = required_classes(edges, known, self._parts) if edges else {}
        return old, [
            row._replace(group=group_name(projection_key(row.group), required[row.urn]))
            if row.urn in required
            else row
            for row in new
        ]

    def _hanging_on(self, urns: Sequence[str], without: set[str]) -> list[EntityRow]:
        """The edges that hang on these, directly or not, but for some."""
        found: dict[tuple[str, str], EntityRow] = {}
        seen = set(urns)
        wanted = list(urns)
        while wanted:
            rows = [
                *self._live("source", wanted),
                *self._live("target", wanted),
            ]
            found.update({(row.urn, row.group): row for row in rows if row.urn not in without})
            wanted = sorted({row.urn for row in rows} - seen)
            seen.update(wanted)
        return list(found.values())

    def _parts(self, urns: Sequence[str]) -> Mapping[str, Part]:
        rows = self._live("urn", urns)
        return {row.urn: Part(row.class_key, row.source, row.target) for row in rows}


def _among(collection: str, groups: Iterable[str]) -> str:
    listed = ", ".join(map(literal, sorted(groups)))
    return f"collection = {literal(collection)} AND grp IN ({listed})"
