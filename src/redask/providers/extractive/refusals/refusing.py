"""Whether to quote or to say no: `decide` by what the quotations would hold of the question.

    refuse                                              reason              it is about
    no excerpt is chosen: too little is covered         no_evidence         words that are not there
    a name or identifier that no source mentions,       entity_missing      it
      not even with a typing error
    the attribute asked of a record is no field of it   attribute_missing   it, of whom
    no field of a record is asked for, and it does      attribute_missing   the words
      not have every word     `record_words`
    a field of a record that is empty there             attribute_missing   it, of which record
      `empty_fields`
    how many, which port, which exit code, and no       no_evidence         the question
      number in what would be quoted
    who, and no name in it, unless its cosine is        no_evidence         the question
      NEAR_COSINE or more
    how do I do something, sources show code, and       no_evidence         the question
      nothing that would be quoted has any, or tells
      the reader to; the best covers less than
      LEAST_TOLD of the question
    how much of one kind of a thing, and sources        attribute_missing   the kind
      have only the thing     `counted_things`
    the opposite is said in place of a word of the      attribute_missing   the word
      question     `opposites`
    a phone number, a salary, a price …, and nothing    attribute_missing   it, of whom
      like it where it would be cited     `missing_values`
    the score of `answerability` is above LIMIT (not below the name or version asked about), and
      a name or value of the question is not near       entity_missing      it
      a word of the question is not near                attribute_missing   it, of whom
      it is negated, and nothing near is                attribute_missing   the negation
      else                                              no_evidence         the question

The score is a sum of features times weights: those of `WITH_VECTORS` where an embedder compared
lines, else (and for records) those of `BY_WORDS`. The former were fitted to the questions of
clapnq_dev and squad2, both packs with the same say, with the limit at which at most 0.03 and 0.05
of the answerable ones are refused; what they do when fitted to one half and read on the other is in
docs/quality.md. The latter were fitted to the even questions.

The sentence names what is missing; the nearest line may follow, with its marker, and nothing else.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redask.core import languages, token_count
from redask.core.rules import terms
from redask.core.rules.grounding import polarity, refused_answers, stems
from redask.core.rules.grounding.refused_answers import Refusal
from redask.core.text import compiled_later, lower
from redask.providers.extractive import expected_answer
from redask.providers.extractive.excerpts import QuotableSource
from redask.providers.extractive.merits import line_merits
from redask.providers.extractive.refusals import (
    answerability,
    counted_things,
    missing_values,
    opposites,
    record_words,
)
from redask.providers.extractive.refusals.answerability import (
    MOST_COUNTED,
    Answerability,
    HighestCosines,
    texts,
)
from redask.providers.extractive.relevance import ScoredExcerpt

NEAR_COSINE = 0.6
LEAST_TOLD = 0.35
_SHORTEST_NAME = 4
_SHORTEST_ACRONYM = 3
_MOST_UNKNOWN = 20
_GROUPED = re.compile(r"(?<=[0-9])[,. \u00a0\u202f](?=[0-9]{3})")  # 10,000 is 10000
_WHO = re.compile(r"\W{0,4}who\b", re.IGNORECASE)
_COUNTS = re.compile(
    r"\bhow (?:many|much|old|tall|far|heavy)\b"
    r"|\b(?:what|which) (?:\w{1,32} )?(?:exit|status|return) codes?\b"
    r"|\b(?:what|which) (?:\w{1,32} )?ports?\b[^?]{1,80}"  # not those of ships
    r"\b(?:listen\w{0,3}|bind\w{0,3}|bound|expos\w{1,3}|serv(?:er|ice)s?|suites?|prox(?:y|ies))\b",
    re.IGNORECASE,
)
_HOW = re.compile(r"\bhow (?:do|can|could|should|would) (?:i|we|you|one)\b", re.IGNORECASE)
_CODE = "```"
_FREE = re.compile(r"\bfree\b|\bno (?:charge|fee|cost)")
_MARKED = re.compile(r"`[^`\n]{1,200}`|\]\([^()\s]{1,500}\)|https?://\S{1,500}")  # code, links
_VERSION = re.compile(r"[0-9]\.[0-9]")
_PERIOD = re.compile("[0-9]{3,4}s|[0-9]{1,4}[-–][0-9]{1,4}")  # the 1700s, 4-5: said in many ways
_IDENTIFIER = re.compile("[0-9]|[A-Za-z]_[A-Za-z]")
_RESPELT = 0.9  # an identifier that similar to one of the sources has a typing error
_NOUN = r"((?:[\w-]{1,30}\s){0,2}?[\w-]{1,30})"
_ATTRIBUTE = compiled_later(
    rf"\b(?:what|which|who)(?:\s(?:is|are|was|were)|['’]s)\s(?:the\s)?{_NOUN}\sof\b"
    rf"|\b(?:what|which)\s{_NOUN}\s(?:does|do|did|has|have|had)\b"
    rf"|\w['’]s\s{_NOUN}\s?\??$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RefusalWeights:
    """What each feature adds to the score, and the score above which is refused."""

    near: float
    names: float
    values: float
    negated: float
    opposite: float
    untyped: float
    cosine: float
    bare: float
    limit: float


WITH_VECTORS = RefusalWeights(-1.0, 0.8, 1.1, 3.4, 0.6, 0.3, -3.3, -4.5, -3.88)
BY_WORDS = RefusalWeights(-1.0, 0.8, 0.2, 2.4, 0.3, 0.3, 0.0, 0.0, 0.4)


def decide(
    question: str,
    passages: Mapping[int, QuotableSource],
    chosen: Sequence[ScoredExcerpt],
    unmentioned: Sequence[str],
    cosines: HighestCosines | None,
) -> Refusal | None:
    """The refusal, if the chosen excerpts do not hold what is asked for.

    `unmentioned` are the names that no source has (`ExcerptRanker.unmentioned`), `cosines` those of
    the question and lines, None where nothing was compared.
    """
    holds_text = any(each.excerpts for each in passages.values())
    unknown = _unknown(question, passages, unmentioned) if holds_text else []
    if unknown:
        return refused_answers.not_mentioned(unknown)
    if not chosen:
        return refused_answers.no_evidence(question, _absent(question, passages))
    attribute = _attribute_missing(question, passages, chosen)
    if attribute:
        names = expected_answer.names(question.replace("’", "'"))
        subject = [name.removesuffix("'s") for name in names if name not in attribute]
        return refused_answers.attribute_missing([attribute], subject)
    if chosen[0].excerpt.fields and all(passages[one.number].collection for one in chosen):
        numbers = dict.fromkeys(one.number for one in chosen)
        words = record_words.unsaid(question, [passages[number] for number in numbers])
        if words:
            return refused_answers.attribute_missing(words, expected_answer.names(question))
    if _COUNTS.search(question) and not _has_number(question, chosen):
        return refused_answers.kind_missing(question, "a number", _named_words(question))
    if _tells_nothing(question, passages, chosen):
        return refused_answers.kind_missing(question, "steps", _named_words(question))
    kind = counted_things.unheld(question, _held(passages))
    if kind:
        return refused_answers.attribute_missing([kind], ())
    turned = opposites.find(question, _said(chosen[0]), "\n".join(map(_said, chosen[1:])))
    if turned:
        others = [name for name in expected_answer.names(question) if name != turned]
        return refused_answers.attribute_missing([turned], others)
    value = _value_missing(question, passages, chosen)
    if value:
        return refused_answers.attribute_missing([value], expected_answer.names(question))
    is_near = cosines is not None and cosines.bare >= NEAR_COSINE
    is_text = not (chosen[0].excerpt.fields or passages[chosen[0].number].ends)
    is_unsure = _WHO.match(question) and is_text and not is_near
    if is_unsure and not _has_name(question, passages, chosen):
        return refused_answers.kind_missing(question, "a name", _named_words(question))
    found = answerability.measure(question, passages, chosen, cosines)
    weights = BY_WORDS if cosines is None else WITH_VECTORS
    place = chosen[0].excerpt, passages[chosen[0].number]
    headed = (line_merits.defines, line_merits.is_version, line_merits.holds_value)
    is_headed = any(rule(question, *place) for rule in headed)
    if is_headed or score(found, weights) <= weights.limit:
        return None
    return _refusal(question, found)


def score(found: Answerability, weights: RefusalWeights) -> float:
    """How much speaks for a refusal."""
    return (
        weights.near * found.near
        + weights.names * min(MOST_COUNTED, len(found.names))
        + weights.values * min(MOST_COUNTED, len(found.values))
        + weights.negated * found.negated
        + weights.opposite * found.opposite
        + weights.untyped * found.untyped
        + weights.cosine * found.cosine
        + weights.bare * found.bare
    )


def told(refusal: Refusal, nearest: Sequence[str], max_tokens: int) -> str:
    """The sentences of a refusal, as far as they fit, and the quotations that are nearest."""
    lead_in = f"{refusal.text.removesuffix('.')}; nearest:\n"  # a paragraph: no part of the claim
    whole = "\n".join([lead_in, *nearest])
    shorter = (refusal.text, refused_answers.NO_ANSWER)
    for text in (whole, *shorter) if nearest else shorter:
        if token_count.estimate(text) <= max_tokens:
            return text
    return ""


def _refusal(question: str, found: Answerability) -> Refusal:
    missing = found.names or found.values
    if missing:
        return refused_answers.not_said_of(missing)
    unsaid = answerability.telling(found.missing)
    if unsaid:
        return refused_answers.attribute_missing(unsaid, found.subject)
    negations = [word for word in _words(question) if polarity.is_plain(stems.form(word))]
    if found.negated and negations:
        return refused_answers.attribute_missing(negations[:1], found.subject)
    return refused_answers.not_said(question, _named_words(question))


def _named_words(question: str) -> list[str]:
    """The words of a question that say what it is about, as they are written."""
    return answerability.telling(
        word for word in _words(question) if stems.has_meaning(stems.form(word))
    )


def _words(question: str) -> list[str]:
    return [question[start:end] for start, end in stems.spans(question)]


def _absent(question: str, passages: Mapping[int, QuotableSource]) -> list[str]:
    """Those of them that no source has, without the little words of the question's language."""
    held, words = _held(passages), _words(question)
    language = languages.detect_question(question, [lower(word) for word in words], ())
    little = languages.STOP_WORDS.get(language, frozenset())
    return [
        word
        for word in _named_words(question)
        if stems.form(word) not in held and lower(word) not in little
    ]


