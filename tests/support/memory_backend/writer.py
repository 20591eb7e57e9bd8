"""Writes entities into a tenant's draft, by the rules of `write_rules` and `policy_classes`."""

import json
from collections.abc import Sequence

from memory_backend.state import Row, Shared, Tenant
from redask.core.access.policy import Policy
from redask.core.ports import Entity
from redask.stores import payloads, write_rules
from redask.stores.canonical_urns import address
from redask.stores.policy_classes import AddressedEntity, LayoutChange, check_addresses, class_of
from redask.stores.visibility import UNCLASSIFIED
from redask.stores.write_rules import EntityDraft


class Writer:
    """One transaction on a tenant's draft; `finish` ends it."""

    def __init__(self, shared: Shared, tenant: Tenant) -> None:
        self._shared = shared
        self._tenant = tenant
        self._layouts = tenant.layouts
        self._touched: set[str] = set()

    def put(self, entities: Sequence[Entity], model: str) -> int:
        """Upsert all of them. → how many were new or changed"""
        tenant, before = self._tenant, self._tenant.seq
        drafts = [write_rules.draft(entity) for entity in entities]
        write_rules.check_apart(drafts, set())
        tenant.space = write_rules.space_with(tenant.space, drafts, model)
        ends = [pair for draft in drafts if (pair := self._write(draft))]
        write_rules.check_ends(ends, {row.urn for row in tenant.live()})
        return tenant.seq - before

    def _write(self, draft: EntityDraft) -> tuple[str, str] | None:
        tenant = self._tenant
        old = tenant.rows.get(draft.urn)
        payload, vector = (old.payload, old.vector) if old else (None, None)
        effect = write_rules.effect(draft, payload, vector)
        if effect is None:
            return None
        number = self.collection(draft.collection)
        kept = None if effect.drops_vector else vector
        tenant.rows[draft.urn] = Row(
            old.key if old else self._shared.next_number(),
            draft.urn,
            draft.collection,
            self.next_seq(),
            draft.payload,
            self._class(
                number,
                AddressedEntity(
                    draft.urn, draft.kind, draft.collection, draft.content, draft.payload
                ),
            ),
            draft.vector if draft.vector is not None else kept,
            draft.ends,
        )
        return draft.ends

    def delete(self, urns: Sequence[str]) -> int:
        """Remove what is there of these, and every edge that touches it. → how many went"""
        tenant, gone = self._tenant, 0
        edges = [row for row in tenant.live() if row.ends]
        todo = list(urns)
        while todo:
            row = tenant.rows.get(todo.pop(0))
            if row is None or row.payload is None:
                continue
            dead = row._replace(payload=None, vector=None, ends=None, seq=self.next_seq())
            tenant.rows[row.urn] = dead
            self._touched.add(row.collection)
            todo += [edge.urn for edge in edges if row.urn in (edge.ends or ())]
            gone += 1
        return gone

    def drop_vectors(self, collection: str | None = None) -> int:
        """Forget vectors; who had one counts as changed. → how many went"""
        held = [row for row in self._tenant.live(collection) if row.vector is not None]
        for row in held:
            self._tenant.rows[row.urn] = row._replace(vector=None, seq=self.next_seq())
        return len(held)

    def set_language(self, collection: str, language: str | None) -> None:
        """Declare a language; all that the collection holds counts as changed."""
        self.collection(collection)
        languages = self._tenant.languages
        if languages.get(collection) != language:
            languages.pop(collection, None)
            if language is not None:
                languages[collection] = language
            for row in self._tenant.live(collection):
                self._tenant.rows[row.urn] = row._replace(seq=self.next_seq())

    def set_policy(self, name: str, policy: Policy | None, document: str) -> None:
        """Put a collection under a policy, or (None) under none."""
        tenant = self._tenant
        new = None if policy is None else policy.layout
        change = LayoutChange(self._layouts.pop(name, None), new)
        tenant.documents.pop(name, None)
        if policy is not None:
            self._layouts[name] = policy.layout
            tenant.documents[name] = document
        tenant.version += 1
        if policy is not None:
            for row in tenant.live(name):
                check_addresses(policy, _addressed(row), tenant.keys)
        if change.reclassifies:
            number = self.collection(name)
            if change.drops_vectors(tenant.space):
                self.drop_vectors(name)
            tenant.classes = {k: n for k, n in tenant.classes.items() if k[0] != number}
            for row in tenant.live(name):
                own = self._class(number, _addressed(row))
                tenant.rows[row.urn] = row._replace(policy_class=own, seq=self.next_seq())
        for row in [row for row in tenant.live() if row.ends and row.collection != name]:
            own = self._class(self.collection(row.collection), _addressed(row))
            if own != row.policy_class:
                tenant.rows[row.urn] = row._replace(policy_class=own, seq=self.next_seq())

    def finish(self) -> int:
        """Settle what follows from the rows. → the last sequence"""
        tenant = self._tenant
        if not any(row.vector is not None for row in tenant.rows.values()):
            tenant.space = None
        for name in sorted(self._touched):
            shapes = [payloads.shape(json.loads(row.payload or "{}")) for row in tenant.live(name)]
            write_rules.check_columns(name, len({column for each in shapes for column, _ in each}))
        return tenant.seq

    def collection(self, name: str) -> int:
        """The number of a collection, made when there is none."""
        write_rules.check_collection(name)
        self._touched.add(name)
        if name not in self._tenant.collections:
            self._tenant.collections[name] = self._shared.next_number()
            self._tenant.version += 1
        return self._tenant.collections[name]

    def next_seq(self) -> int:
        self._tenant.seq += 1
        return self._tenant.seq

    def _class(self, number: int, entity: AddressedEntity) -> int:
        value = class_of(self._layouts, entity, self._tenant.keys)
        if value is None:
            return UNCLASSIFIED
        if (number, value) not in self._tenant.classes:
            self._tenant.classes[number, value] = self._shared.next_number()
            self._tenant.version += 1
        return self._tenant.classes[number, value]


def _addressed(row: Row) -> AddressedEntity:
    payload = row.payload or "{}"
    return AddressedEntity(
        row.urn, address(row.urn)[1], row.collection, json.loads(payload), payload
    )
