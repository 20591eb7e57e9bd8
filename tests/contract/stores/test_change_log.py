"""Every change is told, in order, to whoever follows; and it outlives the process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Entity
from redask.stores import EntityStore, entity_rows, open_store

ME = Caller()


def tickets(*ids: int, title: str = "broken pump") -> list[Entity]:
    return entity_rows.entities("tickets", [{"id": number, "title": title} for number in ids])


def urn(number: int | str) -> str:
    return f"urn:reddb:row:tickets/{number}"


def log(store: EntityStore, after: int = 0, tenant: str = "local") -> list[tuple[int, str, bool]]:
    found = store.changes(tenant, after, 10_000)
    return [(change.seq, change.urn, change.entity is not None) for change in found]


def test_each_change_gets_the_next_sequence(store: EntityStore) -> None:
    assert store.watermark("local") == 0
    assert store.put(tickets(1, 2), ME) == 2
    assert store.put(tickets(3), ME) == 3
    assert log(store) == [(1, urn(1), True), (2, urn(2), True), (3, urn(3), True)]
    assert store.watermark("local") == 3


def test_the_log_holds_each_entity_once_at_its_latest_change(store: EntityStore) -> None:
    store.put(tickets(1, 2), ME)
    store.put(tickets(1, title="mended"), ME)
    assert log(store) == [(2, urn(2), True), (3, urn(1), True)]
    store.delete([urn(1)], ME)
    assert log(store) == [(2, urn(2), True), (4, urn(1), False)]
    store.put(tickets(1), ME)
    assert log(store) == [(2, urn(2), True), (5, urn(1), True)]


def test_the_log_is_read_in_pieces(store: EntityStore) -> None:
    store.put(tickets(*range(7)), ME)
    assert [change.seq for change in store.changes("local", 2, 3)] == [3, 4, 5]
    assert store.changes("local", 7, 3) == []
    assert store.changes("local", 0, 0) == []


def test_a_change_carries_all_an_index_needs(store: EntityStore) -> None:
    store.put(
        entity_rows.entities("tickets", [{"id": 1}, {"id": 2}], vectors=[[1, 0.5], [0, 1]]), ME
    )
    edge = entity_rows.link(urn(1), "blocks", urn(2))
    store.put([edge], ME)
    store.set_language("links", "en", ME)
    first, second, third = store.changes("local", 0, 10)
    assert first.entity == Entity(urn(1), '{"id":1}', vector=(1.0, 0.5))
    assert (first.collection, first.language) == ("tickets", None)
    assert third.entity == edge
    assert (third.collection, third.language) == ("links", "en")
    assert len({first.key, second.key, third.key}) == 3


def test_a_key_belongs_to_one_urn_for_ever(store: EntityStore) -> None:
    store.put(tickets(1, 2), ME)
    keys = {change.urn: change.key for change in store.changes("local", 0, 10)}
    store.delete([urn(1), urn(2)], ME)
    store.put(tickets(3, 2, 1), ME)
    after = {change.urn: change.key for change in store.changes("local", 0, 10)}
    assert len(set(after.values())) == 3
    assert after.items() >= keys.items()


def test_identity_outlives_the_connection_and_differs_between_stores(
    locate: Callable[[Path], str], location: str, tmp_path: Path
) -> None:
    first = open_store(location)
    identity = first.identity
    first.close()
    again = open_store(location)
    assert again.identity == identity
    again.close()
    another = open_store(locate(tmp_path / "another"))
    assert another.identity != identity
    another.close()


def test_what_was_acknowledged_is_there_after_reopening(location: str) -> None:
    first = open_store(location)
    first.put(tickets(1), ME)
    first.set_setting("colour", "red")
    first.close()
    again = open_store(location)
    assert again.get(urn(1), ME) is not None
    assert again.setting("colour") == "red"
    again.close()


def test_a_closed_store_says_so(location: str) -> None:
    store = open_store(location)
    store.close()
    store.close()
    with pytest.raises(StoreFailed, match="closed"):
        store.read([urn(1)], ME)
    with pytest.raises(StoreFailed, match="closed"):
        store.put(tickets(1), ME)


def test_a_location_with_nul_is_a_matter_of_configuration() -> None:
    with pytest.raises(Misconfigured, match="NUL"):
        open_store("a\0b")


def test_a_location_of_no_store_is_a_matter_of_configuration() -> None:
    with pytest.raises(Misconfigured, match="mongodb://") as caught:
        open_store("mongodb://user:secret@host/db")
    assert "secret" not in caught.value.message + caught.value.detail
