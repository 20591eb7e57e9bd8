"""evaluation.ranking: the three metrics, by hand and against their definitions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.evaluation import ranking

IDS = st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), unique=True)


@pytest.mark.parametrize(
    ("ranked", "evidence", "ndcg", "recall", "whole"),
    [
        ("ab", {"a": 1}, 1.0, 1.0, 1.0),
        ("ba", {"a": 1}, 1 / math.log2(3), 1.0, 1.0),
        ("b", {"a": 1}, 0.0, 0.0, 0.0),
        ("axb", {"a": 1, "b": 1}, (1 + 0.5) / (1 + 1 / math.log2(3)), 1.0, 1.0),
        ("xxxxxxxxa", {"a": 1}, 1 / math.log2(10), 1.0, 0.0),
        ("ab", {"a": 1, "b": 2}, (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)), 1.0, 1.0),
        ("a", {"a": 1, "b": 1}, 1 / (1 + 1 / math.log2(3)), 0.5, 0.0),
    ],
)
def test_the_metrics_by_hand(
    ranked: str, evidence: dict[str, int], ndcg: float, recall: float, whole: float
) -> None:
    measured = ranking.measure(list(ranked), evidence)
    assert measured["ndcg@10"] == pytest.approx(ndcg)
    assert (measured["recall@20"], measured["all_evidence@8"]) == (recall, whole)


@given(IDS, IDS.filter(bool))
def test_every_metric_lies_between_0_and_1_and_the_ideal_ranking_has_them_all(
    ranked: list[str], evidence: list[str]
) -> None:
    gold = dict.fromkeys(evidence, 1)
    assert all(0 <= value <= 1 + 1e-9 for value in ranking.measure(ranked, gold).values())
    best = ranking.measure(evidence, gold)
    assert best["ndcg@10"] == pytest.approx(1.0)
    assert best["all_evidence@8"] == float(len(evidence) <= 8)


def test_the_mean_is_taken_metric_by_metric() -> None:
    first = dict.fromkeys(ranking.METRICS, 1.0)
    second = dict.fromkeys(ranking.METRICS, 0.0)
    assert ranking.mean([first, second, second, second]) == dict.fromkeys(ranking.METRICS, 0.25)
