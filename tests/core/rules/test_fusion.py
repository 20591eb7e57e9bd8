"""Contract 10, against an oracle of naive fractions."""

import itertools
import math
import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import Misconfigured
from redask.core.rules.fusion import Bucket, Fused, fuse

NAN = float("nan")


def bucket(urns: Sequence[str], *, weight: float | Decimal | Fraction = 1) -> Bucket:
    return Bucket([(urn, 0.0) for urn in urns], weight=weight)


def at_rank(urn: str, rank: int) -> Bucket:
    """A bucket in which `urn` has this rank, behind fillers of its own."""
    return bucket([*(f"{urn}-{n:03}" for n in range(1, rank)), urn])


def ranking(buckets: Sequence[Bucket], **options: int) -> list[str]:
    return [item.urn for item in fuse(buckets, **options)]


def oracle(buckets: Sequence[Bucket], k: int, limit: int) -> list[Fused]:
    """The contract, word by word."""
    totals: dict[str, Fraction] = {}
    for each in buckets:
        kept: list[str] = []
        for urn, score in each.candidates:
            below = each.min_score is not None and score < each.min_score
            if not below and not math.isnan(score) and urn not in kept:
                kept.append(urn)
        for urn in kept if each.weight else ():
            share = Fraction(str(each.weight)) / (k + kept.index(urn) + 1)
            totals[urn] = totals.get(urn, Fraction(0)) + share
    order = sorted(totals, key=lambda urn: (-totals[urn], urn.encode()))
    return [Fused(urn, float(totals[urn])) for urn in order[:limit]]


# --- score, rank, k, weight -------------------------------------------------------------


def test_the_score_is_the_sum_of_weight_over_k_plus_rank_with_k_60() -> None:
    assert fuse([bucket("ab"), bucket("b")]) == [
        Fused("b", float(Fraction(1, 62) + Fraction(1, 61))),
        Fused("a", 1 / 61),
    ]


@pytest.mark.parametrize("k", [0, 1, 60, 1000])
def test_k_may_be_set(k: int) -> None:
    assert fuse([bucket("ab")], k=k) == [Fused("a", 1 / (k + 1)), Fused("b", 1 / (k + 2))]


def test_rank_is_the_position_in_the_list_and_native_scores_do_not_move_it() -> None:
    assert ranking([Bucket([("low", -5.0), ("high", 99.0), ("mid", 1.0)])]) == [
        "low",
        "high",
        "mid",
    ]


def test_a_weight_multiplies_and_is_1_unless_set() -> None:
    assert ranking([bucket("a"), bucket("b", weight=2)]) == ["b", "a"]
    assert fuse([bucket("a", weight=0.5), bucket("a")]) == [Fused("a", 1.5 / 61)]
    assert Bucket([]).weight == 1
    assert Bucket([]).min_score is None


@pytest.mark.parametrize("exact", [float, Decimal, Fraction])
def test_weights_are_exact_decimals(exact: type[float] | type[Decimal] | type[Fraction]) -> None:
    tied = [
        bucket("b", weight=exact("1.4")),
        bucket("a", weight=1),
        bucket("a", weight=exact("0.4")),
    ]
    assert ranking(tied) == ["a", "b"]
    first, second = fuse(tied)
    assert first.score == second.score


def test_a_bucket_of_weight_0_is_left_out() -> None:
    assert ranking([bucket("ab", weight=0), bucket("b")]) == ["b"]


@pytest.mark.parametrize("weight", [-1, -1e-300, NAN, math.inf, -math.inf])
def test_a_weight_that_is_no_number_from_0_up_is_refused(weight: float) -> None:
    with pytest.raises(Misconfigured, match=str(weight)):
        fuse([bucket("a"), bucket("b", weight=weight)])


# --- floor and repetitions --------------------------------------------------------------


def test_below_the_floor_is_dropped_before_ranking_so_survivors_move_up() -> None:
    floored = Bucket([("a", 0.1), ("b", 0.9), ("c", 0.2), ("d", 0.8)], min_score=0.5)
    assert fuse([floored]) == [Fused("b", 1 / 61), Fused("d", 1 / 62)]


def test_equal_to_the_floor_stays() -> None:
    floored = Bucket([("a", math.nextafter(0.5, 0)), ("b", 0.5)], min_score=0.5)
    assert fuse([floored]) == [Fused("b", 1 / 61)]


@pytest.mark.parametrize("min_score", [None, 0.0, -math.inf])
def test_nan_is_dropped_with_or_without_a_floor(min_score: float | None) -> None:
    assert fuse([Bucket([("a", NAN), ("b", 0.0)], min_score)]) == [Fused("b", 1 / 61)]


def test_without_a_floor_every_other_score_stays() -> None:
    assert ranking([Bucket([("a", -math.inf), ("b", -1e308), ("c", 0)])]) == ["a", "b", "c"]


