"""The records of the forward index, and the hashes of names.

`Entry` and `EdgeEntry` are written; `Rows`, `Tail` and `GroupStatistics` are read. Arrays of many
rows are concatenated, with the offset of each row in `starts`, so that numpy scans them at once.

A row has a projection key: only callers whose visibility contains it may see the row. `filter_key`
joins it with the collection into the one term that searches are filtered by.

`ngrams` and `all_ngrams` hash every word n-gram, and `name_hash` hashes a name the same way: a
name is mentioned where the hashes are equal. Names have 1 to MAX_NAME_WORDS words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

MAX_NAME_WORDS = 8
PROJECTION_BITS = 4  # the lowest bits of a row's key: the number of its projection

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

FilterKeys = frozenset[str] | None  # None: no filter

_FEW = 32  # terms: up to these, comparing each with every token is faster than looking tokens up
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplication is a bijection


class Entry(NamedTuple):
    """One projection of an entity to index.

    The bytes are little-endian arrays: u64 name hashes, u32 column ends, u64 tokens. `columns` is
    a JSON list of column names.
    """

    key: int
    urn: str
    collection: str
    projection_key: str
    language: str
    name_stems: str
    name_hashes: bytes
    columns: str
    column_ends: bytes
    tokens: bytes


class EdgeEntry(NamedTuple):
    """One projection of an explicit edge; `relation` is its label."""

    key: int
    urn: str
    collection: str
    projection_key: str
    source: str
    target: str
    relation: str


@dataclass(frozen=True, slots=True)
class GroupStatistics:
    """Counts of the live entities and tokens of one (collection, projection key, language)."""

    collection: str
    projection_key: str
    language: str
    entities: int
    tokens: int


class HashedRows(Protocol):
    """Rows whose tokens are counted."""

    @property
    def keys(self) -> list[int]:
        """The keys."""

    @property
    def urns(self) -> list[str]:
        """The URNs."""

    @property
    def lengths(self) -> I64:
        """How many tokens each has."""

    def counts(self, hashes: Sequence[int], literal: bool) -> tuple[I64, I64, I64]:
        """Which of the hashes, ascending, is in which of the rows, ascending, and how often."""


@dataclass(frozen=True, slots=True)
class TokenSequences:
    """The tokens of some entities, ascending by key: `tokens[starts[i]:starts[i + 1]]`."""

    keys: list[int]
    urns: list[str]
    starts: I64
    tokens: U64

    @property
    def lengths(self) -> I64:
        """How many tokens each has."""
        return self.starts[1:] - self.starts[:-1]

    def counts(self, hashes: Sequence[int], literal: bool) -> tuple[I64, I64, I64]:
        """Which of the hashes, ascending, is in which of the rows, ascending, and how often."""
        own: Any = self.tokens
        if not literal:
            own = np.ascontiguousarray(self.tokens.view(np.uint32)[1::2])
        which, where = _matches(own, np.array(hashes, own.dtype))
        size = max(len(self.keys), 1)
        columns = np.searchsorted(self.starts, where, "right") - 1
        cells, counts = np.unique(which * size + columns, return_counts=True)
        return cells // size, cells % size, counts


@dataclass(frozen=True, slots=True)
class Rows(TokenSequences):
    """Fetched entities, column-wise, ascending by key; unknown keys are left out.

    The first `word_counts[i]` tokens of row i are words, the others literals.
    """

    word_counts: I64
    collections: list[str]
    projection_keys: list[str]
    name_stems: list[str]

    def filter_keys(self) -> list[str]:
        """The filter key of each row."""
        return list(map(filter_key, self.projection_keys, self.collections))

    def surfaces(self, row: int) -> U32:
        """The hashes of the lower-cased words of one row, in order."""
        start = int(self.starts[row])
        return self.tokens[start : start + int(self.word_counts[row])].view(np.uint32)[::2]


@dataclass(frozen=True, slots=True)
class Tail:
    """The rows that changed since tantivy's last commit.

    `keys` are all of them: what tantivy has for these keys is out of date. `rows` are their
    current versions, without deleted ones. `stale` are the versions that tantivy still counts.
    """

    keys: frozenset[int]
    rows: Rows
    stale: TokenSequences
    stale_filter_keys: list[str]


def _matches(hashes: Any, sought: Any) -> tuple[I64, I64]:
    """The pairs of places, in `sought` and in `hashes`, that hold the same number."""
    if len(sought) <= _FEW:
        which, where = np.nonzero(hashes == sought[:, np.newaxis])
        return which, where
    order = np.argsort(sought, kind="stable")
    ordered = sought[order]
    first = np.searchsorted(ordered, hashes, "left")
    counts = np.searchsorted(ordered, hashes, "right") - first
    where = np.repeat(np.arange(len(hashes)), counts)
    offsets = np.arange(len(where)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.repeat(first, counts) + offsets], where


def filter_key(projection_key: str, collection: str) -> str:
    """The term that searches are filtered by: projection key and collection in one."""
    return f"{projection_key}\x1f{collection}"


def ngrams(surfaces: U32, size: int) -> U64:
    """The hashes of the word n-grams of one size, by position."""
    if len(surfaces) < size:
        return np.empty(0, np.uint64)
    count = len(surfaces) - size + 1
    hashes = np.full(count, np.uint64(size))
    for offset in range(size):
        hashes = (hashes ^ surfaces[offset : offset + count].astype(np.uint64)) * _HASH_MULTIPLIER
        hashes ^= hashes >> np.uint64(29)
    return hashes


def all_ngrams(surfaces: U32) -> U64:
    """`ngrams` of every size at once: a row for each size, a column for each position.

    N-grams that would reach past the last word have meaningless hashes.
    """
    count = len(surfaces)
    padded = np.zeros(count + MAX_NAME_WORDS, np.uint64)
    padded[:count] = surfaces
    hashes = np.empty((MAX_NAME_WORDS, count), np.uint64)
    hashes[:] = np.arange(1, MAX_NAME_WORDS + 1, dtype=np.uint64)[:, np.newaxis]
    for offset in range(MAX_NAME_WORDS):
        longer = hashes[offset:]  # the n-grams long enough to have this word
        longer ^= padded[offset : offset + count]
        longer *= _HASH_MULTIPLIER
        longer ^= longer >> np.uint64(29)
    return hashes


def name_hash(surfaces: Sequence[int] | U32) -> int | None:
    """The hash of a name; None when it has no words or more than MAX_NAME_WORDS."""
    size = len(surfaces)
    if not 0 < size <= MAX_NAME_WORDS:
        return None
    hash_value = size
    for surface in surfaces:
        hash_value = (hash_value ^ int(surface)) * int(_HASH_MULTIPLIER) & (1 << 64) - 1
        hash_value ^= hash_value >> 29
    return hash_value
