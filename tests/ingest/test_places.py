"""Chunks say where they are; places are no words, and cost no vector when they change."""

import json
from dataclasses import replace
from pathlib import Path

from filing import app_of, contents, pdf_pages, pptx, text_cell, write, xlsx

import redask
from redask.core import places
from redask.core.model import Source
from redask.core.rules.grounding import source_text
from redask.core.wire import plain_text
from redask.embedding.embedding_text import embedding_text
from redask.index.analysis import analyzer
from redask.providers.extractive import excerpts
from redask.stores import payloads

CHUNK = {"path": "a.md", "text": "At nine.", "title": "Ferry"}


def test_places_of_a_chunk_are_no_words_of_it() -> None:
    place = {"cells": "A1", "line": 42, "page": 7, "sheet": "Times", "slide": 3}
    assert places.worded({**CHUNK, **place}) == CHUNK
    assert set(place) == set(places.LOCATORS) < set(places.NAMES)
    payload, bare = json.dumps({**CHUNK, **place}), json.dumps(CHUNK)
    assert analyzer.entity(payload) == analyzer.entity(bare)
    assert embedding_text(payload, frozenset()) == embedding_text(bare, frozenset())


def test_a_column_that_is_called_line_is_searched() -> None:
    row = {"line": "U6", "page": 3, "text": "Delayed."}
    assert places.worded(row) == row
    assert "U6" in analyzer.text(json.dumps(row))


