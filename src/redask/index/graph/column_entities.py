"""Entities read from arrays: `ColumnEntities`, the same as `ForwardEntities` tells.

The arrays (`forward.columns`) are of an earlier state. What changed since (`ChangedRows`) is read
from the forward index as it is now:

    an entity that changed   does not count in the arrays; its own row is read
    its names                `ChangedRows.owners`, beside the owners that did not change
    a name that is new       may be in any text: then the texts that a traversal goes through are
                             read from the forward index, too

A caller under a policy sees the groups (projection key and collection) that the policy shows: an
owner, a holder or a text of another group is left out before anything is counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from redask.index.forward.columns import ForwardColumns
from redask.index.forward.entries import I64, PROJECTION_BITS
from redask.index.graph.graph_entities import (
    MAX_OWNERS,
    ForwardEntities,
    MaySee,
    RowSimilarity,
    with_owners,
)
from redask.index.graph.mentions import Mention, longest_mentions

_FEW = 1_000  # texts with a name, whose keys are compared one by one


@dataclass(frozen=True)
class ChangedRows:
    """What changed since the arrays were made.

    `entities` are keys without the projection's number. `owners` are the keys of the changed rows
    that have a name now, each with its projection key and collection.
    """

    columns: ForwardColumns
    entities: frozenset[int]
    owners: dict[int, list[tuple[int, str, str]]]
    count: int = 0  # of the changes: an entity may have changed often

    @cached_property
    def has_new_names(self) -> bool:
        """Whether a name is there that the arrays do not know."""
        return any(self.columns.name_number(name) < 0 for name in self.owners)

    def is_changed(self, key: int) -> bool:
        """Whether the arrays do not tell of a row."""
        return key >> PROJECTION_BITS in self.entities

    def split(self, keys: Iterable[int]) -> tuple[list[int], list[int]]:
        """Those that the arrays tell of, and the others."""
        if not self.entities:
            return list(keys), []
        same: list[int] = []
        changed: list[int] = []
        for key in keys:
            (changed if key >> PROJECTION_BITS in self.entities else same).append(key)
        return same, changed


class ColumnEntities:
    """Entities of one search."""

    def __init__(self, changed: ChangedRows, plain: ForwardEntities, may_see: MaySee) -> None:
        self._columns = changed.columns
        self._changed = changed
        self._plain = plain
        self._may_see = may_see
        self._similarity: RowSimilarity = lambda rows: [0.0] * len(rows.keys)
        groups = self._columns.group_list
        self._visible = np.fromiter((may_see(*group) for group in groups), np.bool_, len(groups))
        self._sees_all = bool(self._visible.all())
        self._rows: dict[int, int] = {}
        self._similarities: dict[int, float] = {}
        self._owners: dict[int, list[int] | None] = {}

    def compare_with(self, similarity: RowSimilarity) -> None:
        """How similarities are made, before the first is asked for."""
        self._similarity = similarity
        self._plain.compare_with(similarity)

    def similarities(self, keys: Iterable[int]) -> dict[int, float]:
        """How similar each is to the question; those that may not be seen are left out."""
        wanted = list(keys)
        known = self._similarities
        new = [key for key in dict.fromkeys(wanted) if key not in known]
        if new:
            same, changed = self._changed.split(new)
            rows = self._rows_of(same)
            found = self._similarity(self._columns.sequences(rows))
            seen = self._columns.keys[rows].tolist()
            known.update(zip(seen, found, strict=True))
            self._rows.update(zip(seen, rows.tolist(), strict=True))
            if changed:
                known.update(self._plain.similarities(changed))
        return {key: known[key] for key in wanted if key in known}

    def urn(self, key: int) -> str:
        """The URN of an entity that has a similarity."""
        row = self._rows.get(key)
        return self._plain.urn(key) if row is None else self._columns.urn(row)

    def collection(self, key: int) -> str:
        """The collection of an entity that has a similarity."""
        row = self._rows.get(key)
        if row is None:
            return self._plain.collection(key)
        return self._columns.group_list[int(self._columns.groups[row])][1]

    def shortest_names(self, keys: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Of those with a name the hash of the shortest, and its stems."""
        found: dict[int, tuple[int, str]] = {}
        changed = []
        for key in keys:
            row = self._rows.get(key)
            if row is None:
                changed.append(key)
            elif called := int(self._columns.called[row]):
                found[key] = int(self._columns.shortest[row]), self._columns.called_list[called]
        if changed:
            found.update(self._plain.shortest_names(changed))
        return found

    def mentions_in(self, keys: Sequence[int]) -> list[list[Mention]]:
        """The names in the text of each, in order, without overlaps."""
        found: dict[int, list[Mention]] = {}
        read = [key for key in keys if self._changed.has_new_names or key not in self._rows]
        if read:
            self._plain.similarities(read)
            texts = self._plain.candidates(read)
            found.update(zip(read, with_owners(texts, self), strict=True))
        for key in keys:
            if key not in found:
                found[key] = self._mentions_in(self._rows[key])
        return [found[key] for key in keys]

    def _mentions_in(self, row: int) -> list[Mention]:
        columns = self._columns
        span = columns.mentions(row)
        names = columns.names[columns.mention_names[span]].tolist()
        starts = columns.mention_starts[span].tolist()
        some = list(map(Mention, starts, columns.mention_sizes[span].tolist(), names))
        if self._sees_all and not self._changed.entities:
            return longest_mentions(some, names)  # each name has an owner
        return with_owners([some], self)[0]

    def mentioning(self, names: Sequence[tuple[int, int]], among: Sequence[int]) -> list[set[int]]:
        """For each name, given as hash and number of words: which of these texts have it."""
        columns = self._columns
        same, changed = self._changed.split(among)
        seen = same if self._sees_all else columns.keys[self._rows_of(same)].tolist()
        keys = frozenset(seen)
        found: list[set[int]] = []
        for name_hash, size in names:
            number = columns.name_number(name_hash)
            if number < 0:  # a new name, which any text may have
                found += self._plain.mentioning([(name_hash, size)], same)
                continue
            texts = columns.mentioned_in(number, size)
            if len(texts) > _FEW:
                texts = texts[np.isin(texts, self._rows_of(seen))]
            found.append(set(keys.intersection(columns.keys[texts].tolist())))
        if changed:
            more = self._plain.mentioning(names, changed)
            found = [one | other for one, other in zip(found, more, strict=True)]
        return found

    def owners(self, name_hash: int) -> list[int] | None:
        """The entities with a name, ascending; None if more than MAX_OWNERS."""
        if name_hash not in self._owners:
            number = self._columns.name_number(name_hash)
            keys = [] if number < 0 else self._same_owners(number)[1]
            keys += [
                key
                for key, projection_key, collection in self._changed.owners.get(name_hash, ())
                if self._may_see(projection_key, collection)
            ]
            self._owners[name_hash] = sorted(keys) if len(keys) <= MAX_OWNERS else None
        return self._owners[name_hash]

    def spellings(self, name_hash: int) -> set[str]:
        """The stems of the shortest names of a name's owners."""
        if self.owners(name_hash) is None:
            return set()
        number = self._columns.name_number(name_hash)
        found: set[str] = set()
        if number >= 0:
            called = set(self._columns.called[self._same_owners(number)[0]].tolist())
            found.update(self._columns.called_list[one] for one in called)
        changed = [key for key, *_ in self._changed.owners.get(name_hash, ())]
        if changed:
            seen = self._plain.similarities(changed)
            found.update(stems for _, stems in self._plain.shortest_names(list(seen)).values())
        return found

    def _same_owners(self, number: int) -> tuple[npt.NDArray[np.int32], list[int]]:
        """The rows and keys of the owners that did not change."""
        rows = self._columns.owners(number)
        if not self._sees_all:
            rows = rows[self._visible[self._columns.groups[rows]]]
        keys = self._columns.keys[rows].tolist()
        if self._changed.entities:
            kept = [not self._changed.is_changed(key) for key in keys]
            rows = rows[np.array(kept, np.bool_)]
            keys = self._columns.keys[rows].tolist()
        return rows, keys

    def _rows_of(self, keys: Sequence[int]) -> I64:
        """The rows of the arrays that may be seen."""
        rows = self._columns.rows_of(np.array(keys, np.int64))
        rows = rows[rows >= 0]
        return rows if self._sees_all else rows[self._visible[self._columns.groups[rows]]]
