"""Exact BM25: `Scorer` scores rows of the forward index for one query.

    score = Σ over terms  weight · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average))

k1 1.2, b 0.75; the weight of a term is its idf. All arithmetic is in doubles, and terms are added
one by one in the order of their texts, so that a row has the same score to the last bit whatever
else is in its batch. (Summing a matrix does not guarantee that: numpy adds in another order when
there is one column only.)

A phrase adds its weight in the same way, with its frequency in the text as written, limited to
the least frequency of its words: a phrase never adds more than its words do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from redask.core.text import compiled_later
from redask.index.analysis.analyzer import UNSPACED, Phrase, Term
from redask.index.forward.entries import I64, HashedRows
from redask.index.lexical.term_counts import TermCounts

K1 = 1.2
B = 0.75

F64 = npt.NDArray[np.float64]
Matches = npt.NDArray[np.bool_]
_LETTER = compiled_later(rf"[^\W{UNSPACED}]")  # of a script with spaces between its words
ReadTexts = Callable[[Sequence[str]], dict[str, str]]  # URNs → texts visible to the caller


@dataclass(frozen=True, slots=True)
class Hit:
    """One entity found, and its score."""

    urn: str
    key: int
    score: float


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """The terms and phrases of a query with their weights, and the greatest possible score.

    Terms are in the order of their texts. A phrase has, for each of its words, the positions of
    its alternatives among the terms.
    """

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    phrases: tuple[tuple[Phrase, float, tuple[tuple[int, ...], ...]], ...]
    max_score: float


class Scorer:
    """Exact scores for one query."""

    def __init__(self, query: WeightedQuery, average_length: float, texts: ReadTexts) -> None:
        self._query = query
        self._average_length = average_length
        self._texts = texts

    def score(self, rows: HashedRows, allowed: Matches | None) -> list[Hit]:
        """The allowed rows with at least one term; scores are not normalised yet."""
        if not rows.keys:
            return []
        found = TermCounts.of(rows, self._query.terms)
        norm = self._norm(rows)
        total = self._term_scores(found, norm)
        matching = total > 0 if allowed is None else (total > 0) & allowed
        for phrase, weight, words in self._query.phrases:
            by_word = [found.by_row(terms) for terms in words]
            by_row = self._phrase_frequencies(rows, phrase, by_word, matching)
            total += weight * _saturated(by_row, norm)
        scores, urns = total.tolist(), rows.urns  # which columns read each time they are asked
        return [
            Hit(urns[position], rows.keys[position], scores[position])
            for position in np.flatnonzero(matching).tolist()
        ]

    def normalised_scores(self, rows: HashedRows) -> list[float]:
        """The score of each row divided by the greatest possible one, without phrases."""
        if not self._query.terms:
            return [0.0] * len(rows.keys)
        total = self._term_scores(TermCounts.of(rows, self._query.terms), self._norm(rows))
        scores: list[float] = np.minimum(1.0, total / self._query.max_score).tolist()
        return scores

    def _norm(self, rows: HashedRows) -> F64:
        norm: F64 = K1 * (1 - B + B * (rows.lengths / self._average_length))
        return norm

    def _term_scores(self, found: TermCounts, norm: F64) -> F64:
        weights = np.array(self._query.weights)
        parts = weights[found.terms] * _saturated(found.counts, norm[found.rows])
        # which adds them one by one, in order
        return np.bincount(found.rows, weights=parts, minlength=len(norm)).astype(np.float64)

    def _phrase_frequencies(
        self, rows: HashedRows, phrase: Phrase, by_word: Sequence[I64], matching: Matches
    ) -> I64:
        """The frequency of a phrase in each row, at most the least frequency of its words."""
        least = np.minimum.reduce([*by_word, np.where(matching, np.iinfo(np.int64).max, 0)])
        found = np.zeros(len(rows.keys), np.int64)
        positions = np.flatnonzero(least).tolist()
        urns = rows.urns
        texts = self._texts([urns[position] for position in positions])
        for position in positions:
            found[position] = phrase_frequency(phrase.text, texts.get(urns[position], ""))
        return np.minimum(found, least)


def phrase_frequency(phrase: str, text: str) -> int:
    """How often a text contains a phrase exactly as written, not inside longer words."""
    count, position = 0, text.find(phrase)
    while position >= 0:
        end = position + len(phrase)
        if not (
            _is_same_word(text[max(position - 1, 0) : position], phrase[:1])
            or _is_same_word(phrase[-1:], text[end : end + 1])
        ):
            count += 1
        position = text.find(phrase, end)
    return count


def _is_same_word(one: str, other: str) -> bool:
    """Whether two adjacent characters belong to one word, in a script with spaces between words."""
    return bool(_LETTER.match(one) and _LETTER.match(other))


def _saturated(frequency: I64, norm: F64) -> F64:
    return frequency * (K1 + 1) / (frequency + norm)
