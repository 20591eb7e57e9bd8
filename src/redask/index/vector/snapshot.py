"""One state of a vector index: what a search reads while others write.

    live rows with an allowed filter key    search                       result
    at most `exact_limit`                   exhaustive, exact            the k nearest
    more                                    codes, then exact cosines    the k nearest candidates

**The result is a function of the allowed content and the query**, whatever the history:

- `exact_limit` is compared with the number of *allowed, live* rows, so that hidden and deleted
  rows influence nothing;
- folded and unfolded rows have the same codes and are ranked together: 2,000 candidates of both,
  not 2,000 of the one and all of the other;
- ties with the last candidate are left out, since which of them faiss returns depends on their
  order. When that leaves fewer than half (thousands of equal rows), the number of candidates is
  increased, in the end to all allowed rows.

The allowed rows of a set of filter keys are computed once for each state, and cached with it.
"""

import threading
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from redask.index.corruption import corrupt
from redask.index.vector.cosine import I64, Floats, top_k
from redask.index.vector.files import I32, U32, Flags, sums_of
from redask.index.vector.quantization import Bits, Codes, rotate

CANDIDATES = 2_000
_WIDENING = 8  # factor of the number of candidates, when too many were ties
_CACHED_FILTERS = 8  # sets of filter keys cached in one state


@dataclass(frozen=True, slots=True)
class AllowedRows:
    """The live rows of some filter keys, as bitmaps; that of the folded rows is None if all are.

    `listed` are their row numbers, if the search is exhaustive and not over all rows.
    """

    count: int
    listed: I64 | None
    folded: Bits | None
    unfolded: Bits


class UnfoldedCodes:
    """Codes of the rows after the folded ones, computed when first needed and then extended."""

    def __init__(self, dimensions: int, first: int) -> None:
        self._codes = Codes(dimensions)
        self._first = first
        self._lock = threading.Lock()  # faiss cannot add and search at once

    def search(self, floats: Floats, rotated: Floats, limit: int, bits: Bits) -> tuple[Floats, I64]:
        """As `Codes.search`, over `floats` from the first unfolded row on."""
        with self._lock:
            self._codes.add(floats[self._first + len(self._codes) :])
            estimates, rows = self._codes.search(rotated, limit, bits)
        return estimates, rows + self._first


