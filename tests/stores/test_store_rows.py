"""User rows become entities, or all that is wrong with them is said at once."""

import json
import math
from datetime import date
from decimal import Decimal
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import BadAsk, BadRows, BadUrn, RowProblem
from redask.core.model import Kind, Urn
from redask.core.rules import urn as urns
from redask.stores.entity_rows import entities, entity, link

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
NAMES = TEXT.filter(lambda name: 0 < len(name) <= 256)


def problem(row: object) -> str:
    """What is said about this row when it stands between two good ones."""
    with pytest.raises(BadRows) as caught:
        entities("t", [{"id": "a"}, row, {"id": "z"}])  # type: ignore[list-item] # that is the test
    (found,) = caught.value.problems
    assert found.position == 1
    assert f"row 1: {found.reason}" in caught.value.message
    return found.reason


def test_a_row_becomes_an_entity_with_canonical_payload() -> None:
    (made,) = entities("my tickets", [{"title": "é", "id": 7, "tags": ["b", "a"]}])
    assert made.urn == "urn:reddb:row:my%20tickets/7"
    assert made.payload == '{"id":7,"tags":["b","a"],"title":"é"}'
    assert (made.source, made.target, made.vector) == (None, None, None)


@given(
    st.lists(st.dictionaries(NAMES, JSON, max_size=4), max_size=5),
    st.sampled_from([Kind.ROW, Kind.DOCUMENT, Kind.NODE, Kind.KV]),
)
def test_whatever_json_goes_in_is_what_the_payload_says(
    contents: list[dict[str, object]], kind: Kind
) -> None:
    rows = [{**content, "id": number} for number, content in enumerate(contents)]
    made = entities("t", rows, kind=kind)
    assert [json.loads(entity.payload) for entity in made] == rows
    assert [urns.decode(entity.urn).id for entity in made] == [str(row["id"]) for row in rows]


@given(TEXT.filter(lambda text: 0 < len(text) <= 1024))
def test_any_text_can_be_an_id(name: str) -> None:
    (made,) = entities("t", [{"id": name}])
    assert urns.decode(made.urn).id == name


@pytest.mark.parametrize("number", [0, -1, 10**30])
def test_any_integer_can_be_an_id(number: int) -> None:
    assert entities("t", [{"id": number}])[0].urn == f"urn:reddb:row:t/{number}"


def test_all_bad_rows_are_reported_at_once() -> None:
    batch: list[dict[str, object]] = [
        {"id": 1},
        {},
        {"id": 2, "x": math.nan},
        {"id": 1},
        {"id": 3, "when": date(2020, 1, 1)},
    ]
    with pytest.raises(BadRows) as caught:
        entities("t", batch)
    assert caught.value.problems == (
        RowProblem(1, "it is empty"),
        RowProblem(2, "nan is not a JSON number at $.x"),
        RowProblem(3, "its id is that of row 0 already"),
        RowProblem(4, "date is not a JSON type at $.when"),
    )
    assert caught.value.message.startswith("4 of 5 rows for t are bad, so none was written: row 1:")
    assert caught.value.detail == "1, 2, 3, 4"


def test_a_long_list_of_problems_is_cut_in_the_message_only() -> None:
    with pytest.raises(BadRows) as caught:
        entities("t", [{"id": None} for _ in range(500)])
    assert len(caught.value.problems) == 500
    said = "row 9: its id is NoneType, not an integer or a text; and 490 more"
    assert caught.value.message.endswith(said)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (True, "its id is bool, not an integer or a text"),
        (None, "its id is NoneType, not an integer or a text"),
        (1.0, "its id is float, not an integer or a text"),
        (["a"], "its id is list, not an integer or a text"),
        ("", "its id has 0 characters, not 1 to 1024"),
        ("x" * 1025, "its id has 1025 characters, not 1 to 1024"),
        (10**1024, "its id has more than 1024 digits"),
        ("a\0b", "its id holds a NUL character"),
        ("\ud800", "its id cannot be part of a URN: a lone surrogate has no UTF-8"),
    ],
)
def test_a_bad_id_is_named(value: object, reason: str) -> None:
    assert problem({"id": value}) == reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"x": math.inf}, "inf is not a JSON number at $.x"),
        ({"x": [0, {"y": -math.inf}]}, "-inf is not a JSON number at $.x[1].y"),
        ({"x": b"bytes"}, "bytes is not a JSON type at $.x"),
        ({"x": Decimal(1)}, "Decimal is not a JSON type at $.x"),
        ({"x": {1: 2}}, "a key is a string, not int at $.x"),
        ({1: 2}, "a key is a string, not int at $"),
        ({"x": "a\0b"}, "a text in it holds a NUL character"),
        ({"x": [{"y\0": 1}]}, "a text in it holds a NUL character"),
        ({"": 1}, "a column name has 0 characters, not 1 to 256"),
        ({"x" * 257: 1}, "a column name has 257 characters, not 1 to 256"),
        (dict.fromkeys(map(str, range(10_000)), 1), "it has 10001 columns, more than 1500"),
        ({"x": "y" * 10_000_000}, "its payload is 10000015 bytes long, more than 8388608"),
        ({"x": "é" * 4_200_000}, "its payload is 8400015 bytes long, more than 8388608"),
        ({"x": 10**4300}, "an integer in it has more than 4300 digits"),
    ],
)
def test_a_bad_value_is_named(content: dict[object, object], reason: str) -> None:
    assert problem({"id": 1, **content}) == reason


