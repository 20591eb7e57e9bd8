"""What one transaction writes for one tenant: `EntityWriter(connection, tenant)`, then `finish`.

    entity in the batch            what happens                                  sequence
    its URN is new                 inserted under a new key                      next
    its URN was deleted            written again under its old key               next
    equal payload (and vector)     nothing                                       none
    other payload                  replaced; the old vector goes unless one      next
                                   comes along, for it spoke of the old text
    equal payload, new vector      the vector is set                             next
    edge, one end absent           refused; an end may come in the same batch
    twice in one batch             refused

Deleting an entity deletes the edges that touch it, and the edges that touch those. One
tenant has vectors of one model and one length. Refusals are `BadAsk`, name the URN, and
leave it to the caller to roll back: nothing here commits.

Catalogues (`holdings`, `columns`) are counted in memory and written once, by `finish`.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from redask.core.access.policy import Policy
from redask.core.errors import BadAsk
from redask.core.model import Kind
from redask.core.ports import Entity
from redask.core.text import name_fault
from redask.stores import payloads, vector_encoding
from redask.stores.canonical_urns import address, ends_of
from redask.stores.entity_rows import MAX_COLUMNS, collection_fault
from redask.stores.sqlite.policy_classes import Labelling, hidden, layout

GIVEN = "given"  # the model of vectors that came with the data, not from an embedder
MAX_URN_CHARACTERS = 16_384
_CHUNK = 1000

_ROWS = "SELECT entities.key, urn, collection, label, payload"
_BY_URN = f"""{_ROWS} FROM json_each(?) AS wanted
    CROSS JOIN entities ON tenant = ? AND urn = wanted.value"""
_EDGES_OF = f"""{_ROWS} FROM (
        SELECT edges.key FROM json_each(?1) AS end CROSS JOIN edges ON source = end.value
        UNION
        SELECT edges.key FROM json_each(?1) AS end CROSS JOIN edges ON target = end.value
    ) AS edge CROSS JOIN entities ON entities.key = edge.key"""


@dataclass(slots=True)
class _EntityDraft:
    """An entity that was checked, on its way to the table."""

    urn: str
    kind: Kind
    collection: int
    label: int
    payload: str
    content: dict[str, object]
    ends: tuple[str, str] | None
    vector: bytes | None


class EntityWriter:
    """Writes for one tenant inside a transaction that somebody else opened."""

    def __init__(self, connection: sqlite3.Connection, tenant: str) -> None:
        fault = name_fault(tenant)
        if fault:
            raise BadAsk(f"the name of the tenant {fault}")
        self._db = connection
        connection.execute("INSERT OR IGNORE INTO tenants (name) VALUES (?)", (tenant,))
        number, seq, vectors, model, dimensions = connection.execute(
            "SELECT id, seq, vectors, model, dimensions FROM tenants WHERE name = ?", (tenant,)
        ).fetchone()
        self.tenant: int = number
        self._seq: int = seq
        self._first_seq: int = seq
        self._vector_count: int = vectors
        self._space: tuple[str, int] | None = (model, dimensions) if vectors else None
        self._collections: dict[str, int] = {}
        self._labels = Labelling(connection, number, tenant)
        self._counts: Counter[tuple[int, int, Kind, payloads.Shape]] = Counter()

    def put(self, entities: Sequence[Entity], model: str) -> int:
        """Upsert all of them. → how many were new or changed."""
        before = self._seq
        seen: set[str] = set()
        ends: dict[int, tuple[str, str]] = {}
        for start in range(0, len(entities), _CHUNK):
            drafts = [self._draft(entity, model) for entity in entities[start : start + _CHUNK]]
            for draft in drafts:
                if draft.urn in seen:
                    raise BadAsk(f"{draft.urn} stands twice in one batch", detail=draft.urn)
                seen.add(draft.urn)
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
        self.put([each for each in embedded if known.get(each.urn) == each.payload], model)

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
        self._space = None
        return len(held)

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
        for urn, collection_id, label, payload in doomed.values():
            self._count(collection_id, label, address(urn)[1], json.loads(payload), -1)
        keys = [(key,) for key in doomed]
        self._db.executemany("DELETE FROM edges WHERE key = ?", keys)
        self._drop_vectors(keys)
        self._db.executemany(
            "UPDATE entities SET payload = NULL, seq = ? WHERE key = ?",
            [(self._next_seq(), key) for key in doomed],
        )
        return len(doomed)

    def set_language(self, collection: str, language: str | None) -> None:
        """Declare a collection's language; all it holds counts as changed, to be read anew."""
        collection_id = self._collection(collection)
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

    def set_policy(self, name: str, policy: Policy | None, document: str) -> None:
        """Put a collection under a policy, or (None) open it to its tenant.

        When the policy looks at other columns, or shows others, all that the collection holds
        is labelled anew and counts as changed.
        """
        before = self._labels.replace(name, policy, document)
        if layout(before) != layout(policy):
            collection_id = self._collection(name)
            if hidden(before) != hidden(policy):
                self._forget_what_vectors_told(collection_id)
            self._relabel(collection_id, name)

    def finish(self) -> int:
        """Write the watermark and the catalogues. → the tenant's last sequence."""
        if self._labels.changes:
            self._db.execute(
                "UPDATE tenants SET access = access + ? WHERE id = ?",
                (self._labels.changes, self.tenant),
            )
        if self._seq == self._first_seq:
            return self._seq
        self._db.execute(
            "UPDATE tenants SET seq = ?, vectors = ?, model = ?, dimensions = ? WHERE id = ?",
            (self._seq, self._vector_count, *(self._space or (None, None)), self.tenant),
        )
        self._write_catalogues()
        return self._seq

    # --- checking --------------------------------------------------------------------------

    def _draft(self, entity: Entity, model: str) -> _EntityDraft:
        urn, kind, collection = address(entity.urn)
        if len(urn) > MAX_URN_CHARACTERS:
            raise BadAsk(f"a URN of {len(urn)} characters is longer than {MAX_URN_CHARACTERS}")
        if "%00" in urn:
            raise BadAsk(f"the id in {urn} holds a NUL character", detail=urn)
        if kind is not Kind.EDGE and (entity.source is not None or entity.target is not None):
            raise BadAsk(f"{urn} is no edge: it has no source and no target", detail=urn)
        collection_id = self._collections.get(collection)
        collection_id = self._collection(collection) if collection_id is None else collection_id
        content = payloads.read(urn, entity.payload)
        return _EntityDraft(
            urn,
            kind,
            collection_id,
            self._labels.of(collection_id, collection, content),
            entity.payload,
            content,
            ends_of(urn, entity, content) if kind is Kind.EDGE else None,
            None if entity.vector is None else self._vector(urn, entity.vector, model),
        )

    def _collection(self, name: str) -> int:
        fault = collection_fault(name)
        if fault:
            raise BadAsk(f"the collection name {name!a} {fault}", detail=name)
        made = self._db.execute(
            "INSERT OR IGNORE INTO collections (tenant, name) VALUES (?, ?)", (self.tenant, name)
        )
        self._labels.changes += made.rowcount
        collection_id: int = self._db.execute(
            "SELECT id FROM collections WHERE tenant = ? AND name = ?", (self.tenant, name)
        ).fetchone()[0]
        self._collections[name] = collection_id
        return collection_id

    def _relabel(self, collection_id: int, name: str) -> None:
        """Label all that a collection holds, and count it, anew."""
        for table in ("holdings", "columns"):
            self._db.execute(f"DELETE FROM {table} WHERE collection = ?", (collection_id,))
        self._labels.forget(collection_id)
        held = self._db.execute(
            "SELECT key FROM entities WHERE collection = ? AND payload IS NOT NULL ORDER BY seq",
            (collection_id,),
        ).fetchall()
        for (key,) in held:
            urn, payload = self._db.execute(
                "SELECT urn, payload FROM entities WHERE key = ?", (key,)
            ).fetchone()
            content = json.loads(payload)
            label = self._labels.of(collection_id, name, content)
            self._count(collection_id, label, address(urn)[1], content, +1)
            self._db.execute(
                "UPDATE entities SET label = ?, seq = ? WHERE key = ?",
                (label, self._next_seq(), key),
            )

    def _forget_what_vectors_told(self, collection_id: int) -> None:
        """Drop the vectors an embedder made of a collection: other columns are hidden now."""
        if self._space is not None and self._space[0] != GIVEN:
            held = self._db.execute(
                "SELECT key FROM vectors JOIN entities USING (key) WHERE collection = ?",
                (collection_id,),
            ).fetchall()
            self._drop_vectors(held)

    def _vector(self, urn: str, vector: tuple[float, ...], model: str) -> bytes:
        fault = vector_encoding.fault(vector)
        if fault:
            raise BadAsk(f"the vector of {urn} {fault}", detail=urn)
        self._space = self._space or (model, len(vector))
        if self._space != (model, len(vector)):
            raise BadAsk(
                f"the vector of {urn} is of model {model} and has {len(vector)} dimensions, but "
                "those before it are of model {} and have {}".format(*self._space),
                detail=urn,
            )
        return vector_encoding.pack(vector)

    # --- writing ---------------------------------------------------------------------------

    def _write(self, drafts: list[_EntityDraft]) -> dict[int, tuple[str, str]]:
        """Write one chunk. → the ends of the edges in it that are new or changed, by key."""
        known = self._known([draft.urn for draft in drafts])
        vectors = self._vectors(known[d.urn][0] for d in drafts if d.vector and d.urn in known)
        next_key = self._last_key() + 1
        new, changed, ends = [], [], {}
        embedded: list[tuple[int, bytes]] = []
        stale: list[tuple[int]] = []
        for draft in drafts:
            key, label, payload = known.get(draft.urn, (next_key, 0, None))
            same = payload == draft.payload
            if same and (draft.vector is None or draft.vector == vectors.get(key)):
                continue
            if key == next_key:
                next_key += 1
                row = (key, self.tenant, draft.urn, draft.collection, draft.payload)
                new.append((*row, self._next_seq(), draft.label))
            else:
                changed.append((draft.payload, self._next_seq(), draft.label, key))
            if not same:
                self._count(draft.collection, draft.label, draft.kind, draft.content, +1)
                if payload is not None:
                    self._count(draft.collection, label, draft.kind, json.loads(payload), -1)
            if draft.ends:
                ends[key] = draft.ends
            if draft.vector is not None:
                embedded.append((key, draft.vector))
            elif payload is not None:
                stale.append((key,))
        self._db.executemany("INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?)", new)
        self._db.executemany(
            "UPDATE entities SET payload = ?, seq = ?, label = ? WHERE key = ?", changed
        )
        self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", embedded)
        self._vector_count += sum(key not in vectors for key, _ in embedded)
        self._drop_vectors(stale)
        return ends

    def _connect(self, ends: dict[int, tuple[str, str]]) -> None:
        """Note the ends of edges, once every entity of the batch is there."""
        known = self._known(sorted({urn for pair in ends.values() for urn in pair}))
        for pair in ends.values():
            for role, urn in zip(("source", "target"), pair, strict=True):
                if known.get(urn, (0, 0, None))[2] is None:
                    raise BadAsk(f"the {role} of an edge does not exist: {urn}", detail=urn)
        self._db.executemany(
            "INSERT OR REPLACE INTO edges VALUES (?, ?, ?)",
            [(key, known[source][0], known[target][0]) for key, (source, target) in ends.items()],
        )

    def _known(self, urns: list[str]) -> dict[str, tuple[int, int, str | None]]:
        """Key, label and payload (None: deleted) of those URNs that were ever written."""
        rows = self._db.execute(_BY_URN, (json.dumps(urns), self.tenant))
        return {urn: (key, label, payload) for key, urn, _, label, payload in rows}

    def _vectors(self, keys: Iterable[int]) -> dict[int, bytes]:
        rows = self._db.execute(
            "SELECT vectors.key, vector FROM json_each(?) AS wanted"
            " CROSS JOIN vectors ON vectors.key = wanted.value",
            (json.dumps(list(keys)),),
        )
        return dict(rows.fetchall())

    def _drop_vectors(self, keys: list[tuple[int]]) -> None:
        gone = self._db.executemany("DELETE FROM vectors WHERE key = ?", keys)
        self._vector_count -= gone.rowcount

    def _count(
        self, collection_id: int, label: int, kind: Kind, content: dict[str, object], by: int
    ) -> None:
        self._counts[collection_id, label, kind, payloads.shape(content)] += by

    def _write_catalogues(self) -> None:
        holdings: Counter[tuple[int, int, Kind]] = Counter()
        columns: Counter[tuple[int, int, str, str]] = Counter()
        for (collection_id, label, kind, shape), count in self._counts.items():
            holdings[collection_id, label, kind] += count
            for name, type_name in shape:
                columns[collection_id, label, name, type_name] += count
        for table, place, counts in (
            ("holdings", "collection, label, kind", holdings),
            ("columns", "collection, label, name, type", columns),
        ):
            self._db.executemany(
                f"INSERT INTO {table} VALUES ({place.count(',') * '?, '}?, ?)"
                f" ON CONFLICT ({place}) DO UPDATE SET entities = entities + excluded.entities",
                [(*where, count) for where, count in counts.items() if count],
            )
        for collection_id in {collection_id for collection_id, *_ in holdings}:
            self._tidy(collection_id)

    def _tidy(self, collection_id: int) -> None:
        """Forget what nothing has any more, and refuse more columns than a table can have."""
        self._db.execute(
            "DELETE FROM holdings WHERE collection = ? AND entities = 0", (collection_id,)
        )
        self._db.execute(
            "DELETE FROM columns WHERE collection = ? AND entities = 0", (collection_id,)
        )
        count, name = self._db.execute(
            "SELECT count(DISTINCT columns.name), max(collections.name) FROM columns"
            " JOIN collections ON collections.id = collection WHERE collection = ?",
            (collection_id,),
        ).fetchone()
        if count > MAX_COLUMNS:
            raise BadAsk(
                f"the collection {name} would have {count} columns, more than {MAX_COLUMNS}: "
                "put rare keys into a nested object",
                detail=name,
            )

    def _last_key(self) -> int:
        key: int
        (key,) = self._db.execute(
            "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entities'"
        ).fetchone()
        return key

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq
