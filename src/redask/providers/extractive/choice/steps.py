"""Steps with their code: `around` a step, the `first`, and `code_for` an answer that has none.

around      the steps right before and after one that go on with it ("And then …")
first       of the section of a step, which is headed by what is asked: "2. Check it" alone is none
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


def first(one: ScoredExcerpt, scored: Sequence[ScoredExcerpt]) -> ScoredExcerpt | None:
    """The first step of the section of this one, if it has code and is another."""
    own = [each for each in scored if each.number == one.number and _has_code(each)]
    own = [each for each in own if each.excerpt.heading == one.excerpt.heading]
    found = min(own, key=position, default=one)
    return found if found.excerpt.below != one.excerpt.below else None


def position(one: ScoredExcerpt) -> int:
    """Where an excerpt stands in its source."""
    return one.position


def _has_code(one: ScoredExcerpt) -> bool:
    return one.excerpt.below.startswith("```")


def _goes_on(text: str) -> bool:
    return _NEXT_STEP.match(text) is not None


def _identifiers(text: str) -> Iterator[str]:
    for each in _IDENTIFIER.finditer(text):
        yield (each[1] or each[2]).strip(_MARKS)
