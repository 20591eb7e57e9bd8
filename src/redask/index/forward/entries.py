"""What the forward index takes in and gives out: records, and the numbers of names.

`Entry` and `Link` go in; `Rows`, `Tail` and `Share` come out. Arrays of many rows lie one after
the other, with `starts` saying where each begins, so that numpy can count in all at once.

`ngrams` and `runs` give every run of words a number, and `name_of` a name the same number: a name
is mentioned where they are equal. Names have 1 to MAX_NAME_WORDS words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MAX_NAME_WORDS = 8
PROJECTIONS = 4  # the lowest bits of a row's key number the projections of its entity

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

Classes = frozenset[str] | None  # None: all there are

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so multiplying loses nothing


class Entry(NamedTuple):
    """One entity to index. The bytes are little-endian arrays: u64 names, u32 ends, u64 tokens;
    `columns` is a JSON list of names."""

    key: int
    urn: str
    collection: str
    label: str
    language: str
    called: str
    names: bytes
    columns: str
    ends: bytes
    tokens: bytes


class Link(NamedTuple):
    """One explicit edge; `label` is its visibility, `relation` what it says."""

    key: int
    urn: str
    collection: str
    label: str
    source: str
    target: str
    relation: str


@dataclass(frozen=True, slots=True)
class Share:
    """Live statistics of one (collection, label, language)."""

    collection: str
    label: str
    language: str
    entities: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Sequences:
    """The tokens of some entities, ascending by key: `tokens[starts[i]:starts[i + 1]]`."""

    keys: list[int]
    urns: list[str]
    starts: I64
    tokens: U64


@dataclass(frozen=True, slots=True)
class Rows(Sequences):
    """Fetched entities, column-wise, ascending by key; unknown keys are left out.

    The first `words[i]` tokens of row i are words, the others literals.
    """

    words: I64
    collections: list[str]
    labels: list[str]
    called: list[str]

    def classes(self) -> list[str]:
        """The class of each row."""
        return list(map(class_of, self.labels, self.collections))

    def surfaces(self, row: int) -> U32:
        """The words of one row, lower-cased and hashed, in order."""
        start = int(self.starts[row])
        return self.tokens[start : start + int(self.words[row])].view(np.uint32)[::2]


@dataclass(frozen=True, slots=True)
class Tail:
    """What changed since tantivy's last commit.

    `keys` are all that changed: what tantivy says of them is void. `rows` are those that live.
    `held` is what tantivy still counts for them, of these classes.
    """

    keys: frozenset[int]
    rows: Rows
    held: Sequences
    held_classes: list[str]


def class_of(label: str, collection: str) -> str:
    """What entities are filtered by: who may see them, and where they are, in one."""
    return f"{label}\x1f{collection}"


def ngrams(surfaces: U32, size: int) -> U64:
    """The name numbers of every run of `size` words, by position."""
    if len(surfaces) < size:
        return np.empty(0, np.uint64)
    count = len(surfaces) - size + 1
    rolled = np.full(count, np.uint64(size))
    for offset in range(size):
        rolled = (rolled ^ surfaces[offset : offset + count].astype(np.uint64)) * _SPREAD
        rolled ^= rolled >> np.uint64(29)
    return rolled


def runs(surfaces: U32) -> U64:
    """`ngrams` of every size at once: sizes down, positions across.

    Runs that would go on behind the last word have numbers without a meaning.
    """
    count = len(surfaces)
    padded = np.zeros(count + MAX_NAME_WORDS, np.uint64)
    padded[:count] = surfaces
    rolled = np.empty((MAX_NAME_WORDS, count), np.uint64)
    rolled[:] = np.arange(1, MAX_NAME_WORDS + 1, dtype=np.uint64)[:, np.newaxis]
    for offset in range(MAX_NAME_WORDS):
        longer = rolled[offset:]  # the runs that have such a word
        longer ^= padded[offset : offset + count]
        longer *= _SPREAD
        longer ^= longer >> np.uint64(29)
    return rolled


def name_of(surfaces: Sequence[int] | U32) -> int | None:
    """The number of a name; None when it has no words or too many to be one."""
    size = len(surfaces)
    if not 0 < size <= MAX_NAME_WORDS:
        return None
    number = size
    for surface in surfaces:
        number = (number ^ int(surface)) * int(_SPREAD) & (1 << 64) - 1
        number ^= number >> 29
    return number
