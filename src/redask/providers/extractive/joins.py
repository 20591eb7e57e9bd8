"""Sources joined to a quoted one: `JoinGraph.requested` follows its edges and foreign keys.

    a quoted edge      is joined to both of its ends
    a quoted record    is joined to the targets of its edges, if those are among the sources, and
                       to the rows its keys name: "ArtistId: 2" is Artist/2, "port_id: 7" is ports/7

A joined source is requested if the question names its collection ("which artist …"): then the row
with the name belongs in the answer, although it has no word of the question. Joins are followed
from the referencing side only: a track has one album, an album has many tracks. `edges_from` are
the edges themselves: "people/jonas reports to people/mara".
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from redask.core.errors import BadUrn
from redask.core.model import Source
from redask.core.rules import urn
from redask.providers.extractive.excerpts import QuotableSource
from redask.providers.extractive.word_forms import Tokenizer

Key = tuple[tuple[str, ...], str]  # the words of a collection, and an id in it
_KEY = re.compile(r"(\w{1,64}?)_?id", re.IGNORECASE)


class JoinGraph:
    """The sources of one question, and the edges and keys between them."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._tokenizer = Tokenizer()
        self._sources: dict[int, tuple[str, QuotableSource]] = {}
        self._edge_targets: dict[str, list[str]] = {}

    def add(self, number: int, source: Source, passage: QuotableSource) -> None:
        """Add a source with its number."""
        self._sources[number] = source.urn, passage
        if passage.ends:
            self._edge_targets.setdefault(passage.ends[0], []).append(passage.ends[1])

    def requested(self, quoted: Sequence[int]) -> set[int]:
        """The sources joined to the quoted ones whose collection the question names."""
        ends = {end for number in quoted for end in self._ends(number)}
        keys = {key for number in quoted for key in self._keys(number)}
        if not ends and not keys:  # as for all documents
            return set()
        named = self._named()
        return {
            number
            for number, key in named.items()
            if number not in quoted and (key in keys or self._sources[number][0] in ends)
        }

    def edges_from(self, quoted: Sequence[int]) -> set[int]:
        """The edges that lead from a quoted source to another."""
        addresses = {self._sources[number][0] for number in quoted}
        return {
            number
            for number, (_, passage) in self._sources.items()
            if passage.ends and passage.ends[0] in addresses and number not in quoted
        }

    def _named(self) -> dict[int, Key]:
        """The sources whose collection the question names, each with its key."""
        words_asked = frozenset(self._tokenizer.tokens(self._question))
        found: dict[int, Key] = {}
        for number, (address, passage) in self._sources.items():
            try:
                entity = urn.decode(address)
            except BadUrn:
                continue
            # without a prefix of the collection: `shop.Artist`
            words = tuple(self._tokenizer.tokens(entity.collection.rpartition(".")[2]))
            if words and not passage.ends and words_asked.issuperset(words):
                found[number] = words, entity.id
        return found

    def _ends(self, number: int) -> Iterable[str]:
        address, passage = self._sources[number]
        return passage.ends or self._edge_targets.get(address, ())

    def _keys(self, number: int) -> Iterator[Key]:
        for excerpt in self._sources[number][1].excerpts:
            for field in excerpt.fields:
                name, _, value = field.partition(": ")
                key = _KEY.fullmatch(name)
                if key:
                    yield tuple(self._tokenizer.tokens(key[1])), value
