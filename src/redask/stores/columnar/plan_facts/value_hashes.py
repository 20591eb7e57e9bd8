"""The text values of one table, to be found by loose equality: `ValueHashes.of(columns)`.

A value is found by the hash of its `normalised` text among all hashes, sorted, and is then
compared: a hash alone decides nothing. It takes some 20 bytes and the value's own, and a look-up
some microseconds, however many values there are. Hashes are of this process and never leave it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from redask.core.planning.value_text import normalised

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_CHANGED = 10_000  # values: beyond, all are hashed anew
ColumnValue = tuple[int, str]  # the number of a column, and a value


class WantedTexts:
    """Texts to look for, hashed once for all tables."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._given: dict[str, list[str]] = {}
        for text in dict.fromkeys(texts):
            known = normalised(text)
            if known:
                self._given.setdefault(known, []).append(text)
        self.normal = list(self._given)
        self.hashes: npt.NDArray[np.int64] = np.fromiter(map(hash, self.normal), np.int64)

    def spelt(self, normal: str) -> Sequence[str]:
        """The texts that were given and are this one, normalised."""
        return self._given[normal]


@dataclass(frozen=True, slots=True)
class ValueHashes:
    """Hashes in order; the column and the place in `content` of each value in the same order.

    Values that were `added` later are in `more`; those that are `gone` are left out.
    """

    hashes: "npt.NDArray[np.int64]"
    columns: "npt.NDArray[np.uint16]"
    starts: "npt.NDArray[np.int64]"
    ends: "npt.NDArray[np.int64]"
    content: bytes
    more: "ValueHashes | None" = None
    added: frozenset[ColumnValue] = frozenset()
    gone: frozenset[ColumnValue] = frozenset()

    @staticmethod
    def of(columns: Mapping[int, Iterable[str]]) -> "ValueHashes":
        """Of the distinct values of each column, by its number."""
        hashes: list[int] = []
        numbers: list[int] = []
        texts: list[bytes] = []
        for number, values in columns.items():
            for value in values:
                known = normalised(value)
                if known:
                    hashes.append(hash(known))
                    numbers.append(number)
                    texts.append(value.encode())
        order = np.argsort(np.array(hashes, np.int64), kind="stable")
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64))
        starts = np.concatenate((np.zeros(1, np.int64), ends[:-1])) if texts else ends
        return ValueHashes(
            np.array(hashes, np.int64)[order],
            np.array(numbers, np.uint16)[order],
            starts[order],
            ends[order],
            b"".join(texts),
        )

    @property
    def size(self) -> int:
        """How many bytes it takes, by and large."""
        return len(self.content) + 26 * len(self.hashes) + 400 * (len(self.added) + len(self.gone))

    def find(self, wanted: WantedTexts) -> Iterator[tuple[str, int, str]]:
        """The normalised text, the column's number and the value of each that is wanted."""
        places = np.searchsorted(self.hashes, wanted.hashes)
        inside = np.flatnonzero(places < len(self.hashes))
        found = inside[self.hashes[places[inside]] == wanted.hashes[inside]]
        for number in found.tolist():
            text, wanted_hash = wanted.normal[number], wanted.hashes[number]
            place = int(places[number])
            while place < len(self.hashes) and self.hashes[place] == wanted_hash:
                value = self.content[self.starts[place] : self.ends[place]].decode()
                column = int(self.columns[place])
                if normalised(value) == text and (column, value) not in self.gone:
                    yield text, column, value
                place += 1
        if self.more is not None:
            yield from self.more.find(wanted)

    def after(
        self, came: Iterable[ColumnValue], went: Iterable[ColumnValue]
    ) -> "ValueHashes | None":
        """With values that came and without those that went; None when these are too many.

        Both are columns' numbers with values that are new, or of which none is left.
        """
        added = (self.added - set(went)).union(set(came) - self.gone)
        gone = (self.gone - set(came)).union(set(went) - self.added)
        if len(added) + len(gone) > MAX_CHANGED:
            return None
        columns: dict[int, list[str]] = {}
        for column, value in added:
            columns.setdefault(column, []).append(value)
        return replace(self, more=ValueHashes.of(columns), added=frozenset(added), gone=gone)
