"""What each bucket weighs for one question: `decide`, from what this search found.

    the settings fix a weight            that one, whatever was found
    the question names 1 to MAX_NAMED    graph 1, the others LEAST: the graph starts at what is
    entities                             named, and goes on to what that is linked to
    …, but the best vector is another    as if the question named many
    one, and stands out by STANDS_OUT,
    and more than the best of words
    (without vectors: the best of words)
    there are no words or no vectors     the others 1, graph LONE_GRAPH
    otherwise                            words and vectors share 1 by how far the best of each
                                         stands out; graph NAMED_GRAPH if the question names
                                         entities (more than MAX_NAMED), else UNNAMED_GRAPH: then
                                         it repeats the best of the others and their neighbours

How far the best stands out is (first − second) ÷ first score, 1 when it is alone. Shares are
proportional to its square, for vectors times VECTOR_FACTOR, because cosines lie closer together
than scores of words. They are rounded to hundredths, and no bucket weighs less than LEAST, so that
nothing that was found is lost.

Weights are exact decimals, and depend on the candidates that the caller is shown and on how many
entities the question names among what the caller may read, on nothing else. `reason` says why, for
EXPLAIN. What the rule gains is measured in docs/quality.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

MAX_NAMED = 6
STANDS_OUT = 0.15
VECTOR_FACTOR = 2
LEAST = Decimal("0.01")
NAMED_GRAPH = Decimal(1)
UNNAMED_GRAPH = Decimal("0.25")
LONE_GRAPH = Decimal("1.4")

Ranked = Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight of a bucket, and why."""

    weight: Decimal
    reason: str = ""


def decide(
    words: Ranked, vectors: Ranked, graph: Ranked, named: int, fixed: Mapping[str, Decimal | None]
) -> dict[str, Weight]:
    """The weights of bm25, vector and graph; `named` entities are in the question."""
    chosen = _by_question(words, vectors, graph, named)
    for bucket, weight in fixed.items():
        if weight is not None:
            chosen[bucket] = Weight(weight, "set")
    return chosen


def _by_question(words: Ranked, vectors: Ranked, graph: Ranked, named: int) -> dict[str, Weight]:
    judge = vectors or words
    other = judge and graph and judge[0][0] != graph[0][0]
    another = other and lead(judge) >= max(STANDS_OUT, lead(words))
    if graph and 1 <= named <= MAX_NAMED and not another:
        reason = f"the question names {named} {'entity' if named == 1 else 'entities'}"
        return {
            "bm25": Weight(LEAST, reason),
            "vector": Weight(LEAST, reason),
            "graph": Weight(Decimal(1), reason),
        }
    if not words or not vectors:
        alone = "there are no vectors" if words else "there are no words"
        return {
            "bm25": Weight(Decimal(1)),
            "vector": Weight(Decimal(1)),
            "graph": Weight(LONE_GRAPH, alone),
        }
    share = _share(lead(words), lead(vectors))
    apart = f"words stand out by {lead(words):.2f}, vectors by {lead(vectors):.2f}"
    if not named:
        linked = Weight(UNNAMED_GRAPH, "the question names nothing")
    elif named > MAX_NAMED:
        linked = Weight(NAMED_GRAPH, f"the question names {named} entities")
    else:
        linked = Weight(NAMED_GRAPH, "the best vector is another than what the question names")
    return {"bm25": Weight(1 - share, apart), "vector": Weight(share, apart), "graph": linked}


def lead(ranked: Ranked) -> float:
    """How far the best of a bucket stands out, from 0 to 1."""
    if not ranked or not ranked[0][1] > 0:
        return 0.0
    second = ranked[1][1] if len(ranked) > 1 else 0.0
    return (ranked[0][1] - second) / ranked[0][1]


def _share(words: float, vectors: float) -> Decimal:
    """The vectors' share of 1, in hundredths, from LEAST to 1 − LEAST."""
    by_words = Fraction(words) ** 2
    by_vectors = VECTOR_FACTOR * Fraction(vectors) ** 2
    exact = by_vectors / (by_words + by_vectors) if by_words + by_vectors else Fraction(1, 2)
    share = Decimal(round(exact * 100)) / 100
    return min(max(share, LEAST), 1 - LEAST)
