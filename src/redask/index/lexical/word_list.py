"""Every word of a generation, to find those that are spelt nearly like a given one.

Words of deleted rows and of rows that a caller may not read are among them: what is found here is
a proposal, which `corrections` checks. The list is filled from the forward index when a search
first needs it (`read(after)` gives numbered words), and then only caught up.

A word is compared letter by letter only if it begins with the same letter, is hardly longer or
shorter, and has nearly the same set of letters: one array operation over all words. An `s` at the
end of just one of two words is no edit: "recieve" is one edit from "receives".
"""

import threading
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from redask.index.analysis import spellings
from redask.index.forward.entries import U64

_LETTERS = 64  # bits of a set of letters


class WordList:
    """Words with the features that they are found by; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._words: npt.NDArray[np.object_] = np.empty(0, object)
        self._features: U64 = np.empty((3, 0), np.uint64)  # first letter, length, set of letters

    def catch_up(self, read: Callable[[int], list[tuple[int, str]]]) -> None:
        """Add the words that were written since."""
        with self._lock:
            new = read(self._last)
            if not new:
                return
            words = np.empty(len(new), object)
            words[:] = [word for _, word in new]
            self._last = new[-1][0]
            self._words = np.concatenate([self._words, words])
            self._features = np.concatenate([self._features, _features(words)], 1)

    def near(self, word: str) -> list[tuple[int, str]]:
        """The words within the tolerance of a word with their distances, in any order."""
        limit = spellings.tolerance(word)
        if not limit:
            return []
        with self._lock:
            words, (first, size, letters) = self._words, self._features
        own_first, own_size, own_letters = _features([word])[:, 0]
        alike = first == own_first
        alike &= np.abs(size.astype(np.int64) - np.int64(own_size)) <= limit + 1
        # an edit replaces at most one letter of the set by another; the ending may add one
        alike &= np.bitwise_count(letters ^ own_letters) <= 2 * limit + 1
        target = spellings.folded(word)
        measured = [
            (_distance(spellings.folded(each), target, limit), each)
            for each in words[alike].tolist()
        ]
        return [one for one in measured if one[0] <= limit]


def _distance(one: str, other: str, limit: int) -> int:
    """The distance of two words in the number, singular or plural, that brings them closer."""
    whole = spellings.distance(one, other, limit)
    if one.endswith("s") == other.endswith("s"):
        return whole
    return min(whole, spellings.distance(one.removesuffix("s"), other.removesuffix("s"), limit))


def _features(words: Iterable[str]) -> U64:
    """The first letter, the length and the set of letters of each word, folded."""
    found = []
    for folded in map(spellings.folded, words):
        letters = 0
        for point in set(folded):
            letters |= 1 << ord(point) % _LETTERS
        found.append((ord(folded[0]), len(folded), letters))
    return np.array(found, np.uint64).T
