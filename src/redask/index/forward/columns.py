"""The rows of the forward index as memory-mapped arrays: `build` writes them, `Columns` reads them.

What a search needs of hundreds of rows at once (stems, names, mentions, owners of names) is read from
arrays instead of one record of SQLite each. They hold one state of the forward index. Rows that
changed since are listed there (`Snapshot.changes_since_columns`), and read as they are now; so no
result depends on when the arrays were made.

    keys, groups          ascending; the projection key and collection of each, a number of `group_list`
    token_ends, stems     the upper halves of a row's tokens: what term frequencies compare
    literal_ends, literals     whole tokens of what follows the words
    urn_ends, urns        UTF-8
    called, called_*      the number of each row's `name_stems`, and their texts
    shortest              the hash of a row's shortest name; meaningless where `called` is 0
    names                 the hashes of all names, ascending
    owner_ends, owners    the rows with each name, ascending
    mention_ends, mention_starts, mention_sizes, mention_names
                          every n-gram of a row's text that is a name, by position, longest first:
                          which of them count depends on whose names the caller may see

Row numbers are places in `keys`. An array of ends has one entry a row, without a first 0.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from redask.index.forward import column_file
from redask.index.forward.column_file import AnyArray, ColumnFile
from redask.index.forward.entries import I64, U32, U64
from redask.index.graph import mentions

_BATCH = 2_000  # rows whose n-grams are in memory at a time


class ColumnRow(NamedTuple):
    """A row of the forward index, as the arrays need it."""

    key: int
    urn: str
    collection: str
    projection_key: str
    name_stems: str
    name_hashes: bytes
    column_ends: bytes
    tokens: bytes


def build(path: Path, rows: Iterable[ColumnRow], name_hashes: U64) -> None:
    """Write the arrays of all rows, ascending by key; `name_hashes` are all their names'."""
    made = _Builder(np.unique(name_hashes))
    batch: list[ColumnRow] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            made.add(batch)
            batch = []
    made.add(batch)
    column_file.write(path, made.arrays())


class _Builder:
    """The arrays of the rows added so far."""

    def __init__(self, names: U64) -> None:
        self._names = names
        self._parts: dict[str, list[AnyArray]] = {}
        self._groups: dict[tuple[str, str], int] = {}
        self._called: dict[str, int] = {"": 0}
        self._owned: list[tuple[int, int]] = []  # name, row
        self._count = 0

    def add(self, rows: Sequence[ColumnRow]) -> None:
        if not rows:
            return
        words = [int.from_bytes(row.column_ends[-4:], "little") for row in rows]
        tokens = [np.frombuffer(row.tokens, np.uint64) for row in rows]
        literals = [each[size:] for each, size in zip(tokens, words, strict=True)]
        urns = [row.urn.encode() for row in rows]
        groups = (self._group(row) for row in rows)
        called = (self._called.setdefault(row.name_stems, len(self._called)) for row in rows)
        shortest = (int.from_bytes(row.name_hashes[:8], "little") for row in rows)
        joined = np.concatenate(tokens)
        self._put("keys", np.fromiter((row.key for row in rows), np.int64, len(rows)))
        self._put("groups", np.fromiter(groups, np.int32, len(rows)))
        self._put("token_ends", np.fromiter(map(len, tokens), np.int64, len(rows)))
        self._put("stems", joined.view(np.uint32)[1::2])
        self._put("literal_ends", np.fromiter(map(len, literals), np.int64, len(rows)))
        self._put("literals", np.concatenate(literals))
        self._put("urn_ends", np.fromiter(map(len, urns), np.int64, len(rows)))
        self._put("urns", np.frombuffer(b"".join(urns), np.uint8))
        self._put("called", np.fromiter(called, np.int32, len(rows)))
        self._put("shortest", np.fromiter(shortest, np.uint64, len(rows)))
        for place, row in enumerate(rows, self._count):
            hashes = np.frombuffer(row.name_hashes, np.uint64).tolist()
            self._owned += [(name, place) for name in hashes]
        self._add_mentions([each[:size] for each, size in zip(tokens, words, strict=True)])
        self._count += len(rows)

    def _add_mentions(self, texts: Sequence[U64]) -> None:
        found = mentions.exact_candidates([one.view(np.uint32)[::2] for one in texts], self._names)
        which, starts, sizes, names = found
        self._put("mention_ends", np.bincount(which, minlength=len(texts)).astype(np.int64))
        self._put("mention_starts", starts.astype(np.uint16))
        self._put("mention_sizes", sizes.astype(np.uint8))
        self._put("mention_names", names.astype(np.int32))

    def _group(self, row: ColumnRow) -> int:
        return self._groups.setdefault((row.projection_key, row.collection), len(self._groups))

    def _put(self, name: str, array: AnyArray) -> None:
        self._parts.setdefault(name, []).append(array)

    def arrays(self) -> dict[str, AnyArray]:
        made = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        for name in [each for each in made if each.endswith("_ends")]:
            made[name] = np.cumsum(made[name])
        owned = np.array(self._owned, np.uint64).reshape(-1, 2)
        names, rows = owned[:, 0], owned[:, 1].astype(np.int32)
        order = np.lexsort((rows, names))
        made["names"] = self._names
        made["owner_ends"] = np.searchsorted(names[order], self._names, "right").astype(np.int64)
        made["owners"] = rows[order]
        texts = [text.encode() for text in self._called]
        made["called_ends"] = np.cumsum([len(text) for text in texts]).astype(np.int64)
        made["called_texts"] = np.frombuffer(b"".join(texts), np.uint8)
        listed = json.dumps(list(self._groups)).encode()
        made["group_list"] = np.frombuffer(listed, np.uint8)
        return made


