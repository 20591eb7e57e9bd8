"""The search index and the embedder."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from redask.core.errors import Cancelled
from redask.core.model import Caller, Terms
from redask.core.ports.entities import StoreView
from redask.core.ports.selecting import Cancellation


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for. `vector` is absent when no embedder answers.

    `vector_languages` are those the vector is good for; none: for every language. A search that
    sees `cancelled` set ends in `Cancelled`.
    """

    question: str
    terms: Terms
    vector: tuple[float, ...] | None = None
    collections: tuple[str, ...] = ()
    top_k: int = 20
    depth: int = 2
    vector_languages: frozenset[str] = frozenset()
    cancelled: Cancellation | None = field(default=None, compare=False)

    def check(self) -> None:
        """Raise `Cancelled` if nobody waits for the result any more."""
        if self.cancelled is not None and self.cancelled.is_set():
            raise Cancelled("nobody waits for the search any more")


@dataclass(frozen=True, slots=True)
class Found:
    """One bucket's candidates in rank order: `(urn, score)`, score from 0 to 1, ties by URN.

    `left_out` says why a bucket was not searched at all. `named` is how many entities the question
    names (graph), `taken_for` which of its words, in no source, were read as which others (bm25).
    """

    bucket: str
    candidates: tuple[tuple[str, float], ...]
    left_out: str = ""
    named: int = 0
    taken_for: tuple[tuple[str, str], ...] = ()


class Index(Protocol):
    """The search index: a projection of the store's log, always caught up before it answers.

    `layout` names how it is built: two of another layout may rank otherwise.
    """

    layout: str

    def search(
        self, query: Query, caller: Caller, view: StoreView | None = None
    ) -> tuple[Found, ...]:
        """The buckets bm25, vector and graph, in this order, of what the caller may see.

        `view` is the caller's own, if one was taken already: the index is no older than it.
        """


class EmbeddingCharge(Protocol):
    """What was set aside for one request to an embedder elsewhere; it is settled once."""

    def settle(self, tokens: int) -> None:
        """Book what it used; 0: nothing was read there."""

    def cut_off(self, most_tokens: int) -> None:
        """Book the worst: nobody knows whether it was read there."""


class EmbeddingMeter(Protocol):
    """Who counts what embedders elsewhere are asked."""

    def begin(self, most_tokens: int) -> EmbeddingCharge:
        """Set aside what a request could cost; raises what forbids it."""


class Embedder(Protocol):
    """Texts to vectors. `model` names weights and runtime: vectors of two models never mix.

    No `languages` means that it makes no difference between them.
    """

    model: str
    dimensions: int
    languages: frozenset[str]

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """One unit vector for each text, the same for the same text."""
