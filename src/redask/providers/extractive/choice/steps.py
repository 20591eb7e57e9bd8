"""Steps with their code: `around` a step, all `up_to` it, `code_for` an answer that has none.

numbered    what introduces the numbered list that has a step: one step alone, or some out of their
            order, are no instruction

around      the steps right before and after one that go on with it ("And then …")
up_to       the steps of its section from the first to one, where that is headed by what is asked;
            of more than MOST_STEPS the first and that one
code_for    where steps are asked for and only prose would be quoted, the best line with code
            1  of the section that is headed by an identifier of what is quoted: "use the
               default_allow_sql setting" brings what stands below `default_allow_sql`
            2  of the section of what is quoted, or of a part of it ("Example")
"""

import re
from collections.abc import Iterator, Sequence

from redask.providers.extractive.relevance import ExcerptRanker, ScoredExcerpt

_NEXT_STEP = re.compile(r"(?:and|then|next|now|finally|after that|once) ", re.IGNORECASE)
_IDENTIFIER = re.compile(r"`([^`\s]{2,64})`|(?<![\w./-])([A-Za-z]\w{0,63}_\w{1,64})")
_NUMBERED = re.compile(r" {0,24}[0-9]{1,3}[.)] (.+)")
MOST_STEPS = 5
_MARKS = "`\"'“”() "


def around(one: ScoredExcerpt, scored: Sequence[ScoredExcerpt]) -> list[ScoredExcerpt]:
    """The steps right before and after this one: "First install …", "And then start …"."""
    own = sorted((each for each in scored if each.number == one.number), key=position)
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


def code_for(
    best: ScoredExcerpt, scored: Sequence[ScoredExcerpt], ranker: ExcerptRanker
) -> ScoredExcerpt | None:
    """The best line with code for what a line says, if it has none itself."""
    coded = [each for each in scored if _has_code(each)]
    for name in _identifiers(best.excerpt.text):
        for each in coded:
            if ranker.heading(each).strip(_MARKS) == name:
                return each
    return next((each for each in coded if ranker.is_below(each, best)), None)


def up_to(one: ScoredExcerpt, scored: Sequence[ScoredExcerpt]) -> list[ScoredExcerpt]:
    """The steps with code of the section of this one, from the first to it, in order."""
    own = [each for each in scored if each.number == one.number and _has_code(each)]
    own = [each for each in own if each.excerpt.heading == one.excerpt.heading]
    before = {each.excerpt.below: each for each in sorted(own, key=_place_from_end)}
    before.pop(one.excerpt.below, None)
    found = [each for each in before.values() if each.position < one.position]
    found.sort(key=position)
    return [*(found if len(found) < MOST_STEPS else found[:1]), one]


def numbered(one: ScoredExcerpt, scored: Sequence[ScoredExcerpt]) -> ScoredExcerpt | None:
    """What introduces the numbered list that this is an item of."""
    for each in scored:
        lines = each.excerpt.below.split("\n") if each.number == one.number else []
        if any(found[1] == one.excerpt.text for found in map(_NUMBERED.match, lines) if found):
            return each
    return None


def position(one: ScoredExcerpt) -> int:
    """Where an excerpt stands in its source."""
    return one.position


def _place_from_end(one: ScoredExcerpt) -> int:
    return -one.position


def _has_code(one: ScoredExcerpt) -> bool:
    return one.excerpt.below.startswith("```")


def _goes_on(text: str) -> bool:
    return _NEXT_STEP.match(text) is not None


def _identifiers(text: str) -> Iterator[str]:
    for each in _IDENTIFIER.finditer(text):
        yield (each[1] or each[2]).strip(_MARKS)
