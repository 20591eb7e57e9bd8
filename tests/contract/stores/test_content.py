"""What is written can be read: by its tenant, in order, and only whole."""

import pytest

from redask.core.errors import BadAsk
from redask.core.model import Caller, Kind, Source
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.backend import EntityStore
from redask.stores.statistics import Collection

ME = Caller()
OTHER = Caller(tenant="other")
STORED = set(Kind) - {Kind.QUERY}


def tickets(*ids: int, title: str = "broken pump") -> list[Entity]:
    return entity_rows.entities("tickets", [{"id": number, "title": title} for number in ids])


def urn(number: int | str) -> str:
    return f"urn:reddb:row:tickets/{number}"


def test_what_was_put_is_read_in_the_order_asked_for(store: EntityStore) -> None:
    store.put(tickets(1, 2, 3), ME)
    found = store.read([urn(3), urn(1)], ME)
    assert [source.urn for source in found] == [urn(3), urn(1)]
    assert found[1].payload == '{"id":1,"title":"broken pump"}'


def test_what_is_not_there_is_left_out(store: EntityStore) -> None:
    store.put(tickets(1), ME)
    assert [source.urn for source in store.read([urn(9), urn(1)], ME)] == [urn(1)]
    assert store.get(urn(9), ME) is None


def test_a_urn_asked_for_twice_is_read_twice(store: EntityStore) -> None:
    store.put(tickets(1), ME)
    assert len(store.read([urn(1), urn(1)], ME)) == 2


def test_either_hex_case_names_the_same_entity(store: EntityStore) -> None:
    store.put(entity_rows.entities("kaffee", [{"id": "é"}]), ME)
    found = store.get("urn:reddb:row:kaffee/%c3%a9", ME)
    assert found == Source("urn:reddb:row:kaffee/%C3%A9", '{"id":"é"}')
    assert store.delete(["urn:reddb:row:kaffee/%c3%a9"], ME) == 1


def test_a_second_put_replaces_the_first(store: EntityStore) -> None:
    store.put(tickets(1), ME)
    store.put(tickets(1, title="mended"), ME)
    assert store.read([urn(1)], ME) == [Source(urn(1), '{"id":1,"title":"mended"}')]


def test_equal_content_changes_nothing(store: EntityStore) -> None:
    first = store.put(tickets(1, 2), ME)
    before = store.changes("local", 0, 10)
    assert store.put(tickets(2, 1), ME) == first
    assert store.changes("local", 0, 10) == before


def test_putting_nothing_gives_the_watermark(store: EntityStore) -> None:
    assert store.put([], ME) == 0
    last = store.put(tickets(1), ME)
    assert store.put([], ME) == last


def test_a_deleted_entity_is_gone_and_may_come_back(store: EntityStore) -> None:
    store.put(tickets(1, 2), ME)
    assert store.delete([urn(1), urn(9)], ME) == 1
    assert store.get(urn(1), ME) is None
    assert store.delete([urn(1)], ME) == 0
    store.put(tickets(1), ME)
    assert store.get(urn(1), ME) is not None


def test_the_six_kinds_share_a_collection_without_meeting(store: EntityStore) -> None:
    for kind in sorted(STORED - {Kind.EDGE, Kind.VECTOR}):
        store.put(entity_rows.entities("things", [{"id": 1, "kind": kind.value}], kind=kind), ME)
    store.put(entity_rows.entities("things", [{"id": 1}], kind=Kind.VECTOR, vectors=[[0.5]]), ME)
    things = store.page("things", ME)
    assert [source.urn.split(":")[2] for source in things] == sorted(STORED - {Kind.EDGE})
    counts = dict.fromkeys(STORED - {Kind.EDGE}, 1)
    assert store.collections(ME) == [Collection("things", None, counts)]


def test_a_collection_is_paged_in_urn_order(store: EntityStore) -> None:
    store.put(tickets(*range(25)), ME)
    store.put(entity_rows.entities("tickets0", [{"id": 1}]), ME)
    seen: list[str] = []
    while page := store.page("tickets", ME, after=seen[-1] if seen else "", limit=10):
        assert len(page) <= 10
        seen += [source.urn for source in page]
    assert seen == sorted(urn(number) for number in range(25))
    assert store.page("tickets", ME, limit=0) == []


def test_a_tenant_sees_nothing_of_another(store: EntityStore) -> None:
    store.put(tickets(1), ME)
    assert store.read([urn(1)], OTHER) == []
    assert store.get(urn(1), OTHER) is None
    assert store.page("tickets", OTHER) == []
    assert store.collections(OTHER) == []
    assert store.columns("tickets", OTHER) == []
    assert store.changes("other", 0, 10) == []
    assert store.watermark("other") == 0
    assert store.delete([urn(1)], OTHER) == 0
    assert store.statistics(OTHER).entities == 0
    assert store.get(urn(1), ME) is not None


def test_two_tenants_may_use_one_urn(store: EntityStore) -> None:
    store.put(tickets(1, title="mine"), ME)
    store.put(tickets(1, title="theirs"), OTHER)
    assert store.read([urn(1)], ME)[0].payload == '{"id":1,"title":"mine"}'
    assert store.read([urn(1)], OTHER)[0].payload == '{"id":1,"title":"theirs"}'
    store.delete([urn(1)], ME)
    assert store.get(urn(1), OTHER) is not None


def test_an_edge_cannot_reach_into_another_tenant(store: EntityStore) -> None:
    store.put(tickets(1), ME)
    store.put(tickets(2), OTHER)
    with pytest.raises(BadAsk, match="tickets/2"):
        store.put([entity_rows.link(urn(1), "blocks", urn(2))], ME)


@pytest.mark.parametrize("tenant", ["", "a\0b", "a\x1fb", "x" * 257, "\ud800"])
def test_a_bad_tenant_name_writes_nothing(store: EntityStore, tenant: str) -> None:
    with pytest.raises(BadAsk):
        store.put(tickets(1), Caller(tenant=tenant))


def test_a_tenant_without_utf_8_reads_nothing_and_says_why(store: EntityStore) -> None:
    caller = Caller(tenant="\udfff")
    for use in (lambda: store.read([urn(1)], caller), lambda: store.view(caller)):
        with pytest.raises(BadAsk) as caught:
            use()
        assert caught.value.message == "the name of the tenant holds the character U+DFFF"
