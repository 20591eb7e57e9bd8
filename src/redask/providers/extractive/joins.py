"""Which sources belong with a quoted one: `Joining.asked` follows links and keys from it.

    a quoted edge      leads to both of its ends
    a quoted record    leads to what edges lead to from it, as far as they are among the sources,
                       and to what its keys name: "ArtistId: 2" is Artist/2, "port_id: 7" is ports/7

Such a source is asked for if the question names its collection ("which artist …"): then the row
with the name belongs into the answer, although no word of the question stands in it. Only what
is led to counts, not what leads here: a track has one album, an album has many tracks.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from redask.core.errors import BadUrn
from redask.core.model import Source
from redask.core.rules import urn
from redask.providers.extractive.excerpts import Passage
from redask.providers.extractive.word_forms import Wording

Key = tuple[tuple[str, ...], str]  # the words of a collection, and an id in it
_KEY = re.compile(r"(\w{1,64}?)_?id", re.IGNORECASE)


class Joining:
    """The sources of one question, and what leads from one to another."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._wording = Wording()
        self._sources: dict[int, tuple[str, Passage]] = {}
        self._onwards: dict[str, list[str]] = {}

    def take(self, number: int, source: Source, passage: Passage) -> None:
        """Take in a source with its number."""
        self._sources[number] = source.urn, passage
        if passage.ends:
            self._onwards.setdefault(passage.ends[0], []).append(passage.ends[1])

    def asked(self, quoted: Sequence[int]) -> set[int]:
        """The sources that the quoted ones lead to and the question asks for."""
        ends = {end for number in quoted for end in self._ends(number)}
        keys = {key for number in quoted for key in self._keys(number)}
        if not ends and not keys:  # as in every answer from documents
            return set()
        named = self._named()
        return {
            number
            for number, key in named.items()
            if number not in quoted and (key in keys or self._sources[number][0] in ends)
        }

    def _named(self) -> dict[int, Key]:
        """The sources whose collection the question names, each with the key that means it."""
        asked = frozenset(self._wording.tokens(self._question))
        found: dict[int, Key] = {}
        for number, (address, passage) in self._sources.items():
            try:
                entity = urn.decode(address)
            except BadUrn:
                continue
            # without what the collection may be filed under: `shop.Artist`
            words = tuple(self._wording.tokens(entity.collection.rpartition(".")[2]))
            if words and not passage.ends and asked.issuperset(words):
                found[number] = words, entity.id
        return found

    def _ends(self, number: int) -> Iterable[str]:
        address, passage = self._sources[number]
        return passage.ends or self._onwards.get(address, ())

    def _keys(self, number: int) -> Iterator[Key]:
        for excerpt in self._sources[number][1].excerpts:
            for field in excerpt.fields:
                name, _, value = field.partition(": ")
                key = _KEY.fullmatch(name)
                if key:
                    yield tuple(self._wording.tokens(key[1])), value