def _held(passages: Mapping[int, QuotableSource]) -> frozenset[str]:
    """The forms of all words of the sources."""
    return frozenset(
        form for each in passages.values() for text in texts(each) for form in stems.forms(text)
    )


def _said(one: ScoredExcerpt) -> str:
    return f"{one.excerpt.text}\n{one.excerpt.below}"


def _unknown(
    question: str, passages: Mapping[int, QuotableSource], unmentioned: Sequence[str]
) -> list[str]:
    """Names, numbers and identifiers of the question that are in no source, however spelt."""
    names = [
        name
        for name in unmentioned
        if len(name) >= (_SHORTEST_ACRONYM if name.isupper() else _SHORTEST_NAME) or name.isdigit()
    ]
    literals = [
        each
        for each in terms.literals(question)
        if _IDENTIFIER.search(each) and not _PERIOD.fullmatch(each)
    ]
    wanted = list(dict.fromkeys([*names, *literals]))[:_MOST_UNKNOWN]
    if not wanted:
        return []
    held = lower("\n".join(text for each in passages.values() for text in texts(each)))
    plain = _GROUPED.sub("", held)
    unknown = [each for each in wanted if not any(map(_whole(each).search, (held, plain)))]
    return [each for each in unknown if not _is_respelt(each, held)]


