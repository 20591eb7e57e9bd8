"""The store of the backend in memory: see `redask.stores.backend.EntityStore`."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from memory_backend.state import Access, Row, Tenant
from memory_backend.writer import Writer
from redask.core.access.policy import must_own, read_policy
from redask.core.model import Caller, Kind, Source, Urn
from redask.core.ports import Change, EmbeddingLease, Entity, StoreView, Unembedded
from redask.core.ports.entities import EmbeddedText
from redask.core.rules import urn as urns
from redask.core.wire.json import text
from redask.stores import embedding_leases, payloads, vector_encoding, write_rules
from redask.stores.backend import CheckProgress, Damage, Relabelling
from redask.stores.canonical_urns import address, canonical
from redask.stores.catalogues import CountedColumn, Holding, visible_collections, visible_columns
from redask.stores.policy_classes import check_policy, hidden_columns
from redask.stores.statistics import Collection, Column, Statistics
from redask.stores.visibility import (
    EDGE_PREFIX,
    EVERYTHING,
    StoredEntity,
    StoreVisibility,
    faults_of,
    keys_of,
)
from redask.stores.write_rules import GIVEN


class MemoryStore:
    """Entities, change log, policies, catalogues and vectors of one database."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.identity = access.shared.identity
        self.timeline = access.shared.identity  # nobody can copy it
        self.edge_key = access.shared.edge_key

    # --- content ---------------------------------------------------------------------------

    def put(self, entities: Sequence[Entity], caller: Caller, *, model: str = GIVEN) -> int:
        must_own(caller)
        write_rules.check_model(model)
        if not entities:
            return self.watermark(caller.tenant)
        with self._access.writing(caller.tenant) as tenant:
            writer = Writer(self._access.shared, tenant)
            writer.put(entities, model)
            return writer.finish()

    def delete(self, urns: Sequence[str], caller: Caller) -> int:
        must_own(caller)
        wanted = [canonical(urn) for urn in urns]
        if not self.watermark(caller.tenant):
            return 0
        with self._access.writing(caller.tenant) as tenant:
            writer = Writer(self._access.shared, tenant)
            gone = writer.delete(wanted)
            writer.finish()
            return gone

    def read(self, urns: Sequence[str], caller: Caller) -> list[Source]:
        wanted = [canonical(urn) for urn in urns]
        tenant = self._access.reading(caller.tenant)
        rows = [tenant.rows[urn] for urn in wanted if urn in tenant.rows]
        return _shown(tenant, [row for row in rows if row.payload is not None], caller)

    def get(self, urn: str, caller: Caller) -> Source | None:
        return next(iter(self.read([urn], caller)), None)

    def page(
        self, collection: str, caller: Caller, *, after: str = "", limit: int = 100
    ) -> list[Source]:
        tenant = self._access.reading(caller.tenant)
        shown: list[Source] = []
        for kind in sorted(Kind):
            prefix = urns.encode(Urn(kind, collection, "x")).removesuffix("x")
            rows = [row for row in tenant.live(collection) if row.urn.startswith(prefix)]
            later = [row for row in rows if row.urn > after]
            shown += _shown(tenant, sorted(later, key=lambda row: row.urn), caller)
        return shown[: max(limit, 0)]

    # --- who sees what, and the change log -------------------------------------------------

    def view(self, caller: Caller) -> StoreView:
        tenant = self._access.reading(caller.tenant)
        history = str(tenant.seq or "")
        return StoreView(tenant.seq, tenant.visibility(caller), tenant.space, history)

    def policies(self, caller: Caller) -> dict[str, object]:
        must_own(caller)
        documents = self._access.reading(caller.tenant).documents
        return {name: json.loads(document) for name, document in sorted(documents.items())}

    def check_policy(self, collection: str, document: object, caller: Caller) -> None:
        must_own(caller)
        policy = read_policy(collection, document)
        keys = self._access.reading(caller.tenant).keys
        check_policy(policy, keys, lambda after: self.page(collection, caller, after=after))

    def set_policy(
        self, collection: str, document: object | None, caller: Caller, *, finish: bool = True
    ) -> int:
        must_own(caller)
        policy = None if document is None else read_policy(collection, document)
        with self._access.writing(caller.tenant) as tenant:
            writer = Writer(self._access.shared, tenant)
            writer.set_policy(collection, policy, text(document))
            return writer.finish()

    def tenants(self) -> list[str]:
        return sorted(self._access.shared.tenants)

    def relabelling(self) -> list[Relabelling]:
        return []  # a collection is classified as a whole

    def relabel(self, tenant: str) -> None:
        pass

    def policy_faults(self, caller: Caller) -> list[str]:
        must_own(caller)
        tenant = self._access.reading(caller.tenant)
        held = [(row.collection, tenant.class_value(row) or "", 1) for row in tenant.live()]
        edges = any(row.ends for row in tenant.live())
        documents = sorted(tenant.documents.items())
        return faults_of(documents, held, guessable=edges and not self.edge_key)

    def watermark(self, tenant: str) -> int:
        return self._access.reading(tenant).seq

    def history(self, tenant: str) -> str:
        return str(self.watermark(tenant) or "")

    def follows(self, tenant: str, write: str) -> bool:
        return int(write or 0) <= self.watermark(tenant)

    def changes(self, tenant: str, after: int, limit: int) -> list[Change]:
        state = self._access.reading(tenant)
        layouts = state.layouts
        rows = sorted((row for row in state.rows.values() if row.seq > after), key=lambda r: r.seq)
        return [
            Change(
                *(row.seq, row.key, row.urn, row.collection, state.languages.get(row.collection)),
                _entity(row),
                *keys_of(layouts.get(row.collection), state.class_value(row), row.payload),
            )
            for row in rows[: max(limit, 0)]
        ]

    # --- vectors that come later -----------------------------------------------------------

    def unembedded(
        self, tenant: str, limit: int, lease: EmbeddingLease | None = None
    ) -> list[Unembedded]:
        state = self._access.reading(tenant)
        waiting = _waiting(state)
        if lease is not None:
            waiting = [row for row in waiting if lease.after < row.seq <= lease.through]
        ruled = state.layouts
        return [
            Unembedded(
                row.seq,
                row.urn,
                row.payload or "",
                hidden_columns(ruled.get(row.collection), row.payload or "{}"),
            )
            for row in waiting[: max(limit, 0)]
        ]

    def count_unembedded(self, tenant: str) -> int:
        return len(_waiting(self._access.reading(tenant)))

    def is_embedding_pending(self, caller: Caller, text: EmbeddedText) -> bool:
        tenant = self._access.reading(caller.tenant)
        waiting = self.unembedded(caller.tenant, len(tenant.rows))
        worded = {each.urn for each in waiting if text(each.payload, each.hidden).strip()}
        return bool(_shown(tenant, [row for row in _waiting(tenant) if row.urn in worded], caller))

    def set_vectors(
        self,
        embedded: Sequence[Entity],
        tenant: str,
        *,
        model: str,
        through: int,
        lease: EmbeddingLease | None = None,
    ) -> None:
        with self._access.writing(tenant) as state:
            old = {row.urn: row.payload for row in state.rows.values() if row.seq <= through}
            writer = Writer(self._access.shared, state)
            before = state.seq
            writer.put(write_rules.still_said(embedded, old), model)
            done = write_rules.embedded_through(before, writer.finish(), through)
            if lease is not None:
                state.leases, state.embedded_through = embedding_leases.passed(
                    embedding_leases.worked(state.leases, lease, through), state.embedded_through
                )
                return
            state.embedded_through = max(state.embedded_through, done)

    def drop_vectors(self, tenant: str) -> int:
        with self._access.writing(tenant) as state:
            write_rules.check_droppable(state.space)
            writer = Writer(self._access.shared, state)
            gone = writer.drop_vectors()
            writer.finish()
            state.embedded_through, state.leases = 0, ()
            return gone

    def claim_embedding(
        self,
        tenant: str,
        claimed: EmbeddingLease,
        most: int,
        over: Sequence[EmbeddingLease] = (),
    ) -> tuple[EmbeddingLease, ...]:
        with self._access.writing(tenant) as state:
            leases = embedding_leases.renewed(state.leases, claimed, over)
            gaps = embedding_leases.free(leases, state.embedded_through)
            waiting = [row.seq for row in _waiting(state)]
            for after, end in () if embedding_leases.of(leases, claimed.holder) else gaps:
                if found := [seq for seq in waiting if after < seq <= end][:most]:
                    through = found[-1] if len(found) == most else min(end, state.seq)
                    lease = EmbeddingLease(claimed.holder, claimed.beat, after, through)
                    leases = embedding_leases.added(leases, lease)
                    break
            state.leases, state.embedded_through = embedding_leases.passed(
                leases, state.embedded_through
            )
            return tuple(each for each in leases if each.holder != embedding_leases.DONE)

    def release_embedding(self, tenant: str, holder: str) -> None:
        with self._access.writing(tenant) as state:
            state.leases = tuple(each for each in state.leases if each.holder != holder)

    # --- catalogues and health -------------------------------------------------------------

    def set_language(self, collection: str, language: str | None, caller: Caller) -> int:
        must_own(caller)
        write_rules.check_language(collection, language)
        with self._access.writing(caller.tenant) as tenant:
            writer = Writer(self._access.shared, tenant)
            writer.set_language(collection, language)
            return writer.finish()

    def column_types(self, tenant: str) -> dict[str, dict[str, str]]:
        types: dict[str, dict[str, str]] = {}
        for (collection, key), name in sorted(self._access.reading(tenant).column_types.items()):
            types.setdefault(collection, {})[key] = name
        return types

    def set_column_type(
        self, collection: str, key: str, type_name: str | None, caller: Caller
    ) -> None:
        must_own(caller)
        with self._access.writing(caller.tenant) as tenant:
            tenant.column_types.pop((collection, key), None)
            if type_name is not None:
                tenant.column_types[collection, key] = type_name
            tenant.version += 1

    def collections(self, caller: Caller) -> list[Collection]:
        tenant = self._access.reading(caller.tenant)
        return _collections(tenant, tenant.visibility(caller))

    def is_only_searched(self, caller: Caller) -> bool:
        tenant = self._access.reading(caller.tenant)
        names = {row.collection for row in tenant.rows.values()} | {*tenant.languages}
        kinds = [{urns.decode(row.urn).kind for row in tenant.live(name)} for name in names]
        searched = {Kind.DOCUMENT, Kind.VECTOR, Kind.EDGE}
        everything = tenant.visibility(caller).sees_all
        return everything and all(each and each <= searched for each in kinds)

    def columns(self, collection: str, caller: Caller) -> list[Column]:
        tenant = self._access.reading(caller.tenant)
        visibility = tenant.visibility(caller)
        edges = {row.urn for row in _edges(tenant, collection, visibility)}
        counted = [
            CountedColumn(row.policy_class, name, type_name)
            for row in tenant.live(collection)
            if row.ends is None or row.urn in edges
            for name, type_name in payloads.shape(json.loads(row.payload or "{}"))
        ]
        return visible_columns(counted, tenant.collections.get(collection, 0), visibility)

    def dump(self, caller: Caller) -> Iterator[dict[str, object]]:
        must_own(caller)
        tenant = self._access.reading(caller.tenant)
        for user in sorted(tenant.users.values(), key=lambda each: each.name):
            given = {"name": user.name, "role": user.role, "attributes": {**user.attributes}}
            yield {"kind": "user", **given}
        for (collection, key), name in sorted(tenant.column_types.items()):
            yield {"kind": "column_type", "collection": collection, "key": key, "type": name}
        for collection, language in sorted(tenant.languages.items()):
            yield {"kind": "language", "collection": collection, "language": language}
        for collection, document in sorted(tenant.documents.items()):
            policy = json.loads(document)
            yield {"kind": "policy", "collection": collection, "document": policy}
        given_vectors = tenant.space is not None and tenant.space[0] == GIVEN

        def place(row: Row) -> tuple[int, str]:
            nested = any(end.startswith(EDGE_PREFIX) for end in row.ends or ())
            return bool(row.ends) + nested, row.urn

        for row in sorted(tenant.live(), key=place):
            record: dict[str, object] = {"kind": "entity", "urn": row.urn}
            record["payload"] = json.loads(row.payload or "{}")
            if row.vector is not None and given_vectors:
                record["vector"] = list(vector_encoding.unpack(row.vector))
            yield record

    def statistics(self, caller: Caller) -> Statistics:
        must_own(caller)
        tenant = self._access.reading(caller.tenant)
        live = tenant.live()
        model, dimensions = tenant.space or (None, None)
        return Statistics(
            identity=self.identity,
            schema=1,
            watermark=tenant.seq,
            collections=tuple(_collections(tenant, EVERYTHING)),
            entities=len(live),
            tombstones=len(tenant.rows) - len(live),
            edges=sum(row.ends is not None for row in live),
            vectors=sum(row.vector is not None for row in live),
            model=model,
            dimensions=dimensions,
        )

    def examine(self, tenant: str | None, progress: CheckProgress | None = None) -> list[Damage]:
        return []  # memory does not rot

    def forget_vectors(self, tenant: str, urns: Sequence[str]) -> None:
        pass

    def recount(self) -> None:
        pass

    def check(self) -> list[str]:
        found = []
        for tenant in self._access.shared.tenants.values():
            live = {row.urn for row in tenant.live()}
            sequences = [row.seq for row in tenant.rows.values()]
            if len(set(sequences)) != len(sequences) or max(sequences, default=0) > tenant.seq:
                found.append("two changes have one sequence, or one is beyond the watermark")
            if any(not live.issuperset(row.ends or ()) for row in tenant.live()):
                found.append("an edge has an end that is not there")
        return found


