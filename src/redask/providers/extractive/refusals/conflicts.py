"""Sources that disagree on the value asked for: `find` the excerpt that says otherwise.

    asked for     a date, a time or a number                                  `expected_answer`
    the best      quotation has one value of that kind that is not in the question
    another       excerpt, of another source, too; the values are not the same in any spelling
    the rest      of both is the same: of the words that are in either but the value, at least
                  SAME are in both, and all words of the question that are in one

Precise rather than eager: two events, two years or two places are no conflict. Records are not
compared: two rows are two things.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.core.model import Notice
from redask.core.rules.grounding import stems, value_tokens
from redask.core.rules.grounding.value_tokens import ValueToken
from redask.providers.extractive import expected_answer
from redask.providers.extractive.expected_answer import AnswerType
from redask.providers.extractive.relevance import ScoredExcerpt

SAME = 0.75
MOST_COMPARED = 10
_TYPES = (AnswerType.DATE, AnswerType.NUMBER)


@dataclass(frozen=True, slots=True)
class Conflict:
    """The excerpt that says otherwise, and the warning that names both values."""

    other: ScoredExcerpt
    warning: Notice


@dataclass(frozen=True, slots=True)
class _Statement:
    """The value that a line gives, and its other words."""

    value: ValueToken
    words: frozenset[str]


def find(question: str, best: ScoredExcerpt, scored: Sequence[ScoredExcerpt]) -> Conflict | None:
    """The first of the next excerpts that gives another value than the best one."""
    if expected_answer.of(question) not in _TYPES:
        return None
    ours = _read(question, best)
    if ours is None:
        return None
    others = [one for one in scored if one.number != best.number][:MOST_COMPARED]
    for other in others:
        theirs = _read(question, other)
        if theirs is not None and other.matched == best.matched and _disagree(ours, theirs):
            said = (
                f"{ours.value.text} in [^{best.number}], {theirs.value.text} in [^{other.number}]"
            )
            return Conflict(other, Notice("conflicting_sources", said))
    return None


def _read(question: str, one: ScoredExcerpt) -> _Statement | None:
    """What a line states, if it is prose with just one value that the question does not have."""
    if one.excerpt.fields:
        return None
    text = one.excerpt.text
    forms = stems.forms(text)
    known = _values(question)
    found = [
        value
        for value in value_tokens.find(text, stems.spans(text), forms)
        if not any(value_tokens.same(value, each) for each in known)
    ]
    if len(found) != 1:
        return None
    words = [*forms[: found[0].first], *forms[found[0].end :]]
    return _Statement(found[0], frozenset(filter(stems.has_meaning, words)))


def _values(text: str) -> tuple[ValueToken, ...]:
    return value_tokens.find(text, stems.spans(text), stems.forms(text))


def _disagree(ours: _Statement, theirs: _Statement) -> bool:
    either = ours.words | theirs.words
    if not either or len(ours.words & theirs.words) < SAME * len(either):
        return False
    one, other = ours.value, theirs.value
    if (one.moment is None) != (other.moment is None):
        return False
    return not value_tokens.same(one, other) and not value_tokens.same(other, one)