@dataclass(frozen=True, slots=True)
class ColumnSequences:
    """The tokens of some rows, as `TokenSequences` has them."""

    keys: list[int]
    urns: list[str]
    starts: I64
    stems: U32
    literal_starts: I64
    literal_tokens: U64

    def hashes(self, literal: bool) -> tuple[Any, I64]:
        """What words, or literals, are compared with, and where each row begins in it."""
        if literal:
            return self.literal_tokens, self.literal_starts
        return self.stems, self.starts


class Columns:
    """The arrays of one state, open."""

    def __init__(self, path: Path, most: int | None = None) -> None:
        """`most`: above so many bytes, the blocks are not compared with their sums."""
        self._file = file = ColumnFile(path, most)
        self.keys: I64 = file.array("keys")
        self.groups: npt.NDArray[np.int32] = file.array("groups")
        self.names: U64 = file.array("names")
        self.called: npt.NDArray[np.int32] = file.array("called")
        self.mention_starts: npt.NDArray[np.uint16] = file.array("mention_starts")
        self.mention_sizes: npt.NDArray[np.uint8] = file.array("mention_sizes")
        self.mention_names: npt.NDArray[np.int32] = file.array("mention_names")
        self.shortest: U64 = file.array("shortest")
        self._names = memoryview(self.names)
        self._stems: U32 = file.array("stems")
        self._literals: U64 = file.array("literals")
        self._urns = file.array("urns").tobytes()
        self._owners: npt.NDArray[np.int32] = file.array("owners")
        self._ends = {
            name: file.array(f"{name}_ends")
            for name in ("token", "literal", "urn", "owner", "mention")
        }
        listed = json.loads(file.array("group_list").tobytes())
        self.group_list: list[tuple[str, str]] = [(key, collection) for key, collection in listed]
        texts, begin = file.array("called_texts").tobytes(), 0
        self.called_list: list[str] = []
        for end in file.array("called_ends").tolist():
            self.called_list.append(texts[begin:end].decode())
            begin = end

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return self._file.size

    def verify(self) -> None:
        """Raise `CorruptIndex` unless the file is what was written."""
        self._file.verify()

    def rows_of(self, keys: I64) -> I64:
        """The row of each key, −1 for none."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        return np.where(self.keys[places] == keys, places, -1)

    def urn(self, row: int) -> str:
        """The URN of a row."""
        begin, end = self._span("urn", row)
        return self._urns[begin:end].decode()

    def name_number(self, name_hash: int) -> int:
        """The place of a name in `names`, −1 for none."""
        place = bisect_left(self._names, name_hash)  # quicker than numpy for one
        known = place < len(self._names) and self._names[place] == name_hash
        return place if known else -1

    def owners(self, name: int) -> npt.NDArray[np.int32]:
        """The rows with a name, by its place in `names`, ascending."""
        begin, end = self._span("owner", name)
        return self._owners[begin:end]

    def mentions(self, row: int) -> slice:
        """Where the mentions in a row's text are."""
        return slice(*self._span("mention", row))

    def mentions_of(self, rows: I64) -> tuple[I64, I64]:
        """The places of the mentions in these rows' texts, and whose each is (a place in `rows`)."""
        starts, places = self._gather("mention", rows)
        return places, np.repeat(np.arange(len(rows)), np.diff(starts))

    def sequences(self, rows: I64, *, urns: bool = True) -> ColumnSequences:
        """The tokens of these rows; without their URNs where nobody asks for these."""
        starts, places = self._gather("token", rows)
        literal_starts, literals = self._gather("literal", rows)
        return ColumnSequences(
            self.keys[rows].tolist(),
            [self.urn(row) for row in rows.tolist()] if urns else [],
            starts,
            self._stems[places],
            literal_starts,
            self._literals[literals],
        )

    def _span(self, name: str, place: int) -> tuple[int, int]:
        ends = self._ends[name]
        return int(ends[place - 1]) if place else 0, int(ends[place])

    def _gather(self, name: str, rows: I64) -> tuple[I64, I64]:
        """Where each row begins in what is gathered, and the places of all that is."""
        ends = self._ends[name]
        begins = np.where(rows > 0, ends[rows - 1], 0)
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(ends[rows] - begins, out=starts[1:])
        places = np.arange(starts[-1]) + np.repeat(begins - starts[:-1], np.diff(starts))
        return starts, places