def test_a_lone_surrogate_is_found_wherever_it_is() -> None:
    assert "surrogate" in problem({"id": 1, "x": ["\udc00"]})
    assert "surrogate" in problem({"id": 1, "\udc00": 1})


def test_nesting_has_a_bound() -> None:
    deep: object = 1
    for _ in range(400):
        deep = [deep]
    assert "nested" in problem({"id": 1, "x": deep})


def test_long_text_of_digits_is_no_long_integer() -> None:
    entities("t", [{"id": 1, "x": "9" * 10_000}])


@pytest.mark.parametrize("row", [None, 5, "abc", [("id", 1)]])
def test_what_is_no_mapping_is_no_row(row: object) -> None:
    assert problem(row) == f"it is {type(row).__name__}, not a mapping of columns to values"


def test_rows_without_an_id_are_named_by_their_content() -> None:
    made = entities("t", [{"b": 1, "a": "x"}, {"a": "x", "b": 2}])
    assert [each.payload for each in made] == ['{"a":"x","b":1}', '{"a":"x","b":2}']
    for each in made:
        assert each.urn == f"urn:reddb:row:t/{sha256(each.payload.encode()).hexdigest()[:16]}"
    assert entities("t", [{"a": "x", "b": 1}]) == made[:1]


def test_two_equal_rows_without_an_id_are_refused() -> None:
    with pytest.raises(BadRows) as caught:
        entities("t", [{"a": 1}, {"a": 2}, {"a": 1}])
    reason = "it equals row 0, and there is no id to tell them apart"
    assert caught.value.problems == (RowProblem(2, reason),)


def test_a_row_without_an_id_among_others_that_have_one_is_a_mistake() -> None:
    assert problem({"text": "x"}) == "it has no id, though another row has one"


def test_an_empty_row_is_refused() -> None:
    with pytest.raises(BadRows, match="row 0: it is empty"):
        entities("t", [{}])


def test_one_and_its_text_are_the_same_id() -> None:
    with pytest.raises(BadRows, match="its id is that of row 0 already"):
        entities("t", [{"id": 1}, {"id": "1"}])


@pytest.mark.parametrize(
    "name", ["", "red_ask_audit", "Red_x", "a\nb", "a\x7fb", "\ud800", "x" * 257, 5, None]
)
def test_a_bad_collection_name_is_refused(name: object) -> None:
    with pytest.raises(BadAsk, match="collection name"):
        entities(name, [{"id": 1}])  # type: ignore[arg-type] # that is the test


@pytest.mark.parametrize("name", ["redx", "x" * 256, "日本", "a/b:c#d%", "red-"])
def test_other_collection_names_are_fine(name: str) -> None:
    assert urns.decode(entities(name, [{"id": 1}])[0].urn).collection == name


def test_an_edge_is_not_made_from_a_row() -> None:
    with pytest.raises(BadAsk, match="linking"):
        entities("t", [{"id": 1}], kind=Kind.EDGE)


def test_vectors_belong_to_rows_one_by_one() -> None:
    made = entities("t", [{"id": 1}, {"id": 2}, {"id": 3}], vectors=[[1, 0.5], None, [0, 0]])
    assert [entity.vector for entity in made] == [(1, 0.5), None, (0, 0)]
    with pytest.raises(BadAsk, match="1 rows came with 2 vectors"):
        entities("t", [{"id": 1}], vectors=[[1], [2]])


