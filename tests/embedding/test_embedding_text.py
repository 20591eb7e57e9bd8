"""What of an entity is embedded: names and words, whatever column they stand in, and no numbers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import redask
from redask.core.model import Caller
from redask.embedding.embedding_text import embedding_text

Rows = list[dict[str, Any]]
SEEN: frozenset[str] = frozenset()
LINES: Rows = [{"InvoiceId": 7, "id": n, "Quantity": 1, "UnitPrice": 1.99} for n in range(300)]
SONGS: Rows = [
    {"Bytes": 11170334, "Composer": "Angus Young", "Name": "Salute", "id": 1},
    {"Bytes": 5510424, "Composer": None, "Name": "1979", "id": 2},
]


def text(hidden: frozenset[str] = SEEN, **columns: Any) -> str:
    return embedding_text(json.dumps(columns, sort_keys=True), hidden)


@pytest.mark.parametrize("name", ["name", "Name", "NAME", "title", "Title"])
def test_a_name_or_title_comes_first_in_any_case(name: str) -> None:
    assert text(SEEN, **{"Abstract": "of a ferry", name: "Late"}) == "Late\nof a ferry"


def test_a_title_comes_before_a_name() -> None:
    assert text(Name="Ann", Title="Captain", about="ferries") == "Captain\nAnn\nferries"


def test_columns_without_words_and_the_id_are_left_out() -> None:
    assert text(id="ferry", born="1962-02-18", code="FDD-12316", n=12, note="late") == "late"


def test_a_name_is_embedded_whatever_it_says_and_other_numbers_are_not() -> None:
    assert text(name="1984", year=1984) == "1984"
    assert text(year=1984, price="12.50", currency="EUR") == ""


def test_hidden_columns_are_left_out_names_too() -> None:
    assert text(frozenset({"Name", "note"}), Name="Ann", note="late", port="Oslo") == "Oslo"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path / "db", embedder="hashed") as opened:
        yield opened


def counts(db: redask.OpenDatabase) -> tuple[int, int]:
    report = db.doctor()
    return report["store"]["vectors"], report["embedding"]["pending"]


def test_rows_without_words_get_no_vector_and_wait_for_none(db: redask.OpenDatabase) -> None:
    db.put("lines", LINES, wait=False)
    assert counts(db) == (0, 0)
    assert db.search("late ferry").warnings == ()
    db.put("songs", SONGS, wait=False)
    assert counts(db) == (0, 2)
    assert [each.kind for each in db.search("late ferry").warnings] == ["embedding_pending"]
    assert db.embed() == 2
    assert counts(db) == (2, 0)
    assert db.search("late ferry").warnings == ()
    assert db.unsettled() == ()


def test_a_row_that_loses_its_words_loses_its_vector_and_gets_one_back(
    db: redask.OpenDatabase,
) -> None:
    db.put("notes", [{"id": 1, "note": "late"}])
    db.put("notes", [{"id": 1, "note": "12"}])
    assert counts(db) == (0, 0)
    db.put("notes", [{"id": 1, "note": "late"}])
    assert counts(db) == (1, 0)


def test_the_order_of_writes_makes_no_difference(tmp_path: Path) -> None:
    songs = [{**row, "id": f"song {row['id']}"} for row in SONGS]
    rows = [*LINES[:80], *songs]
    found = []
    histories: dict[str, list[Rows]] = {
        "a": [rows],
        "b": [songs[1:], rows[40:], rows[:40], songs],
    }
    for name, batches in histories.items():
        with redask.open(tmp_path / name, embedder="hashed") as db:
            for batch in batches:
                db.put("rows", batch)
            hits = db.search("Salute of Angus Young in 1979").hits
            found.append([(hit.urn, hit.score) for hit in hits])
    assert found[0] == found[1] != []


def test_a_hidden_text_that_waits_is_no_secret_told_by_a_warning(db: redask.OpenDatabase) -> None:
    db.put("open", LINES[:3], wait=False)
    db.put("secret", [{"id": 1, "note": "late"}], wait=False)
    db.set_policy("secret", {"read": [{"roles": ["clerk"]}]}, wait=False)
    app = db._async._app
    stage = app.retriever.embedding
    assert stage is not None
    reader = Caller(user="ann", role="reader")
    assert not stage.warnings(reader, app.backend.store.view(reader))
    assert stage.warnings(Caller(), app.backend.store.view(Caller()))
