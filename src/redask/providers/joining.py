"""Which sources belong with a quoted one: `Joining.asked` follows links and keys from it.

    a quoted edge      leads to both of its ends
    a quoted record    leads to what edges lead to from it, as far as they are among the sources,
                       and to what its keys name: "ArtistId: 2" is Artist/2, "port_id: 7" is ports/7

Such a source is asked for if the question names its collection ("which artist …"): then the row
with the name belongs into the answer, although no word of the question stands in it. Only what
is led to counts, not what leads here: a track has one album, an album has many tracks.
"""

import re
from collections.abc import Iterator, Sequence

from redask.errors import BadUrn
from redask.model import Source
from redask.providers.excerpts import Passage
from redask.providers.wording import Wording
from redask.rules import urn

_KEY = re.compile(r"(\w{1,64}?)_?id", re.IGNORECASE)


class Joining:
    """The sources of one question, and what leads from one to another."""

    def __init__(self, question: str) -> None:
        self._wording = Wording()
        self._asked = frozenset(self._wording.tokens(question))
        self._numbers: dict[str, int] = {}
        self._passages: dict[int, Passage] = {}
        self._addresses: dict[int, str] = {}
        self._keys: dict[tuple[str, ...], list[int]] = {}
        self._onwards: dict[str, list[str]] = {}

    def take(self, number: int, source: Source, passage: Passage) -> None:
        """Take in a source with its number."""
        self._numbers.setdefault(source.urn, number)
        self._passages[number] = passage
        self._addresses[number] = source.urn
        if passage.ends:
            self._onwards.setdefault(passage.ends[0], []).append(passage.ends[1])
            return
        collection = self._collection(source.urn)
        if collection and self._asked.issuperset(collection):
            self._keys.setdefault((*collection, urn.decode(source.urn).id), []).append(number)

    def asked(self, quoted: Sequence[int]) -> set[int]:
        """The sources that these lead to and the question asks for, in so far as they are rows."""
        named = {number for numbers in self._keys.values() for number in numbers}
        return {found for number in quoted for found in self._led_to(number)} & named - set(quoted)

    def _led_to(self, number: int) -> Iterator[int]:
        passage, address = self._passages[number], self._addresses[number]
        for end in passage.ends or self._onwards.get(address, ()):
            if end in self._numbers:
                yield self._numbers[end]
        for excerpt in passage.excerpts:
            for field in excerpt.fields:
                name, _, value = field.partition(": ")
                key = _KEY.fullmatch(name)
                if key:
                    yield from self._keys.get((*self._wording.tokens(key[1]), value), ())

    def _collection(self, address: str) -> tuple[str, ...]:
        """The words of a source's collection, without what it may be filed under."""
        try:
            entity = urn.decode(address)
        except BadUrn:
            return ()
        return tuple(self._wording.tokens(entity.collection.rpartition(".")[2]))
