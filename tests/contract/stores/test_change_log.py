"""Every change is told, in order, to whoever follows; and it outlives the process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.backend import EntityStore
from redask.stores.backends import BackendRow

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
    row: BackendRow, locate: Callable[[Path], str], location: str, tmp_path: Path
) -> None:
    first = row.open(location)
    identity = first.store.identity
    first.close()
    again = row.open(location)
    assert again.store.identity == identity
    again.close()
    another = row.open(locate(tmp_path / "another"))
    assert another.store.identity != identity
    another.close()


def test_what_was_acknowledged_is_there_after_reopening(row: BackendRow, location: str) -> None:
    first = row.open(location)
    first.store.put(tickets(1), ME)
    first.close()
    again = row.open(location)
    assert again.store.get(urn(1), ME) is not None
    again.close()


def test_a_closed_backend_says_so(row: BackendRow, location: str) -> None:
    backend = row.open(location)
    backend.close()
    backend.close()
    for work in (
        lambda: backend.store.read([urn(1)], ME),
        lambda: backend.store.put(tickets(1), ME),
        lambda: backend.store.view(ME),
        lambda: backend.users.sign_in("x", 0),
        lambda: backend.manifest.known("/", ME),
        lambda: backend.audit.entries(ME, limit=1),
        lambda: backend.ledger.report(0),
        lambda: backend.answers.get("x"),
    ):
        with pytest.raises(StoreFailed, match="closed"):
            work()
