"""The test of non-interference can fail: each of these bugs is planted once, and caught.

A bug is a small lie in one place of the real code; the rounds of `test_non_interference` run
with it until one of them notices.
"""

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from redask.core.access import policy, predicate
from redask.core.access.policy import ClassLayout, Grant, Projection
from redask.core.rules import caching, prompt
from redask.index import buckets
from redask.index.forward.forward_index import Snapshot
from redask.index.graph import adjacency
from redask.index.lexical import bm25
from redask.index.lexical.bm25 import LexicalSearcher
from redask.index.lexical.tantivy_terms import TermSearcher
from redask.stores import visibility as store_visibility
from redask.stores.columnar import readable_tables
from redask.stores.columnar.plan_facts import plan_tables, table_facts
from redask.stores.policy_classes import KeyColumns, split_class
from redask.stores.relational import (
    class_numbers,
    embedding_queue,
    inspection,
    relational_store,
    visibility_queries,
)
from redask.stores.visibility import EVERYTHING, StoreVisibility
from tests.access.checking import check

ROUNDS = 60
GUARDED = {"other_tenants_are_read"}  # by row level security of PostgreSQL
NOTICED = {"the_key_at_the_far_end_is_forgotten": 28}  # tried first: the others follow
Plant = Callable[[pytest.MonkeyPatch], None]
BUGS: dict[str, Plant] = {}


def bug(plant: Plant) -> Plant:
    BUGS[plant.__name__] = plant
    return plant


@bug
def the_store_shows_forbidden_rows(patch: pytest.MonkeyPatch) -> None:
    projection = StoreVisibility.projection
    patch.setattr(
        StoreVisibility,
        "projection",
        lambda self, *numbers: projection(self, *numbers) or Projection(),
    )


@bug
def rows_are_filtered_after_ranking(patch: pytest.MonkeyPatch) -> None:
    search = buckets.search

    def unfiltered(*given: Any) -> Any:
        generation_, state, query, visibility, read = given
        own = {group.projection_key: group.projection_key for group in state.statistics}
        everything = dataclasses.replace(
            visibility, projections=None if visibility.projections is None else own
        )
        return search(generation_, state, query, everything, read)

    patch.setattr(buckets, "search", unfiltered)


@bug
def counts_of_entities_are_taken_over_all_rows(patch: pytest.MonkeyPatch) -> None:
    init = LexicalSearcher.__init__

    def greedy(
        self: LexicalSearcher, searcher: TermSearcher, snapshot: Snapshot, *rest: Any, **named: Any
    ) -> None:
        tail, readable, _ = rest
        groups = snapshot.statistics()
        statistics = bm25.CorpusStatistics.of(groups)
        init(self, searcher, snapshot, tail, readable, statistics, **named)

    patch.setattr(LexicalSearcher, "__init__", greedy)


@bug
def counts_of_words_are_taken_over_all_rows(patch: pytest.MonkeyPatch) -> None:
    counts = LexicalSearcher._document_frequencies

    def greedy(self: LexicalSearcher, terms: Any) -> list[int]:
        patched, self._readable = self._readable, None
        try:
            return counts(self, terms)
        finally:
            self._readable = patched

    patch.setattr(LexicalSearcher, "_document_frequencies", greedy)


@bug
def vectors_are_not_filtered(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(buckets, "_vector_filter", lambda *_: None)


@bug
def an_edge_with_a_hidden_end_is_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StoreVisibility, "whole_edges", lambda self, keys, parts: frozenset(keys))


@bug
def an_edge_of_a_hidden_key_is_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("redask.stores.visibility.split_class", lambda value: (split_class(value)[0], {}))


@bug
def the_key_at_the_far_end_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    of = KeyColumns.of

    def near(keys: Any) -> KeyColumns:
        return of([dataclasses.replace(key, target_columns=()) for key in keys])

    patch.setattr(class_numbers, "KeyColumns", SimpleNamespace(of=near))


@bug
def show_lets_other_columns_pass(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Projection, "hides", lambda self, column: column in self.hide or column in self.mask
    )


@bug
def the_graph_is_walked_over_hidden_edges(patch: pytest.MonkeyPatch) -> None:
    init = adjacency.Adjacency.__init__
    patch.setattr(
        adjacency.Adjacency,
        "__init__",
        lambda self, connection, *_: init(self, connection, None),
    )


@bug
def hidden_columns_are_searched(patch: pytest.MonkeyPatch) -> None:
    keys_of = store_visibility.keys_of

    def undressed(layout: ClassLayout | None, policy_class: str | None, payload: str | None) -> Any:
        class_key, projections = keys_of(layout, policy_class, payload)
        return class_key, tuple((key, payload) for key, _ in projections)

    patch.setattr(relational_store, "keys_of", undressed)


