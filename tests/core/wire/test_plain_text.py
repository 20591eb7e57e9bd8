"""What people read of a source: one short line."""

from dataclasses import replace

import pytest

from redask.core.model import (
    Answer,
    Evidence,
    Footnote,
    Mode,
    QuotedPassage,
    Source,
    Validation,
)
from redask.core.wire import query_source
from redask.core.wire.json import text as canonical
from redask.core.wire.plain_text import (
    WIDTH,
    cut,
    evidence,
    footnotes,
    harmless,
    place,
    quotes,
    snippet,
)


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ('{"id":1,"title":"Ferry","text":"At\\n  nine."}', "At nine."),
        ('{"country":"Ethiopia","id":2,"name":"Yirga"}', "country: Ethiopia, name: Yirga"),
        ('{"id":1,"text":["a"]}', "text: ['a']"),
        ("[1,2]", "[1, 2]"),
        ("no JSON", "no JSON"),
    ],
)
def test_a_snippet_is_the_text_or_the_columns_on_one_line(payload: str, shown: str) -> None:
    assert snippet(payload) == shown


def test_what_is_too_long_is_cut() -> None:
    assert cut("a" * WIDTH, WIDTH) == "a" * WIDTH
    assert snippet("a" * (WIDTH + 1)) == "a" * (WIDTH - 1) + "…"


def test_footnotes_are_in_the_order_of_the_citations() -> None:
    sources = tuple(Source(f"urn:{name}", f'{{"text":"{name}"}}') for name in "abc")
    notes = (Footnote(3, "urn:c"), Footnote(1, "urn:a"))
    answer = Answer("x", notes, sources, Validation(True), "p", "m", Mode.STRICT)
    assert list(footnotes(answer)) == [(3, "urn:c", "c"), (1, "urn:a", "a")]


def test_evidence_is_a_line_for_each_claim_and_one_for_each_quote() -> None:
    said = "The ferry\nleaves at nine [^1]. It is blue."
    row = QuotedPassage("urn:a", (0, 9), "The\nferry", {"columns": ["text"]})
    page = QuotedPassage("urn:b", (0, 5), "ferry", {"heading": "A > B", "page": 3})
    bare = QuotedPassage("urn:c", (0, 5), "ferry", None)
    found = (
        Evidence((0, 30), (1,), "supported", (row, page, bare)),
        Evidence((31, 42), (), "nothing_to_check", ()),
    )
    answer = Answer(said, (), (), Validation(True), "p", "m", Mode.STRICT, evidence=found)
    assert list(evidence(answer)) == [
        (
            "The ferry leaves at nine [^1].",
            "said by its source:",
            [
                "urn:a, columns text: The ferry",
                "urn:b, heading A > B, page 3: ferry",
                "urn:c: ferry",
            ],
        ),
        ("It is blue.", "nothing to check:", []),
    ]
    assert list(evidence(replace(answer, evidence=None))) == []


def test_the_footnote_of_a_result_is_its_statement_and_its_rows() -> None:
    made = [
        query_source.make("SELECT  1", [("n", "int4"), ("m", "int4")], [[1, 2], [3, 4]]),
        query_source.make("SELECT 2", [("n", "int4")], [[1]]),
        query_source.make("SELECT 3", [("n", "int4")], []),
    ]
    notes = tuple(Footnote(n, source.urn) for n, source in enumerate(made, start=1))
    answer = Answer("x", notes, tuple(made), Validation(True), "p", "m", Mode.STRICT)
    assert list(footnotes(answer)) == [
        (1, "SELECT 1", "2 rows: n 1, m 2; n 3, m 4"),
        (2, "SELECT 2", "1 row: n 1"),
        (3, "SELECT 3", "0 rows"),
    ]


LONG = "Nothing of note here. " * 20
SAID = "The ferry to Amrum leaves at nine."


def cited(text: str, payload: str, urn: str = "urn:reddb:document:d/1") -> Answer:
    source = Source(urn, payload)
    return Answer(text, (Footnote(1, urn),), (source,), Validation(True), "p", "m", Mode.STRICT)


def test_a_footnote_is_centred_on_the_quoted_words_behind_its_place() -> None:
    payload = canonical(
        {
            "heading": "Times",
            "line": 7,
            "page": 3,
            "path": "docs/a.md",
            "text": f"{LONG}\n\n{SAID}\n{LONG}",
        }
    )
    [(_, urn, shown)] = footnotes(cited(f"{SAID} [^1]", payload))
    assert urn == "urn:reddb:document:d/1"
    assert shown.startswith("docs/a.md, page 3, line 9, heading Times: …")
    assert SAID in shown
    assert shown.endswith("…")
    line = shown.split(": ", 1)[1]
    assert len(line) <= WIDTH
    before, after = line.split(SAID)
    assert abs(len(before) - len(after)) < 30
    assert quotes(cited(f"{SAID} [^1]", payload)) == {1: (SAID,)}


def test_a_quote_at_either_end_of_a_long_text_is_shown() -> None:
    for text in (f"{SAID} {LONG}", f"{LONG}{SAID}"):
        [(_, _, shown)] = footnotes(cited(f"{SAID} [^1]", canonical({"text": text})))
        assert SAID in shown
        assert len(shown) <= WIDTH
    long = "a" * 300
    assert snippet(f"{long} {long}", [long]).startswith("a")
    assert snippet(long, ["b", " ", "a" * 200]) == "a" * (WIDTH - 1) + "…"


def test_evidence_that_was_asked_for_is_what_is_quoted() -> None:
    answer = cited("It leaves [^1].", canonical({"text": SAID}))
    found = QuotedPassage("urn:reddb:document:d/1", (0, 9), "The ferry", None)
    other = QuotedPassage("urn:other", (0, 9), "to Amrum", None)
    shown = (Evidence((0, 9), (1, 2), "supported", (found, other)),)
    assert quotes(replace(answer, evidence=shown)) == {1: ("The ferry",)}


@pytest.mark.parametrize(
    ("urn", "payload", "shown"),
    [
        ("urn:reddb:document:d/1", '{"path":"a.md"}', "a.md"),
        ("urn:reddb:document:d/1", '{"cells":"A1:B9","path":"a.xlsx","sheet":"S"}', None),
        ("urn:reddb:document:d/1", '{"line":0,"page":true,"text":"x"}', ""),
        (
            "urn:reddb:document:d/1",
            '{"date":"2026-03-03T10:15:00+01:00","from":"Ann","path":"a.eml","text":"x",'
            '"thread":"1@x","title":"The fair"}',
            "a.eml, mail of 2026-03-03, subject The fair",
        ),
        ("urn:reddb:document:d/1", '{"date":"2026-03-03","from":"A","title":"T"}', ""),
        ("urn:reddb:document:d/1", "no JSON", ""),
        ("urn:reddb:row:d/1", '{"path":"a.md"}', ""),
    ],
)
def test_the_place_of_a_document_is_what_its_fields_tell(
    urn: str, payload: str, shown: str | None
) -> None:
    told = "a.xlsx, sheet S, cells A1:B9" if shown is None else shown
    assert place(urn, payload) == told


def test_a_terminal_obeys_nothing_that_a_source_says() -> None:
    assert snippet(canonical({"text": "a\x1b]0;PWNED\x07 b\x9b2J"})) == "a ]0;PWNED b 2J"
    assert harmless("a\x1b[2J\nb") == "a [2J\nb"


def test_a_line_that_fits_is_shown_whole_around_what_is_quoted() -> None:
    assert snippet("Short. And said.", ["said"]) == "Short. And said."
