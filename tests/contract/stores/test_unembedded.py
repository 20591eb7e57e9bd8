"""A store knows what waits for a vector, gives it only to what was embedded, and who does it."""

from dataclasses import replace

import pytest

from redask.core.errors import BadAsk
from redask.core.model import Caller, Kind
from redask.core.ports import EmbeddingLease, Entity, Unembedded
from redask.stores import entity_rows
from redask.stores.backend import EntityStore

ME = Caller()
T = ME.tenant


def worded(payload: str, hidden: frozenset[str]) -> str:
    return "" if "wordless" in payload else payload


def notes(*ids: int, text: str = "x") -> list[Entity]:
    return entity_rows.entities("notes", [{"id": number, "text": text} for number in ids])


def waiting(store: EntityStore, tenant: str = T) -> list[str]:
    return [each.urn.rpartition("/")[2] for each in store.unembedded(tenant, 100)]


def give(store: EntityStore, entities: list[Entity], model: str = "mini") -> None:
    given = [replace(each, vector=(0.6, 0.8)) for each in entities]
    store.set_vectors(given, T, model=model, through=store.watermark(T))


def vector_of(store: EntityStore, number: int) -> tuple[float, ...] | None:
    wanted = f"urn:reddb:row:notes/{number}"
    (found,) = [c.entity for c in store.changes(T, 0, 100) if c.urn == wanted]
    assert found is not None
    return found.vector


def test_what_was_written_without_a_vector_waits_in_the_order_of_its_changes(
    store: EntityStore,
) -> None:
    store.put(notes(2, 1), ME)
    store.put(notes(3), ME)
    store.put(notes(2, text="changed"), ME)
    assert waiting(store) == ["1", "3", "2"]
    assert [each.seq for each in store.unembedded(T, 100)] == [2, 3, 4]
    assert len(store.unembedded(T, 2)) == store.count_unembedded(T) - 1 == 2
    assert store.unembedded(T, 100)[2].payload == '{"id":2,"text":"changed"}'


def test_edges_deleted_entities_and_other_tenants_do_not_wait(store: EntityStore) -> None:
    store.put(notes(1, 2), ME)
    edge = entity_rows.link("urn:reddb:row:notes/1", "knows", "urn:reddb:row:notes/2")
    store.put([edge], ME)
    store.delete(["urn:reddb:row:notes/2"], ME)
    assert waiting(store) == ["1"]
    assert waiting(store, "other") == []
    assert store.is_embedding_pending(ME, worded)
    assert not store.is_embedding_pending(Caller(tenant="other"), worded)


def test_what_has_no_text_waits_for_no_vector_that_a_caller_hears_of(store: EntityStore) -> None:
    store.put(notes(1, text="wordless"), ME)
    assert not store.is_embedding_pending(ME, worded)
    store.put(notes(2), ME)
    assert store.is_embedding_pending(ME, worded)


def test_a_store_knows_whether_it_holds_nothing_but_what_is_searched(store: EntityStore) -> None:
    store.put(entity_rows.entities("pages", [{"id": "a"}, {"id": "b"}], kind=Kind.DOCUMENT), ME)
    pages = [f"urn:reddb:document:pages/{name}" for name in "ab"]
    store.put([entity_rows.link(pages[0], "next", pages[1])], ME)
    assert store.is_only_searched(ME)
    store.put(notes(1), ME)
    assert not store.is_only_searched(ME)
    store.delete(["urn:reddb:row:notes/1"], ME)
    assert not store.is_only_searched(ME)  # a table, and empty


def test_whoever_may_not_read_everything_hears_nothing_of_what_there_is_besides(
    store: EntityStore,
) -> None:
    store.put(entity_rows.entities("pages", [{"id": "a"}], kind=Kind.DOCUMENT), ME)
    store.set_policy("pages", {"read": [{"roles": ["clerk"]}]}, ME)
    assert not store.is_only_searched(Caller(user="reader", role="reader"))


def test_a_vector_ends_the_waiting_and_is_a_change_the_index_will_see(store: EntityStore) -> None:
    store.put(notes(1, 2), ME)
    give(store, notes(1, 2))
    assert waiting(store) == []
    assert (store.count_unembedded(T), store.is_embedding_pending(ME, worded)) == (0, False)
    assert [c.seq for c in store.changes(T, 2, 10)] == [3, 4]
    assert vector_of(store, 1) == pytest.approx((0.6, 0.8))
    assert store.view(ME).space == ("mini", 2)


def test_a_vector_of_a_text_that_changed_meanwhile_is_not_set(store: EntityStore) -> None:
    store.put(notes(1, 2), ME)
    seen = store.watermark(T)
    store.put(notes(1, text="new"), ME)
    store.delete(["urn:reddb:row:notes/2"], ME)
    late = [replace(each, vector=(1.0,)) for each in notes(1, 2, text="x")]
    store.set_vectors(late, T, model="mini", through=seen)
    assert vector_of(store, 1) is None
    assert store.view(ME).space is None
    assert store.get("urn:reddb:row:notes/2", ME) is None
    assert waiting(store) == ["1"]


