"""Contract 24: evidence names each claim, and where a person would find what supports it."""

import pytest

from redask.core.model import Evidence, QuotedPassage, Source
from redask.core.rules.grounding import check, evidence
from redask.core.rules.grounding.check import Finding
from redask.core.rules.grounding.claims import Claim
from redask.core.rules.grounding.support import Judgement, Quote, SupportVerdict
from redask.core.wire import envelope, json

DOCUMENT = "urn:reddb:document:handbook/ferry.md#times"
ROW = "urn:reddb:row:notes/1"


def place(urn: str, payload: str, field: str = "text") -> object:
    quote = Quote(0, field, 4, 9, "ferry")
    finding = Finding(
        Claim((0, 5), (1,), "x"), Judgement(SupportVerdict.SUPPORTED, quotes=(quote,))
    )
    [found] = evidence.of([finding], [Source(urn, payload)])
    [passage] = found.passages
    assert (passage.urn, passage.span, passage.text) == (urn, (4, 9), "ferry")
    return passage.place


@pytest.mark.parametrize(
    ("urn", "payload", "field", "expected"),
    [
        (
            DOCUMENT,
            '{"heading":"A > B","path":"ferry.md","text":"The ferry","title":"Ferry"}',
            "text",
            {"heading": "A > B", "path": "ferry.md"},
        ),
        (
            DOCUMENT,
            '{"cells":"A1:B2","line":0,"page":7,"sheet":"Q1","text":"The ferry"}',
            "text",
            {"cells": "A1:B2", "line": 0, "page": 7, "sheet": "Q1"},
        ),
        (DOCUMENT, '{"line":3,"text":"A\\n\\nb ferry\\nc"}', "text", {"line": 5}),
        (DOCUMENT, '{"line":3,"text":5}', "text", {"line": 3}),
        (DOCUMENT, '{"page":7,"title":"The ferry"}', "title", {"page": 7, "columns": ["title"]}),
        (DOCUMENT, '{"heading":"","line":true,"page":null,"sheet":[1]}', "text", None),
        (DOCUMENT, "[1]", "text", None),
        (DOCUMENT, "no JSON", "text", None),
        (ROW, '{"heading":"A","text":"The ferry"}', "text", {"columns": ["text"]}),
        (ROW, '{"price":{"net":"The ferry"}}', "price.net", {"columns": ["price.net"]}),
        ("no urn", '{"text":"The ferry"}', "text", None),
    ],
)
def test_the_place_is_told_by_the_sources_own_fields(
    urn: str, payload: str, field: str, expected: object
) -> None:
    assert place(urn, payload, field) == expected


def test_a_quote_names_the_source_of_its_marker_also_after_one_that_points_nowhere() -> None:
    sources = [Source(ROW, '{"text":"a"}'), Source("urn:reddb:row:notes/2", '{"text":"b"}')]
    quotes = (
        Quote(0, "text", 0, 1, "b"),
        Quote(1, "text", 0, 1, "a"),
        Quote(0, "text", 0, 1, "b"),
    )
    claim = Claim((2, 9), (9, 2, 1), "x")
    finding = Finding(claim, Judgement(SupportVerdict.SUPPORTED, quotes=quotes))
    [found] = evidence.of([finding], sources)
    urns = [sources[1].urn, sources[0].urn, sources[1].urn]
    assert [passage.urn for passage in found.passages] == urns
    assert (found.span, found.markers, found.verdict) == ((2, 9), (9, 2, 1), "supported")


def test_offsets_are_of_the_answer_and_of_the_quoted_text() -> None:
    text = "Ümläut \U0001f6a2. The ferry leaves at nine."
    source = Source(DOCUMENT, json.text({"text": text}))
    answer = "Gut. The ferry leaves at nine [^1]."
    found = evidence.of(check.examine(answer, [source]), [source])
    last = found[-1]
    assert answer[slice(*last.span)] == "The ferry leaves at nine [^1]."
    assert last.passages
    for passage in last.passages:
        assert text[slice(*passage.span)] == passage.text


def test_the_envelope_shows_it_so() -> None:
    passage = QuotedPassage(ROW, (4, 9), "ferry", {"columns": ["text"]})
    found = (
        Evidence((0, 5), (1, 2), "supported", (passage,)),
        Evidence((6, 9), (), "uncited", ()),
    )
    assert json.text(envelope.evidence(found)) == (
        '[{"claim":{"end":5,"start":0},"markers":[1,2],"quotes":[{"end":9,'
        '"place":{"columns":["text"]},"start":4,"text":"ferry","urn":"urn:reddb:row:notes/1"}],'
        '"verdict":"supported"},{"claim":{"end":9,"start":6},"markers":[],"quotes":[],'
        '"verdict":"uncited"}]'
    )