class ComparedRows:
    """Which rows of a file of floats this process has compared with their checksums."""

    def __init__(self) -> None:
        self._flags: Flags = np.zeros(0, np.bool_)
        self._all = 0  # so many rows from the first on

    def add(self, rows: I64, count: int) -> None:
        """These were compared, of so many."""
        flags = self._grown(count)
        flags[rows] = True
        if flags[:count].all():
            self._all = count

    def has_all(self, count: int) -> bool:
        """Whether all of so many rows were compared; False may be wrong."""
        return count <= self._all

    def others(self, rows: I64, count: int) -> I64:
        """Those of some rows that were not compared yet."""
        return rows[~self._grown(count)[rows]]

    def _grown(self, count: int) -> Flags:
        flags = self._flags
        if count > len(flags):
            flags = np.zeros(count + count // 4 + 1_024, np.bool_)
            flags[: len(self._flags)] = self._flags
            self._flags = flags
        return flags


@dataclass(frozen=True, slots=True, eq=False)
class VectorSnapshot:
    """Rows in the order they were added; `live` are those not deleted since.

    The filter key of row i is `filter_keys[filter_indexes[i]]`.
    """

    seq: int
    pending: int
    exact_limit: int
    floats: Floats
    keys: I64
    sums: U32
    compared: ComparedRows
    filter_indexes: I32
    filter_keys: I64
    live: Flags
    codes: Codes | None
    unfolded: UnfoldedCodes
    _cache: dict[frozenset[int] | None, AllowedRows] = field(default_factory=dict, init=False)

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.live))

    def search(
        self, query: Floats, k: int, allowed: Collection[int] | None
    ) -> list[tuple[int, float]]:
        rows = self._allowed_rows(None if allowed is None else frozenset(allowed))
        exhaustive = rows.count <= self.exact_limit
        candidates = rows.listed if exhaustive else self._candidates(rows, query, k)
        if not self.compared.has_all(len(self.keys)):
            self.compare(np.arange(len(self.keys)) if candidates is None else candidates)
        chosen, cosines = top_k(self.floats, query, k, candidates)
        if len(chosen) < min(k, rows.count) or not are_unit_vectors(self.floats[chosen]):
            raise corrupt("the floats of the vector index are not unit vectors")
        found = zip(self.keys[chosen].tolist(), cosines.tolist(), strict=True)
        return sorted(found, key=lambda item: (-item[1], item[0]))

    def compare(self, rows: I64, *, again: bool = False) -> None:
        """Raise `CorruptIndex` unless the floats of these rows are what was written.

        Each row once, unless `again`.
        """
        wanted = rows if again else self.compared.others(rows, len(self.keys))
        if len(wanted) == 0:
            return
        if not np.array_equal(sums_of(self.floats[wanted]), self.sums[wanted]):
            raise corrupt("floats of the vector index fail their checksum")
        self.compared.add(wanted, len(self.keys))

    def _allowed_rows(self, filter_keys: frozenset[int] | None) -> AllowedRows:
        rows = self._cache.get(filter_keys)
        if rows is None:
            if len(self._cache) >= _CACHED_FILTERS:
                self._cache.clear()
            rows = self._cache[filter_keys] = self._compute_allowed(filter_keys)
        return rows

    def _compute_allowed(self, filter_keys: frozenset[int] | None) -> AllowedRows:
        allowed = self.live
        if filter_keys is not None:
            wanted = np.fromiter(filter_keys, np.int64, len(filter_keys))
            allowed = allowed & np.isin(self.filter_keys, wanted)[self.filter_indexes]
        count = int(np.count_nonzero(allowed))
        listed = count <= self.exact_limit and count < len(allowed)
        split = 0 if self.codes is None else len(self.codes)
        folded = allowed[:split]
        return AllowedRows(
            count=count,
            listed=np.flatnonzero(allowed) if listed else None,
            folded=None if folded.all() else np.packbits(folded, bitorder="little"),
            unfolded=np.packbits(allowed[split:], bitorder="little"),
        )

    def _candidates(self, allowed: AllowedRows, query: Floats, k: int) -> I64 | None:
        """The rows to compute exact cosines for; None: every row."""
        limit = max(CANDIDATES, 10 * k)
        rotated = rotate(query[None, :])
        while limit < allowed.count:
            estimates, rows = self.unfolded.search(self.floats, rotated, limit, allowed.unfolded)
            if self.codes is not None:
                more, folded = self.codes.search(rotated, limit, allowed.folded)
                estimates = np.concatenate((estimates, more))
                rows = np.concatenate((rows, folded))
            last = np.partition(estimates, len(estimates) - limit)[len(estimates) - limit]
            rows = rows[estimates > last]
            if 2 * len(rows) >= limit:
                return np.sort(rows)  # sequential reads of the file
            limit *= _WIDENING
        return self._all_allowed(allowed)

    def _all_allowed(self, allowed: AllowedRows) -> I64 | None:
        if allowed.count == len(self.keys):
            return None
        split = 0 if self.codes is None else len(self.codes)
        mask = np.ones(len(self.keys), np.bool_)
        for part, bits in ((mask[:split], allowed.folded), (mask[split:], allowed.unfolded)):
            if bits is not None:
                part[:] = np.unpackbits(bits, count=len(part), bitorder="little")
        return np.flatnonzero(mask)


def are_unit_vectors(floats: Floats) -> bool:
    """Whether all rows have length 1, as every row that was written has."""
    return bool(np.all(np.abs(np.einsum("ij,ij->i", floats, floats) - 1) < 1e-3))