def _shown(tenant: Tenant, rows: Sequence[Row], caller: Caller) -> list[Source]:
    found = [
        StoredEntity(
            row.urn,
            row.key,
            tenant.collections[row.collection],
            row.policy_class,
            row.payload or "",
        )
        for row in rows
    ]
    return tenant.visibility(caller).show(found, tenant.edge_parts)


def _waiting(tenant: Tenant) -> list[Row]:
    return [
        row
        for row in tenant.live()
        if row.vector is None
        and row.seq > tenant.embedded_through
        and not row.urn.startswith(EDGE_PREFIX)
    ]


def _edges(tenant: Tenant, collection: str, visibility: StoreVisibility) -> list[Row]:
    edges = [row for row in tenant.live(collection) if row.ends]
    whole = visibility.whole_edges((row.key for row in edges), tenant.edge_parts)
    return [row for row in edges if row.key in whole]


def _collections(tenant: Tenant, visibility: StoreVisibility) -> list[Collection]:
    counts: Counter[tuple[str, int, Kind]] = Counter(
        (row.collection, row.policy_class, address(row.urn)[1]) for row in tenant.live()
    )
    names = {number: name for name, number in tenant.collections.items()}
    holdings: list[Holding] = []
    for name, number in sorted(tenant.collections.items()):
        language = tenant.languages.get(name)
        own = sorted((kind, each, n) for (of, each, kind), n in counts.items() if of == name)
        holdings += [Holding(number, name, language, each, kind, n) for kind, each, n in own]
        if not own:
            holdings.append(Holding(number, name, language, 0, None, 0))
    return visible_collections(
        holdings,
        visibility,
        lambda number: [row.policy_class for row in _edges(tenant, names[number], visibility)],
    )


def _entity(row: Row) -> Entity | None:
    if row.payload is None:
        return None
    floats = None if row.vector is None else vector_encoding.unpack(row.vector)
    source, target = row.ends or (None, None)
    return Entity(row.urn, row.payload, source=source, target=target, vector=floats)
