"""Whatever is done to a store in whatever order, it behaves like a dictionary with a log."""

import json
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from redask.core.errors import BadAsk
from redask.core.model import Caller, Kind
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.sqlite.store import SqliteStore

TENANTS = st.sampled_from(["local", "other"])
COLLECTIONS = st.sampled_from(["a", "b c"])
IDS = st.integers(0, 5)
VALUES = st.sampled_from([1, 2.5, "x", True, None, [1], {"k": 2}, 2**70])
CONTENTS = st.dictionaries(st.sampled_from(["x", "y", "z"]), VALUES, max_size=2)
BATCHES = st.dictionaries(IDS, CONTENTS, min_size=1, max_size=4)
VECTORS = st.none() | st.tuples(st.sampled_from([0.0, 0.5]), st.just(1.0))


def urn(collection: str, number: int) -> str:
    return f"urn:reddb:row:{collection.replace(' ', '%20')}/{number}"


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.store = SqliteStore(self.directory)
        self.held: defaultdict[str, dict[str, Entity]] = defaultdict(dict)
        self.seen: defaultdict[str, int] = defaultdict(int)
        self.projected: defaultdict[str, dict[int, Entity]] = defaultdict(dict)
        self.languages: dict[tuple[str, str], str | None] = {}

    def teardown(self) -> None:
        assert self.store.check() == []
        self.store.close()
        shutil.rmtree(self.directory)

    @rule(tenant=TENANTS, collection=COLLECTIONS, batch=BATCHES, vector=VECTORS)
    def put(
        self,
        tenant: str,
        collection: str,
        batch: dict[int, dict[str, object]],
        vector: tuple[float, ...] | None,
    ) -> None:
        given = [{"id": number, **content} for number, content in batch.items()]
        entities = entity_rows.entities(collection, given, vectors=[vector] * len(given))
        held = self.held[tenant]
        changed = 0
        for entity in entities:
            old = held.get(entity.urn)
            if old and old.payload == entity.payload and entity.vector in (None, old.vector):
                continue
            changed += 1
            held[entity.urn] = entity
        before = self.store.watermark(tenant)
        assert self.store.put(entities, Caller(tenant=tenant)) == before + changed

    @rule(tenant=TENANTS, collection=COLLECTIONS, one=IDS, two=IDS, label=st.sampled_from("pq"))
    def link(self, tenant: str, collection: str, one: int, two: int, label: str) -> None:
        edge = entity_rows.link(urn(collection, one), label, urn("a", two))
        held = self.held[tenant]
        if edge.source in held and edge.target in held:
            self.store.put([edge], Caller(tenant=tenant))
            held[edge.urn] = edge
        else:
            with pytest.raises(BadAsk, match="does not exist"):
                self.store.put([edge], Caller(tenant=tenant))

    @rule(tenant=TENANTS, collection=COLLECTIONS, numbers=st.lists(IDS, max_size=3))
    def delete(self, tenant: str, collection: str, numbers: list[int]) -> None:
        wanted = [urn(collection, number) for number in numbers]
        gone = set(wanted) & self.held[tenant].keys()
        gone |= {e.urn for e in self.held[tenant].values() if {e.source, e.target} & gone}
        assert self.store.delete(wanted, Caller(tenant=tenant)) == len(gone)
        for name in gone:
            del self.held[tenant][name]

    @rule(tenant=TENANTS, collection=COLLECTIONS, language=st.sampled_from(["de", "en", None]))
    def set_language(self, tenant: str, collection: str, language: str | None) -> None:
        self.store.set_language(collection, language, Caller(tenant=tenant))
        self.languages[tenant, collection] = language

    @rule(tenant=TENANTS)
    @precondition(lambda self: any(self.held.values()))
    def fail(self, tenant: str) -> None:
        before = self.store.watermark(tenant)
        bad = Entity("urn:reddb:row:a/0", "[]")
        good = entity_rows.entities("new", [{"id": 1}])
        with pytest.raises(BadAsk):
            self.store.put([*good, bad], Caller(tenant=tenant))
        assert self.store.watermark(tenant) == before

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = SqliteStore(self.directory)

    @invariant()
    def everything_held_is_read(self) -> None:
        for tenant, held in self.held.items():
            caller = Caller(tenant=tenant)
            wanted = [urn(c, n) for c in ("a", "b c") for n in range(6)]
            found = {source.urn: source.payload for source in self.store.read(wanted, caller)}
            assert found == {u: held[u].payload for u in wanted if u in held}
            paged = [s.urn for c in ("a", "b c", "links") for s in self.store.page(c, caller)]
            assert sorted(paged) == sorted(held)

    @invariant()
    def a_projection_that_follows_the_log_agrees(self) -> None:
        for tenant, held in self.held.items():
            projected = self.projected[tenant]
            while changes := self.store.changes(tenant, self.seen[tenant], 3):
                for change in changes:
                    assert change.seq > self.seen[tenant]
                    self.seen[tenant] = change.seq
                    projected.pop(change.key, None)
                    if change.entity:
                        projected[change.key] = change.entity
                        wanted = self.languages.get((tenant, change.collection))
                        assert change.language == wanted
            assert self.seen[tenant] == self.store.watermark(tenant)
            assert {e.urn: e for e in projected.values()} == held

    @invariant()
    def the_catalogue_is_that_of_the_content(self) -> None:
        for tenant, held in self.held.items():
            caller = Caller(tenant=tenant)
            told = self.store.statistics(caller)
            assert told.entities == len(held)
            assert told.vectors == sum(entity.vector is not None for entity in held.values())
            assert told.edges == sum(entity.source is not None for entity in held.values())
            for collection in ("a", "b c"):
                prefix = urn(collection, 0)[:-1]
                contents = [json.loads(e.payload) for u, e in held.items() if u.startswith(prefix)]
                names = {name for content in contents for name in content}
                assert {c.name for c in self.store.columns(collection, caller)} == names
                counts = [c.entities for c in told.collections if c.name == collection]
                assert (counts or [{}])[0].get(Kind.ROW, 0) == len(contents)


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=30, stateful_step_count=25)
