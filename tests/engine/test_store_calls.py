"""How often an ask goes to the store: a view, and a read of what was found.

One view more before, and one after, say whether what was found may be remembered for the next one,
which takes the first of them alone.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import redask
from redask.app import App

QUESTION = "When does the ferry leave?"


class Counted:
    """A store that counts which of its methods are called."""

    def __init__(self, store: Any, calls: Counter[str]) -> None:
        self._store = store
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        def counted(*args: Any, **named: Any) -> Any:
            self._calls[name] += 1
            return found(*args, **named)

        return counted


def counting(app: App, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """→ the calls of retrieval, index and embedding from now on"""
    calls: Counter[str] = Counter()
    retriever: Any = app.retriever
    counted = Counted(app.backend.store, calls)
    object.__setattr__(retriever, "store", counted)
    monkeypatch.setattr(app.index, "_store", counted)
    monkeypatch.setattr(retriever.embedding, "store", counted)
    monkeypatch.setattr(app.finder, "_view", counted.view)
    app.index.close()  # so that its partitions open with the store that counts
    return calls


@pytest.mark.parametrize("options", [{}, {"collection": ["notes"]}, {"depth": 0}], ids=str)
def test_a_warm_ask_takes_three_views_and_one_read_and_a_remembered_one_a_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    with redask.open(tmp_path, embedder="hashed") as db:
        db.put("notes", [{"id": n, "text": f"Ferry {n} leaves at nine."} for n in range(5)])
        db.set_policy("notes", {"read": [{"roles": ["*"], "rows": "id < 3"}]})
        db.add_user("mia", role="support")
        mia = db.signed_in(db.make_token("mia"))
        calls = counting(db._async._app, monkeypatch)
        for who in (db, mia):
            who.ask(QUESTION, using="scripted", **options)
            calls.clear()
            answer = who.ask(f"{QUESTION} Really?", using="scripted", **options)
            assert answer.sources_flat
            assert calls == {"view": 3, "read": 1}
            calls.clear()
            assert who.ask(QUESTION, using="scripted", **options).sources_flat
            assert calls == {"view": 1}
            calls.clear()
            who.search(QUESTION, **options)
            assert calls == {"view": 1, "read": 1}


def test_a_write_is_in_the_next_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with redask.open(tmp_path, embedder="hashed") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        calls = counting(db._async._app, monkeypatch)
        db.search(QUESTION)
        db.put("notes", [{"id": 2, "text": "The ferry leaves at ten."}])
        calls.clear()
        assert len(db.search(QUESTION).hits) == 2
        assert calls["view"] <= 2


def reads(app: App, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """→ the URNs of each read from now on"""
    found: list[list[str]] = []
    store: Any = app.backend.store
    read = store.read

    def watched(urns: Any, caller: Any) -> Any:
        found.extend([list(urns)] if urns else [])
        return read(urns, caller)

    monkeypatch.setattr(store, "read", watched)
    return found


def test_who_may_read_everything_reads_only_what_was_fused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redask.open(tmp_path, embedder="hashed") as db:
        db.put("notes", [{"id": n, "text": f"Ferry {n} leaves at nine."} for n in range(9)])
        read = reads(db._async._app, monkeypatch)
        found = db.search(QUESTION, limit=2)
        assert read == [[hit.urn for hit in found.hits]]
        db.set_policy("notes", {"read": [{"roles": ["*"], "rows": "id < 7"}]})
        db.add_user("mia", role="support")
        mia = db.signed_in(db.make_token("mia"))
        read.clear()
        assert len(mia.search(QUESTION, limit=2).hits) == 2
        assert [len(urns) for urns in read] == [7]


def test_what_went_between_search_and_read_is_in_no_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redask.open(tmp_path, embedder="none") as db:
        db.put("notes", [{"id": n, "text": "The ferry leaves" + " now" * n} for n in range(9)])
        expected = [hit.urn for hit in db.search(QUESTION, limit=4).hits]
        index: Any = db._async._app.index
        store, search = db._async._app.backend.store, index.search

        def late(query: Any, caller: Any, view: Any) -> Any:
            found = search(query, caller, view)
            store.delete([expected[0]], caller)
            return found

        monkeypatch.setattr(index, "search", late)
        found = db.search(QUESTION, limit=3)
        assert [hit.urn for hit in found.hits] == expected[1:]
        assert all(urn != expected[0] for each in found.buckets for urn, _ in each.candidates)
