"""How often terms are in rows: `frequencies` as a matrix, `TermCounts` without its zeros.

A question may have thousands of terms, and a matrix of them and the rows hardly anything but zeros.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from redask.index.analysis.analyzer import Term
from redask.index.forward.entries import I64, HashedRows

_FEW = 32  # terms: up to these, comparing each with every token is faster than looking tokens up


@dataclass(frozen=True, slots=True)
class TermCounts:
    """`counts[i]` times the term `terms[i]` is in the row `rows[i]`; by term, then by row."""

    terms: I64
    rows: I64
    counts: I64
    size: int  # how many rows there are

    @classmethod
    def of(cls, rows: HashedRows, terms: Sequence[Term]) -> "TermCounts":
        """The counts of terms in rows."""
        size = len(rows.starts) - 1
        found = [np.empty(0, np.int64)]
        for places, which, columns in _occurrences(rows, terms):
            found.append(np.asarray(places)[which] * size + columns)
        cells, counts = np.unique(np.concatenate(found), return_counts=True)
        return cls(cells // max(size, 1), cells % max(size, 1), counts, size)

    def by_row(self, terms: Sequence[int]) -> I64:
        """How often any of these terms, by position, is in each row."""
        total = np.zeros(self.size, np.int64)
        for term in terms:
            start, stop = np.searchsorted(self.terms, [term, term + 1])
            total[self.rows[start:stop]] += self.counts[start:stop]
        return total


def frequencies(rows: HashedRows, terms: Sequence[Term]) -> I64:
    """The frequency of each term (rows of the matrix) in each row of the index (columns)."""
    count = len(rows.starts) - 1
    found = np.zeros((len(terms), count), np.int64)
    for places, which, columns in _occurrences(rows, terms):
        flat = np.bincount(which * count + columns, minlength=len(places) * count)
        found[places] = flat.reshape(len(places), count)
    return found


def _occurrences(rows: HashedRows, terms: Sequence[Term]) -> list[tuple[list[int], I64, I64]]:
    """For words, then for literals: their places, which of them occurs, and in which row."""
    found = []
    for literal in (False, True):
        places = [place for place, term in enumerate(terms) if term.literal is literal]
        if places:
            hashes, starts = rows.hashes(literal)
            sought = np.array([terms[place].token_hash for place in places], hashes.dtype)
            which, where = _matches(hashes, sought)
            found.append((places, which, np.searchsorted(starts, where, "right") - 1))
    return found


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
