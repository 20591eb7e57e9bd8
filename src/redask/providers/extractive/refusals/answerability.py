"""Whether what would be quoted holds what a question asks for: `measure` it, feature by feature.

`near` is what stands around the best line: the line, those before and after it, the heading above
and the context of its source; of records, all that would be quoted. A word is there if its form
is, a longer one also if its root is. Words are weighted by how rare they are in the sources; words
that questions are made of (kind, name, many) count less.

    near         share of the question's words near it
    cosine       of the question and a line in its context, the highest     } 0 without an
    bare         of the question and a line to quote by itself, the highest } embedder
    names        words of the question's names that are not near
    values       numbers and dates of the question that are not near
    negated      the question is negated, and nothing near is
    opposite     a word is not near, and its opposite is
    untyped      no date, number or name in the line, where the question asks for one

Linear in the sources; the same in every process.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from redask.core.rules import terms
from redask.core.rules.grounding import polarity, stems, value_tokens
from redask.core.rules.grounding.value_tokens import ValueToken
from redask.providers.extractive import expected_answer
from redask.providers.extractive.excerpts import QuotableSource
from redask.providers.extractive.relevance import BACKGROUND_SOURCES, ScoredExcerpt

MOST_COUNTED = 2
_COMMON = frozenset(
    map(
        stems.form,
        """
        many much kind type sort name called list explain describe mean example happen people
        thing way use get make go come take become give
        """.split(),
    )
)
_COMMON_WEIGHT = 0.3
_LEAST_ROOTED = 5
_MAX_TEXT = 2000  # characters of a context that are searched for values


@dataclass(frozen=True, slots=True)
class HighestCosines:
    """The highest cosine of a question and any line that was compared; of any line to quote."""

    in_context: float
    bare: float


@dataclass(frozen=True, slots=True)
class Answerability:
    """What was measured; see the module. Tuples are words as the question writes them."""

    near: float
    cosine: float
    bare: float
    names: tuple[str, ...]
    values: tuple[str, ...]
    negated: bool
    opposite: bool
    untyped: bool
    missing: tuple[str, ...]  # not near, the rarest first
    absent: tuple[str, ...]  # of these, what no source has
    subject: tuple[str, ...]  # names of the question that are near


def measure(
    question: str,
    passages: Mapping[int, QuotableSource],
    chosen: Sequence[ScoredExcerpt],
    cosines: HighestCosines | None,
) -> Answerability:
    """The features of the chosen excerpts (there is one), of which the first is the best."""
    asked = _AskedWords(question)
    best = chosen[0]
    bags = {number: _Bag(texts(each)) for number, each in passages.items()}
    weights = asked.weighted(bags.values())
    lines = [one.excerpt.text for one in chosen]
    around = [text for one in chosen for text in _around(one, passages[one.number])]
    near = _Bag(around)
    beside = _Bag(_around(best, passages[best.number]))
    missing = sorted(
        (form for form in weights if not near.has(form)), key=weights.__getitem__, reverse=True
    )
    written = (name for name in expected_answer.names(question) if not name.isdigit())
    names = dict.fromkeys(map(stems.form, written))
    return Answerability(
        near=_share(weights, near),
        cosine=cosines.in_context if cosines else 0.0,
        bare=cosines.bare if cosines else 0.0,
        names=asked.written(form for form in names if not near.has(form)),
        values=_values_missing(asked, around),
        negated=asked.negated and not polarity.negations(beside.order),
        opposite=_has_opposite(asked.forms, beside),
        untyped=_is_untyped(question, lines[:1]),
        missing=asked.written(missing),
        absent=asked.written(w for w in missing if not any(b.has(w) for b in bags.values())),
        subject=asked.written(form for form in names if near.has(form)),
    )


@dataclass(slots=True)
class _Bag:
    """The words of some texts."""

    read: Iterable[str]
    order: list[str] = field(init=False)
    forms: set[str] = field(init=False)
    roots: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.order = [form for text in self.read for form in stems.forms(text)]
        self.forms = set(self.order)
        self.roots = {form[: stems.ROOT] for form in self.forms}

    def has(self, form: str) -> bool:
        """Whether a word is among them, or a longer one of its root."""
        return form in self.forms or (
            len(form) >= _LEAST_ROOTED and form[: stems.ROOT] in self.roots
        )


class _AskedWords:
    """The words of a question."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.spans = stems.spans(question)
        self.forms = stems.forms(question)
        self.negated = any(map(polarity.is_plain, self.forms))
        self._written: dict[str, str] = {}
        for form, (start, end) in zip(self.forms, self.spans, strict=True):
            self._written.setdefault(form, question[start:end])

    def values(self) -> tuple[ValueToken, ...]:
        """Its numbers and dates."""
        return value_tokens.find(self.question, self.spans, self.forms)

    def written(self, forms: Iterable[str]) -> tuple[str, ...]:
        """The words with these forms, as they stand in the question."""
        return tuple(self._written[form] for form in forms if form in self._written)

    def weighted(self, sources: Iterable[_Bag]) -> dict[str, float]:
        """Its words that carry meaning, with their weights."""
        held = [bag.forms for bag in sources]
        count = len(held) + BACKGROUND_SOURCES
        weights: dict[str, float] = {}
        for form in self.forms:
            if form not in stems.STOP_WORDS and (len(form) > 1 or not form.isalpha()):
                holding = sum(form in forms for forms in held)
                weight = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
                weights[form] = weight * (_COMMON_WEIGHT if form in _COMMON else 1.0)
        return weights


def telling(words: Iterable[str]) -> list[str]:
    """The words that say what is asked about: without those that questions are made of."""
    return [word for word in words if stems.form(word) not in _COMMON]


def texts(passage: QuotableSource) -> list[str]:
    """All texts of a source."""
    return [passage.about, *(excerpt.text for excerpt in passage.excerpts)]


def _around(one: ScoredExcerpt, passage: QuotableSource) -> list[str]:
    lines = passage.excerpts[max(0, one.position - 1) : one.position + 2]
    return [*(line.text for line in lines), one.excerpt.heading, passage.about]


def _share(weights: Mapping[str, float], bag: _Bag) -> float:
    total = sum(weights.values())
    return sum(v for form, v in weights.items() if bag.has(form)) / total if total else 1.0


def _values_missing(asked: _AskedWords, around: Sequence[str]) -> tuple[str, ...]:
    wanted = tuple(each for each in asked.values() if not each.text.isalpha())  # "two factors"
    if not wanted:
        return ()
    found = [
        value
        for text in around
        for value in value_tokens.find(
            text[:_MAX_TEXT], stems.spans(text[:_MAX_TEXT]), stems.forms(text[:_MAX_TEXT])
        )
    ]
    return tuple(
        each.text
        for each in wanted
        if not any(value_tokens.same(each, f) or value_tokens.same(f, each) for f in found)
    )


def _has_opposite(asked: Iterable[str], near: _Bag) -> bool:
    """Whether a word of the question is not near, and its opposite is."""
    there = [polarity.directions(near.order[at]) for at in polarity.directed(near.order)]
    return any(
        polarity.opposite(ends, other)
        for form in asked
        if form not in near.forms and (ends := polarity.directions(form))
        for other in there
    )


def _is_untyped(question: str, lines: Iterable[str]) -> bool:
    expected = expected_answer.of(question)
    known = frozenset(terms.words(question))
    return expected is not None and not any(
        expected_answer.found(expected, line, known) for line in lines
    )