def test_bad_vectors_are_reported_with_their_rows() -> None:
    rows = [{"id": number} for number in range(6)]
    vectors: list[list[float] | None] = [[1, 2], [1], [math.nan, 1], [1, 1e39], [], [True, 1]]
    with pytest.raises(BadRows) as caught:
        entities("t", rows, vectors=vectors)
    assert caught.value.problems == (
        RowProblem(1, "its vector has 1 dimensions, not 2"),
        RowProblem(2, "its vector holds nan at position 0"),
        RowProblem(3, "its vector holds 1e+39 at position 1, too large for a 32-bit float"),
        RowProblem(4, "its vector has 0 dimensions, not 1 to 8192"),
        RowProblem(5, "its vector holds bool at position 0, not a number"),
    )


def test_an_entity_of_kind_vector_needs_one() -> None:
    with pytest.raises(BadRows, match="it has no vector"):
        entities("t", [{"id": 1}], kind=Kind.VECTOR)
    assert entities("t", [{"id": 1}], kind=Kind.VECTOR, vectors=[[1.0]])[0].vector == (1.0,)


def test_a_link_is_named_by_its_ends_and_label() -> None:
    source, target = "urn:reddb:row:t/1", "urn:reddb:row:t/2"
    made = link(source, "blocks", target)
    digest = sha256(f"{source}\x1fblocks\x1f{target}".encode()).hexdigest()[:16]
    assert made.urn == f"urn:reddb:edge:links/{digest}"
    assert made.payload == f'{{"from":"{source}","label":"blocks","to":"{target}"}}'
    assert (made.source, made.target) == (source, target)


def test_a_link_is_the_same_whichever_way_its_ends_are_spelled() -> None:
    assert link("urn:reddb:row:t/%c3%a9", "x", "urn:reddb:row:t/1") == link(
        "urn:reddb:row:t/%C3%A9", "x", "urn:reddb:row:t/1"
    )


def test_a_link_needs_urns_and_a_label() -> None:
    good = "urn:reddb:row:t/1"
    for ends in [("t/1", good), (good, ""), (5, good)]:
        with pytest.raises(BadUrn):
            link(ends[0], "x", ends[1])  # type: ignore[arg-type] # that is the test
    for label in ["", "a\x1fb", "x" * 257, None]:
        with pytest.raises(BadAsk, match="label"):
            link(good, label, good)  # type: ignore[arg-type] # that is the test


# --- addresses that are not part of the content ------------------------------------------


def test_a_chunk_is_addressed_by_its_label() -> None:
    made = entity(Urn(Kind.DOCUMENT, "docs", "a/b.md", "on-sunday~2"), {"text": "x"})
    assert made.urn == "urn:reddb:document:docs/a%2Fb.md#on-sunday~2"
    assert (made.payload, made.source, made.vector) == ('{"text":"x"}', None, None)


@given(NAMES, st.text(min_size=1).map(lambda text: text.encode("utf-8", "replace").decode()))
def test_an_address_survives(name: str, label: str) -> None:
    address = Urn(Kind.DOCUMENT, "docs", name, label)
    assert urns.decode(entity(address, {}).urn) == address


@pytest.mark.parametrize(
    ("address", "content", "said"),
    [
        (Urn(Kind.ROW, "red_x", "1"), {}, "is reserved"),
        (Urn(Kind.ROW, "", "1"), {}, "is empty"),
        (Urn(Kind.ROW, "t", ""), {}, "0 characters"),
        (Urn(Kind.ROW, "t", "x" * 1025), {}, "1025 characters"),
        (Urn(Kind.ROW, "t", "\0"), {}, "NUL"),
        (Urn(Kind.ROW, "t", "1", "x"), {}, "only a document has a fragment"),
        (Urn(Kind.ROW, "t", "1"), {"": 1}, "column name"),
        (Urn(Kind.ROW, "t", "1"), {"x": math.nan}, "nan is not a JSON number"),
        (Urn(Kind.ROW, "t", "1"), {"x": "a\0"}, "NUL"),
    ],
)
def test_what_is_wrong_with_an_entity_is_said(
    address: Urn, content: dict[str, object], said: str
) -> None:
    with pytest.raises(BadAsk, match=said):
        entity(address, content)
