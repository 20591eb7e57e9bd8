"""Names in running text: which names a text mentions, and which texts mention a name.

A name is the number of its words (`records.name_of`), and so is every run of words of a text
(`records.runs`): a mention is where the two are equal. At each place the longest name wins,
and what it covers is not looked at again: in "New York Times" nobody mentions New York.

    bloom_filter     may this number be a name? Most runs of words are none, and asking the name
              dictionary costs a look-up each. One bit a number, hashed; a bit too many costs
              one look-up, so nothing is ever taken out, and no history shows in an answer.
    owners    which of the rest are names, of entities this caller may see. A name only others
              may see hides no shorter one.

Texts are read up to READ words.
"""

import threading
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from redask.index.forward.entries import I64, U32, U64, ngrams, runs

READ = 10_000

_BITS = 25  # 4 MB, of which only what is used is ever touched; a million names fill 3 %


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text: the words from `start`, `size` of them."""

    start: int
    size: int
    number: int


class BloomFilter:
    """The names there may be; threads may share it."""

    def __init__(self) -> None:
        self._bits = np.zeros(1 << (_BITS - 3), np.uint8)
        self._seq = 0
        self._lock = threading.Lock()

    def follow(self, names_since: Callable[[int], U64], watermark: int) -> None:
        """Take in the names that came up to a change of the store's log."""
        if self._seq >= watermark:
            return
        with self._lock:
            if self._seq < watermark:
                place, bit = _bit(names_since(self._seq))
                np.bitwise_or.at(self._bits, place, bit)
                self._seq = watermark

    def saved(self) -> tuple[int, bytes]:
        """The last change taken in, and the bits, to begin from another time."""
        with self._lock:
            return self._seq, zlib.compress(self._bits.tobytes(), 1)

    def restore(self, seq: int, bits: bytes) -> None:
        """Begin from what was saved, unless more is known already."""
        with self._lock:
            if self._seq < seq:
                self._bits = np.frombuffer(bytearray(zlib.decompress(bits)), np.uint8)
                self._seq = seq

    def admits(self, numbers: U64) -> npt.NDArray[np.bool_]:
        """Which of these may be names; False is certain."""
        place, bit = _bit(numbers)
        held: npt.NDArray[np.bool_] = (self._bits[place] & bit) != 0
        return held


def candidates(texts: Sequence[U32], bloom_filter: BloomFilter) -> list[list[Mention]]:
    """All runs of words that may be names, for each text by place, the longest first."""
    if not texts:
        return []
    joined = _Joined([text[:READ] for text in texts])
    found: list[list[Mention]] = [[] for _ in texts]
    numbers = runs(joined.surfaces)
    rows, places = np.nonzero(bloom_filter.admits(numbers))
    sizes = rows + 1
    which, starts, inside = joined.whereabouts(places, sizes)
    order = np.lexsort((-sizes, places))
    order = order[inside[order]]
    every = (which, starts, sizes, numbers[rows, places])
    for text, start, size, number in zip(*(each[order].tolist() for each in every), strict=True):
        found[text].append(Mention(start, size, number))
    return found


def mentioning(texts: Sequence[U32], wanted: Sequence[tuple[int, int]]) -> list[set[int]]:
    """For each name, a number and how many words it has: which of the texts mention it."""
    joined = _Joined([text[:READ] for text in texts])
    numbers = {size: ngrams(joined.surfaces, size) for size in {size for _, size in wanted}}
    found = []
    for number, size in wanted:
        places = np.flatnonzero(numbers[size] == np.uint64(number))
        which, _, inside = joined.whereabouts(places, size)
        found.append(set(which[inside].tolist()))
    return found


def longest(found: list[Mention], known: Collection[int]) -> list[Mention]:
    """The mentions among candidates in their order: known names, none overlapping."""
    end = 0
    chosen = []
    for one in found:
        if one.start >= end and one.number in known:
            chosen.append(one)
            end = one.start + one.size
    return chosen


class _Joined:
    """Texts one after the other, so that numpy reads them all at once."""

    def __init__(self, texts: Sequence[U32]) -> None:
        self.surfaces = np.concatenate([np.empty(0, np.uint32), *texts])
        lengths = np.array([len(text) for text in texts], np.int64)
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths

    def whereabouts(self, places: I64, size: int | I64) -> tuple[I64, I64, npt.NDArray[np.bool_]]:
        """Of runs of words: in which text each begins, where there, and whether it ends there."""
        texts = np.searchsorted(self._ends, places, "right")
        return texts, places - self._starts[texts], places + size <= self._ends[texts]


def _bit(numbers: U64) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Where a number's bit is: the top bits are the best mixed ones."""
    top = numbers >> np.uint64(64 - _BITS)
    place = (top >> np.uint64(3)).astype(np.int64)
    bit = np.left_shift(np.uint8(1), (top & np.uint64(7)).astype(np.uint8))
    return place, bit
