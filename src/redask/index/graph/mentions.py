"""Mentions: which names a text contains, and which texts contain a name.

A name is known by the hash of its words (`entries.name_hash`), and so is every word n-gram of a
text (`entries.all_ngrams`): a mention is where the two are equal. At each position the longest
name wins, and the words it covers are in no other mention: "New York Times" does not mention
New York.

    BloomFilter   rules out most n-grams before the table of names is read: one bit for each hash.
                  A false positive costs one look-up, so names are never removed, and no history
                  shows in a result.
    owners        which of the rest are names of entities that the caller may see. A name that
                  only hidden entities have does not cover a shorter one.

Only the first MAX_TEXT_WORDS words of a text are read.
"""

import threading
import zlib
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from redask.index.forward.entries import I64, U32, U64, all_ngrams, ngrams

MAX_TEXT_WORDS = 10_000

_BITS = 25  # 4 MB, whose pages are allocated when touched; a million names fill 3 %


class Mention(NamedTuple):  # a search makes hundreds, and a frozen dataclass takes thrice as long
    """A name in a text: the position of its first word, and how many words it has."""

    start: int
    size: int
    name_hash: int


class BloomFilter:
    """A Bloom filter of name hashes, with one hash function; threads may share it."""

    def __init__(self) -> None:
        self._bits = np.zeros(1 << (_BITS - 3), np.uint8)
        self._seq = 0
        self._lock = threading.Lock()

    def catch_up(self, name_hashes_since: Callable[[int], U64], watermark: int) -> None:
        """Add the names that were written up to a change of the store's log."""
        if self._seq >= watermark:
            return
        with self._lock:
            if self._seq < watermark:
                byte, bit = _bit(name_hashes_since(self._seq))
                np.bitwise_or.at(self._bits, byte, bit)
                self._seq = watermark

    def dump(self) -> tuple[int, bytes]:
        """The last change that was added, and the compressed bits, for `restore`."""
        with self._lock:
            return self._seq, zlib.compress(self._bits.tobytes(), 1)

    def restore(self, seq: int, bits: bytes) -> None:
        """Load what `dump` returned, unless this filter is further already."""
        with self._lock:
            if self._seq < seq:
                self._bits = np.frombuffer(bytearray(zlib.decompress(bits)), np.uint8)
                self._seq = seq

    def may_contain(self, hashes: U64) -> npt.NDArray[np.bool_]:
        """Which of these may be names; False is certain."""
        byte, bit = _bit(hashes)
        found: npt.NDArray[np.bool_] = (self._bits[byte] & bit) != 0
        return found


def candidates(texts: Sequence[U32], bloom_filter: BloomFilter) -> list[list[Mention]]:
    """All n-grams that may be names, for each text by position, the longest first."""
    found: list[list[Mention]] = [[] for _ in texts]
    columns = _possible_names(texts, bloom_filter)
    for text, start, size, name in zip(*(each.tolist() for each in columns), strict=True):
        found[text].append(Mention(start, size, name))
    return found


def exact_candidates(texts: Sequence[U32], names: U64) -> tuple[I64, I64, I64, I64]:
    """All n-grams that are among `names` (ascending): text, position, size, place in `names`.

    In the order of `candidates`.
    """
    bloom_filter = BloomFilter()
    bloom_filter.catch_up(lambda _: names, 1)
    which, starts, sizes, hashes = _possible_names(texts, bloom_filter)
    if not len(names):
        return which, starts, sizes, which
    places = np.searchsorted(names, hashes)
    places[places == len(names)] = 0
    sure = names[places] == hashes
    return which[sure], starts[sure], sizes[sure], places[sure]


def _possible_names(texts: Sequence[U32], bloom_filter: BloomFilter) -> tuple[I64, I64, I64, U64]:
    """The n-grams that may be names: text, position there, size, hash; by text and position."""
    joined = _Concatenation([text[:MAX_TEXT_WORDS] for text in texts])
    hashes = all_ngrams(joined.surfaces)
    rows, positions = np.nonzero(bloom_filter.may_contain(hashes))
    sizes = rows + 1
    which, starts, inside = joined.locate(positions, sizes)
    order = np.lexsort((-sizes, positions))
    order = order[inside[order]]
    return which[order], starts[order], sizes[order], hashes[rows, positions][order]


def longest_mentions(found: list[Mention], known: Collection[int]) -> list[Mention]:
    """The candidates that are known names, in order, without overlaps."""
    end = 0
    chosen = []
    for mention in found:
        if mention.start >= end and mention.name_hash in known:
            chosen.append(mention)
            end = mention.start + mention.size
    return chosen


def texts_mentioning(texts: Sequence[U32], names: Sequence[tuple[int, int]]) -> list[set[int]]:
    """For each name, given as hash and number of words: the positions of texts with it."""
    joined = _Concatenation([text[:MAX_TEXT_WORDS] for text in texts])
    hashes = {size: ngrams(joined.surfaces, size) for size in {size for _, size in names}}
    found = []
    for name_hash, size in names:
        positions = np.flatnonzero(hashes[size] == np.uint64(name_hash))
        which, _, inside = joined.locate(positions, size)
        found.append(set(which[inside].tolist()))
    return found


class _Concatenation:
    """The words of several texts in one array."""

    def __init__(self, texts: Sequence[U32]) -> None:
        self.surfaces = np.concatenate([np.empty(0, np.uint32), *texts])
        lengths = np.array([len(text) for text in texts], np.int64)
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths

    def locate(self, positions: I64, size: int | I64) -> tuple[I64, I64, npt.NDArray[np.bool_]]:
        """For n-grams: the text of each, its position there, and whether it ends there too."""
        texts = np.searchsorted(self._ends, positions, "right")
        return texts, positions - self._starts[texts], positions + size <= self._ends[texts]


def _bit(hashes: U64) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """The byte and the bit of each hash, from its top bits, which are mixed best."""
    top = hashes >> np.uint64(64 - _BITS)
    byte = (top >> np.uint64(3)).astype(np.int64)
    bit = np.left_shift(np.uint8(1), (top & np.uint64(7)).astype(np.uint8))
    return byte, bit
