"""Words as they are compared: `tokens` of a text, equal for inflections of one word.

    a word                                  its English stem, accents removed (Fiancées → fiance)
    a run in a script without spaces        its pairs of neighbouring characters
    a stop word                             no token

The words are those of `rules.terms`. Tokens are for comparison only, never quoted. One `Tokenizer`
serves one question, and so one thread: a stemmer must not be shared between threads.
"""

import unicodedata
from itertools import pairwise

import Stemmer  # type: ignore[import-not-found]  # PyStemmer ships no types

from redask.core.rules import terms
from redask.core.text import compiled_later

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_MIN_JOINED = 5
_UNSPACED_RUN = compiled_later(f"([{_UNSPACED}]+)")


class Tokenizer:
    """Tokens of texts, with a cache of the tokens of each word."""

    def __init__(self, stop_words: frozenset[str] = terms.ENGLISH) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)
        self._cache: dict[str, tuple[str, ...]] = dict.fromkeys(stop_words, ())
        self._joined: dict[str, list[str]] = {}

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order, repetitions included."""
        cache = self._cache
        found: list[str] = []
        for word in terms.words(text):
            known = cache.get(word)
            if known is None:
                known = cache[word] = tuple(self._stems(word))
            found += known
        return found

    def join(self, text: str) -> None:
        """From now on, adjacent words of a text are also found as one: "back up" in "backup"."""
        for first, second in pairwise(terms.words(text)):
            joined = first + second
            if len(joined) >= _MIN_JOINED and joined.isascii() and joined.isalpha():
                words = (word for word in (first, second) if self._cache.get(word) != ())
                parts = [stem for word in words for stem in self._stems(word)]
                if parts:
                    self._joined.setdefault(self._stemmer.stemWord(joined), parts)

    def known(self) -> frozenset[str]:
        """The words of all texts so far, and the stop words."""
        return frozenset(self._cache)

    def _stems(self, word: str) -> list[str]:
        if word.isascii():
            stem = self._stemmer.stemWord(word)
            return self._joined.get(stem) or [stem]
        found: list[str] = []
        for index, part in enumerate(_UNSPACED_RUN.split(word)):
            if index % 2:
                found += [part[start : start + 2] for start in range(max(1, len(part) - 1))]
            elif part:
                found.append(self._stemmer.stemWord(_without_accents(part)))
        return found


def _without_accents(word: str) -> str:
    apart = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))
