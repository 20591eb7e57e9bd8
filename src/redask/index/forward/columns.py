"""The rows of the forward index as memory-mapped arrays: `build`, `ForwardColumns`.

What a search needs of hundreds of rows at once (stems, names, mentions, owners of names) is read
from arrays instead of one record of SQLite each. They hold one state of the forward index. Rows
that changed since are listed there (`ColumnReading.changed_entities`), and read as they are now; so
no result depends on when the arrays were made.

    keys                  ascending
    groups                the projection key and collection of each: a number of `group_list`
    lengths               the number of a row's tokens
    stems, stem_ends, stem_rows, stem_counts
                          postings: the upper halves of all tokens, ascending; the rows with each,
                          and how often they have it
    literals, literal_…   the same for whole tokens of what follows the words
    urn_ends, urns        UTF-8
    called, called_*      the number of each row's `name_stems`, and their texts
    shortest              the hash of a row's shortest name; meaningless where `called` is 0
    names                 the hashes of all names, ascending
    owner_ends, owners    the rows with each name, ascending
    mention_ends, mention_starts, mention_sizes, mention_names
                          every n-gram of a row's text that is a name, by position, longest first:
                          which of them count depends on whose names the caller may see
    mentioned_ends, mentioned_rows, mentioned_sizes
                          the same by name: the rows in whose texts it is, ascending, each once, and
                          how many words it has there

Row numbers are places in `keys`. An array of ends has one entry a row, without a first 0.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from redask.index.corruption import unusable
from redask.index.forward import column_file
from redask.index.forward.column_file import AnyArray, ColumnFile
from redask.index.forward.entries import I64, U64
from redask.index.graph import mentions

LAYOUT = 2
_HALF = np.uint64(32)
_NONE = np.empty(0, np.int64)
_MOST_SPANS = 4_096  # remembered places of postings
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
    column_file.write(path, made.arrays(), LAYOUT)


class _Builder:
    """The arrays of the rows added so far."""

    def __init__(self, names: U64) -> None:
        self._names = names
        self._parts: dict[str, list[AnyArray]] = {}
        self._groups: dict[tuple[str, str], int] = {}
        self._called: dict[str, int] = {"": 0}
        self._owned: list[tuple[int, int]] = []  # name, row
        self._count = 0
        self._literals: list[U64] = []
        self._literal_rows: list[AnyArray] = []

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
        lengths = np.fromiter(map(len, tokens), np.int64, len(rows))
        places = np.arange(self._count, self._count + len(rows), dtype=np.uint64)
        self._put("lengths", lengths.astype(np.int32))
        self._put("stem_pairs", joined >> _HALF << _HALF | np.repeat(places, lengths))
        self._literals += literals
        self._literal_rows.append(np.repeat(places, [len(each) for each in literals]))
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
        self._put("mention_rows", (which + self._count).astype(np.int32))

    def _group(self, row: ColumnRow) -> int:
        return self._groups.setdefault((row.projection_key, row.collection), len(self._groups))

    def _put(self, name: str, array: AnyArray) -> None:
        self._parts.setdefault(name, []).append(array)

    def arrays(self) -> dict[str, AnyArray]:
        made = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        for name in [each for each in made if each.endswith("_ends")]:
            made[name] = np.cumsum(made[name])
        pairs = made.pop("stem_pairs")
        pairs.sort()
        _add_postings(made, "stem", (pairs >> _HALF).astype(np.uint32), pairs.astype(np.uint32))
        del pairs
        literals, rows = np.concatenate(self._literals), np.concatenate(self._literal_rows)
        order = np.lexsort((rows, literals))
        _add_postings(made, "literal", literals[order], rows[order].astype(np.uint32))
        _add_mentioned(made, len(self._names))
        owned = np.array(self._owned, np.uint64).reshape(-1, 2)
        names, owners = owned[:, 0], owned[:, 1].astype(np.int32)
        order = np.lexsort((owners, names))
        made["names"] = self._names
        made["owner_ends"] = np.searchsorted(names[order], self._names, "right").astype(np.int64)
        made["owners"] = owners[order]
        texts = [text.encode() for text in self._called]
        made["called_ends"] = np.cumsum([len(text) for text in texts]).astype(np.int64)
        made["called_texts"] = np.frombuffer(b"".join(texts), np.uint8)
        listed = json.dumps(list(self._groups)).encode()
        made["group_list"] = np.frombuffer(listed, np.uint8)
        return made


def _add_postings(made: dict[str, AnyArray], name: str, hashes: AnyArray, rows: AnyArray) -> None:
    """Postings of hashes and rows, ascending by both, with repetitions."""
    is_first = np.ones(len(hashes), np.bool_)
    is_first[1:] = (hashes[1:] != hashes[:-1]) | (rows[1:] != rows[:-1])
    first = np.flatnonzero(is_first)
    counts = np.diff(first, append=len(hashes))
    made[f"{name}s"], begins = np.unique(hashes[first], return_index=True)
    made[f"{name}_ends"] = np.append(begins[1:], len(first)).astype(np.int64)[: len(begins)]
    made[f"{name}_rows"] = rows[first].astype(np.int32)
    made[f"{name}_counts"] = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def _add_mentioned(made: dict[str, AnyArray], names: int) -> None:
    """The mentions by name, from those by row."""
    rows, sizes = made.pop("mention_rows"), made["mention_sizes"]
    order = np.lexsort((sizes, rows, made["mention_names"]))
    sorted_ = made["mention_names"][order], rows[order], sizes[order]
    is_first = np.ones(len(order), np.bool_)
    if len(order):
        is_first[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in sorted_])
    named, rows, sizes = (each[is_first] for each in sorted_)
    made["mentioned_ends"] = np.searchsorted(named, np.arange(names), "right").astype(np.int64)
    made["mentioned_rows"], made["mentioned_sizes"] = rows, sizes


@dataclass(frozen=True, slots=True)
class ColumnSequences:
    """Some rows, whose terms are counted from postings."""

    columns: "ForwardColumns"
    rows: I64
    keys: list[int]

    @property
    def urns(self) -> list[str]:
        """The URNs."""
        return [self.columns.urn(row) for row in self.rows.tolist()]

    @property
    def lengths(self) -> I64:
        """How many tokens each has."""
        return self.columns.lengths[self.rows].astype(np.int64)

    def counts(self, hashes: Sequence[int], literal: bool) -> tuple[I64, I64, I64]:
        """Which of the hashes, ascending, is in which of the rows, ascending, and how often."""
        which, where, often = [_NONE], [_NONE], [_NONE]
        own = self.rows.astype(np.int32)  # numpy would copy all postings to compare other types
        for number, sought in enumerate(hashes):
            rows, counts = self.columns.postings(sought, literal)
            if not len(rows):
                continue
            places = rows.searchsorted(own)
            places[places == len(rows)] = 0
            hits = (rows[places] == own).nonzero()[0]
            if len(hits):
                which.append(np.full(len(hits), number))
                where.append(hits)
                often.append(counts[places[hits]].astype(np.int64))
        return np.concatenate(which), np.concatenate(where), np.concatenate(often)


class ForwardColumns:
    """The arrays of one state, open."""

    def __init__(self, path: Path, most: int | None = None) -> None:
        """`most`: above so many bytes, the blocks are not compared with their sums."""
        self._file = file = ColumnFile(path, most)
        if file.layout != LAYOUT:
            raise unusable(f"{path.name} has layout {file.layout}, not {LAYOUT}")
        self.keys: I64 = file.array("keys")
        self.groups: npt.NDArray[np.int32] = file.array("groups")
        self.names: U64 = file.array("names")
        self.called: npt.NDArray[np.int32] = file.array("called")
        self.mention_starts: npt.NDArray[np.uint16] = file.array("mention_starts")
        self.mention_sizes: npt.NDArray[np.uint8] = file.array("mention_sizes")
        self.mention_names: npt.NDArray[np.int32] = file.array("mention_names")
        self._mentioned_rows: npt.NDArray[np.int32] = file.array("mentioned_rows")
        self._mentioned_sizes: npt.NDArray[np.uint8] = file.array("mentioned_sizes")
        self.shortest: U64 = file.array("shortest")
        self._names: Sequence[int] = memoryview(self.names.data)
        self.lengths: npt.NDArray[np.int32] = file.array("lengths")
        self._postings = {
            literal: [file.array(f"{name}{part}") for part in ("s", "_ends", "_rows", "_counts")]
            for literal, name in ((False, "stem"), (True, "literal"))
        }
        self._spans: dict[tuple[int, bool], slice] = {}
        self._urns = file.array("urns").tobytes()
        self._owners: npt.NDArray[np.int32] = file.array("owners")
        self._ends: dict[str, Sequence[int]] = {
            name: memoryview(file.array(f"{name}_ends").data)  # quicker than numpy for one
            for name in ("urn", "owner", "mention", "mentioned")
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

    def mentioned_in(self, name: int, words: int) -> npt.NDArray[np.int32]:
        """The rows in whose texts a name of so many words is, by its place in `names`."""
        begin, end = self._span("mentioned", name)
        has_them = self._mentioned_sizes[begin:end] == words
        rows: npt.NDArray[np.int32] = self._mentioned_rows[begin:end][has_them]
        return rows

    def sequences(self, rows: I64) -> ColumnSequences:
        """These rows, to be scored."""
        return ColumnSequences(self, rows, self.keys[rows].tolist())

    def postings(self, sought: int, literal: bool) -> tuple[AnyArray, AnyArray]:
        """The rows with a stem or literal, ascending, and how often each has it."""
        hashes, ends, rows, counts = self._postings[literal]
        span = self._spans.get((sought, literal))  # a search asks for the same again and again
        if span is None:
            place = int(hashes.searchsorted(hashes.dtype.type(sought)))
            span = slice(0, 0)
            if place < len(hashes) and hashes[place] == sought:
                span = slice(int(ends[place - 1]) if place else 0, int(ends[place]))
            if len(self._spans) >= _MOST_SPANS:
                self._spans.clear()
            self._spans[sought, literal] = span
        return rows[span], counts[span]

    def _span(self, name: str, place: int) -> tuple[int, int]:
        ends = self._ends[name]
        return ends[place - 1] if place else 0, ends[place]
