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
SMALL_TABLE = 2_000  # values of a table that is looked through together with others
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
        for text, place in _matches(self.hashes, wanted):
            value = self.value(place)
            column = int(self.columns[place])
            if normalised(value) == text and (column, value) not in self.gone:
                yield text, column, value
        if self.more is not None:
            yield from self.more.find(wanted)

    def value(self, place: int) -> str:
        """The value at a place of the hashes."""
        return self.content[self.starts[place] : self.ends[place]].decode()

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


class CombinedHashes:
    """The values of many tables: the small ones are looked through at once, the others one by one.

    A call of numpy costs some microseconds, which fifty tables make a millisecond.
    """

    def __init__(self, tables: Mapping[str, ValueHashes]) -> None:
        self._names = [
            name
            for name, each in tables.items()
            if each.more is None and len(each.hashes) <= SMALL_TABLE
        ]
        self._small = [tables[name] for name in self._names]
        self._large = {name: tables[name] for name in tables if name not in set(self._names)}
        sizes = [len(each.hashes) for each in self._small]
        owners = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        places = np.concatenate([_NOWHERE, *(np.arange(size, dtype=np.int32) for size in sizes)])
        hashes = np.concatenate([_NO_HASHES, *(each.hashes for each in self._small)])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._owners, self._places = hashes[order], owners[order], places[order]

    def find(self, wanted: WantedTexts) -> Iterator[tuple[str, str, int, str]]:
        """The table, the normalised text, the column's number and the value of each."""
        for text, match in _matches(self._hashes, wanted):
            owner, place = int(self._owners[match]), int(self._places[match])
            table = self._small[owner]
            value = table.value(place)
            if normalised(value) == text:
                yield self._names[owner], text, int(table.columns[place]), value
        for name, each in self._large.items():
            for text, column, value in each.find(wanted):
                yield name, text, column, value


_NOWHERE: "npt.NDArray[np.int32]" = np.zeros(0, np.int32)
_NO_HASHES: "npt.NDArray[np.int64]" = np.zeros(0, np.int64)


def _matches(hashes: "npt.NDArray[np.int64]", wanted: WantedTexts) -> Iterator[tuple[str, int]]:
    """Each wanted text with every place where its hash is."""
    places = np.searchsorted(hashes, wanted.hashes)
    inside = np.flatnonzero(places < len(hashes))
    for number in inside[hashes[places[inside]] == wanted.hashes[inside]].tolist():
        place, wanted_hash = int(places[number]), wanted.hashes[number]
        while place < len(hashes) and hashes[place] == wanted_hash:
            yield wanted.normal[number], place
            place += 1