def test_each_bucket_has_its_own_floor() -> None:
    low, high = [("a", 0.1)], [("b", 0.1)]
    assert ranking([Bucket(low, 0.05), Bucket(high, 0.2)]) == ["a"]


def test_a_repeated_urn_counts_once_at_its_best_rank() -> None:
    assert fuse([bucket("aab")]) == [Fused("a", 1 / 61), Fused("b", 1 / 62)]
    assert fuse([bucket("abab")]) == [Fused("a", 1 / 61), Fused("b", 1 / 62)]


def test_a_repetition_below_the_floor_does_not_take_the_place() -> None:
    assert ranking([Bucket([("a", 0.0), ("b", 1.0), ("a", 1.0)], 0.5)]) == ["b", "a"]


# --- exact sums, ties, order ------------------------------------------------------------

TIE = [*(at_rank("x", rank) for rank in (3, 10)), *(at_rank("y", rank) for rank in (30, 45, 45))]


def test_ranks_3_10_and_30_45_45_tie_exactly_whatever_the_bucket_order() -> None:
    for order in itertools.permutations(TIE):
        scores = {item.urn: item.score for item in fuse(order, limit=1000)}
        assert scores["x"] == scores["y"] == 0.03015873015873016
        urns = [urn for urn in scores if urn in ("x", "y")]
        assert urns == ["x", "y"]


def test_a_difference_below_a_double_still_decides() -> None:
    tiny = Fraction(1, 10**30)
    assert ranking([bucket("a"), bucket("b", weight=1 + tiny)]) == ["b", "a"]
    first, second = fuse([bucket("a"), bucket("b", weight=1 + tiny)])
    assert first.score == second.score


@pytest.mark.parametrize(
    "urns", [["a", "b"], ["B", "a"], ["a", "a/1"], ["~", "é"], ["\uffee", "\U00010000"]]
)
def test_ties_are_ordered_by_urn_bytes_ascending(urns: list[str]) -> None:
    for order in (urns, urns[::-1]):
        assert ranking([bucket([urn]) for urn in order]) == urns


@pytest.mark.parametrize(
    ("limit", "urns"), [(-1, ""), (0, ""), (1, "a"), (2, "ab"), (3, "abc"), (99, "abc")]
)
def test_limit_0_gives_nothing_and_a_limit_above_the_count_gives_all(limit: int, urns: str) -> None:
    assert ranking([bucket("abc")], limit=limit) == list(urns)


def test_the_limit_is_20_unless_set() -> None:
    assert len(fuse([bucket([f"{n:02}" for n in range(30)])])) == 20


@pytest.mark.parametrize("buckets", [[], [Bucket([])], [Bucket([]), Bucket([("a", 0.0)], 1.0)]])
def test_nothing_to_fuse_gives_nothing(buckets: list[Bucket]) -> None:
    assert fuse(buckets) == []


# --- properties -------------------------------------------------------------------------

SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN, math.inf, -math.inf])
CANDIDATES = st.lists(
    st.tuples(st.sampled_from([*"abcdefgh", "é", "\uffee", "😀"]), SCORES), max_size=12
)
WEIGHTS = st.sampled_from([0, 1, 2, 0.1, 0.3, 1e-300, 5e-324]) | st.fractions(0, 5)
BUCKETS = st.lists(
    st.builds(Bucket, CANDIDATES, st.none() | st.sampled_from([0.0, 0.25, 0.5]), WEIGHTS),
    max_size=5,
)


@given(BUCKETS, st.integers(0, 100), st.integers(0, 12))
def test_fusion_is_what_naive_fractions_give(buckets: list[Bucket], k: int, limit: int) -> None:
    assert fuse(buckets, k=k, limit=limit) == oracle(buckets, k, limit)


@given(st.data(), BUCKETS)
def test_bucket_order_cannot_matter(data: st.DataObject, buckets: list[Bucket]) -> None:
    assert fuse(data.draw(st.permutations(buckets))) == fuse(buckets)


@given(BUCKETS, st.integers(0, 12))
def test_a_smaller_limit_is_a_prefix(buckets: list[Bucket], limit: int) -> None:
    assert fuse(buckets, limit=limit) == fuse(buckets, limit=1000)[:limit]


@pytest.mark.parametrize("seed", range(20))
def test_deep_lists_are_exact_too(seed: int) -> None:
    rng = random.Random(seed)
    buckets = [bucket(rng.sample([str(n) for n in range(300)], 200)) for _ in range(3)]
    assert fuse(buckets, limit=300) == oracle(buckets, 60, 300)


@pytest.mark.parametrize("weights", [(1.7e308, 1.7e308), (Fraction(10) ** 400,)])
def test_a_score_too_large_for_a_double_is_refused_with_our_own_error(
    weights: tuple[float | Fraction, ...],
) -> None:
    with pytest.raises(Misconfigured):
        fuse([bucket("a", weight=weight) for weight in weights], k=0)
