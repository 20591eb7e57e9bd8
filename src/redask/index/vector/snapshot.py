"""One state of a vector index: what a search reads while others write.

    permitted rows, by label          how                      result
    at most `exact`                   every one, exactly       the k nearest
    more                              codes, then exactly      the k nearest of the candidates

**The result is a function of the permitted content and the query**, whatever the history:

- `exact` is compared with the number of *permitted, live* rows, so that rows the caller may
  not see, or that are gone, change nothing;
- folded and newer rows get the same codes, and compete for the same places: 2,000 candidates
  over both, and not 2,000 of one and all of the other;
- whoever ties with the last candidate is left out, since which of them faiss returns depends
  on their order. When that leaves fewer than half (thousands of equal rows), more candidates
  are taken, in the end every permitted row.

What a set of labels permits is worked out once for each state, and kept with it.
"""

import threading
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from redask.core.errors import Damaged
from redask.index.vector.cosine import Floats, Places, best
from redask.index.vector.files import Flags, Numbers
from redask.index.vector.quantization import Bits, Codes, rotate

CANDIDATES = 2_000
_WIDER = 8  # how many times more candidates, when ties ate too many
_KEPT = 8  # sets of labels remembered in one state


@dataclass(frozen=True, slots=True)
class Permit:
    """The rows some labels open; a bitmap of the folded ones is None when it would be full.

    `few` lists them when they are to be compared one by one and are not all there are.
    """

    count: int
    few: Places | None
    folded: Bits | None
    newer: Bits


class NewerCodes:
    """Codes of the rows after the folded ones, made when first needed and then kept up."""

    def __init__(self, dimensions: int, first: int) -> None:
        self._codes = Codes(dimensions)
        self._first = first
        self._lock = threading.Lock()  # faiss cannot add and search at once

    def propose(
        self, floats: Floats, turned: Floats, want: int, bits: Bits
    ) -> tuple[Floats, Places]:
        """As `Codes.propose`, over `floats` from the first newer row on."""
        with self._lock:
            self._codes.add(floats[self._first + len(self._codes) :])
            estimates, rows = self._codes.propose(turned, want, bits)
        return estimates, rows + self._first


@dataclass(frozen=True, slots=True, eq=False)
class VectorView:
    """Rows in the order they came; `alive` marks those not deleted since.

    `numbers` says which of `labels` a row has.
    """

    seq: int
    pending: int
    exact: int
    floats: Floats
    keys: Places
    numbers: Numbers
    labels: Places
    alive: Flags
    codes: Codes | None
    newer: NewerCodes
    _permits: dict[frozenset[int] | None, Permit] = field(default_factory=dict, init=False)

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.alive))

    def search(
        self, query: Floats, k: int, allowed: Collection[int] | None
    ) -> list[tuple[int, float]]:
        permit = self._permit(None if allowed is None else frozenset(allowed))
        rows = permit.few if permit.count <= self.exact else self._proposed(permit, query, k)
        chosen, cosines = best(self.floats, query, k, rows)
        if len(chosen) < min(k, permit.count) or not whole(self.floats[chosen]):
            raise Damaged("the vector index has damaged floats")
        found = zip(self.keys[chosen].tolist(), cosines.tolist(), strict=True)
        return sorted(found, key=lambda item: (-item[1], item[0]))

    def _permit(self, labels: frozenset[int] | None) -> Permit:
        permit = self._permits.get(labels)
        if permit is None:
            if len(self._permits) >= _KEPT:
                self._permits.clear()
            permit = self._permits[labels] = self._worked_out(labels)
        return permit

    def _worked_out(self, labels: frozenset[int] | None) -> Permit:
        open_ = self.alive
        if labels is not None:
            permitted = np.isin(self.labels, np.fromiter(labels, np.int64, len(labels)))
            open_ = open_ & permitted[self.numbers]
        count = int(np.count_nonzero(open_))
        few = count <= self.exact and count < len(open_)
        split = 0 if self.codes is None else len(self.codes)
        folded = open_[:split]
        return Permit(
            count=count,
            few=np.flatnonzero(open_) if few else None,
            folded=None if folded.all() else np.packbits(folded, bitorder="little"),
            newer=np.packbits(open_[split:], bitorder="little"),
        )

    def _proposed(self, permit: Permit, query: Floats, k: int) -> Places | None:
        """The rows worth an exact look; None is every row."""
        want = max(CANDIDATES, 10 * k)
        turned = rotate(query[None, :])
        while want < permit.count:
            estimates, rows = self.newer.propose(self.floats, turned, want, permit.newer)
            if self.codes is not None:
                more, folded = self.codes.propose(turned, want, permit.folded)
                estimates = np.concatenate((estimates, more))
                rows = np.concatenate((rows, folded))
            last = np.partition(estimates, len(estimates) - want)[len(estimates) - want]
            rows = rows[estimates > last]
            if 2 * len(rows) >= want:
                return np.sort(rows)  # neighbours in the file are read together
            want *= _WIDER
        return self._every(permit)

    def _every(self, permit: Permit) -> Places | None:
        if permit.count == len(self.keys):
            return None
        split = 0 if self.codes is None else len(self.codes)
        open_ = np.ones(len(self.keys), np.bool_)
        for part, bits in ((open_[:split], permit.folded), (open_[split:], permit.newer)):
            if bits is not None:
                part[:] = np.unpackbits(bits, count=len(part), bitorder="little")
        return np.flatnonzero(open_)


def whole(floats: Floats) -> bool:
    """Rows that are not of length 1 were not written by us."""
    return bool(np.all(np.abs(np.einsum("ij,ij->i", floats, floats) - 1) < 1e-3))
