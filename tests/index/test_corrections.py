"""Words that nobody holds are read as words that somebody holds, and never as hidden ones."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import redask
from redask.index import SearchIndex
from redask.index.lexical.word_list import WordList
from tests.index.memory_store import MemoryStore
from tests.index.test_partition import CALLER
from tests.index.texts import ask, row

TEXTS = (
    "An HTTPTransport with follow_redirects may receive redirects under new management.",
    "The database holds temperatures; the señal of Zürich. CVE-2024-1234, fixed in 0.27.2.",
    "Websites of children, and CVE-2024-1235 in 0.27.1; received, received, received.",
)
Search = Callable[[str], tuple[list[str], tuple[tuple[str, str], ...]]]


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.put([row(number, text=text) for number, text in enumerate(TEXTS)], CALLER)
    return store


@pytest.fixture
def search(store: MemoryStore, tmp_path: Path) -> Iterator[Search]:
    index = SearchIndex(tmp_path, store)

    def found(question: str) -> tuple[list[str], tuple[tuple[str, str], ...]]:
        words = index.search(ask(question), CALLER)[0]
        return [urn.rsplit("/", 1)[1] for urn, _ in words.candidates], words.taken_for

    yield found
    index.close()


@pytest.mark.parametrize(
    ("question", "best", "taken"),
    [
        ("http transport", "0", []),
        ("HTTPTransport", "0", []),
        ("follow redirects", "0", []),
        ("follow_redirects", "0", []),
        ("website", "2", []),
        ("HttpxTransport", "0", [("HttpxTransport", "httptransport")]),
        ("RedirectsManagement", "0", [("RedirectsManagement", "redirects management")]),
        ("the recieve of it", "2", [("recieve", "receive")]),  # its stem is in two rows
        ("Manegment?", "0", [("Manegment", "management")]),
        ("data base", "1", [("data base", "database")]),
        ("data-base", "1", [("data-base", "database")]),
        ("databasetemperatures", "1", [("databasetemperatures", "database temperatures")]),
        ("¿la temperatura?", "1", [("temperatura", "temperatures")]),
        ("senal zurich", "1", [("senal", "señal"), ("zurich", "zürich")]),
        ("CVE-2024-1234", "1", []),
        ("what is new in 0.27.1?", "2", []),
    ],
)
def test_words_are_found_as_people_type_them(
    question: str, best: str, taken: list[tuple[str, str]], search: Search
) -> None:
    found, taken_for = search(question)
    assert found[0] == best
    assert list(taken_for) == taken


@pytest.mark.parametrize(
    "question",
    ["salary", "rcv", "sime", '"recieve"', "recieve_x", "xeceive", "東京大学院", "123456", ""],
)
def test_what_is_not_near_or_meant_as_written_is_not_read_otherwise(
    question: str, search: Search
) -> None:
    assert search(question)[1] == ()


def test_the_words_of_rows_that_are_gone_are_not_proposed(
    store: MemoryStore, search: Search
) -> None:
    store.put([row(7, text="Quarantined")], CALLER)
    assert search("quarantinez")[1] == (("quarantinez", "quarantined"),)
    store.put([row(8, text="Quarantines"), row(7, text="nothing")], CALLER)
    assert search("quarantinez")[1] == (("quarantinez", "quarantines"),)
    store.delete([row(8).urn], CALLER)
    assert search("quarantinez")[1] == ()


def test_at_most_eight_words_are_tried(search: Search) -> None:
    unknown = " ".join(f"qqqqqqqq{letter}" for letter in "abcdefgh")
    assert search(f"{unknown} recieve")[1] == ()
    assert search(f"{unknown[:-10]} recieve")[1] == (("recieve", "receive"),)


def test_the_list_of_words_is_only_caught_up() -> None:
    words = WordList()
    rows = [(1, "receive"), (2, "relieve"), (5, "deceive")]
    asked: list[int] = []

    def read(after: int) -> list[tuple[int, str]]:
        asked.append(after)
        return [one for one in rows if one[0] > after]

    words.catch_up(read)
    words.catch_up(read)
    assert asked == [0, 5]
    assert sorted(words.near("recieve")) == [(1, "receive"), (1, "relieve")]
    assert words.near("rec") == []


def test_a_person_is_told_what_was_read_otherwise(tmp_path: Path) -> None:
    with redask.open(tmp_path, embedder="none") as db:
        db.put("docs", [{"id": 1, "text": TEXTS[0]}])
        said = db.search("recieve").notes
        assert said == (
            "taken_for: no source that may be read holds 'recieve': it was taken for 'receive'",
        )
        assert db.search("receive").notes == ()
