"""Reciprocal Rank Fusion: `fuse` the buckets' candidate lists into one ranking.

    score(d) = Σ over buckets  weight / (k + rank of d in that bucket)

Rank counts from 1 by position in the list, after two removals: items below the bucket's
`min_score` (equal stays; NaN is removed) and repetitions of a URN (its best rank counts). Native
scores are not used otherwise. A bucket of weight 0 is left out. Weights are exact decimals: a
float means the number it is written as, so that 0.4 + 1 equals 1.4.

Sums are exact integers over one common denominator and compared exactly, so neither bucket
order nor float rounding can decide a tie; each becomes a double once, at the end. Order: score
descending, then encoded URN ascending (code points order like their UTF-8 bytes).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from redask.core.errors import Misconfigured

K = 60
LIMIT = 20


@dataclass(frozen=True, slots=True)
class Bucket:
    """One list of `(urn, native score)` in rank order, its minimum score and its weight."""

    candidates: Sequence[tuple[str, float]]
    min_score: float | None = None
    weight: float | Decimal | Fraction = 1


@dataclass(frozen=True, slots=True)
class Fused:
    """One item of the fused ranking."""

    urn: str
    score: float


def fuse(buckets: Sequence[Bucket], k: int = K, limit: int = LIMIT) -> list[Fused]:
    """The best `limit` items of all buckets."""
    weights = [_weight(repr(bucket.weight), bucket.weight) for bucket in buckets]
    ranked = [
        _ranked(bucket) if weight else [] for bucket, weight in zip(buckets, weights, strict=True)
    ]
    scale, shares = _shares(tuple(weights), k, max(map(len, ranked), default=0))
    totals: dict[str, int] = {}
    for urns, by_rank in zip(ranked, shares, strict=True):
        for urn, share in zip(urns, by_rank, strict=False):
            totals[urn] = totals.get(urn, 0) + share
    best = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    try:
        return [Fused(urn, total / scale) for urn, total in best[: max(limit, 0)]]
    except OverflowError:
        raise Misconfigured("the weights of the buckets are too large for a score") from None


def _ranked(bucket: Bucket) -> list[str]:
    """The URNs with at least the minimum score, each once, in order."""
    floor = -math.inf if bucket.min_score is None else bucket.min_score
    return list(dict.fromkeys(urn for urn, score in bucket.candidates if score >= floor))


@lru_cache(32)
def _shares(
    weights: tuple[Fraction, ...], k: int, deepest: int
) -> tuple[int, tuple[tuple[int, ...], ...]]:
    """The common denominator, and for each weight what every rank adds, from the first on."""
    scale = math.lcm(*range(k + 1, k + deepest + 1))
    scale *= math.lcm(*(weight.denominator for weight in weights))
    whole = (int(weight * scale) for weight in weights)
    ranks = range(k + 1, k + deepest + 1)
    return scale, tuple(tuple(share // rank for rank in ranks) for share in whole)


@lru_cache(64)
def _weight(written: str, weight: float | Decimal | Fraction) -> Fraction:
    """The weight as it is `written`: equal numbers of other types are other keys of the cache."""
    try:
        exact = Fraction(written if isinstance(weight, float) else weight)
    except (ValueError, OverflowError):
        exact = Fraction(-1)
    if exact < 0:
        raise Misconfigured(f"the weight of a bucket is a number from 0 up, not {weight}")
    return exact
