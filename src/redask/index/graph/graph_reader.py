"""What a traversal reads: `GraphReader`, one state of the index for one caller."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.index.analysis.analyzer import AnalysedQuery, Term
from redask.index.forward.entries import HashedRows, Rows
from redask.index.graph.adjacency import Adjacency
from redask.index.graph.column_entities import ChangedRows, ColumnEntities
from redask.index.graph.graph_entities import Entities, ForwardEntities
from redask.index.graph.mentions import BloomFilter


class ForwardReader(Protocol):
    """What a traversal needs of the forward index."""

    def fetch(self, keys: Iterable[int]) -> Rows:
        """The rows with these keys."""

    def keys(self, urns: Iterable[str], projection_keys: frozenset[str] | None) -> dict[str, int]:
        """The keys of the rows with these URNs and one of these projection keys (None: any)."""


class TermReader(Protocol):
    """What a traversal needs of the inverted index; over what the caller may see."""

    @property
    def entities(self) -> int:
        """How many rows there are."""

    def row_count(self, group: Sequence[Term]) -> int:
        """How many rows have a term of a group, at most."""

    def similarity(self, query: AnalysedQuery) -> Callable[[HashedRows], Sequence[float]]:
        """A function from rows to their scores for a query, from 0 to 1, without phrases."""

    def matching_all(self, terms: Sequence[Term], limit: int) -> list[int] | None:
        """The keys of all rows that have every term; None if more than `limit`."""


@dataclass(frozen=True, slots=True)
class GraphReader:
    """One state of the index, for a caller with these projection keys (None: all).

    With `changed`, entities are read from arrays, and what changed since from the forward index.
    """

    forward: ForwardReader
    adjacency: Adjacency
    terms: TermReader
    bloom_filter: BloomFilter
    projection_keys: frozenset[str] | None
    languages: Sequence[str]
    withheld: frozenset[tuple[str, str]] = frozenset()
    changed: ChangedRows | None = None

    def may_see(self, projection_key: str, collection: str) -> bool:
        """Whether the caller sees rows of a collection with this projection key."""
        if self.projection_keys is not None and projection_key not in self.projection_keys:
            return False
        return (projection_key, collection) not in self.withheld

    def entities(self) -> Entities:
        """The entities, for one traversal."""
        plain = ForwardEntities(self.forward, self.adjacency, self.bloom_filter, self.may_see)
        if self.changed is None:
            return plain
        return ColumnEntities(self.changed, plain, self.may_see)
