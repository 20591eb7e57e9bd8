"""One sync of one attachment: `TableSync`, whole tables or what changed in them.

    rows      by key: written if the role sees them, removed if it does not (any more)
    edges     of rows that changed; and those towards rows that are new here. A row that refers to
              others than before is made anew, so that no edge of it is left
    the rest  `held` is how many rows of each table are here, with a sum over their keys. Where rows
              may come and go without a word (polling; row level security, which may show others
              tomorrow) it is compared with what the role sees now. Where it differs, the table is
              read whole

All of it in one state of the source. What is equal leaves no write.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from redask.core.model import Caller
from redask.core.ports import Entity, Load, Origin, OriginManifest
from redask.stores.attached import source_rows
from redask.stores.attached.attachment import AttachedTable, Attachment
from redask.stores.attached.changes import Changed
from redask.stores.attached.source_connection import Connection
from redask.stores.attached.source_rows import EdgeQuery, SourceKey, key_sum, urn_of
from redask.stores.backend import EntityStore

HeldRows = dict[str, tuple[int, int]]  # by table: how many rows, the sum over their keys
MOST_KEYS = 50_000  # of a table that changed: beyond, it is read whole


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did: rows and edges written, and removed; `busy`: another node does it."""

    written: int = 0
    removed: int = 0
    busy: bool = False

    def __add__(self, other: "SyncReport") -> "SyncReport":
        return SyncReport(
            self.written + other.written, self.removed + other.removed, self.busy or other.busy
        )


class TableSync:
    """See the module."""

    def __init__(
        self, manifest: OriginManifest, store: EntityStore, made: Attachment, caller: Caller
    ) -> None:
        self._manifest, self._store = manifest, store
        self._made, self._caller = made, caller
        self.held: HeldRows = {}

    def read_whole(self, reader: Connection, tables: Iterable[AttachedTable]) -> SyncReport:
        """Read tables from their first row to their last: rows of all, then edges of all."""
        chosen = list(tables)
        done = SyncReport()
        for table in chosen:
            done += self._load(table, (), first=True)
            for rows in source_rows.all_rows(reader, table):
                done += self._load(table, rows)
            self.held[table.full_name] = source_rows.visible(reader, table)
        for table in chosen:
            for edges in self._edges(reader, table):
                done += self._load(table, edges)
            done += self._load(table, (), last=True)
        for table in self._made.tables:
            if table not in chosen:  # edges of theirs to rows that are new
                for edges in self._edges(reader, table):
                    done += self._load(table, edges, first=True)
        return done

    def apply(self, reader: Connection, changed: Changed, held: HeldRows) -> SyncReport:
        """Bring what changed up to date; `held` is what was here before."""
        self.held = dict(held)
        whole = {
            *changed.whole,
            *(name for name, keys in changed.keys.items() if len(keys) > MOST_KEYS),
            *(each.full_name for each in self._made.tables if each.full_name not in held),
        }
        done = SyncReport()
        seen: dict[str, list[SourceKey]] = {}
        fresh: dict[str, list[SourceKey]] = {}
        for table in self._made.tables:
            keys = changed.keys.get(table.full_name, [])
            if keys and table.full_name not in whole:
                done += self._upsert(reader, table, keys, seen, fresh)
        for table in self._made.tables:
            for edges in self._edges_of(reader, table, seen, fresh):
                done += self._load(table, edges, first=True)
        for table in self._made.tables:
            is_told = not changed.untold and not source_rows.filters_rows(reader, table)
            if table.full_name in whole or is_told:
                continue
            if source_rows.visible(reader, table) != self.held[table.full_name]:
                whole.add(table.full_name)
        if whole:
            chosen = [each for each in self._made.tables if each.full_name in whole]
            done += self.read_whole(reader, chosen)
        return done

    def _upsert(
        self,
        reader: Connection,
        table: AttachedTable,
        keys: Sequence[SourceKey],
        seen: dict[str, list[SourceKey]],
        fresh: dict[str, list[SourceKey]],
    ) -> SyncReport:
        """Write the rows of these keys, and remove those that are gone; edges come later."""
        done = SyncReport()
        name = table.full_name
        for rows, gone in source_rows.rows_of(reader, table, keys):
            urns = [entity.urn for _, entity in rows] + [urn_of(table, key) for key in gone]
            known = {each.urn: each.payload for each in self._store.read(urns, self._caller)}
            moved = [(key, each) for key, each in rows if _moved(table, known.get(each.urn), each)]
            lost = [key for key in gone if urn_of(table, key) in known]
            doomed = [each.urn for _, each in moved] + [urn_of(table, key) for key in lost]
            removed = self._store.delete(doomed, self._caller) if doomed else 0
            done += SyncReport(0, max(0, removed - len(moved)))
            done += self._load(table, [entity for _, entity in rows], first=True)
            new = [key for key, entity in rows if entity.urn not in known]
            seen.setdefault(name, []).extend(key for key, _ in rows)
            fresh.setdefault(name, []).extend([*new, *(key for key, _ in moved)])
            count, total = self.held[name]
            count += len(new) - len(lost)
            total += sum(map(key_sum, new)) - sum(map(key_sum, lost))
            self.held[name] = count, total
        return done

    def _edges(self, reader: Connection, table: AttachedTable) -> Iterator[list[Entity]]:
        for query in self._queries(table):
            yield from query.every(reader)

    def _edges_of(
        self,
        reader: Connection,
        table: AttachedTable,
        seen: dict[str, list[SourceKey]],
        fresh: dict[str, list[SourceKey]],
    ) -> Iterator[list[Entity]]:
        """The edges of a table's rows that were seen, and towards rows that are fresh."""
        for query in self._queries(table):
            if own := seen.get(table.full_name):
                yield from query.of_rows(reader, own)
            if others := fresh.get(query.target.full_name):
                yield from query.of_rows(reader, others, there=True)

    def _queries(self, table: AttachedTable) -> Iterator[EdgeQuery]:
        for reference in table.references:
            target = self._made.table(reference.target)
            if target is not None:
                yield EdgeQuery(table, reference, target, self._store.edge_key)

    def _load(
        self,
        table: AttachedTable,
        entities: Sequence[Entity],
        *,
        first: bool = False,
        last: bool = False,
    ) -> SyncReport:
        """Write a part of what a table brings; with `last`, what was not in it since `first` goes.

        What is `first` and not followed by the last is a part for itself: nothing else goes.
        """
        origin = Origin(self._made.path_of(table), self._made.path, None, "read" if last else None)
        done = self._manifest.load([Load(origin, entities, first=first, last=last)], self._caller)
        return SyncReport(done.written, done.removed)


def _moved(table: AttachedTable, before: str | None, now: Entity) -> bool:
    """Whether a row that is known refers to other rows than before."""
    if before is None or before == now.payload:
        return False
    old, new = json.loads(before), json.loads(now.payload)
    columns = {name for each in table.references for name in each.columns}
    return any(old.get(name) != new.get(name) for name in columns)
