"""Words as people type them find what is meant, by the whole search and by an ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import redask
from redask.api.sync import OpenDatabase

DOCS = {
    1: ("Release notes", "Version 0.27.1 fixes redirects of the client, and many other things."),
    2: ("Release notes", "Version 0.27.2 restores the shortcut of ciphers."),
    3: ("Release notes", "Version 0.27.20: what is new? Many versions, fixes and releases."),
    4: ("Advisory", "CVE-2024-1234 is a buffer overflow in the parser."),
    5: ("Advisory", "CVE-2024-1235 is a buffer overflow. What is a CVE about? CVE, CVE, CVE."),
    6: ("Transports", "An HTTPTransport sends requests over a pool of connections."),
    7: ("Redirects", "Set follow_redirects to have the client go on after a status of 302."),
    8: ("Storage", "The database is kept in one directory, and a backup is a copy of it."),
    9: ("Prices", "Children under twelve travel for free on the ferry."),
    10: ("Reports", "The management receives a summary on Mondays."),
    11: ("Orders", "ORD-7781-B was sent to Hamburg on 3 May 2024."),
    12: ("Orders", "ORD-7782-B was sent to Hamburg on 4 May 2024, an order of many orders."),
}


@pytest.fixture(scope="module", params=["minilm", "none"])
def db(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenDatabase]:
    rows = [{"id": n, "title": title, "text": text} for n, (title, text) in DOCS.items()]
    with redask.open(tmp_path_factory.mktemp("db"), embedder=request.param) as opened:
        opened.put("docs", rows, kind="document")
        yield opened


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("0.27.2", 2),
        ("What is new in 0.27.2?", 2),
        ("What changed in version 0.27.2 of the client?", 2),
        ("CVE-2024-1234", 4),
        ("cve-2024-1234", 4),
        ("What is CVE-2024-1234 about?", 4),
        ("When was the order ORD-7781-B sent?", 11),
        ("ord-7781-b", 11),
    ],
)
def test_what_an_identifier_names_comes_first(db: OpenDatabase, question: str, first: int) -> None:
    assert next(iter(db.search(question))).urn == f"urn:reddb:document:docs/{first}"


@pytest.mark.parametrize(
    ("question", "first", "taken"),
    [
        ("http transport", 6, ""),
        ("HttpTransport", 6, ""),
        ("http_transport", 6, ""),
        ("followRedirects", 7, ""),
        ("follow redirects", 7, ""),
        ("data base backups", 8, ""),
        ("databases", 8, ""),
        ("ferry childs", 9, ""),
        ("Who recieve it?", 10, "'recieve': it was taken for 'receives'"),
        ("the manegments", 10, "'manegments': it was taken for 'management'"),
        ("paresr", 4, "'paresr': it was taken for 'parser'"),
    ],
)
def test_other_forms_of_a_word_find_it_and_a_person_is_told_what_it_was_taken_for(
    db: OpenDatabase, question: str, first: int, taken: str
) -> None:
    found = db.search(question)
    assert next(iter(found)).urn == f"urn:reddb:document:docs/{first}"
    said = [note for note in found.notes if note.startswith("taken_for")]
    assert said == ([f"taken_for: no source that may be read holds {taken}"] if taken else [])


def test_an_ask_answers_and_warns_as_a_search_does(db: OpenDatabase) -> None:
    answer = db.ask("When does the manegment recieve a summary?")
    assert answer.answer == "The management receives a summary on Mondays. [^1]"
    assert [note.kind for note in answer.validation.warnings] == ["taken_for", "taken_for"]


# --- questions in another language than the data ------------------------------------------


def other_language(path: Path, embedder: str, question: str) -> tuple[list[str], list[str]]:
    rows = [{"id": n, "title": title, "text": text} for n, (title, text) in DOCS.items()]
    with redask.open(path, embedder=embedder) as opened:
        opened.put("docs", rows, kind="document")
        found = opened.search(question)
        asked = opened.ask(question).validation.warnings
        told = [note.detail for note in asked if note.kind == "other_language"]
        searched = [note for note in found.notes if note.startswith("other_language: ")]
        assert searched == [f"other_language: {detail}" for detail in told]
        return [hit.urn.rpartition("/")[2] for hit in found], told


def test_little_that_is_found_in_another_language_is_explained(tmp_path: Path) -> None:
    found, told = other_language(tmp_path, "minilm", "Wann fährt die Fähre für Kinder?")
    assert found == []
    assert told == [
        "little was found by words, and the search by meaning was left out, for the question is "
        "in de and the embedder knows en"
    ]


def test_so_is_a_single_name_that_is_found_of_a_long_question(tmp_path: Path) -> None:
    question = "Wie teuer ist eine Übernachtung mit Frühstück für zwei Personen nahe Hamburg?"
    found, told = other_language(tmp_path, "minilm", question)
    assert found[:2] == ["11", "12"]
    assert len(told) == 1


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Was wurde in 0.27.2 geändert?", "2"),  # a number
        ("Wann wurde die Bestellung ORD-7781-B nach Hamburg geschickt?", "11"),  # names
        ("Was erhält das Management am Montag?", "10"),  # cognates
    ],
)
def test_numbers_names_and_cognates_are_found_in_another_language(
    tmp_path: Path, question: str, first: str
) -> None:
    found, _ = other_language(tmp_path, "minilm", question)
    assert found[0] == first


@pytest.mark.parametrize("embedder", ["none", "hashed"])
def test_an_embedder_of_every_language_or_none_at_all_is_not_blamed(
    tmp_path: Path, embedder: str
) -> None:
    assert other_language(tmp_path, embedder, "Wann fährt die Fähre für Kinder?")[1] == []
