"""Every kind of source becomes lines to quote."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Source
from redask.providers.extractive.excerpts import read


def lines(payload: object, urn: str = "urn:reddb:row:things/1") -> list[str]:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return [excerpt.text for excerpt in read(Source(urn, text)).excerpts]


def test_a_document_is_its_sentences_and_is_about_its_title_and_path() -> None:
    payload = json.dumps({"title": "Ferry", "path": "docs/sea.md", "text": "It is red. It floats."})
    passage = read(Source("urn:reddb:document:docs/a#1", payload))
    assert [excerpt.text for excerpt in passage.excerpts] == ["It is red.", "It floats."]
    assert passage.about == "docs/a Ferry docs/sea.md"


def test_a_chunks_heading_is_context_and_not_quoted() -> None:
    chunk = {"title": "Ferry", "path": "a.md", "heading": "Times > Sunday", "text": "Never."}
    passage = read(Source("urn:reddb:document:docs/a.md#times.sunday", json.dumps(chunk)))
    assert [excerpt.text for excerpt in passage.excerpts] == ["Never."]
    assert "Times > Sunday" in passage.about


def test_a_documents_other_fields_can_be_quoted() -> None:
    document = {"title": "Ferry", "text": "It is red.", "author": "Ana"}
    assert lines(document, "urn:reddb:document:docs/a") == ["author: Ana", "It is red."]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"status": "late", "carrier": "Nordfracht"}, "status: late, carrier: Nordfracht"),
        ({"id": 7, "name": "Ana", "vip": True}, "name: Ana, id: 7, vip: true"),
        ({"AlbumId": 7, "Title": "Facelift"}, "Title: Facelift, AlbumId: 7"),
        ({"a": {"b": {"c": 1}}, "d": ["x", 2]}, "a.b.c: 1, d: x, 2"),
        ({"a": [{"b": 1}, {"b": 2}]}, "a.b: 1, a.b: 2"),
        ({"price": 1.5, "none": None, "empty": "", "blank": " "}, "price: 1.5"),
        ({"note": "two\nlines\tand more"}, "note: two lines and more"),
        ({"key": "refund_days", "value": 30}, "key: refund_days, value: 30"),
        ('{"n":98765432109876543210,"x":1e400}', "n: 98765432109876543210, x: 1e400"),
    ],
)
def test_a_record_is_one_line_of_its_fields(payload: object, expected: str) -> None:
    assert lines(payload) == [expected]


def test_a_long_field_of_a_row_is_text_and_the_row_is_what_it_is_about() -> None:
    ticket = {"id": 5, "title": "Printer", "body": "It burns. " * 30}
    passage = read(Source("urn:reddb:row:tickets/5", json.dumps(ticket)))
    assert passage.excerpts[0].text == "title: Printer, id: 5"
    assert [excerpt.text for excerpt in passage.excerpts[1:]] == ["It burns."]
    assert passage.about == "tickets/5 Printer 5"


def test_a_sentence_counts_once_under_each_heading() -> None:
    text = "# Kiel\nIt opens at nine. It opens at nine.\n# Husum\nIt opens at nine."
    assert lines({"text": text}) == ["Kiel", "It opens at nine.", "Husum", "It opens at nine."]


def test_an_edge_reads_like_a_sentence() -> None:
    edge = {
        "from": "urn:reddb:row:orders/7",
        "label": "shipped_by",
        "to": "urn:reddb:node:c%C3%A9/a%20b",
    }
    assert lines(edge, "urn:reddb:edge:links/1") == ["orders/7 shipped_by cé/a b"]


def test_an_edge_between_names_that_are_no_urns_stays_as_it_is() -> None:
    assert lines({"from": "Ana", "label": "knows", "to": ["Ben"]}) == ["Ana knows Ben"]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ('"Just text. And more."', ["Just text.", "And more."]),
        ("42", ["42"]),
        ('["a",["b"]]', ["a b"]),
        ("null", []),
        ("{}", []),
        ("no JSON at all", ["no JSON at all"]),
        ("", []),
    ],
)
def test_what_is_no_object_is_text(payload: str, expected: list[str]) -> None:
    assert lines(payload) == expected


def test_what_is_nested_too_deep_to_read_is_text() -> None:
    depth = 100_000
    assert lines("[" * depth + '"deep"' + "]" * depth)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_every_payload_becomes_single_lines(value: object) -> None:
    for line in lines(value):
        assert line == line.strip()
        assert len(line.splitlines()) == 1


def test_a_file_of_code_is_quoted_by_what_it_says_in_words_and_by_its_settings() -> None:
    def of(code: str) -> list[str]:
        return lines({"path": "a", "text": code, "title": "a"}, "urn:reddb:document:docs/a")[:-1]

    yaml = "```yaml\nengine:\n  # Changed every winter.\n  power: 120\n  fuel: diesel\n```"
    assert of(yaml) == ["Changed every winter.", "power: 120", "fuel: diesel"]
    assert of("```toml\n[harbour]\nberths = 42\n```") == ["berths = 42"]
    docstring = '    """Return the fare.\n\n    It is in Euro.\n    """'
    python = f"```python\ndef fare(port):\n{docstring}\n    x = 9  # Euro\n```"
    assert of(python) == ["Return the fare.", "It is in Euro."]
    assert of("```python\nx = 9\n```") == []
    assert of("```c\n/* The mast is tall. */\nint x; // no line of its own\n```") == [
        "The mast is tall."
    ]


def test_code_between_sentences_is_not_quoted_line_by_line() -> None:
    text = "Set it:\n\n```yaml\npower: 120\n```"
    assert lines({"path": "a", "text": text, "title": "a"}, "urn:reddb:document:docs/a") == [
        "Set it:"
    ]
