"""A search with a view that was taken earlier: class keys are those of the index it reads."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from redask.core.model import Caller
from redask.core.ports import Query, StoreView
from redask.core.rules import terms
from redask.index import SearchIndex
from redask.stores.entity_rows import entities
from redask.stores.sqlite.store import SqliteStore

OWNER = Caller()
READER = Caller("local", "ada", "reader")
QUERY = Query("alpha", terms.extract("alpha"))
ROWS = [{"id": n, "text": "alpha", "open": n == 1} for n in (1, 2)]


def policy(rows: str) -> object:
    return {"read": [{"roles": ["reader"], "rows": rows}]}


def found(index: SearchIndex, view: StoreView | None) -> list[str]:
    bm25 = index.search(QUERY, READER, view)[0]
    return [urn.rpartition("/")[2] for urn, _ in bm25.candidates]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path) as opened:
        opened.put(entities("t", ROWS), OWNER)
        opened.set_policy("t", policy("open = true"), OWNER)
        yield opened


@pytest.fixture
def index(tmp_path: Path, store: SqliteStore) -> Iterator[SearchIndex]:
    with closing(SearchIndex(tmp_path / "index", store)) as opened:
        yield opened


def test_policy_classes_that_moved_since_the_view_are_seen_as_they_are_now(
    store: SqliteStore, index: SearchIndex
) -> None:
    before = store.view(READER)
    assert found(index, before) == ["1"]
    store.set_policy("t", policy("id = 2"), OWNER)
    index.search(QUERY, OWNER)  # somebody else catches up
    assert found(index, before) == ["2"]
    assert found(index, None) == ["2"]


def test_a_policy_class_that_is_new_since_the_view_is_seen_if_it_may_be(
    store: SqliteStore, index: SearchIndex
) -> None:
    store.set_policy("t", policy("id > 0"), OWNER)
    before = store.view(READER)
    store.put(entities("t", [{"id": 3, "text": "alpha"}]), OWNER)
    index.search(QUERY, OWNER)
    assert found(index, before) == ["1", "2", "3"]


def test_a_view_that_is_as_far_as_the_index_is_taken_at_its_word(
    store: SqliteStore, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = store.view(READER)
    assert found(index, view) == ["1"]
    monkeypatch.setattr(SqliteStore, "view", lambda *_: pytest.fail("another view was taken"))
    assert found(index, view) == ["1"]


@pytest.mark.parametrize(
    ("after_the_view", "expected"), [(None, ["2"]), ("open = true", ["1", "3"])]
)
def test_a_policy_that_changes_around_the_second_view_is_seen_with_the_index_caught_up_to_it(
    store: SqliteStore,
    index: SearchIndex,
    monkeypatch: pytest.MonkeyPatch,
    after_the_view: str | None,
    expected: list[str],
) -> None:
    before = store.view(READER)
    store.put(entities("t", [{"id": 3, "text": "alpha", "open": True}]), OWNER)
    index.search(QUERY, OWNER)  # now the index is ahead of the view
    take, views = store.view, 0

    def view_amid_changes(caller: Caller) -> StoreView:
        """The first call: the policy changes just before, perhaps again just after the view."""
        nonlocal views
        views += 1
        if views > 1:
            return take(caller)
        store.set_policy("t", policy("id = 2"), OWNER)
        view = take(caller)
        if after_the_view:
            store.set_policy("t", policy(after_the_view), OWNER)
        return view

    monkeypatch.setattr(store, "view", view_amid_changes)
    assert found(index, before) == expected
    assert views == (2 if after_the_view else 1)
