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
