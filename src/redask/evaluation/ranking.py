"""Ranking metrics: `measure` one question, `mean` over many.

ndcg@10           gain score/log2(rank + 1), divided by the best possible
recall@20         share of the evidence among the first 20
all_evidence@8    1 if every piece of evidence is among the first 8, else 0
"""

import math
from collections.abc import Mapping, Sequence

METRICS = ("ndcg@10", "recall@20", "all_evidence@8")


def measure(ranked: Sequence[str], evidence: Mapping[str, int]) -> dict[str, float]:
    """The metrics of one ranking against its evidence (passage → score)."""
    gain = sum(
        evidence.get(passage, 0) / math.log2(rank + 1)
        for rank, passage in enumerate(ranked[:10], start=1)
    )
    ideal = sum(
        score / math.log2(rank + 1)
        for rank, score in enumerate(sorted(evidence.values(), reverse=True)[:10], start=1)
    )
    found = evidence.keys() & set(ranked[:20])
    return {
        "ndcg@10": gain / ideal,
        "recall@20": len(found) / len(evidence),
        "all_evidence@8": float(evidence.keys() <= set(ranked[:8])),
    }


def mean(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric."""
    return {name: math.fsum(each[name] for each in measured) / len(measured) for name in METRICS}