def test_a_change_after_the_last_look_waits_even_when_all_before_it_is_done(
    store: EntityStore,
) -> None:
    store.put(notes(1), ME)
    seen = store.watermark(T)
    store.put(notes(2), ME)
    store.set_vectors(
        [replace(each, vector=(1.0,)) for each in notes(1)], T, model="mini", through=seen
    )
    assert waiting(store) == ["2"]


def test_what_was_looked_at_and_got_no_vector_does_not_wait_for_ever(store: EntityStore) -> None:
    store.put(entity_rows.entities("flags", [{"id": 1, "on": True}]), ME)
    give(store, [])
    assert waiting(store) == []
    store.put(entity_rows.entities("flags", [{"id": 1, "on": False}]), ME)
    assert waiting(store) == ["1"]


def test_the_mark_never_goes_back(store: EntityStore) -> None:
    store.put(entity_rows.entities("flags", [{"id": 1, "on": True}]), ME)
    give(store, [])
    store.set_vectors([], T, model="mini", through=0)
    assert waiting(store) == []


def test_dropping_vectors_makes_everything_wait_again_and_tells_the_index(
    store: EntityStore,
) -> None:
    store.put(notes(1, 2), ME)
    give(store, notes(1, 2))
    before = store.watermark(T)
    assert store.drop_vectors(T) == 2
    assert waiting(store) == ["1", "2"]
    assert store.view(ME).space is None
    assert [c.entity and c.entity.vector for c in store.changes(T, before, 10)] == [None, None]
    give(store, notes(1, 2), model="maxi")
    assert store.view(ME).space == ("maxi", 2)


def test_vectors_that_came_with_the_data_are_not_dropped(store: EntityStore) -> None:
    store.put(entity_rows.entities("notes", [{"id": 1}], vectors=[(1.0,)]), ME)
    with pytest.raises(BadAsk, match="came with the data"):
        store.drop_vectors(T)
    assert store.view(ME).space == ("given", 1)


def test_vectors_of_two_models_do_not_mix(store: EntityStore) -> None:
    store.put(notes(1, 2), ME)
    give(store, notes(1))
    with pytest.raises(BadAsk, match="model mini"):
        give(store, notes(2), model="maxi")
    assert store.view(ME).space == ("mini", 2)


def test_a_lease_is_one_holders_until_it_is_released_or_seen_to_be_over(
    store: EntityStore,
) -> None:
    store.put(notes(*range(9)), ME)
    a, b, c = (EmbeddingLease(name, 1) for name in "abc")
    first, second = replace(a, through=4), replace(b, after=4, through=8)
    third = replace(c, after=8, through=9)
    assert store.claim_embedding(T, a, 4) == (first,)
    assert store.claim_embedding(T, b, 4) == (first, second)
    assert store.claim_embedding(T, c, 4) == (first, second, third)
    assert store.claim_embedding(T, EmbeddingLease("d", 1), 4) == (first, second, third)
    alive = replace(first, beat=2)
    assert store.claim_embedding(T, replace(a, beat=2), 4)[0] == alive  # a sign of life
    taken = store.claim_embedding(T, EmbeddingLease("d", 1), 4, over=[first, second])
    assert taken == (alive, replace(second, holder="d"), third)
    store.release_embedding(T, "b")  # not its own any more
    store.release_embedding(T, "a")
    assert store.claim_embedding(T, b, 2) == (replace(b, through=2), *taken[1:])
    assert store.claim_embedding("other", a, 4) == ()
    store.release_embedding("another", "a")


def test_of_leases_each_holders_work_is_done_when_all_below_it_is(store: EntityStore) -> None:
    store.put(notes(*range(9)), ME)
    a, b = EmbeddingLease("a", 1), EmbeddingLease("b", 1)
    (first,) = store.claim_embedding(T, a, 4)
    _, second = store.claim_embedding(T, b, 4)
    waiting = store.unembedded(T, 100)
    assert store.unembedded(T, 100, first) == waiting[:4]
    assert store.unembedded(T, 2, second) == waiting[4:6]

    def embed(lease: EmbeddingLease, some: list[Unembedded], through: int) -> None:
        made = [Entity(each.urn, each.payload, vector=(1.0, 2.0)) for each in some]
        store.set_vectors(made, T, model="mini", through=through, lease=lease)

    embed(second, waiting[4:6], waiting[5].seq)
    assert store.unembedded(T, 100) == [*waiting[:4], *waiting[6:]]
    left = replace(second, after=6)
    assert store.claim_embedding(T, replace(b, beat=5), 4) == (first, replace(left, beat=5))
    embed(second, [], second.through)  # the other two say nothing
    assert store.unembedded(T, 100) == [*waiting[:4], *waiting[6:]]  # the first is at work still
    (_, last) = store.claim_embedding(T, b, 4)
    assert last.after == 8
    store.release_embedding(T, "b")
    embed(first, waiting[:4], first.through)
    assert store.unembedded(T, 100) == waiting[8:]  # what said nothing waits no longer
    embed(first, [], 9)  # it has no lease any more
    assert store.unembedded(T, 100) == waiting[8:]
    assert store.drop_vectors(T) == 6
    assert len(store.unembedded(T, 100)) == 9
    assert [each.after for each in store.claim_embedding(T, a, 100)] == [0]
