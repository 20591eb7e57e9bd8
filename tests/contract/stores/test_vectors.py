"""Vectors of one tenant can always be compared."""

import pytest

from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.backend import EntityStore

ME = Caller()
OTHER = Caller(tenant="other")


def embedded(number: int, *vector: float, text: str = "x") -> list[Entity]:
    return entity_rows.entities("notes", [{"id": number, "text": text}], vectors=[vector])


def vector_of(store: EntityStore, number: int) -> tuple[float, ...] | None:
    wanted = f"urn:reddb:row:notes/{number}"
    entities = [c.entity for c in store.changes("local", 0, 100) if c.urn == wanted]
    assert entities[0] is not None
    return entities[0].vector


def test_vectors_are_kept_as_32_bit_floats(store: EntityStore) -> None:
    store.put(embedded(1, 0.1, -2, 0), ME, model="mini")
    assert vector_of(store, 1) == pytest.approx((0.1, -2.0, 0.0), abs=1e-8)
    told = store.statistics(ME)
    assert (told.vectors, told.model, told.dimensions) == (1, "mini", 3)


def test_the_same_vector_again_changes_nothing_and_another_one_does(store: EntityStore) -> None:
    assert store.put(embedded(1, 0.1, 0.2), ME) == 1
    assert store.put(embedded(1, 0.1, 0.2), ME) == 1
    assert store.put(embedded(1, 0.1, 0.3), ME) == 2
    assert store.statistics(ME).vectors == 1


def test_equal_content_without_a_vector_keeps_the_one_there_is(store: EntityStore) -> None:
    store.put(embedded(1, 0.5), ME)
    assert store.put(entity_rows.entities("notes", [{"id": 1, "text": "x"}]), ME) == 1
    assert vector_of(store, 1) == (0.5,)


def test_other_content_without_a_vector_drops_the_old_one(store: EntityStore) -> None:
    store.put(embedded(1, 0.5), ME)
    store.put(entity_rows.entities("notes", [{"id": 1, "text": "y"}]), ME)
    assert vector_of(store, 1) is None
    assert store.statistics(ME).vectors == 0


@pytest.mark.parametrize(("model", "vector"), [("mini", (0.5,)), ("maxi", (0.5, 0.5))])
def test_another_model_or_length_is_refused_while_there_are_vectors(
    store: EntityStore, model: str, vector: tuple[float, ...]
) -> None:
    store.put(embedded(1, 0.5, 0.5), ME, model="mini")
    with pytest.raises(BadAsk) as caught:
        store.put(embedded(2, *vector), ME, model=model)
    assert "model mini and have 2" in caught.value.message
    assert f"model {model} and has {len(vector)}" in caught.value.message
    store.put(embedded(2, *vector), OTHER, model=model)
    store.delete(["urn:reddb:row:notes/1"], ME)
    store.put(embedded(2, *vector), ME, model=model)
    assert store.statistics(ME).dimensions == len(vector)


def test_vectors_of_two_lengths_in_one_batch_are_refused(store: EntityStore) -> None:
    with pytest.raises(BadAsk, match="dimensions"):
        store.put([*embedded(1, 0.5), *embedded(2, 0.5, 0.5)], ME)
    assert store.statistics(ME).vectors == 0


@pytest.mark.parametrize("model", ["", "a\x1fb"])
def test_a_model_without_a_proper_name_is_refused(store: EntityStore, model: str) -> None:
    with pytest.raises(BadAsk, match="model"):
        store.put(embedded(1, 0.5), ME, model=model)
