"""The phrases of a question: at each word, what tables, columns, values, numbers and cues start.

Articles are left out first. `Phrases` holds, for each remaining word, the spans that start there:
a span ends before `end`. A value spans the words it covers in the text, articles included.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from redask.core.planning.plan_schema import StoredValue, ValueIndex
from redask.core.planning.question import cues
from redask.core.planning.question.dates import UNDATED, relative_period, written_date
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.name_phrases import (
    ColumnPhrase,
    TablePhrase,
    name_phrases,
    opposite_phrases,
)
from redask.core.planning.question.words import QuestionWord, identifier_words, stem, tokens
from redask.core.planning.value_text import normalised

_MAX_VALUE = 8
_GENDERS = {"male": "m", "males": "m", "female": "f", "females": "f"}
_PLAIN = (
    cues.ARTICLES
    | cues.PREPOSITIONS
    | cues.RELATIVES
    | cues.AUXILIARIES
    | cues.NEGATIVE
    | cues.JOINING
)
_YEAR = re.compile("1[89][0-9]{2}|20[0-9]{2}")
_PERIODS = frozenset(map(stem, "year date time season period term decade".split()))
_CLAUSE_ENDS = cues.JOINING | cues.RELATIVES | cues.AUXILIARIES
_KNOWN = _PLAIN | cues.LIGHT | cues.ENDING | frozenset(cues.DIMENSIONS) | {"than", "years", "old"}


@dataclass(frozen=True, slots=True)
class ValuePhrase:
    """A value: what is stored, or a number, or a quotation that is stored nowhere."""

    start: int
    end: int
    text: str
    stored: tuple[StoredValue, ...] = ()
    number: str | None = None
    quoted: bool = False
    period: bool = False

    @property
    def is_place(self) -> bool:
        """Whether it needs no word beside it: it is stored, or a period of time."""
        return bool(self.stored) or self.period


@dataclass(frozen=True, slots=True)
class Cue:
    start: int
    end: int
    kind: str
    payload: str


@dataclass(frozen=True, slots=True)
class Phrases:
    """What starts at each word of a question."""

    words: tuple[QuestionWord, ...]
    columns: tuple[tuple[ColumnPhrase, ...], ...]
    tables: tuple[tuple[TablePhrase, ...], ...]
    values: tuple[tuple[ValuePhrase, ...], ...]
    cues: tuple[tuple[Cue, ...], ...]
    opposites: tuple[tuple[ColumnPhrase, ...], ...]


def read(question: str, linker: Linker, values: ValueIndex, today: date | None = None) -> Phrases:
    """All phrases of a question; without `today`, "last year" is counted from the newest date."""
    written = tokens(question)
    stored = _stored(question, written, values)
    kept = tuple(
        place
        for place, token in enumerate(written)
        if token.kind != "word" or token.low not in cues.ARTICLES or (place, place + 1) in stored
    )
    words = tuple(written[place] for place in kept)
    lows = tuple(token.low for token in words)
    marks = tuple(_cues(words, lows, start) for start in range(len(words)))
    columns, tables = name_phrases(words, [_counts(each) for each in marks], linker)
    found = tuple(
        (*_periods(words, start, marks[start], today), *values)
        for start, values in enumerate(_values(words, written, kept, stored))
    )
    return Phrases(words, columns, tables, found, marks, opposite_phrases(words, linker))


def _periods(
    words: tuple[QuestionWord, ...], start: int, marks: tuple[Cue, ...], today: date | None
) -> Iterator[ValuePhrase]:
    """Dates that are written in words, and periods before today."""
    end, text = written_date(words, start)
    if end > start:
        yield ValuePhrase(start, end, text, period=True)
    for cue in marks:
        if cue.kind == "today" and today is None and cue.payload in UNDATED:
            yield ValuePhrase(start, cue.end, cue.payload, period=True)
        elif cue.kind == "today" and today is not None:
            text = relative_period(cue.payload, today)
            number = text if cue.payload.endswith("year") else None
            yield ValuePhrase(start, cue.end, text, (), number, period=True)


def unknown_words(phrases: Phrases) -> tuple[str, ...]:
    """The words that name nothing, say nothing of their own, and stand in no phrase."""
    covered: set[int] = set()
    for start in range(len(phrases.words)):
        ends = [each.end for each in phrases.columns[start]]
        ends += [each.end for each in phrases.tables[start]]
        ends += [each.end for each in phrases.values[start]]
        ends += [each.end for each in phrases.cues[start]]
        ends += [each.end for each in phrases.opposites[start]]
        covered.update(range(start, max(ends, default=start)))
    return tuple(
        token.text
        for place, token in enumerate(phrases.words)
        if place not in covered and token.kind == "word" and token.low not in _KNOWN
    )


def _stored(
    question: str, written: tuple[QuestionWord, ...], values: ValueIndex
) -> dict[tuple[int, int], tuple[StoredValue, ...]]:
    """The stored values by the tokens they span: from the first to behind the last."""
    spans: dict[tuple[int, int], tuple[str, ...]] = {}
    for first, token in enumerate(written):
        if token.kind == "quoted":
            spans[first, first + 1] = (normalised(token.text),)
            continue
        for last in range(first, min(first + _MAX_VALUE, len(written))):
            if written[last].kind == "quoted" or written[last].low in ("?", ";", "!"):
                break
            spans[first, last + 1] = _spellings(question, written, first, last)
    asked = sorted({text for texts in spans.values() for text in texts if text})
    answer: Mapping[str, tuple[StoredValue, ...]] = values.find(asked) if asked else {}
    found = {}
    for span, texts in spans.items():
        for text in texts:
            held = _fitting(answer.get(text, ()), written, span[0])
            if held:
                found[span] = held
                break
    return found


def _fitting(
    held: tuple[StoredValue, ...], written: tuple[QuestionWord, ...], first: int
) -> tuple[StoredValue, ...]:
    """The stored values that the word before them allows.

    `in 2010` is a year, and no postal code or number; `the album Facelift` is an album, where
    there is one.
    """
    before = written[first - 1] if first else None
    if before is None:
        return held
    if before.low == "in" and _YEAR.fullmatch(written[first].text):
        return tuple(each for each in held if _PERIODS & set(identifier_words(each.column)))
    own = tuple(each for each in held if before.stem in identifier_words(each.table)[-1:])
    return own or held


def doer_in_several_tables(phrases: Phrases) -> str:
    """The value of `by AC/DC`, if more than one table has it: who did what is not said."""
    for place, token in enumerate(phrases.words[:-1]):
        for value in phrases.values[place + 1] if token.low == "by" else ():
            if len({each.table for each in value.stored}) > 1:
                return value.text
    return ""


def _spellings(
    question: str, written: tuple[QuestionWord, ...], first: int, last: int
) -> tuple[str, ...]:
    token = written[first]
    if first < last:
        if written[last].kind == "mark":
            return ()
        return (normalised(question[token.start : written[last].end]),)
    if token.kind == "mark" or (token.low in _PLAIN and not _is_name(token, first)):
        return ()
    if token.low.endswith("ed") and token.text.islower() and _is_verb(written, first):
        return ()
    singular = token.low[:-1] if len(token.low) > 4 and token.low.endswith("s") else ""
    return (normalised(token.text), _GENDERS.get(token.low, ""), normalised(singular))


def _is_verb(written: tuple[QuestionWord, ...], place: int) -> bool:
    """Whether a word in -ed is a verb of the question (`shipped to Kiel`) rather than a value.

    A value ends its clause (`are closed`), or stands before a noun (`closed tickets`), and not
    behind a relative (`who cancelled orders`).
    """
    following = written[place + 1].low if place + 1 < len(written) else "?"
    before = written[place - 1].low if place else ""
    takes_more = following in _PLAIN and following not in _CLAUSE_ENDS
    return takes_more or before in cues.RELATIVES


def _is_name(token: QuestionWord, place: int) -> bool:
    """Whether a function word may be a name: `OR` as the code of a state, `A` as a grade."""
    return place > 0 and token.text.isupper()


def _values(
    words: tuple[QuestionWord, ...],
    written: tuple[QuestionWord, ...],
    kept: tuple[int, ...],
    stored: dict[tuple[int, int], tuple[StoredValue, ...]],
) -> tuple[tuple[ValuePhrase, ...], ...]:
    found: list[list[ValuePhrase]] = [[] for _ in words]
    place_of = {place: index for index, place in enumerate(kept)}
    for (first, last), values in stored.items():
        covered = [place_of[place] for place in range(first, last) if place in place_of]
        if covered:  # not a run of articles
            start, end = covered[0], covered[-1] + 1
            token = written[first]
            number = _number(token) if last == first + 1 else None
            quoted = token.kind == "quoted"
            text = " ".join(each.text for each in written[first:last])
            found[start].append(ValuePhrase(start, end, text, values, number, quoted))
    for start, token in enumerate(words):
        if any(value.end == start + 1 for value in found[start]):
            continue
        number, quoted = _number(token), token.kind == "quoted"
        if number is not None or quoted or token.kind == "date":
            found[start].append(ValuePhrase(start, start + 1, token.text, (), number, quoted))
    return tuple(tuple(sorted(each, key=lambda value: -value.end)) for each in found)


def _number(token: QuestionWord) -> str | None:
    """The digits of a number, or None."""
    if token.kind == "number":
        return token.text.replace(",", "").rstrip("%")
    if token.kind == "quoted" and token.text.replace(".", "", 1).isdecimal():
        return token.text if token.text.isascii() else None
    if token.kind == "word" and token.low in cues.NUMBERS:
        return str(cues.NUMBERS[token.low])
    return None


def _counts(marks: tuple[Cue, ...]) -> bool:
    return any(cue.kind == "count" for cue in marks)


def _cues(words: tuple[QuestionWord, ...], lows: tuple[str, ...], start: int) -> tuple[Cue, ...]:
    """The cues that start at a word, longest first."""
    if words[start].kind == "quoted":
        return ()
    return tuple(
        Cue(start, start + len(row), kind, payload)
        for row, kind, payload in cues.phrases().get(lows[start], ())
        if lows[start : start + len(row)] == row
    )
