"""Which excerpts are quoted: `choose` them, the best first.

    0  the chain, if the question needs several hops                                      `hops`
    1  the best, unless it covers less than MIN_COVERAGE of the question, its cosine is below
       MIN_COSINE, and it is not below the name asked about: then none
    2  if the question asks how: the steps right before and after it that go on with it ("And then
       …"), in their order; where it has no code, what has, and belongs to it             `steps`
       if it asks why, and the best gives no reason: what follows it there, up to one
       if it compares two things, and the best is about one: the best about the other `comparing`
    3  records joined to it that the question asks for                                   `joins`
    4  others, in the order of their merit: score + NOVELTY · the share of the question that they
       add, + FOLLOWING if they go on with a quoted sentence ("This is called …"), + CODE for code
       of the same source where steps are asked for and none are quoted yet. Each needs
       SECOND_COVERAGE of the coverage of the best, as many of the question's literals, and a merit
       that is at most SAME_GAP below the best score in a quoted source, OTHER_GAP in another; a
       third THIRD_GAP, and all three fit LENGTH_OF_THREE. After joined records, or code or a list
       that was asked for, only what adds question words counts; what introduces code or a list
       counts only where such is asked for, a record only if it has a word of the question

No line twice, and none that is part of what a quoted line introduces.
"""

import re
from collections.abc import Collection, Sequence

from redask.providers.extractive import hops, naming
from redask.providers.extractive.choice import comparing, steps
from redask.providers.extractive.expected_answer import AnswerShape
from redask.providers.extractive.joins import JoinGraph
from redask.providers.extractive.merits import line_merits
from redask.providers.extractive.relevance import ExcerptRanker, ScoredExcerpt

_TARGET = re.compile(r"\]\([^()\s]{1,500}\)")
_EMPHASIS = re.compile(r"[*_]")
MIN_COVERAGE = 0.25
MIN_COSINE = 0.45
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
    if not scored or not (_covers(scored[0]) or ranker.defines(scored[0])):
        return []
    if chain := hops.chain(ranker.question, scored, ranker):
        return chain
    chosen = [scored[0]]
    joined = 0
    if ranker.shape is AnswerShape.STEPS:
        chosen = _with_steps(chosen[0], scored, ranker)
    elif other := _other_side(chosen[0], scored, ranker):
        chosen.append(other)
    if line_merits.asks_why(ranker.question):
        chosen += _reason(chosen[0], scored)
    while len(chosen) < MAX_QUOTES:
        following = _joined(chosen, scored, joins)
        joined += following is not None
        following = following or _other(chosen, scored, joined, ranker.shape)
        if following is None:
            break
        chosen.append(following)
    return chosen


def _covers(best: ScoredExcerpt) -> bool:
    return best.coverage >= MIN_COVERAGE or best.cosine >= MIN_COSINE


def _with_steps(
    best: ScoredExcerpt, scored: Sequence[ScoredExcerpt], ranker: ExcerptRanker
) -> list[ScoredExcerpt]:
    """A line with the steps around it, or with the code that belongs to it."""
    if best.excerpt.is_entry:
        return [best]
    if whole := steps.numbered(best, scored):
        return [whole]
    if best.excerpt.below:
        found = [best, *steps.around(best, scored)]
        if ranker.is_headed_by_task(best):
            found += [each for each in steps.up_to(best, scored) if each not in found]
        return sorted(found, key=steps.position)
    code = steps.code_for(best, scored, ranker)
    return [best, code] if code else [best]


def _other_side(
    best: ScoredExcerpt, scored: Sequence[ScoredExcerpt], ranker: ExcerptRanker
) -> ScoredExcerpt | None:
    """The best line on the one of two compared things that a line does not name."""
    sides = comparing.sides(ranker.question)
    quoted = f"{ranker.heading(best)} {best.excerpt.text} {best.excerpt.below}"
    missing = [each for each in sides or () if not comparing.holds(each, quoted)]
    if len(missing) != 1:
        return None
    topic = frozenset(ranker.tokens(" ".join(sorted(comparing.topic(ranker.question)))))
    return next(
        (
            each
            for each in scored
            if (not topic or not topic.isdisjoint(each.matched))
            and comparing.holds(missing[0], f"{ranker.heading(each)} {each.excerpt.text}")
        ),
        None,
    )


def _reason(best: ScoredExcerpt, scored: Sequence[ScoredExcerpt]) -> list[ScoredExcerpt]:
    """The reason right behind what a line says, if it gives none itself; and what is between."""
    if line_merits.gives_reason(best.excerpt.text):
        return []
    after = {
        one.position - best.position: one
        for one in scored
        if one.number == best.number and one.excerpt.heading == best.excerpt.heading
    }
    near = [after[at] for at in range(1, MAX_QUOTES) if at in after]
    for count, one in enumerate(near, start=1):
        if line_merits.gives_reason(one.excerpt.text):
            return near[:count]
    return []


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
    said = set(map(_plain, texts))
    blocks = "\n".join(one.excerpt.below for one in chosen)
    quoted = {one.number for one in chosen}
    places = {(one.number, one.position) for one in chosen}
    covered = {token for one in chosen for token in one.matched}
    is_third = len(chosen) - joined > 1
    wants_code = shape is AnswerShape.STEPS and "```" not in blocks
    has_list = any(_introduces_list(one) for one in chosen)
    is_complete = has_list if shape is AnswerShape.LIST else shape is not None and not wants_code
    must_add = joined or is_complete or (is_third and best.excerpt.fields)
    room = LENGTH_OF_THREE - sum(map(_length, texts))
    found: ScoredExcerpt | None = None
    highest = 0.0
    for one in scored:
        if (
            one.coverage < SECOND_COVERAGE * best.coverage
            or one.literals < best.literals
            or (one.excerpt.leads and shape is None)
            or (one.excerpt.fields and not one.matched)
            or _plain(one.excerpt.text) in said
            or one.excerpt.text in blocks
            or (is_third and _length(one.excerpt.text) > room)
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


def _plain(text: str) -> str:
    """A line without marks of emphasis: bold or not, it says the same."""
    return _EMPHASIS.sub("", text)


def _length(text: str) -> int:
    """The characters that a reader sees: of a link its text."""
    return len(_TARGET.sub("]", text))


def _introduces_list(one: ScoredExcerpt) -> bool:
    return bool(one.excerpt.below) and not one.excerpt.below.startswith("```")


def _novelty(one: ScoredExcerpt, covered: Collection[str]) -> float:
    """The share of the question that this excerpt has and the chosen ones lack."""
    return sum(share for token, share in one.matched.items() if token not in covered)
