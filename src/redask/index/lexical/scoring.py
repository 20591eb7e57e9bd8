"""BM25, exactly: `Scorer` scores the tokens of entities for one question.

    score = Σ over terms  weight · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average))

k1 1.2, b 0.75; the weight of a term is its idf. Every number is a double, and terms are added
one after the other in the order of their texts, so that an entity has the same score to the
last bit whatever is scored beside it. (Summing a table at once would not promise that: numpy
adds in another order when there is one column only.)

A phrase adds its weight in the same way, with how often the text says it as written, but at
most as often as it holds each word: a phrase can never add more than its words do.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from redask.index.analysis.analyzer import UNSPACED, Phrase, Term
from redask.index.forward.entries import I64, Sequences

K1 = 1.2
B = 0.75

F64 = npt.NDArray[np.float64]
Matches = npt.NDArray[np.bool_]
_LETTER = re.compile(rf"[^\W{UNSPACED}]")  # of a script with spaces between its words
ReadTexts = Callable[[Sequence[str]], dict[str, str]]  # URNs → texts, as the caller may read them


@dataclass(frozen=True, slots=True)
class Hit:
    """One entity found, and its score."""

    urn: str
    key: int
    score: float


@dataclass(frozen=True, slots=True)
class Weighing:
    """A question's terms and phrases with their weights, and the score that would be perfect.

    Terms are in the order of their texts; a phrase's members are groups of places among them.
    """

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    phrases: tuple[tuple[Phrase, float, tuple[tuple[int, ...], ...]], ...]
    perfect: float


class Scorer:
    """Exact scores for one question."""

    def __init__(self, weighing: Weighing, average: float, texts: ReadTexts) -> None:
        self._weighing = weighing
        self._average = average
        self._texts = texts

    def score(self, rows: Sequences, admitted: Matches | None) -> list[Hit]:
        """The admitted rows that hold a term; their scores are not normalised yet."""
        if not rows.keys:
            return []
        held = frequencies(rows, self._weighing.terms)
        norm = self._norm(rows)
        total = self._words(held, norm)
        wanted = total > 0 if admitted is None else (total > 0) & admitted
        for phrase, weight, members in self._weighing.phrases:
            spoken = self._said(rows, phrase, [held[list(m)].sum(0) for m in members], wanted)
            total += weight * _saturated(spoken, norm)
        scores = total.tolist()
        return [
            Hit(rows.urns[place], rows.keys[place], scores[place])
            for place in np.flatnonzero(wanted).tolist()
        ]

    def shares(self, rows: Sequences) -> list[float]:
        """Each row's share of a perfect score, without phrases."""
        if not self._weighing.terms:
            return [0.0] * len(rows.keys)
        total = self._words(frequencies(rows, self._weighing.terms), self._norm(rows))
        shares: list[float] = np.minimum(1.0, total / self._weighing.perfect).tolist()
        return shares

    def _norm(self, rows: Sequences) -> F64:
        norm: F64 = K1 * (1 - B + B * ((rows.starts[1:] - rows.starts[:-1]) / self._average))
        return norm

    def _words(self, held: I64, norm: F64) -> F64:
        total = np.zeros(len(norm))
        parts = np.array(self._weighing.weights)[:, np.newaxis] * _saturated(held, norm)
        for part in parts:
            total += part
        return total

    def _said(
        self, rows: Sequences, phrase: Phrase, members: Sequence[I64], wanted: Matches
    ) -> I64:
        """How often each row says a phrase, at most as often as each of its words."""
        least = np.minimum.reduce([*members, np.where(wanted, np.iinfo(np.int64).max, 0)])
        found = np.zeros(len(rows.keys), np.int64)
        places = np.flatnonzero(least).tolist()
        texts = self._texts([rows.urns[place] for place in places])
        for place in places:
            found[place] = said(phrase.text, texts.get(rows.urns[place], ""))
        return np.minimum(found, least)


def said(phrase: str, text: str) -> int:
    """How often a text says a phrase exactly as written, not as a part of longer words."""
    count, place = 0, text.find(phrase)
    while place >= 0:
        end = place + len(phrase)
        if not (
            _joins(text[max(place - 1, 0) : place], phrase[:1])
            or _joins(phrase[-1:], text[end : end + 1])
        ):
            count += 1
        place = text.find(phrase, end)
    return count


def _joins(one: str, other: str) -> bool:
    """Whether two neighbours are letters of one word, in a script with spaces between words."""
    return bool(_LETTER.match(one) and _LETTER.match(other))


def frequencies(rows: Sequences, terms: Sequence[Term]) -> I64:
    """How often each row (across) holds each term (down)."""
    count = len(rows.starts) - 1
    found = np.zeros((len(terms), count), np.int64)
    stems = np.ascontiguousarray(rows.tokens.view(np.uint32)[1::2])
    for literal, numbers in ((False, stems), (True, rows.tokens)):
        places = [place for place, term in enumerate(terms) if term.literal is literal]
        if not places:
            continue
        sought = np.array([terms[place].number for place in places], numbers.dtype)
        which, where = np.nonzero(numbers == sought[:, np.newaxis])
        owners = np.searchsorted(rows.starts, where, "right") - 1
        flat = np.bincount(which * count + owners, minlength=len(places) * count)
        found[places] = flat.reshape(len(places), count)
    return found


def _saturated(held: I64, norm: F64) -> F64:
    return held * (K1 + 1) / (held + norm)
