"""Words as they are compared: `tokens` of a text, equal where two words mean the same.

    a word                                  its English stem, accents removed (Fiancées → fiance)
    a run in a script without spaces        its pairs of neighbouring characters
    a stop word                             nothing

The words are those of `rules.terms`. Folding is for comparing only: what is quoted stays as it
is. One `Wording` serves one question, and so one thread: a stemmer must not be shared.
"""

import re
import unicodedata

import Stemmer  # type: ignore[import-not-found]  # PyStemmer ships no types

from redask.core.rules import terms

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_UNSPACED_RUN = re.compile(f"([{_UNSPACED}]+)")


class Wording:
    """Tokens of texts, remembering each word it has met."""

    def __init__(self, stop_words: frozenset[str] = terms.ENGLISH) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)
        self._met: dict[str, tuple[str, ...]] = dict.fromkeys(stop_words, ())

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order, repetitions included."""
        met = self._met
        found: list[str] = []
        for word in terms.words(text):
            known = met.get(word)
            if known is None:
                known = met[word] = tuple(self._read(word))
            found += known
        return found

    def _read(self, word: str) -> list[str]:
        if word.isascii():
            return [self._stemmer.stemWord(word)]
        found: list[str] = []
        for place, part in enumerate(_UNSPACED_RUN.split(word)):
            if place % 2:
                found += [part[start : start + 2] for start in range(max(1, len(part) - 1))]
            elif part:
                found.append(self._stemmer.stemWord(_without_accents(part)))
        return found


def _without_accents(word: str) -> str:
    apart = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))
