"""The text values of one table, to be found by loose equality: `ValueHashes.of(columns)`.

A value is found by the hash of its `normalised` text among all hashes, sorted, and is then
compared: a hash alone decides nothing. It takes some 20 bytes and the value's own, and a look-up
some microseconds, however many values there are. Hashes are of this process and never leave it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from redask.core.planning.value_text import normalised

if TYPE_CHECKING:
    import numpy.typing as npt


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
    """Hashes in order; the column and the place in `content` of each value in the same order."""

    hashes: "npt.NDArray[np.int64]"
    columns: "npt.NDArray[np.uint16]"
    starts: "npt.NDArray[np.int64]"
    ends: "npt.NDArray[np.int64]"
    content: bytes

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
        return len(self.content) + 26 * len(self.hashes)

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
                if normalised(value) == text:
                    yield text, int(self.columns[place]), value
                place += 1
