"""How often terms are in rows: `frequencies` as a matrix, `TermCounts` without its zeros.

A question may have thousands of terms, and a matrix of them and the rows hardly anything but zeros.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redask.index.analysis.analyzer import Term
from redask.index.forward.entries import I64, HashedRows

_NONE = np.empty(0, np.int64)


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
        parts: list[tuple[I64, I64, I64]] = [(_NONE, _NONE, _NONE)]
        for literal in (False, True):
            places = [place for place, term in enumerate(terms) if term.literal is literal]
            if places:
                hashes = [terms[place].token_hash for place in places]
                which, where, often = rows.counts(hashes, literal)
                parts.append((np.array(places)[which], where, often))
        own, where, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        if len(parts) > 2:  # literals stand among the words
            order = np.argsort(own, kind="stable")
            own, where, counts = own[order], where[order], counts[order]
        return cls(own, where, counts, len(rows.keys))

    def by_row(self, terms: Sequence[int]) -> I64:
        """How often any of these terms, by position, is in each row."""
        total = np.zeros(self.size, np.int64)
        for term in terms:
            start, stop = np.searchsorted(self.terms, [term, term + 1])
            total[self.rows[start:stop]] += self.counts[start:stop]
        return total


def frequencies(rows: HashedRows, terms: Sequence[Term]) -> I64:
    """The frequency of each term (rows of the matrix) in each row of the index (columns)."""
    found = np.zeros((len(terms), len(rows.keys)), np.int64)
    counted = TermCounts.of(rows, terms)
    found[counted.terms, counted.rows] = counted.counts
    return found
