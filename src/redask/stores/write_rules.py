"""What may be written, and what a write does: rules that every backend shares.

    entity in the batch            what happens                                  sequence
    its URN is new                 inserted under a new key                      next
    its URN was deleted            written again under its old key               next
    equal payload (and vector)     nothing                                       none
    other payload                  replaced; the old vector goes unless one      next
                                   comes along, for it spoke of the old text
    other payload, equal words     replaced; the vector stays (`places`)   next
    equal payload, new vector      the vector is set                             next
    edge, one end absent           refused; an end may come in the same batch
    twice in one batch             refused

One tenant has vectors of one model and one length. Refusals are `BadAsk` and name the URN.

    waits for a vector     lives, is no edge, has no vector, changed after the last one looked at
    gets a vector          if it did not change after it was read, and says what was embedded
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from redask.core import places
from redask.core.errors import BadAsk
from redask.core.model import Kind
from redask.core.ports import Entity
from redask.core.text import name_fault
from redask.stores import payloads, vector_encoding
from redask.stores.canonical_urns import address, ends_of
from redask.stores.entity_rows import MAX_COLUMNS, collection_fault

GIVEN = "given"  # the model of vectors that came with the data, not from an embedder
MAX_URN_CHARACTERS = 16_384

VectorSpace = tuple[str, int]  # model and dimensions


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """An entity that was checked by itself, on its way to the store."""

    urn: str
    kind: Kind
    collection: str
    payload: str
    content: dict[str, object]
    ends: tuple[str, str] | None
    vector: bytes | None


class Effect(NamedTuple):
    """What writing an entity does: its content is new, its old vector is dropped."""

    new_content: bool
    drops_vector: bool


def draft(entity: Entity) -> EntityDraft:
    """Check an entity as far as that goes without the store."""
    urn, kind, collection = address(entity.urn)
    if len(urn) > MAX_URN_CHARACTERS:
        raise BadAsk(f"a URN of {len(urn)} characters is longer than {MAX_URN_CHARACTERS}")
    if "%00" in urn:
        raise BadAsk(f"the id in {urn} holds a NUL character", detail=urn)
    if kind is Kind.QUERY:
        raise BadAsk(f"{urn} is the result of a statement, which is not stored", detail=urn)
    if kind is not Kind.EDGE and (entity.source is not None or entity.target is not None):
        raise BadAsk(f"{urn} is no edge: it has no source and no target", detail=urn)
    check_collection(collection)
    content = payloads.read(urn, entity.payload)
    return EntityDraft(
        urn,
        kind,
        collection,
        entity.payload,
        content,
        ends_of(urn, entity, content) if kind is Kind.EDGE else None,
        None if entity.vector is None else _packed(urn, entity.vector),
    )


def space_with(
    space: VectorSpace | None, drafts: Iterable[EntityDraft], model: str
) -> VectorSpace | None:
    """The tenant's vector space once these are written; none of them may be of another one."""
    for each in drafts:
        if each.vector is None:
            continue
        own = (model, vector_encoding.dimensions(each.vector))
        space = space or own
        if space != own:
            raise BadAsk(
                f"the vector of {each.urn} is of model {own[0]} and has {own[1]} dimensions, but "
                f"those before it are of model {space[0]} and have {space[1]}",
                detail=each.urn,
            )
    return space


def check_apart(drafts: Iterable[EntityDraft], seen: set[str]) -> None:
    """Refuse a URN that the batch had before, and note these in `seen`."""
    for each in drafts:
        if each.urn in seen:
            raise BadAsk(f"{each.urn} stands twice in one batch", detail=each.urn)
        seen.add(each.urn)


def effect(new: EntityDraft, payload: str | None, vector: bytes | None) -> Effect | None:
    """What a draft does to what is stored (None: not there, or deleted); None for nothing."""
    same = payload == new.payload
    if same and (new.vector is None or new.vector == vector):
        return None
    if new.vector is not None or payload is None:
        return Effect(not same, False)
    return Effect(True, not _says_the_same(payload, new.content))


