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
from redask.core.wire.plain_text import WIDTH, cut, evidence, footnotes, snippet


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
            "supported",
            [
                "urn:a, columns text: The ferry",
                "urn:b, heading A > B, page 3: ferry",
                "urn:c: ferry",
            ],
        ),
        ("It is blue.", "nothing to check", []),
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
