"""Catalogues tell what is there, and never what was."""

import pytest

from redask.core.errors import BadAsk, Denied
from redask.core.model import Caller, Kind
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.backend import EntityStore
from redask.stores.statistics import Collection, Column

ME = Caller()


def tickets(*ids: int, title: str = "broken pump") -> list[Entity]:
    return entity_rows.entities("tickets", [{"id": number, "title": title} for number in ids])


def urn(number: int | str) -> str:
    return f"urn:reddb:row:tickets/{number}"


def columns_of(store: EntityStore, *contents: dict[str, object]) -> dict[str, str]:
    batch = [{"id": number, **content} for number, content in enumerate(contents)]
    store.put(entity_rows.entities("t", batch), ME)
    return {column.name: column.type for column in store.columns("t", ME) if column.name != "id"}


@pytest.mark.parametrize(
    ("values", "type_name"),
    [
        ([1, 2], "integer"),
        ([1.0], "real"),
        (["a"], "text"),
        ([True, False], "boolean"),
        ([[1]], "json"),
        ([{"a": 1}, [2]], "json"),
        ([None], "text"),
        ([None, 1], "integer"),
        ([1, 1.5], "real"),
        ([None, 1, 1.5], "real"),
        ([1, "a"], "text"),
        ([1, True], "text"),
        ([1, 1.5, True], "text"),
        ([{"a": 1}, "a"], "text"),
        ([2**63 - 1, -(2**63)], "integer"),
        ([2**63], "text"),
        ([1, -(2**63) - 1], "text"),
    ],
)
def test_a_column_has_the_type_of_its_values(
    store: EntityStore, values: list[object], type_name: str
) -> None:
    assert columns_of(store, *({"x": value} for value in values)) == {"x": type_name}


def test_columns_are_the_union_of_keys(store: EntityStore) -> None:
    assert columns_of(store, {"b": 1}, {"a": "x"}, {}) == {"a": "text", "b": "integer"}
    assert [column.name for column in store.columns("t", ME)] == ["a", "b", "id"]


def test_columns_follow_what_is_there_not_what_was(store: EntityStore) -> None:
    columns_of(store, {"x": 1}, {"x": "text", "rare": True})
    store.delete(["urn:reddb:row:t/1"], ME)
    assert store.columns("t", ME) == [Column("id", "integer"), Column("x", "integer")]
    store.put(entity_rows.entities("t", [{"id": 0, "y": 0.5}]), ME)
    assert store.columns("t", ME) == [Column("id", "integer"), Column("y", "real")]
    store.delete(["urn:reddb:row:t/0"], ME)
    assert store.columns("t", ME) == []
    assert store.collections(ME) == []


def test_a_collection_cannot_grow_more_columns_than_a_table_has(store: EntityStore) -> None:
    for start in (0, 740):
        store.put(
            entity_rows.entities("t", [{"id": start} | dict.fromkeys(_names(start, 740), 1)]), ME
        )
    with pytest.raises(BadAsk, match=r"t would have 1501 columns, more than 1500"):
        store.put(entity_rows.entities("t", [{"id": 9} | dict.fromkeys(_names(5000, 20), 1)]), ME)
    assert len(store.columns("t", ME)) == 1481


def _names(start: int, count: int) -> list[str]:
    return [f"c{number}" for number in range(start, start + count)]


def test_column_names_are_kept_as_written(store: EntityStore) -> None:
    odd: dict[str, object] = {'q"uote': 1, "new\nline": 2, "\\": 3, "日本": 4, "Case": 5, "case": 6}
    assert set(columns_of(store, odd)) == set(odd)


def test_a_language_is_declared_before_or_after_writing(store: EntityStore) -> None:
    store.set_language("notes", "de", ME)
    assert store.collections(ME) == [Collection("notes", "de", {})]
    store.put(entity_rows.entities("notes", [{"id": 1}]), ME)
    assert store.changes("local", 0, 10)[0].language == "de"


def test_a_new_language_sends_the_whole_collection_through_the_log_again(
    store: EntityStore,
) -> None:
    store.put(tickets(1, 2, 3), ME)
    store.put(entity_rows.entities("other", [{"id": 1}]), ME)
    store.delete([urn(2)], ME)
    before = store.watermark("local")
    assert store.set_language("tickets", "fr", ME) == before + 2
    assert [(c.urn, c.language) for c in store.changes("local", before, 10)] == [
        (urn(1), "fr"),
        (urn(3), "fr"),
    ]
    assert store.set_language("tickets", "fr", ME) == before + 2
    store.set_language("tickets", None, ME)
    assert {c.language for c in store.changes("local", 0, 10)} == {None}


@pytest.mark.parametrize(("collection", "language"), [("red_x", "en"), ("", "en"), ("a", "e\0n")])
def test_a_bad_collection_or_language_is_refused(
    store: EntityStore, collection: str, language: str
) -> None:
    with pytest.raises(BadAsk):
        store.set_language(collection, language, ME)


def test_statistics_count_what_is_there(store: EntityStore) -> None:
    store.put([*tickets(1, 2, 3), entity_rows.link(urn(1), "blocks", urn(2))], ME)
    store.put(entity_rows.entities("notes", [{"id": 1}], kind=Kind.DOCUMENT, vectors=[[1.0]]), ME)
    store.delete([urn(3)], ME)
    told = store.statistics(ME)
    assert told.collections == (
        Collection("links", None, {Kind.EDGE: 1}),
        Collection("notes", None, {Kind.DOCUMENT: 1}),
        Collection("tickets", None, {Kind.ROW: 2}),
    )
    assert (told.entities, told.tombstones, told.edges, told.vectors) == (4, 1, 1, 1)
    assert (told.identity, told.watermark) == (store.identity, store.watermark("local"))


def test_a_fixed_type_stays_with_its_tenant_and_counts_as_a_change(store: EntityStore) -> None:
    before = store.view(ME).visibility.version
    store.set_column_type("tickets", "opened", "timestamp", ME)
    store.set_column_type("tickets", "closed", "date", ME)
    store.set_column_type("tickets", "opened", "timestamptz", ME)
    assert store.column_types("local") == {"tickets": {"closed": "date", "opened": "timestamptz"}}
    assert store.column_types("other") == {}
    fixed = store.view(ME).visibility.version
    assert fixed != before
    store.set_column_type("tickets", "closed", None, ME)
    assert store.column_types("local") == {"tickets": {"opened": "timestamptz"}}
    assert store.view(ME).visibility.version != fixed
    with pytest.raises(Denied):
        store.set_column_type("tickets", "x", "text", Caller("local", "ada", "reader"))
