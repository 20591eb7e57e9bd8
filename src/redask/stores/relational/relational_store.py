"""The store in tables of a SQL database: `RelationalStore(database)`.

What `backend.EntityStore` promises. Methods that give content take the caller and show nothing
of another tenant; each payload leaves through `visibility.StoreVisibility`; only an owner writes.
Threads may share a store; processes open one each on the same database. What a write does is
told by `write_rules`, how connections behave by `sql_database`.

Only classes of `redask.core.errors` are raised: `BadAsk` for what cannot be stored, `StoreFailed`
when the store cannot do its work; after either, nothing of the call was written.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from redask.core.access.policy import must_own
from redask.core.model import Caller, Kind, Source, Urn
from redask.core.ports import Change, EmbeddingLease, Entity, StoreView, Unembedded
from redask.core.ports.entities import EmbeddedText
from redask.core.rules import urn as urns
from redask.stores import checksums, vector_encoding, write_rules
from redask.stores.backend import CheckProgress, Damage
from redask.stores.canonical_urns import canonical
from redask.stores.relational import dumping, embedding_queue, history, inspection
from redask.stores.relational.checking import deep
from redask.stores.relational.relabelling.ruled_store import CLASS_RULES, RuledStore
from redask.stores.relational.relabelling.transitions import layout_of
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase
from redask.stores.relational.visibility_queries import VisibilityCache, edge_parts
from redask.stores.relational.writer import EntityWriter
from redask.stores.statistics import Collection, Column, Statistics
from redask.stores.visibility import EDGE_PREFIX, StoredEntity, StoreVisibility, keys_of
from redask.stores.write_rules import GIVEN

_TENANT = "(SELECT id FROM tenants WHERE name = ?)"


class RelationalStore(RuledStore):
    """An open store; `close` it, or use it as a context manager."""

    identity: str
    timeline: str
    edge_key: bytes

    def __init__(self, database: SqlDatabase, *, closed: bool = False, keyed: bool = True) -> None:
        self._database = database
        self._visibility = VisibilityCache(closed=closed)
        with self._database.reading(EVERY_TENANT) as connection:
            found = connection.execute("SELECT identity, classes, edge_key FROM store").fetchone()
        self.identity, classes, self.edge_key = found
        self.timeline = history.timeline_of(self._database)
        deep.complete_checksums(self._database)
        if classes < CLASS_RULES:
            self.edge_key = self._classify(keyed)

    # --- content ---------------------------------------------------------------------------

    def put(self, entities: Sequence[Entity], caller: Caller, *, model: str = GIVEN) -> int:
        """Write all or nothing; `model` made the vectors. Equal content is no change. → sequence"""
        must_own(caller)
        write_rules.check_model(model)
        if not entities:
            return self.watermark(caller.tenant)
        with self._database.writing(caller.tenant) as connection:
            writer = EntityWriter(connection, caller.tenant)
            writer.put(entities, model)
            return writer.finish()

    def delete(self, urns: Sequence[str], caller: Caller) -> int:
        """Remove entities, and the edges that touch them. → how many went, edges included."""
        must_own(caller)
        wanted = [canonical(urn) for urn in urns]
        if not self.watermark(caller.tenant):
            return 0
        with self._database.writing(caller.tenant) as connection:
            writer = EntityWriter(connection, caller.tenant)
            gone = writer.delete(wanted)
            writer.finish()
            return gone

    def read(self, urns: Sequence[str], caller: Caller) -> list[Source]:
        """What of these the caller may see, as the caller may see it, in the given order."""
        wanted = [canonical(urn) for urn in urns]
        with self._reading_as(caller) as (connection, visibility):
            connection.admit_only(visibility.classes())
            rows = connection.execute(
                "SELECT wanted.key, entities.key, tenant, collection, label, payload, checksum"
                " FROM json_each(?) AS wanted CROSS JOIN entities"
                f" ON tenant = {_TENANT} AND urn = wanted.value AND payload IS NOT NULL",
                (json.dumps(wanted), caller.tenant),
            ).fetchall()
            connection.admit_only("")  # who reads an edge must know all that it hangs on
            # Sorted here and not by SQL, which would copy every payload to do it.
            found = [_checked(wanted[place], row) for place, *row in sorted(rows)]
            return visibility.show(found, edge_parts(connection))

    def get(self, urn: str, caller: Caller) -> Source | None:
        """One entity, or None when there is none that the caller may see."""
        return next(iter(self.read([urn], caller)), None)

    def page(
        self, collection: str, caller: Caller, *, after: str = "", limit: int = 100
    ) -> list[Source]:
        """The next entities of a collection in the order of their URNs, after a given one."""
        shown: list[Source] = []
        with self._reading_as(caller) as (connection, visibility):
            for kind in sorted(Kind):
                prefix = urns.encode(Urn(kind, collection, "x")).removesuffix("/x")
                last = max(f"{prefix}/", after)
                while len(shown) < limit:
                    size = limit - len(shown)
                    connection.admit_only(visibility.classes())
                    found = connection.execute(
                        "SELECT urn, key, tenant, collection, label, payload, checksum"
                        " FROM entities WHERE tenant = (SELECT id FROM tenants WHERE name = ?1)"
                        f" AND urn > ?3 AND urn < ?4 AND {connection.urn_after}"
                        f" AND payload IS NOT NULL ORDER BY {connection.urn_order} LIMIT ?2",
                        (caller.tenant, size, last, f"{prefix}0"),
                    ).fetchall()
                    connection.admit_only("")
                    entities = [_checked(urn, row) for urn, *row in found]
                    shown += visibility.show(entities, edge_parts(connection))
                    if len(found) < size:
                        break
                    last = found[-1][0]
        return shown

    # --- who sees what ---------------------------------------------------------------------

    def view(self, caller: Caller) -> StoreView:
        """How far the store is, what the caller may see and the vector space, at one moment."""
        with self._reading_as(caller) as (connection, visibility):
            found = connection.execute(
                "SELECT seq, writes, mark, vectors, model, dimensions FROM tenants WHERE name = ?",
                (caller.tenant,),
            ).fetchone()
        seq, writes, mark, vectors, *space = found or (0, 0, "", 0)
        last_write = history.shown(writes, mark)
        return StoreView(seq, visibility, (space[0], space[1]) if vectors else None, last_write)

    @contextmanager
    def _reading_as(self, caller: Caller) -> Iterator[tuple[SqlConnection, StoreVisibility]]:
        """A connection inside one state of the store, and what the caller may see in it."""
        write_rules.check_tenant(caller.tenant)
        with self._database.snapshot(caller.tenant) as connection:
            yield connection, self._visibility.of(connection, caller)

    # --- the change log --------------------------------------------------------------------

    def watermark(self, tenant: str) -> int:
        """The sequence of the tenant's last change; 0 when there is none."""
        with self._database.reading(tenant) as connection:
            row = connection.execute("SELECT seq FROM tenants WHERE name = ?", (tenant,)).fetchone()
        return row[0] if row else 0

    def history(self, tenant: str) -> str:
        """The tenant's last write; empty before the first."""
        with self._database.reading(tenant) as connection:
            return history.last_write(connection, tenant)

    def follows(self, tenant: str, write: str) -> bool:
        """Whether a write that `history` told is one of this store's."""
        with self._database.reading(tenant) as connection:
            return history.follows(connection, tenant, write)

    def changes(self, tenant: str, after: int, limit: int) -> list[Change]:
        """The next changes after a sequence, in order; only an entity's latest state counts."""
        with self._database.snapshot(tenant) as connection:
            rows = connection.execute(
                "SELECT entities.seq, key, urn, collections.name, language, payload, vector,"
                " facts, value, entities.tenant, entities.collection, label, entities.checksum,"
                " vectors.checksum FROM entities"
                " JOIN collections ON collections.id = entities.collection"
                " LEFT JOIN vectors USING (key) LEFT JOIN labels ON labels.id = label"
                " LEFT JOIN class_layouts ON class_layouts.id = layout"
                f" WHERE entities.tenant = {_TENANT} AND entities.seq > ?"
                " ORDER BY entities.seq LIMIT ?",
                (tenant, after, max(limit, 0)),
            ).fetchall()
        changes = []
        for seq, key, urn, collection, language, payload, vector, facts, value, *checks in rows:
            *place, checksum, of_vector = checks
            checksums.check_entity((key, *place), urn, payload, checksum)
            checksums.check_vector(key, vector, of_vector)
            keys = keys_of(layout_of(collection, facts), value, payload)
            entity = _entity(urn, payload, vector)
            changes.append(Change(seq, key, urn, collection, language, entity, *keys))
        return changes

    # --- vectors that come later -----------------------------------------------------------

    def unembedded(
        self, tenant: str, limit: int, lease: EmbeddingLease | None = None
    ) -> list[Unembedded]:
        """The next entities (no edges) that wait for a vector, in the order of their changes."""
        span = (0, limit) if lease is None else (lease.after, limit, lease.through)
        with self._database.reading(tenant) as connection:
            return embedding_queue.following(connection, tenant, *span)

    def count_unembedded(self, tenant: str) -> int:
        """How many entities wait for a vector."""
        with self._database.reading(tenant) as connection:
            return embedding_queue.count(connection, tenant)

    def is_embedding_pending(self, caller: Caller, text: EmbeddedText) -> bool:
        """Whether anything that this caller may read, and that has a text, waits for a vector."""
        after, page = 0, 100
        while True:
            with self._database.reading(caller.tenant) as connection:
                waiting = embedding_queue.following(connection, caller.tenant, after, page)
            if self.read([e.urn for e in waiting if text(e.payload, e.hidden).strip()], caller):
                return True
            if len(waiting) < page:
                return False
            after = waiting[-1].seq

    def set_vectors(
        self,
        embedded: Sequence[Entity],
        tenant: str,
        *,
        model: str,
        through: int,
        lease: EmbeddingLease | None = None,
    ) -> None:
        """Give vectors to those entities that did not change after `through`, which is done."""
        if not embedded and lease is None:
            with self._database.reading(tenant) as connection:
                if embedding_queue.looked_through(connection, tenant) >= through:
                    return
        with self._database.writing(tenant) as connection:
            writer = EntityWriter(connection, tenant)
            before = writer.finish()
            writer.embed(embedded, model, through)
            after = writer.finish()
            if lease is not None:
                embedding_queue.worked(connection, tenant, lease, through)
                return
            done = write_rules.embedded_through(before, after, through)
            embedding_queue.advance(connection, tenant, done)

    def drop_vectors(self, tenant: str) -> int:
        """Forget every vector of the tenant, so that all are made anew. → how many went"""
        with self._database.writing(tenant) as connection:
            writer = EntityWriter(connection, tenant)
            write_rules.check_droppable(writer.space)
            gone = writer.forget_vectors()
            writer.finish()
            embedding_queue.restart(connection, tenant)
            return gone

    def claim_embedding(
        self,
        tenant: str,
        claimed: EmbeddingLease,
        most: int,
        over: Sequence[EmbeddingLease] = (),
    ) -> tuple[EmbeddingLease, ...]:
        """See `ports.VectorStore`."""
        with self._database.writing(tenant) as connection:
            return embedding_queue.claim(connection, tenant, claimed, most, over)

    def release_embedding(self, tenant: str, holder: str) -> None:
        """Give the holder's lease back, if there is one."""
        with self._database.writing(tenant) as connection:
            embedding_queue.release(connection, tenant, holder)

    # --- catalogues ------------------------------------------------------------------------

    def set_language(self, collection: str, language: str | None, caller: Caller) -> int:
        """Declare a collection's language (None: detect it). → last sequence."""
        must_own(caller)
        write_rules.check_language(collection, language)
        with self._database.writing(caller.tenant) as connection:
            writer = EntityWriter(connection, caller.tenant)
            writer.set_language(collection, language)
            return writer.finish()

    def collections(self, caller: Caller) -> list[Collection]:
        """The collections that hold something for the caller or have a language, by name."""
        with self._reading_as(caller) as (connection, visibility):
            return inspection.collections(connection, caller.tenant, visibility)

    def is_only_searched(self, caller: Caller) -> bool:
        """Whether the caller reads all there is, and no collection is a table to plan with."""
        with self._reading_as(caller) as (connection, visibility):
            return visibility.sees_all and inspection.is_only_searched(connection, caller.tenant)

    def columns(self, collection: str, caller: Caller) -> list[Column]:
        """The columns of a collection as the caller sees it, by name."""
        with self._reading_as(caller) as (connection, visibility):
            return inspection.columns(connection, caller.tenant, collection, visibility)

    def column_types(self, tenant: str) -> dict[str, dict[str, str]]:
        """The types that somebody fixed, by collection and key."""
        with self._database.reading(tenant) as connection:
            return inspection.column_types(connection, tenant)

    def set_column_type(
        self, collection: str, key: str, type_name: str | None, caller: Caller
    ) -> None:
        """Fix the type of a column, or (None) fix none."""
        must_own(caller)
        with self._database.writing(caller.tenant) as connection:
            writer = EntityWriter(connection, caller.tenant)
            writer.set_column_type(collection, key, type_name)
            writer.finish()

    def dump(self, caller: Caller) -> Iterator[dict[str, object]]:
        """What the owner's tenant holds, in one state, as records."""
        must_own(caller)
        return dumping.records(self._database, caller.tenant)

    # --- health ----------------------------------------------------------------------------

    def statistics(self, caller: Caller) -> Statistics:
        """What `doctor` tells about this store and the caller's tenant; quick at any size."""
        must_own(caller)
        with self._database.reading(caller.tenant) as connection:
            return inspection.statistics(connection, self.identity, caller.tenant)

    def check(self) -> list[str]:
        """Read everything and name what is wrong; slow. An empty list means all is well."""
        with self._database.snapshot(EVERY_TENANT) as connection:
            return inspection.check(connection)

    def examine(self, tenant: str | None, progress: CheckProgress | None = None) -> list[Damage]:
        """Compare each entity and vector, of a tenant or (None) of all, with its checksum."""
        return deep.examine(self._database, tenant, progress)

    def forget_vectors(self, tenant: str, urns: Sequence[str]) -> None:
        """Forget the vectors of these, so that an embedder makes them again."""
        with self._database.writing(tenant) as connection:
            deep.drop_vectors(connection, tenant, urns)

    def recount(self) -> None:
        """Make the counters of catalogues again."""
        for tenant in self.tenants():
            with self._database.writing(tenant) as connection:
                inspection.recount(connection, tenant)


def _checked(urn: str, row: Sequence[Any]) -> StoredEntity:
    """An entity as it was found, if it is what was written."""
    key, tenant, collection, policy_class, payload, checksum = row
    checksums.check_entity((key, tenant, collection, policy_class), urn, payload, checksum)
    return StoredEntity(urn, key, collection, policy_class, payload)


def _entity(urn: str, payload: str | None, vector: bytes | None) -> Entity | None:
    if payload is None:
        return None
    floats = None if vector is None else vector_encoding.unpack(vector)
    if not urn.startswith(EDGE_PREFIX):
        return Entity(urn, payload, vector=floats)
    edge = json.loads(payload)
    return Entity(urn, payload, source=edge["from"], target=edge["to"], vector=floats)