def _is_respelt(name: str, held: str) -> bool:
    """Whether a text has an identifier like this one; of numbers and versions none is like it."""
    if "_" not in name or any(map(str.isdigit, name)):
        return False
    return bool(difflib.get_close_matches(lower(name), terms.literals(held), 1, _RESPELT))


def _whole(name: str) -> re.Pattern[str]:
    """A version as it is written, any other also inside a longer word: ps3 in PS3s."""
    return (
        line_merits.whole(lower(name))
        if _VERSION.search(name)
        else re.compile(re.escape(lower(name)))
    )


def _has_number(question: str, chosen: Sequence[ScoredExcerpt]) -> bool:
    """Whether what would be quoted, or stands below it, has a number that is not the question's."""
    asked = frozenset(terms.words(question))
    kind = expected_answer.AnswerType.NUMBER
    may_be_free = "much" in asked
    quoted = (lower(f"{one.excerpt.text}\n{one.excerpt.below}") for one in chosen)
    return any(
        expected_answer.found(kind, text, asked) or (may_be_free and _FREE.search(text))
        for text in quoted
    )


def _tells_nothing(
    question: str, passages: Mapping[int, QuotableSource], chosen: Sequence[ScoredExcerpt]
) -> bool:
    """Whether steps are asked for, and what would be quoted has none, though sources show some."""
    is_text = not any(one.excerpt.fields for one in chosen)
    if not (is_text and _HOW.search(question)) or chosen[0].coverage >= LEAST_TOLD:
        return False
    shown = (line.below for each in passages.values() for line in each.excerpts)
    told = any(
        one.excerpt.below.startswith(_CODE) or line_merits.instructs(one.excerpt.text)
        for one in chosen
    )
    return not told and any(below.startswith(_CODE) for below in shown)