@bug
def columns_are_masked_in_the_answer_but_not_in_the_prompt(patch: pytest.MonkeyPatch) -> None:
    assemble = prompt.assemble

    def leaking(question: str, sources: Any, *rest: Any, **named: Any) -> Any:
        whole = [dataclasses.replace(s, payload=ORIGINALS.get(s.urn, s.payload)) for s in sources]
        return assemble(question, whole, *rest, **named)

    patch.setattr(prompt, "assemble", leaking)
    show = Projection.show

    def noted(self: Projection, payload: str) -> str:
        shown = show(self, payload)
        if shown != payload:
            for urn in [urn for urn, own in ORIGINALS.items() if own == shown]:
                ORIGINALS[urn] = payload
        return shown

    read = StoreVisibility.show

    def remembered(self: StoreVisibility, found: Any, parts: Any) -> Any:
        ORIGINALS.update({each.urn: each.payload for each in found})
        return read(self, found, parts)

    patch.setattr(Projection, "show", noted)
    patch.setattr(StoreVisibility, "show", remembered)


ORIGINALS: dict[str, str] = {}


@bug
def a_mask_leaves_missing_values_missing(patch: pytest.MonkeyPatch) -> None:
    show = Projection.show

    def honest(self: Projection, payload: str) -> str:
        present = frozenset(name for name in self.mask if f'"{name}":' in payload)
        return show(Projection(self.hide, present, self.only), payload)

    patch.setattr(Projection, "show", honest)


@bug
def a_policy_change_is_not_noticed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(visibility_queries, "access_number", lambda *_: 1)


@bug
def the_cache_forgets_the_tenant(patch: pytest.MonkeyPatch) -> None:
    key = caching.key
    patch.setattr(caching, "key", lambda **named: key(**{**named, "tenant": ""}))


@bug
def the_cache_forgets_the_user(patch: pytest.MonkeyPatch) -> None:
    key = caching.key
    patch.setattr(caching, "key", lambda **named: key(**{**named, "user": ""}))


@bug
def what_is_unknown_admits(patch: pytest.MonkeyPatch) -> None:
    holds = predicate.Condition.holds
    patch.setattr(
        predicate.Condition,
        "holds",
        lambda self, row, user: self._check(row, user) is None or holds(self, row, user),
    )


@bug
def an_attribute_that_is_missing_opens_the_collection(patch: pytest.MonkeyPatch) -> None:
    grant = policy.grant
    patch.setattr(store_visibility, "grant", lambda p, who: grant(p, who) or Grant())


@bug
def catalogues_count_hidden_rows(patch: pytest.MonkeyPatch) -> None:
    collections = inspection.collections
    patch.setattr(
        inspection, "collections", lambda c, tenant, visibility=EVERYTHING: collections(c, tenant)
    )


@bug
def columns_of_hidden_rows_are_listed(patch: pytest.MonkeyPatch) -> None:
    columns = inspection.columns
    patch.setattr(
        inspection, "columns", lambda c, tenant, name, visibility=None: columns(c, tenant, name)
    )


@bug
def other_tenants_are_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(relational_store, "_TENANT", "(SELECT max(id) FROM tenants WHERE ? <> '')")


@bug
def hidden_columns_are_embedded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(embedding_queue, "target_layouts", lambda *_: {})


@bug
def select_shows_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(readable_tables, "is_readable", lambda *_: True)


@bug
def plans_count_what_is_hidden(patch: pytest.MonkeyPatch) -> None:
    real = table_facts.read_facts

    def more(cursor: Any, table: str, *arguments: Any, **named: Any) -> Any:
        facts = real(cursor, table, *arguments, **named)
        every = "SELECT count(*) FROM memory.main.entity_rows WHERE until IS NULL"
        return dataclasses.replace(facts, rows=facts.rows + cursor.execute(every).fetchone()[0])

    patch.setattr(plan_tables, "read_facts", more)


def caught(seed: int) -> bool:
    try:
        check(seed)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("name", sorted(BUGS))
def test_a_planted_bug_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Where row level security holds beneath, what it guards is no leak though we have a bug."""
    is_guarded = request.config.getoption("--access-backend") == "postgresql" and name in GUARDED
    BUGS[name](monkeypatch)
    seeds = (NOTICED.get(name, 0), *range(ROUNDS))
    assert any(caught(seed) for seed in seeds) is not is_guarded, f"{name} went unnoticed"
