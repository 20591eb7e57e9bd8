"""What a traversal reads of entities: `Entities`; `ForwardEntities` reads the forward index.

Only what the caller may see is there: an entity by its projection key and collection, a name by
its owners. `column_entities` reads the same from arrays.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from redask.index.forward.entries import U32, HashedRows, Rows
from redask.index.graph import mentions
from redask.index.graph.adjacency import Adjacency
from redask.index.graph.mentions import BloomFilter, Mention

MAX_OWNERS = 10_000

MaySee = Callable[[str, str], bool]  # projection key, collection
RowSimilarity = Callable[[HashedRows], Sequence[float]]


class Entities(Protocol):
    """The entities of one state that a caller may see, by key."""

    def compare_with(self, similarity: RowSimilarity) -> None:
        """How similarities are made, before the first is asked for."""

    def similarities(self, keys: Iterable[int]) -> dict[int, float]:
        """How similar each is to the question; those that may not be seen are left out."""

    def urn(self, key: int) -> str:
        """The URN of an entity that has a similarity."""

    def collection(self, key: int) -> str:
        """The collection of an entity that has a similarity."""

    def shortest_names(self, keys: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Of those with a name the hash of the shortest, and its stems; all have a similarity."""

    def mentions_in(self, keys: Sequence[int]) -> list[list[Mention]]:
        """The names in the text of each, in order, without overlaps; all have a similarity."""

    def mentioning(self, names: Sequence[tuple[int, int]], among: Sequence[int]) -> list[set[int]]:
        """For each name, given as hash and number of words: which of these texts have it."""

    def owners(self, name_hash: int) -> list[int] | None:
        """The entities with a name, ascending; None if more than MAX_OWNERS."""

    def spellings(self, name_hash: int) -> set[str]:
        """The stems of the shortest names of a name's owners."""


def with_owners(found: Sequence[list[Mention]], entities: Entities) -> list[list[Mention]]:
    """Of possible names in texts, by position and the longest first, those that count."""
    known = {
        name
        for name in {mention.name_hash for some in found for mention in some}
        if entities.owners(name) != []
    }
    return [mentions.longest_mentions(some, known) for some in found]


class RowReader(Protocol):
    """What is needed of the forward index."""

    def fetch(self, keys: Iterable[int]) -> Rows:
        """The rows with these keys."""


class ForwardEntities:
    """Entities read from the forward index, row by row."""

    def __init__(
        self,
        rows: RowReader,
        adjacency: Adjacency,
        bloom_filter: BloomFilter,
        may_see: MaySee,
    ) -> None:
        self._reader = rows
        self._adjacency = adjacency
        self._bloom_filter = bloom_filter
        self._may_see = may_see
        self._similarity: RowSimilarity = lambda rows: [0.0] * len(rows.keys)
        self._loaded: dict[int, tuple[Rows, int, float]] = {}
        self._owners: dict[int, list[int] | None] = {}

    def compare_with(self, similarity: RowSimilarity) -> None:
        """How similarities are made, before the first is asked for."""
        self._similarity = similarity

    def similarities(self, keys: Iterable[int]) -> dict[int, float]:
        """How similar each is to the question; those that may not be seen are left out."""
        wanted = set(keys)
        new = wanted - self._loaded.keys()
        rows = self._reader.fetch(new)
        for row, (key, similarity) in enumerate(
            zip(rows.keys, self._similarity(rows), strict=True)
        ):
            if self._may_see(rows.projection_keys[row], rows.collections[row]):
                self._loaded[key] = (rows, row, float(similarity))
        return {key: self._loaded[key][2] for key in wanted if key in self._loaded}

    def urn(self, key: int) -> str:
        """The URN of an entity that has a similarity."""
        rows, row, _ = self._loaded[key]
        return rows.urns[row]

    def collection(self, key: int) -> str:
        """The collection of an entity that has a similarity."""
        rows, row, _ = self._loaded[key]
        return rows.collections[row]

    def shortest_names(self, keys: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Of those with a name the hash of the shortest, and its stems."""
        found = self._adjacency.shortest_names(keys)
        return {key: (name, self._name_stems(key)) for key, name in found.items()}

    def mentions_in(self, keys: Sequence[int]) -> list[list[Mention]]:
        """The names in the text of each, in order, without overlaps."""
        return with_owners(self.candidates(keys), self)

    def candidates(self, keys: Sequence[int]) -> list[list[Mention]]:
        """What may be names in the text of each, whoever has them."""
        return mentions.candidates([self._surfaces(key) for key in keys], self._bloom_filter)

    def mentioning(self, names: Sequence[tuple[int, int]], among: Sequence[int]) -> list[set[int]]:
        """For each name, given as hash and number of words: which of these texts have it."""
        self.similarities(among)
        seen = [key for key in among if key in self._loaded]
        found = mentions.texts_mentioning([self._surfaces(key) for key in seen], names)
        return [{seen[position] for position in positions} for positions in found]

    def owners(self, name_hash: int) -> list[int] | None:
        """The entities with a name, ascending; None if more than MAX_OWNERS."""
        if name_hash not in self._owners:
            self._owners[name_hash] = self._adjacency.owners(name_hash, MAX_OWNERS)
        return self._owners[name_hash]

    def spellings(self, name_hash: int) -> set[str]:
        """The stems of the shortest names of a name's owners."""
        return {self._name_stems(key) for key in self.similarities(self.owners(name_hash) or ())}

    def _name_stems(self, key: int) -> str:
        rows, row, _ = self._loaded[key]
        return rows.name_stems[row]

    def _surfaces(self, key: int) -> U32:
        rows, row, _ = self._loaded[key]
        return rows.surfaces(row)