def _has_name(
    question: str, passages: Mapping[int, QuotableSource], chosen: Sequence[ScoredExcerpt]
) -> bool:
    """Whether what would be quoted has a name that is not the question's; one of code is none."""
    asked = frozenset(terms.words(question))
    lines = [f"{one.excerpt.text}\n{one.excerpt.below}" for one in chosen]
    names = [each.name for each in map(passages.__getitem__, (one.number for one in chosen))]
    told = (f" {_MARKED.sub(' ', text)}" for text in (*lines, *names))
    return any(expected_answer.found(expected_answer.AnswerType.NAME, text, asked) for text in told)


def _value_missing(
    question: str, passages: Mapping[int, QuotableSource], chosen: Sequence[ScoredExcerpt]
) -> str:
    """A phone number, a price …, if it is asked for and what would be cited has none."""
    numbers = dict.fromkeys(one.number for one in chosen)
    cited = [text for number in numbers for text in texts(passages[number])]
    quoted = [
        "\n".join((one.excerpt.header, one.excerpt.text, one.excerpt.below)) for one in chosen
    ]
    return missing_values.missing(question, cited, quoted, bool(chosen[0].excerpt.fields))


def _names_all(question: str, text: str) -> bool:
    """Whether a text has every name of a question."""
    names = expected_answer.names(question)
    return bool(names) and all(name in text for name in names)


def _attribute_missing(
    question: str, passages: Mapping[int, QuotableSource], chosen: Sequence[ScoredExcerpt]
) -> str:
    """What a question asks of a record, if the records that would be quoted have no such field."""
    asked = _ATTRIBUTE.search(question) if chosen[0].excerpt.fields else None
    if asked is None:
        return ""
    attribute = next(filter(None, asked.groups()))
    words = [form for form in stems.forms(attribute) if stems.has_meaning(form)]
    numbers = dict.fromkeys(one.number for one in chosen)
    held = lower("\n".join(text for n in numbers for text in texts(passages[n])))
    if _WHO.match(question) and _names_all(question, chosen[0].excerpt.text):
        # of whom it is asked is the row itself: "manager" in its title is no manager of it
        held = lower("\n".join(field.partition(":")[0] for field in chosen[0].excerpt.fields))
    return "" if not words or any(word[: stems.ROOT] in held for word in words) else attribute
