"""A source as claims are checked against it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Source
from redask.core.rules.grounding import source_text, stems
from redask.core.rules.grounding.source_text import SourceText


def read(payload: object) -> SourceText:
    written = payload if isinstance(payload, str) else json.dumps(payload)
    return source_text.read(Source("urn:reddb:row:c/1", written))


def fields(payload: object) -> list[tuple[str, str]]:
    return [(field.name, field.text) for field in read(payload).fields]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"name": "Kiel", "berths": 12.50, "open": True, "note": None}, None),
        ("plain text", [("text", "plain text")]),
        ('"a JSON string"', [("text", "a JSON string")]),
        ("[" * 100_000, [("text", "[" * 100_000)]),
        ({"tags": ["a", "b", None]}, [("tags", "a, b")]),
        ({"at": {"city": "Kiel"}}, [("at.city", "Kiel")]),
        ([[1, 2], {"a": 3}], [("0", "1, 2"), ("1.a", "3")]),
        ({"rows": [["a", 1], ["b", 2]]}, [("rows.0", "a, 1"), ("rows.1", "b, 2")]),
        ({"empty": " "}, []),
    ],
)
def test_fields(payload: object, expected: list[tuple[str, str]] | None) -> None:
    if expected is None:
        expected = [("name", "Kiel"), ("berths", "12.5"), ("open", "true")]
    assert fields(payload) == expected


def test_numbers_keep_their_spelling() -> None:
    assert fields('{"price": 12.50, "code": 1e3}') == [("price", "12.50"), ("code", "1e3")]


def test_a_cell_begins_with_the_words_of_its_field() -> None:
    source = read({"unitPrice_eur": "12 coins"})
    (passage,) = source.passages
    assert passage.forms == ("unit", "pric", "eur", "12", "coin")
    assert passage.named == 3
    assert source.written(0, 3, 5) == "12 coins"
    (value,) = source.values(0)
    assert (value.first, value.end, value.text) == (3, 4, "12")
    assert source.values(0) is source.values(0)


def test_prose_is_cut_into_sentences_and_paragraphs() -> None:
    text = (
        "The ferry leaves at nine.  It is slow and old, as everybody in the port of Kiel knows.\n"
    )
    text += "- one item\n- another item\n\nThe end"
    source = read({"text": text})
    assert [source.text(number) for number in range(len(source.passages))] == [
        "The ferry leaves at nine.",
        "It is slow and old, as everybody in the port of Kiel knows.",
        "- one item",
        "- another item",
        "The end",
    ]
    assert source.holding(stems.form("ferries")[: stems.ROOT]) == [0]
    assert source.holds("kiel")
    assert source.holds("everybody")
    assert not source.holds("everyb")
    assert not source.holds("rostock")


def test_names_and_identifiers_are_found_once() -> None:
    source = read({"text": "Ticket T-1043 was opened by Anna Berg."})
    assert source.names(0) is source.names(0)
    assert "t-1043" in source.identifiers()
    assert source.identifiers() is source.identifiers()


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([". ", "\n", "a", "B", "- ", "9"])).map("".join)
)
def test_passages_are_in_order_and_apart(text: str) -> None:
    source = read({"text": text})
    end = 0
    for passage in source.passages:
        assert end <= passage.start < passage.end <= len(source.fields[0].text)
        end = passage.end
    assert (
        "".join(source.text(number) for number in range(len(source.passages))).split()
        or not text.strip()
    )


def test_cells_of_a_result_are_named_by_their_columns() -> None:
    payload = {
        "columns": [{"name": "city"}, {"name": "n"}, {"name": "n"}],
        "row_count": 2,
        "rows": [["Kiel", 1, 2], "odd"],
        "sql": "SELECT 1",
    }
    result = source_text.read(Source("urn:reddb:query:postgresql/x", json.dumps(payload)))
    assert [(field.name, field.text) for field in result.fields] == [
        ("rows.0.city", "Kiel"),
        ("rows.0.n", "1"),
        ("rows.0.n 2", "2"),
        ("rows.1", "odd"),
        ("row_count", "2"),
        ("sql", "SELECT 1"),
    ]
    assert result.holds("city")
    odd = source_text.read(Source("urn:reddb:query:postgresql/x", '{"rows":[5]}'))
    assert [(field.name, field.text) for field in odd.fields] == [("rows", "5")]
