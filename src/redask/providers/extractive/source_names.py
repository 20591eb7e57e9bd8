"""Names of sources in texts: which source is meant by a question, and by what was quoted.

`SourceNames.named_in` gives the sources whose name or title stands in a text, word for word but for
case and what is in brackets ("Heat (film)"). A name that stands inside a longer one that
is there, too, does not count, and neither does a name of stop words, of one short word, or one
that MAX_SHARED sources have: a title of many passages says nothing.
"""

import re
from collections.abc import Sequence

from redask.core.rules import terms

MAX_SHARED = 2
_MIN_LENGTH = 4
_MAX_WORDS = 12

_CAPITALISED = re.compile(r"(?<!\w)[^\W\d_a-z]\w{0,64}|[0-9]\w{0,64}")

Words = tuple[str, ...]


class SourceNames:
    """The names of the sources of one question."""

    def __init__(self) -> None:
        self._numbers: dict[Words, list[int]] = {}
        self._names: dict[int, Words] = {}
        self._lengths: dict[str, list[int]] = {}  # of the names that begin with a word

    def add(self, number: int, name: str) -> None:
        """Add a source's name."""
        words = _words(name.partition(" (")[0])
        meaning = [word for word in words if word not in terms.ENGLISH]
        if meaning and len(words) <= _MAX_WORDS and sum(map(len, meaning)) >= _MIN_LENGTH:
            self._names[number] = words
            self._numbers.setdefault(words, []).append(number)
            lengths = {*self._lengths.get(words[0], ()), len(words)}
            self._lengths[words[0]] = sorted(lengths, reverse=True)

    def name_of(self, number: int) -> Words:
        """The words of a source's name; none if it does not count."""
        return self._names.get(number, ())

    def named_in(self, text: str) -> list[int]:
        """The sources named in a text, in the order of the names.

        If some of the names are capitalised there, others are words: "place of birth of …".
        """
        found = list(dict.fromkeys(number for _, number in self.places_in(_words(text))))
        capitals = frozenset(word.lower() for word in _CAPITALISED.findall(text)) - terms.ENGLISH
        proper = [number for number in found if not capitals.isdisjoint(self._names[number])]
        return proper or found

    def places_in(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Where a text has the names of sources: positions of words, and the sources."""
        found: list[tuple[int, int]] = []
        end = 0
        for start in range(len(words)):
            for length in self._lengths.get(words[start], ()):
                numbers = self._numbers.get(tuple(words[start : start + length]), ())
                if numbers and start + length > end:
                    end = start + length
                    found += [(start, n) for n in numbers if len(numbers) <= MAX_SHARED]
                    break
        return found


def _words(text: str) -> Words:
    return tuple(terms.words(text))
