"""What an answer and a search show when they are printed: what people read, not every payload."""

import pytest

import redask
from redask.api.results import CitedAnswer, SearchHit, SearchResult
from redask.core.model import Footnote, Mode, Notice, Source, Validation
from redask.core.ports import Found

LONG = "The ferry to Amrum leaves at nine. " * 40


def answer(*, cited: tuple[int, ...] = (2,), warnings: tuple[Notice, ...] = ()) -> CitedAnswer:
    sources = tuple(
        Source(f"urn:reddb:row:notes/{number}", f'{{"id":{number},"text":"{LONG}"}}')
        for number in range(1, 21)
    )
    return CitedAnswer(
        "It leaves at nine. [^2]",
        tuple(Footnote(marker, sources[marker - 1].urn) for marker in cited),
        sources,
        Validation(True, (), warnings),
        "extractive",
        "extractive-9",
        Mode.STRICT,
    )


def test_an_answer_is_printed_with_its_footnotes_alone() -> None:
    assert str(answer()) == (
        f"It leaves at nine. [^2]\n\n[^2] urn:reddb:row:notes/2\n     {LONG[:159]}…"
    )


def test_an_answer_without_footnotes_is_printed_as_it_is() -> None:
    assert str(answer(cited=())) == "It leaves at nine. [^2]"


def test_the_repr_of_an_answer_holds_no_payload() -> None:
    shown = repr(answer(warnings=(Notice("embedding_pending", "3 entities"),)))
    assert shown == (
        "CitedAnswer('It leaves at nine. [^2]', citations=[2], sources=20, "
        "provider='extractive', warnings=['embedding_pending'])"
    )


def test_a_long_answer_is_cut_in_its_repr_only() -> None:
    long = CitedAnswer(LONG, (), (), Validation(True), "extractive", "extractive-9", Mode.STRICT)
    assert str(long) == LONG
    assert len(repr(long)) < 300
    assert long.answer == LONG


def result(count: int) -> SearchResult:
    hits = tuple(
        SearchHit(f"urn:reddb:row:notes/{number}", 1 / (60 + number), f'{{"text":"{LONG}"}}')
        for number in range(1, count + 1)
    )
    candidates = tuple((hit.urn, hit.score) for hit in hits)
    return SearchResult(hits, (Found("bm25", candidates),))


def test_the_repr_of_a_hit_holds_the_beginning_of_its_payload() -> None:
    (hit,) = result(1)
    assert repr(hit).startswith("SearchHit(urn='urn:reddb:row:notes/1', score=0.01639, payload='{")
    assert len(repr(hit)) < 200
    assert hit.payload == f'{{"text":"{LONG}"}}'


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "SearchResult(0 hits)"),
        (1, "SearchResult(1 hit: urn:reddb:row:notes/1)"),
        (
            20,
            "SearchResult(20 hits: urn:reddb:row:notes/1, urn:reddb:row:notes/2, "
            "urn:reddb:row:notes/3, …)",
        ),
    ],
)
def test_the_repr_of_a_search_names_the_best_hits(count: int, shown: str) -> None:
    assert repr(result(count)) == shown


def test_a_search_is_printed_as_a_list_of_its_hits() -> None:
    assert str(result(2)).splitlines() == [
        "  1  0.01639  urn:reddb:row:notes/1",
        f"     {LONG[:159]}…",
        "  2  0.01613  urn:reddb:row:notes/2",
        f"     {LONG[:159]}…",
    ]
    assert str(result(0)) == "nothing found"


def test_a_real_answer_and_a_real_search_are_printed_so(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "none")
    with redask.open(str(tmp_path)) as db:
        db.put("notes", [{"id": 1, "title": "Ferry", "text": "The ferry leaves at nine."}])
        asked, found = db.ask("When does the ferry leave?", using="extractive"), db.search("ferry")
    note = "urn:reddb:row:notes/1\n     The ferry leaves at nine."
    assert str(asked) == f"The ferry leaves at nine. [^1]\n\n[^1] {note}"
    assert str(found).endswith(note)
