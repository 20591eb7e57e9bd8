"""Which excerpts are quoted: `choose` them, the best first.

    0  the chain, if the question needs several hops                                      `hops`
    1  the best, unless it covers less than MIN_COVERAGE of the question (and its cosine is below
       MIN_COSINE): then none
    2  if it is a step with code, and the question asks how: the steps right before and after it
       that go on with it ("And then …"), in their order
    3  records joined to it that the question asks for                                   `joins`
    4  others, in the order of their merit: score + NOVELTY · the share of the question that they
       add, + FOLLOWING if they go on with a quoted sentence ("This is called …"), + CODE for code
       of the same source where steps are asked for and none are quoted yet. Each needs
       SECOND_COVERAGE of the coverage of the best, as many of the question's literals, and a merit
       that is at most SAME_GAP below the best score in a quoted source, OTHER_GAP in another; a
       third THIRD_GAP, and all three fit LENGTH_OF_THREE. After joined records, or code or a list
       that was asked for, only what adds question words counts; what introduces code or a list
       counts only where such is asked for

No line twice, and none that is part of what a quoted line introduces.
"""

import re
from collections.abc import Collection, Sequence

from redask.providers.extractive import hops, naming
from redask.providers.extractive.expected_answer import AnswerShape
from redask.providers.extractive.joins import JoinGraph
from redask.providers.extractive.relevance import ExcerptRanker, ScoredExcerpt

_NEXT_STEP = re.compile(r"(?:and|then|next|now|finally|after that|once) ", re.IGNORECASE)
MIN_COVERAGE = 0.25
MIN_COSINE = 0.6
MAX_QUOTES = 3
SECOND_COVERAGE = 0.3
NOVELTY = 0.3
FOLLOWING = 0.3
CODE = 0.5
SAME_GAP = 0.7
OTHER_GAP = 0.2
THIRD_GAP = 0.3
LENGTH_OF_THREE = 500


def choose(
    scored: Sequence[ScoredExcerpt], joins: JoinGraph, ranker: ExcerptRanker
) -> list[ScoredExcerpt]:
    """The best excerpts, without duplicates; none when even the best covers too little."""
    if not scored or (scored[0].coverage < MIN_COVERAGE and scored[0].cosine < MIN_COSINE):
        return []
    if chain := hops.chain(ranker.question, scored, ranker):
        return chain
    chosen = [scored[0]]
    joined = 0
    if ranker.shape is AnswerShape.STEPS and chosen[0].excerpt.below:
        chosen = sorted([*chosen, *_next_steps(chosen[0], scored)], key=_position)
    while len(chosen) < MAX_QUOTES:
        following = _joined(chosen, scored, joins)
        joined += following is not None
        following = following or _other(chosen, scored, joined, ranker.shape)
        if following is None:
            break
        chosen.append(following)
    return chosen


def _next_steps(one: ScoredExcerpt, scored: Sequence[ScoredExcerpt]) -> list[ScoredExcerpt]:
    """The steps right before and after this one: "First install …", "And then start …"."""
    own = sorted((each for each in scored if each.number == one.number), key=_position)
    steps = [each for each in own if each.excerpt.below and not each.excerpt.leader]
    at = next((i for i, each in enumerate(steps) if each.excerpt.below == one.excerpt.below), None)
    found: list[ScoredExcerpt] = []
    if at is not None and at and _goes_on(one.excerpt.text):
        found.append(steps[at - 1])
    for each in steps[at + 1 :] if at is not None else ():
        if not _goes_on(each.excerpt.text):
            break
        found.append(each)
    return found[:2]


def _goes_on(text: str) -> bool:
    return _NEXT_STEP.match(text) is not None


def _position(one: ScoredExcerpt) -> int:
    return one.position


def _score(one: ScoredExcerpt) -> float:
    return one.score


def _joined(
    chosen: Sequence[ScoredExcerpt], scored: Sequence[ScoredExcerpt], joins: JoinGraph
) -> ScoredExcerpt | None:
    """The best record or edge that is joined to a chosen one, and that the question asks for.

    A record whose question words are all quoted already does not count; an edge must add some.
    """
    quoted = [one.number for one in chosen]
    requested, edges = joins.requested(quoted), joins.edges_from(quoted)
    covered = {token for one in chosen for token in one.matched}
    for one in scored:
        repeats = bool(one.matched) and one.matched.keys() <= covered
        if one.number in requested and one.excerpt.fields and not repeats:
            return one
    fresh = (one for one in scored if one.number in edges and not one.matched.keys() <= covered)
    return next(fresh, None)


def _other(
    chosen: Sequence[ScoredExcerpt],
    scored: Sequence[ScoredExcerpt],
    joined: int,
    shape: AnswerShape | None,
) -> ScoredExcerpt | None:
    """Another answer, or one with further question words; a third record must have some."""
    best = max(chosen, key=_score)
    texts = [one.excerpt.text for one in chosen]
    blocks = "\n".join(one.excerpt.below for one in chosen)
    quoted = {one.number for one in chosen}
    places = {(one.number, one.position) for one in chosen}
    covered = {token for one in chosen for token in one.matched}
    is_third = len(chosen) - joined > 1
    wants_code = shape is AnswerShape.STEPS and "```" not in blocks
    is_complete = shape is not None and not wants_code and any(one.excerpt.below for one in chosen)
    must_add = joined or is_complete or (is_third and best.excerpt.fields)
    room = LENGTH_OF_THREE - sum(map(len, texts))
    found: ScoredExcerpt | None = None
    highest = 0.0
    for one in scored:
        if (
            one.coverage < SECOND_COVERAGE * best.coverage
            or one.literals < best.literals
            or (one.excerpt.leads and shape is None)
            or one.excerpt.text in texts
            or one.excerpt.text in blocks
            or (is_third and len(one.excerpt.text) > room)
            or (must_add and one.matched.keys() <= covered)
        ):
            continue
        merit = one.score + NOVELTY * _novelty(one, covered)
        if (one.number, one.position - 1) in places and naming.opens_with_pronoun(one.excerpt.text):
            merit += FOLLOWING
        if wants_code and one.excerpt.below.startswith("```"):
            merit += CODE
        gap = SAME_GAP if one.number in quoted else OTHER_GAP
        if is_third:
            gap = min(gap, THIRD_GAP)
        if merit >= best.score - gap and (found is None or merit > highest):
            found, highest = one, merit
    return found


def _novelty(one: ScoredExcerpt, covered: Collection[str]) -> float:
    """The share of the question that this excerpt has and the chosen ones lack."""
    return sum(share for token, share in one.matched.items() if token not in covered)
