"""Edges hang on what they join."""

import pytest

from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.backend import EntityStore

ME = Caller()


def tickets(*ids: int, title: str = "broken pump") -> list[Entity]:
    return entity_rows.entities("tickets", [{"id": number, "title": title} for number in ids])


def urn(number: int | str) -> str:
    return f"urn:reddb:row:tickets/{number}"


def test_linking_twice_is_linking_once(store: EntityStore) -> None:
    store.put(tickets(1, 2), ME)
    last = store.put([entity_rows.link(urn(1), "blocks", urn(2))], ME)
    assert store.put([entity_rows.link(urn(1), "blocks", urn(2))], ME) == last
    assert store.statistics(ME).edges == 1


@pytest.mark.parametrize(("source", "target", "missing"), [(1, 9, 9), (9, 1, 9)])
def test_a_dangling_edge_is_refused_by_the_name_of_the_missing_end(
    store: EntityStore, source: int, target: int, missing: int
) -> None:
    store.put(tickets(1), ME)
    with pytest.raises(BadAsk) as caught:
        store.put([*tickets(5), entity_rows.link(urn(source), "blocks", urn(target))], ME)
    assert urn(missing) in caught.value.message
    assert store.get(urn(5), ME) is None


def test_an_edge_to_a_deleted_entity_is_refused(store: EntityStore) -> None:
    store.put(tickets(1, 2), ME)
    store.delete([urn(2)], ME)
    with pytest.raises(BadAsk, match="does not exist"):
        store.put([entity_rows.link(urn(1), "blocks", urn(2))], ME)


def test_an_edge_and_its_ends_may_come_in_any_order_of_one_batch(store: EntityStore) -> None:
    store.put([entity_rows.link(urn(1), "blocks", urn(2)), *tickets(2, 1)], ME)
    assert store.statistics(ME).edges == 1


def test_cycles_and_self_loops_are_fine(store: EntityStore) -> None:
    ring = [entity_rows.link(urn(a), "next", urn(b)) for a, b in [(1, 2), (2, 1), (3, 3)]]
    store.put([*tickets(1, 2, 3), *ring], ME)
    assert store.delete([urn(3)], ME) == 2
    assert store.delete([urn(1)], ME) == 3
    assert [source.urn for source in store.page("tickets", ME)] == [urn(2)]


def test_deleting_an_entity_deletes_edges_that_touch_it_and_edges_on_those(
    store: EntityStore,
) -> None:
    edge = entity_rows.link(urn(1), "blocks", urn(2))
    comment = entity_rows.link(urn(3), "disputes", edge.urn)
    store.put([*tickets(1, 2, 3), edge, comment], ME)
    assert store.delete([urn(2)], ME) == 3
    assert store.page("links", ME) == []
    assert {change.urn for change in store.changes("local", 5, 10)} == {
        urn(2),
        edge.urn,
        comment.urn,
    }


def test_an_edge_may_move_to_other_ends(store: EntityStore) -> None:
    def edge(target: int) -> Entity:
        payload = f'{{"from":"{urn(1)}","to":"{urn(target)}"}}'
        return Entity("urn:reddb:edge:roads/1", payload, source=urn(1), target=urn(target))

    store.put([*tickets(1, 2, 3), edge(2)], ME)
    store.put([edge(3)], ME)
    assert store.delete([urn(2)], ME) == 1
    assert store.delete([urn(3)], ME) == 2


@pytest.mark.parametrize(
    "entity",
    [
        Entity("urn:reddb:edge:links/1", "{}"),
        Entity("urn:reddb:edge:links/1", "{}", source=urn(1), target=urn(1)),
        Entity("urn:reddb:row:tickets/2", "{}", source=urn(1), target=urn(1)),
        Entity(
            "urn:reddb:edge:links/1",
            '{"from":"urn:reddb:row:a/%c3%a9","to":"urn:reddb:row:a/%c3%a9"}',
            source="urn:reddb:row:a/%c3%a9",
            target="urn:reddb:row:a/%c3%a9",
        ),
    ],
    ids=["no ends", "payload without ends", "a row with ends", "ends not canonical"],
)
def test_a_half_said_edge_is_refused(store: EntityStore, entity: Entity) -> None:
    store.put(tickets(1), ME)
    with pytest.raises(BadAsk):
        store.put([entity], ME)