def test_an_edit_at_the_top_moves_lines_and_embeds_only_what_changed(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.md", "# A\n\n## X\n\nx one\n\n## Y\n\ny two\n\n## Z\n\nz three")
    db.ingest(file)
    store = app_of(db).backend.store
    read = [change.entity for change in store.changes("local", 0, 100) if change.entity]
    embedded = [replace(each, vector=(1.0, number)) for number, each in enumerate(read)]
    through = store.watermark("local")
    store.set_vectors(embedded, "local", model="m", through=through)
    before = {each.urn: each.vector for each in embedded}
    write(file, "# A\n\n## X\n\nx one\nmore\nand more\n\n## Y\n\ny two\n\n## Z\n\nz three")
    done = db.ingest(file, wait=False)
    assert done.written == 3, "the lines of all that is below have changed"
    assert store.count_unembedded("local") == 1
    changes = store.changes("local", 0, 100)
    after = {change.urn: change.entity.vector for change in changes if change.entity}
    kept = [urn for urn in before if after[urn] == before[urn]]
    assert [urn.rpartition("#")[2] for urn in kept] == ["y", "z"]
    lines = {name: chunk["line"] for name, chunk in contents(db, "document:documents/").items()}
    assert lines == {"a.md#x": 5, "a.md#y": 11, "a.md#z": 15}


def test_pages_slides_sheets_and_cells_are_told(db: redask.OpenDatabase, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(
        pdf_pages([("One", "At nine."), ("Two", "Never."), ("Three", "Late.")])
    )
    (tmp_path / "b.pptx").write_bytes(
        pptx([("Ferries", "At nine."), ("Dogs", "One."), ("Dogs", "x")])
    )
    (tmp_path / "c.xlsx").write_bytes(xlsx({"Notes": [[], [text_cell("Only on Sundays.")]]}))
    assert db.ingest(tmp_path, collection="d").ok
    found = contents(db, "document:d/")
    assert {name: chunk["page"] for name, chunk in found.items() if "page" in chunk} == {
        "a.pdf#one": 1,
        "a.pdf#two": 2,
        "a.pdf#three": 3,
    }
    assert {name: chunk["slide"] for name, chunk in found.items() if "slide" in chunk} == {
        "b.pptx#ferries": 1,
        "b.pptx#dogs": 2,
        "b.pptx#dogs-2": 3,
    }
    assert found["c.xlsx#notes"]["sheet"] == "Notes"
    assert found["c.xlsx#notes"]["cells"] == "A2"


def test_the_evidence_of_an_answer_names_the_place(db: redask.OpenDatabase, tmp_path: Path) -> None:
    write(tmp_path / "docs" / "ferry.md", "# Ferry\n\n## Sunday\n\nThe ferry leaves at ten.\n")
    (tmp_path / "docs" / "b.pptx").write_bytes(
        pptx([("Dogs", "x"), ("Fare", "A dog costs 4 Euro.")])
    )
    db.ingest(tmp_path / "docs")
    answer = db.ask("When does the ferry leave on Sunday?", evidence=True)
    assert answer.answer == "[Sunday] The ferry leaves at ten. [^1]"
    (claim,) = json.loads(json.dumps(answer.to_dict()))["evidence"]
    assert claim["quotes"][0]["place"] == {"heading": "Sunday", "line": 5, "path": "ferry.md"}
    answer = db.ask("What does a dog cost?", evidence=True)
    (claim,) = json.loads(json.dumps(answer.to_dict()))["evidence"]
    assert claim["quotes"][0]["place"] == {"heading": "Fare", "path": "b.pptx", "slide": 2}


def test_the_place_of_a_row_is_no_column_and_no_word_of_it() -> None:
    place = {"cells": "A2:B2", "path": "a.xlsx", "sheet": "Fares"}
    row: dict[str, object] = {"_place": place, "port": "Amrum"}
    assert places.columns(row) == places.worded(row) == {"port": "Amrum"}
    assert payloads.shape(row) == (("port", "text"),)
    assert analyzer.entity(json.dumps(row)) == analyzer.entity('{"port": "Amrum"}')
    assert places.of_row(row) == place
    source = Source("urn:reddb:row:fares/1", json.dumps(row))
    assert [each.text for each in excerpts.read(source).excerpts] == ["port: Amrum"]
    assert [each.name for each in source_text.read(source).fields] == ["port"]
    for own in ("here", {**place, "cells": 2}, {**place, "cells": ""}, {"cells": "A2"}):
        users = {"_place": own, "port": "Amrum"}
        assert places.columns(users) == users
        assert places.of_row(users) == {}


def test_a_row_of_a_sheet_names_its_cells(db: redask.OpenDatabase, tmp_path: Path) -> None:
    book, head = tmp_path / "fares.xlsx", [text_cell("Port"), text_cell("Fare")]
    rows = [[text_cell("Amrum"), text_cell("9 Euro")], [text_cell("Sylt"), text_cell("12 Euro")]]
    book.write_bytes(xlsx({"Summer": [[], head, *rows]}))
    db.ingest(book)
    answer = db.ask("What is the fare to Sylt?", plan="off", evidence=True)
    assert "12 Euro" in answer.answer
    assert "_place" not in answer.answer
    shown = "fares.xlsx, sheet Summer, cells A4:B4: Fare: 12 Euro, Port: Sylt"
    assert [note for _, _, note in plain_text.footnotes(answer)] == [shown]
    (claim,) = json.loads(json.dumps(answer.to_dict()))["evidence"]
    place = {"cells": "A4:B4", "path": "fares.xlsx", "sheet": "Summer"}
    assert [{**quote["place"], "columns": []} for quote in claim["quotes"]] == [
        {**place, "columns": []} for _ in claim["quotes"]
    ]
    (first, _) = db.select('SELECT * FROM "Summer" ORDER BY "Port"')
    assert sorted(first) == ["Fare", "Port", "id", "urn"]
    computed = db.ask("How many Summer are there?")
    assert computed.answer.startswith("count: 2 "), "tables and plans do not know the place"


def test_a_row_that_moves_in_its_sheet_keeps_its_vector(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    book, head = tmp_path / "fares.xlsx", [text_cell("id"), text_cell("Fare")]
    row = [text_cell("amrum"), text_cell("9 Euro")]
    book.write_bytes(xlsx({"Summer": [head, row]}))
    db.ingest(book)
    store = app_of(db).backend.store
    [entity] = [change.entity for change in store.changes("local", 0, 9) if change.entity]
    embedded = [replace(entity, vector=(1.0, 2.0))]
    store.set_vectors(embedded, "local", model="m", through=store.watermark("local"))
    book.write_bytes(xlsx({"Summer": [[], head, row]}))
    assert db.ingest(book, wait=False).written == 1
    assert contents(db, "row:Summer/")["amrum"]["_place"]["cells"] == "A3:B3"
    assert store.count_unembedded("local") == 0


def test_who_sees_only_some_columns_of_a_row_does_not_see_its_cells(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    book, head = tmp_path / "fares.xlsx", [text_cell("Port"), text_cell("Fare")]
    book.write_bytes(xlsx({"Summer": [head, [text_cell("Amrum"), text_cell("9 Euro")]]}))
    db.ingest(book)
    rules = [{"roles": ["crew"], "hide": ["Fare"]}, {"roles": ["desk"]}]
    db.set_policy("Summer", {"read": rules})
    for role, shown in (("crew", None), ("desk", "A2:B2")):
        db.add_user(role, role=role)
        with db.signed_in(db.make_token(role)) as reader:
            [hit] = reader.search("Amrum").hits
            place = json.loads(hit.payload).get("_place")
            assert (place and place["cells"]) == shown
