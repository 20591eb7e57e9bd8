"""Entities: what is written, the log of changes, what a caller may see, and vectors to come."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.core.model import Caller, Source


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing to write: its URN, and its payload as canonical JSON.

    `source` and `target` are set on edges only; `vector` is an embedding given by hand.
    """

    urn: str
    payload: str
    source: str | None = None
    target: str | None = None
    vector: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the store's ordered change log; `entity` is `None` for a deletion.

    `key` is the store's own number of the entity: stable while it lives, never reused, and never
    allowed to influence an answer. `class_key` names its policy class, so who may see it at all;
    `projections` are pairs of a projection key and the payload as those see it who may see that
    key. The first projection is the whole; at most 15 follow. Nobody sees two.
    """

    seq: int
    key: int
    urn: str
    collection: str
    language: str | None
    entity: Entity | None
    class_key: str = "all"
    projections: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a caller may see, in one state of the policies.

    `projections` maps the projection keys that this caller sees to the class keys they belong to;
    None is a tenant without policies, where everybody sees everything. `denied` are collections
    whose policy gives this caller nothing; `closed` says that what has no policy is not there.
    `identity` is the same as long as caller, attributes and what the policies give them are.
    `withheld` are projection keys that do not count in some collection: what they name there is
    being classified anew.
    """

    version: int = 0
    projections: Mapping[str, str] | None = None
    denied: frozenset[str] = frozenset()
    closed: bool = False
    identity: str = ""
    withheld: frozenset[tuple[str, str]] = frozenset()  # projection key, collection


@dataclass(frozen=True, slots=True)
class StoreView:
    """One state of the store, as one caller stands before it; all parts are of one moment.

    `space` is the vector space of the tenant, model and dimensions; None when it has no vectors.
    `history` is the tenant's last write, as `Store.history` tells it.
    """

    watermark: int
    visibility: Visibility
    space: tuple[str, int] | None = None
    history: str = ""


class Store(Protocol):
    """The store: what was acknowledged is there, in order, for everybody.

    `identity` tells one store from every other.
    """

    identity: str

    def put(self, entities: Sequence[Entity], caller: Caller) -> int:
        """Write all or nothing; upsert by URN; equal content changes nothing. → last sequence."""

    def delete(self, urns: Sequence[str], caller: Caller) -> int:
        """Remove entities, and the edges that touch them. → how many entities went."""

    def read(self, urns: Sequence[str], caller: Caller) -> list[Source]:
        """What of these the caller may see, as the caller may see it, in the given order."""

    def view(self, caller: Caller) -> StoreView:
        """How far the store is, what the caller may see and the vector space, at one moment."""

    def watermark(self, tenant: str) -> int:
        """The sequence of the tenant's last change; 0 when there is none."""

    def history(self, tenant: str) -> str:
        """The tenant's last write; empty before the first. Each write has a name of its own."""

    def follows(self, tenant: str, write: str) -> bool:
        """Whether a write that `history` told is one of those that led to the present state.

        Not so where the store was replaced by an older state, or by a copy that was written on.
        What is derived from the store keeps the last write that it saw, and is made again then.
        """

    def changes(self, tenant: str, after: int, limit: int) -> list[Change]:
        """The next changes after a sequence, in order; only an entity's latest state counts."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """An entity without a vector: the sequence of its latest change, and what it says.

    `hidden` are the columns that a policy hides from anybody: no vector may tell of them.
    """

    seq: int
    urn: str
    payload: str
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EmbeddingLease:
    """Who embeds which changes of a tenant; `beat` changes with each of the holder's signs of life.

    They are those after `after`, up to `through`.
    """

    holder: str
    beat: int
    after: int = 0
    through: int = 0


EmbeddedText = Callable[[str, frozenset[str]], str]  # of a payload and its hidden columns


class VectorStore(Protocol):
    """What embedding needs of a store: which entities wait for a vector, and a place for it."""

    def view(self, caller: Caller) -> StoreView:
        """How far the store is, what the caller may see and the vector space, at one moment."""

    def unembedded(
        self, tenant: str, limit: int, lease: EmbeddingLease | None = None
    ) -> list[Unembedded]:
        """The next entities (no edges) that wait for a vector, in the order of their changes.

        With a lease, of its changes.
        """

    def count_unembedded(self, tenant: str) -> int:
        """How many entities wait for a vector."""

    def is_embedding_pending(self, caller: Caller, text: EmbeddedText) -> bool:
        """Whether anything that this caller may read, and that has a text, waits for a vector."""

    def set_vectors(
        self,
        embedded: Sequence[Entity],
        tenant: str,
        *,
        model: str,
        through: int,
        lease: EmbeddingLease | None = None,
    ) -> None:
        """Give vectors to those entities that did not change after `through`.

        They say what was embedded then, and to the same people. All up to `through` is done; with
        a lease, all of its changes up to there, and that is a sign of life.
        """

    def drop_vectors(self, tenant: str) -> int:
        """Forget every vector of the tenant, so that all are made anew. → how many went"""

    def claim_embedding(
        self,
        tenant: str,
        claimed: EmbeddingLease,
        most: int,
        over: Sequence[EmbeddingLease] = (),
    ) -> tuple[EmbeddingLease, ...]:
        """Renew the holder's lease, or take one of the next `most` entities that nobody has.

        Those that are still `over` are taken away: the caller has seen no sign of life for too
        long. → every lease now, the holder's among them unless there is nothing left to take
        """

    def release_embedding(self, tenant: str, holder: str) -> None:
        """Give the holder's lease back, if there is one."""
