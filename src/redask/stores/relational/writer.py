"""What one transaction writes for one tenant: `EntityWriter(connection, tenant)`, then `finish`.

Which entities may be written, and what becomes of each, is told by `write_rules`. Deleting an
entity deletes the edges that touch it, and the edges that touch those. Refusals are `BadAsk`
and leave it to the caller to roll back: nothing here commits.

Catalogues (`holdings`, `columns`) are counted in memory and written once, by `finish`. The
column of a policy class's number is called `label` on disk.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from redask.core.ports import Entity
from redask.stores import payloads, write_rules
from redask.stores.canonical_urns import address
from redask.stores.checksums import is_whole, of_entity, of_vector
from redask.stores.policy_classes import AddressedEntity
from redask.stores.relational import history
from redask.stores.relational.class_numbers import ClassNumbers
from redask.stores.relational.sql_database import SqlConnection
from redask.stores.write_rules import CatalogueCounts, EntityDraft, VectorSpace

_CHUNK = 1000

_ROWS = "SELECT entities.key, urn, collection, label, payload"
_BY_URN = f"""{_ROWS} FROM json_each(?) AS wanted
    CROSS JOIN entities ON tenant = ? AND urn = wanted.value"""
_KNOWN = _BY_URN.replace(_ROWS, f"{_ROWS}, checksum")
_EDGES_OF = f"""{_ROWS} FROM (
        SELECT edges.key FROM json_each(?1) AS tip
        CROSS JOIN edges ON source = CAST(tip.value AS BIGINT)
        UNION
        SELECT edges.key FROM json_each(?1) AS tip
        CROSS JOIN edges ON target = CAST(tip.value AS BIGINT)
    ) AS edge CROSS JOIN entities ON entities.key = edge.key"""


class LabelledEntity(NamedTuple):
    """An entity with its key and the number of its policy class, to be classified anew."""

    key: int
    policy_class: int
    entity: AddressedEntity
    drops_vector: bool = False


class EntityWriter:
    """Writes for one tenant inside a transaction that somebody else opened."""

    def __init__(self, connection: SqlConnection, tenant: str) -> None:
        write_rules.check_tenant(tenant)
        self._db = connection
        connection.execute(
            "INSERT INTO tenants (name) VALUES (?) ON CONFLICT DO NOTHING", (tenant,)
        )
        number, seq, vectors, model, dimensions = connection.execute(
            "SELECT id, seq, vectors, model, dimensions FROM tenants WHERE name = ?", (tenant,)
        ).fetchone()
        self.tenant: int = number
        self.name = tenant
        self._seq: int = seq
        self._first_seq: int = seq
        self._vector_count: int = vectors
        self.space: VectorSpace | None = (model, dimensions) if vectors else None
        self._collections: dict[str, int] = {}
        self.classes = self._classes = ClassNumbers(connection, number, tenant)
        self._counts = CatalogueCounts()

    def put(self, entities: Sequence[Entity], model: str) -> int:
        """Upsert all of them. → how many were new or changed."""
        before = self._seq
        seen: set[str] = set()
        ends: dict[int, tuple[str, str]] = {}
        for start in range(0, len(entities), _CHUNK):
            drafts = [write_rules.draft(entity) for entity in entities[start : start + _CHUNK]]
            write_rules.check_apart(drafts, seen)
            self.space = write_rules.space_with(self.space, drafts, model)
            ends.update(self._write(drafts))
        self._connect(ends)
        return self._seq - before

    def embed(self, embedded: Sequence[Entity], model: str, through: int) -> None:
        """Set the vectors of those that did not change after `through` and say the same."""
        wanted = json.dumps([entity.urn for entity in embedded])
        rows = self._db.execute(
            f"{_BY_URN} WHERE entities.seq <= ?", (wanted, self.tenant, through)
        )
        known = {urn: payload for _, urn, _, _, payload in rows.fetchall()}
        self.put(write_rules.still_said(embedded, known), model)

    def forget_vectors(self) -> int:
        """Drop every vector; who had one counts as changed. → how many went"""
        held = self._db.execute(
            "SELECT key FROM vectors CROSS JOIN entities USING (key) WHERE tenant = ?"
            " ORDER BY entities.seq",
            (self.tenant,),
        ).fetchall()
        self._drop_vectors(held)
        self._db.executemany(
            "UPDATE entities SET seq = ? WHERE key = ?",
            [(self._next_seq(), key) for (key,) in held],
        )
        self.space = None
        return len(held)

    def forget_vectors_of(self, urns: Sequence[str]) -> None:
        """Drop the vectors of these; they count as changed."""
        found = self._db.execute(_BY_URN, (json.dumps(urns), self.tenant)).fetchall()
        self._drop_vectors([(key,) for key, *_ in found])
        self._db.executemany(
            "UPDATE entities SET seq = ? WHERE key = ?",
            [(self._next_seq(), key) for key, *_ in found],
        )

    def delete(self, urns: list[str]) -> int:
        """Remove what is there of these, and every edge that touches it. → how many went."""
        doomed: dict[int, tuple[str, int, int, str]] = {}
        found = self._db.execute(
            f"{_BY_URN} WHERE payload IS NOT NULL", (json.dumps(urns), self.tenant)
        ).fetchall()
        while found:
            doomed.update((key, tuple(row)) for key, *row in found)
            touching = self._db.execute(_EDGES_OF, (json.dumps([row[0] for row in found]),))
            found = [row for row in touching.fetchall() if row[0] not in doomed]
        for urn, collection_id, policy_class, payload in doomed.values():
            kind = address(urn)[1]
            self._counts.count(
                collection_id, policy_class, kind, payloads.stored_content(payload), -1
            )
        keys = [(key,) for key in doomed]
        self._db.executemany("DELETE FROM edges WHERE key = ?", keys)
        self._drop_vectors(keys)
        self._db.executemany(
            "UPDATE entities SET payload = NULL, checksum = NULL, seq = ? WHERE key = ?",
            [(self._next_seq(), key) for key in doomed],
        )
        return len(doomed)

    def set_language(self, collection: str, language: str | None) -> None:
        """Declare a collection's language; all it holds counts as changed, to be read anew."""
        collection_id = self.collection(collection)
        (before,) = self._db.execute(
            "SELECT language FROM collections WHERE id = ?", (collection_id,)
        ).fetchone()
        if language == before:
            return
        self._db.execute(
            "UPDATE collections SET language = ? WHERE id = ?", (language, collection_id)
        )
        held = self._db.execute(
            "SELECT key FROM entities WHERE collection = ? AND payload IS NOT NULL ORDER BY seq",
            (collection_id,),
        ).fetchall()
        self._db.executemany(
            "UPDATE entities SET seq = ? WHERE key = ?",
            [(self._next_seq(), key) for (key,) in held],
        )

    def set_column_type(self, collection: str, key: str, type_name: str | None) -> None:
        """Fix a column's type, or (None) fix none."""
        where = (self.tenant, collection, key)
        self._db.execute(
            "DELETE FROM column_types WHERE tenant = ? AND collection = ? AND key = ?", where
        )
        if type_name is not None:
            self._db.execute("INSERT INTO column_types VALUES (?, ?, ?, ?)", (*where, type_name))
        self._classes.changes += 1

    def finish(self) -> int:
        """Write the watermark, its mark and the catalogues. → the tenant's last sequence."""
        if self._classes.changes:
            history.change_access(self._db, self.tenant)
        if self._seq == self._first_seq:
            return self._seq
        self._db.execute(
            "UPDATE tenants SET seq = ?, vectors = ?, model = ?, dimensions = ? WHERE id = ?",
            (self._seq, self._vector_count, *(self.space or (None, None)), self.tenant),
        )
        history.advance(self._db, self.tenant)
        self._write_catalogues()
        return self._seq

    # --- collections and policy classes ----------------------------------------------------

    def collection(self, name: str) -> int:
        """The number of a collection, made when there is none."""
        known = self._collections.get(name)
        if known is not None:
            return known
        write_rules.check_collection(name)
        made = self._db.execute(
            "INSERT INTO collections (tenant, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (self.tenant, name),
        )
        self._classes.changes += made.rowcount
        collection_id: int = self._db.execute(
            "SELECT id FROM collections WHERE tenant = ? AND name = ?", (self.tenant, name)
        ).fetchone()[0]
        self._collections[name] = collection_id
        return collection_id

    def reclassify(self, found: Iterable[LabelledEntity]) -> None:
        """Give entities the policy class that they have now; those that move count as changed."""
        stale: list[tuple[int]] = []
        for each in found:
            entity, collection_id = each.entity, self.collection(each.entity.collection)
            policy_class = self._classes.of(collection_id, entity)
            if policy_class == each.policy_class:
                continue
            content = {**entity.content}
            place = (each.key, self.tenant, collection_id, policy_class)
            checksum = of_entity(place, entity.urn.encode(), entity.payload.encode())
            self._counts.count(collection_id, each.policy_class, entity.kind, content, -1)
            self._counts.count(collection_id, policy_class, entity.kind, content, +1)
            self._db.execute(
                "UPDATE entities SET label = ?, seq = ?, checksum = ? WHERE key = ?",
                (policy_class, self._next_seq(), checksum, each.key),
            )
            if each.drops_vector:
                stale.append((each.key,))
        self._drop_vectors(stale)

    # --- writing ---------------------------------------------------------------------------

    def _write(self, drafts: list[EntityDraft]) -> dict[int, tuple[str, str]]:
        """Write one chunk. → the ends of the edges in it that are new or changed, by key."""
        known = self._known([draft.urn for draft in drafts])
        vectors = self._vectors(known[d.urn][0] for d in drafts if d.vector and d.urn in known)
        fresh = [draft.urn for draft in drafts if draft.urn not in known]
        keys = dict(zip(fresh, self._db.new_keys(len(fresh)), strict=True))
        new, changed, ends = [], [], {}
        embedded: list[tuple[int, bytes]] = []
        stale: list[tuple[int]] = []
        for draft in drafts:
            new_key = keys.get(draft.urn, 0)
            key, old_class, payload = known.get(draft.urn, (new_key, 0, None))
            effect = write_rules.effect(draft, payload, vectors.get(key))
            if effect is None:
                continue
            collection_id = self.collection(draft.collection)
            policy_class = self._classes.of(collection_id, _addressed(draft))
            place = (key, self.tenant, collection_id, policy_class)
            checksum = of_entity(place, draft.urn.encode(), draft.payload.encode())
            if draft.urn in keys:
                made = (key, self.tenant, draft.urn, collection_id, draft.payload)
                new.append((*made, self._next_seq(), policy_class, checksum))
            else:
                row = (draft.payload, self._next_seq(), policy_class, collection_id)
                changed.append((*row, checksum, key))
            if effect.new_content:
                kind = draft.kind
                self._counts.count(collection_id, policy_class, kind, draft.content, +1)
                if payload is not None:
                    self._counts.count(
                        collection_id, old_class, kind, payloads.stored_content(payload), -1
                    )
            if draft.ends:
                ends[key] = draft.ends
            if draft.vector is not None:
                embedded.append((key, draft.vector))
            elif effect.drops_vector:
                stale.append((key,))
        self._db.executemany("INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?, ?)", new)
        self._db.executemany(
            "UPDATE entities SET payload = ?, seq = ?, label = ?, collection = ?, checksum = ?"
            " WHERE key = ?",
            changed,
        )
        self._db.executemany(
            "INSERT INTO vectors VALUES (?, ?, ?) ON CONFLICT (key)"
            " DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum",
            [(key, vector, of_vector(key, vector)) for key, vector in embedded],
        )
        self._vector_count += sum(key not in vectors for key, _ in embedded)
        self._drop_vectors(stale)
        return ends

    def _connect(self, ends: dict[int, tuple[str, str]]) -> None:
        """Note the ends of edges, once every entity of the batch is there."""
        known = self._known(sorted({urn for pair in ends.values() for urn in pair}))
        there = {urn for urn, (*_, payload) in known.items() if payload is not None}
        write_rules.check_ends(ends.values(), there)
        self._db.executemany(
            "INSERT INTO edges VALUES (?, ?, ?) ON CONFLICT (key)"
            " DO UPDATE SET source = excluded.source, target = excluded.target",
            [(key, known[source][0], known[target][0]) for key, (source, target) in ends.items()],
        )

    def _known(self, urns: list[str]) -> dict[str, tuple[int, int, str | None]]:
        """Key, policy class and payload (None: deleted) of those URNs that were ever written.

        What is damaged counts as deleted, so that it can be written again.
        """
        found: dict[str, tuple[int, int, str | None]] = {}
        for key, urn, collection, number, payload, checksum in self._db.execute(
            _KNOWN, (json.dumps(urns), self.tenant)
        ):
            place = (key, self.tenant, collection, number)
            found[urn] = (key, number, payload if is_whole(place, urn, payload, checksum) else None)
        return found

    def _vectors(self, keys: Iterable[int]) -> dict[int, bytes]:
        rows = self._db.execute(
            "SELECT vectors.key, vector FROM json_each(?) AS wanted"
            " CROSS JOIN vectors ON vectors.key = CAST(wanted.value AS BIGINT)",
            (json.dumps(list(keys)),),
        )
        return dict(rows.fetchall())

    def _drop_vectors(self, keys: list[tuple[int]]) -> None:
        gone = self._db.executemany("DELETE FROM vectors WHERE key = ?", keys)
        self._vector_count -= gone.rowcount

    def _write_catalogues(self) -> None:
        holdings = self._counts.holdings()
        for table, place, counts in (
            ("holdings", "collection, label, kind", holdings.items()),
            ("columns", "collection, label, name, type", self._counts.columns().items()),
        ):
            self._db.executemany(
                f"INSERT INTO {table} VALUES ({place.count(',') * '?, '}?, ?)"
                f" ON CONFLICT ({place}) DO UPDATE"
                f" SET entities = {table}.entities + excluded.entities",
                [(*where, count) for where, count in counts if count],
            )
        for collection_id in {collection_id for collection_id, *_ in holdings}:
            self._tidy(collection_id)

    def _tidy(self, collection_id: int) -> None:
        """Forget what nothing has any more, and see that the columns are not too many."""
        for table in ("holdings", "columns"):
            self._db.execute(
                f"DELETE FROM {table} WHERE collection = ? AND entities = 0", (collection_id,)
            )
        count, name = self._db.execute(
            "SELECT count(DISTINCT columns.name), max(collections.name) FROM columns"
            " JOIN collections ON collections.id = collection WHERE collection = ?",
            (collection_id,),
        ).fetchone()
        write_rules.check_columns(name, count)

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq


def _addressed(draft: EntityDraft) -> AddressedEntity:
    return AddressedEntity(draft.urn, draft.kind, draft.collection, draft.content, draft.payload)