def _says_the_same(payload: str, content: dict[str, object]) -> bool:
    """Whether a stored chunk and a new one differ in their places alone."""
    words = places.worded(content)
    if words is content:  # no chunk
        return False
    return json.dumps(words) == json.dumps(places.worded(json.loads(payload)))


def check_ends(ends: Iterable[tuple[str, str]], there: Collection[str]) -> None:
    """Refuse edges of which an end is not there once the whole batch is written."""
    for pair in ends:
        for role, urn in zip(("source", "target"), pair, strict=True):
            if urn not in there:
                raise BadAsk(f"the {role} of an edge does not exist: {urn}", detail=urn)


class CatalogueCounts:
    """What a transaction adds to (or takes from) the catalogues, counted in memory.

    Collections and policy classes are the store's numbers.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, int, Kind, payloads.Shape]] = Counter()

    def count(
        self, collection: int, policy_class: int, kind: Kind, content: dict[str, object], by: int
    ) -> None:
        """One entity more (+1) or less (-1)."""
        self._counts[collection, policy_class, kind, payloads.shape(content)] += by

    def holdings(self) -> Counter[tuple[int, int, Kind]]:
        """Entities by collection, policy class and kind."""
        found: Counter[tuple[int, int, Kind]] = Counter()
        for (collection, policy_class, kind, _), count in self._counts.items():
            found[collection, policy_class, kind] += count
        return found

    def columns(self) -> Counter[tuple[int, int, str, str]]:
        """Entities that have a column, by collection, policy class, column and type."""
        found: Counter[tuple[int, int, str, str]] = Counter()
        for (collection, policy_class, _, shape), count in self._counts.items():
            for name, type_name in shape:
                found[collection, policy_class, name, type_name] += count
        return found


def check_columns(collection: str, count: int) -> None:
    """Refuse more columns than a table can have."""
    if count > MAX_COLUMNS:
        raise BadAsk(
            f"the collection {collection} would have {count} columns, more than {MAX_COLUMNS}: "
            "put rare keys into a nested object",
            detail=collection,
        )


def check_tenant(name: str) -> None:
    """Refuse what cannot be a tenant's name."""
    fault = name_fault(name)
    if fault:
        raise BadAsk(f"the name of the tenant {fault}")


def check_model(model: str) -> None:
    """Refuse what cannot be the name of an embedder."""
    fault = name_fault(model)
    if fault:
        raise BadAsk(f"the name of the vectors' model {fault}", detail="model")


def check_language(collection: str, language: str | None) -> None:
    """Refuse what cannot be a language."""
    fault = None if language is None else name_fault(language)
    if fault:
        raise BadAsk(f"the language of {collection!a} {fault}", detail="language")


def check_column_type(key: str, type_name: str) -> None:
    """Refuse what cannot be the fixed type of a column."""
    from redask.core.sql.fixed_types import read_type  # for the few who fix types

    if str(read_type(type_name)) != type_name:
        raise BadAsk(f"the type of {key!a} is written otherwise: {read_type(type_name)}")


def check_collection(name: str) -> None:
    """Refuse what cannot be a collection's name."""
    fault = _collection_fault(name)
    if fault:
        raise BadAsk(f"the collection name {name!a} {fault}", detail=name)


def still_said(embedded: Sequence[Entity], known: Mapping[str, str | None]) -> list[Entity]:
    """Those whose payload is still the one that was embedded; `known` has the old ones only."""
    return [each for each in embedded if known.get(each.urn) == each.payload]


def embedded_through(before: int, after: int, through: int) -> int:
    """How far everything has been looked at for a vector, given the last sequence before and
    after vectors were set: whatever changed since `through` may have changed by our own hand."""
    return after if before == through else through


def check_droppable(space: VectorSpace | None) -> None:
    """Refuse to forget vectors that nobody could make again."""
    if space is not None and space[0] == GIVEN:
        raise BadAsk("these vectors came with the data: no embedder can make them anew")


def _packed(urn: str, vector: Sequence[float]) -> bytes:
    fault = vector_encoding.fault(vector)
    if fault:
        raise BadAsk(f"the vector of {urn} {fault}", detail=urn)
    return vector_encoding.pack(vector)


@lru_cache(4096)
def _collection_fault(name: str) -> str | None:
    return collection_fault(name)
