"""Numbers of an answer that cites a statement's result: `wrong` ones, which are no cells of it.

A number or date of a claim that cites a `query` source must be, in any equivalent spelling or as a
stated rounding ("about 5.65", "5.65, rounded"),

    a cell of the rows that the source shows, or its `row_count`
    how many rows are told of, as "the first 50 of 122", if the source shows so many
    a literal of the statement, or of the question

Words of the question and of the columns' names need no cell: the statement accounts for them. And
"no orders" is wrong where the result is one count that is not 0.

Whatever else the claim cites does not help: a count that is not the result's is a wrong count. A
claim that cites a row beside the result may say the row's values, too: `others` are their texts.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from redask.core.equivalence import moments, quantities
from redask.core.equivalence.moment_forms import Moment
from redask.core.equivalence.quantity_syntax import Quantity
from redask.core.model import Source
from redask.core.rules.grounding import stems

_QUERY = "urn:reddb:query:"
_FIRST = re.compile(r"\bfirst ([0-9]{1,4})(?= of (?:the |all )?[0-9])", re.IGNORECASE)
_NONE = re.compile(
    r"(?:there (?:are|is|were|was) )?(?P<none>no|none|nobody|nothing)\b(?!,)", re.IGNORECASE
)
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_COUNT = re.compile(r"SELECT count\(", re.IGNORECASE)
_ROUNDED = re.compile(r"\b(?:rounded|rounding)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KnownNumbers:
    """What may be said: numbers, also by their values, and dates; words of question and columns.

    `shown` rows, and whether the result has `counted` something.
    """

    numbers: tuple[Quantity, ...]
    dates: tuple[Moment, ...]
    values: frozenset[Fraction]
    shown: int
    counted: bool
    words: frozenset[str]


def is_query(source: Source) -> bool:
    """Whether a source is the result of a statement."""
    return source.urn.startswith(_QUERY)


def known(sources: Sequence[Source], question: str) -> KnownNumbers:
    """What may be said by a claim that cites these sources, one of them a result."""
    texts, shown, counted = [question], 0, False
    words = stems.forms(question)
    for source in sources:
        if is_query(source):
            result = json.loads(source.payload, parse_int=str, parse_float=str)
            texts += _texts(result)
            shown = max(shown, len(_rows(result)))
            counted |= _counts_some(result)
            words += stems.forms(" ".join(_PARTS.findall(str(result.get("columns")))))
        else:
            texts.append(source.payload)
    numbers: list[Quantity] = []
    dates: list[Moment] = []
    for text in texts:
        found = moments.find(text)
        dates += found
        spans = [each.span for each in found if not each.bare]
        numbers += quantities.outside(quantities.find(text), spans)
    values = frozenset(each.number for number in numbers for each in number.measures)
    return KnownNumbers(tuple(numbers), tuple(dates), values, shown, counted, frozenset(words))


def wrong(claim: str, allowed: KnownNumbers) -> tuple[str, ...]:
    """The numbers and dates of a claim that are none of the known, as written, dates first."""
    dates = moments.find(claim)
    told = [any(moments.same(each, one) for one in allowed.dates) for each in dates]
    spans = [
        each.span
        for each, is_told in zip(dates, told, strict=True)
        if not is_told and not each.bare
    ]
    # a bare year may be a number as well: 1997 customers
    dated = [
        each.span for each, is_told in zip(dates, told, strict=True) if is_told or not each.bare
    ]
    parts = [each.span(1) for each in _FIRST.finditer(claim) if int(each[1]) <= allowed.shown]
    others = quantities.outside(quantities.find(claim), sorted(dated + parts))
    if _ROUNDED.search(claim):
        others = tuple(each._replace(approximate=True) for each in others)
    spans += [each.span for each in others if not _is_known(each, allowed)]
    if allowed.counted and (none := _NONE.match(claim)):
        spans.append(none.span("none"))
    return tuple(claim[start:end] for start, end in spans)


def is_told(token: str, claim: str, allowed: KnownNumbers) -> bool:
    """Whether a word is of the question or a column's name, or tells that rows are left out."""
    if token.lower() == "first" and _FIRST.search(claim):
        return True
    return allowed.words.issuperset(stems.forms(token))


def _is_known(number: Quantity, allowed: KnownNumbers) -> bool:
    if number.ordinal:  # a place in a list, which no cell tells
        return True
    is_exact = not number.approximate and not number.bound
    if is_exact and any(measure.number in allowed.values for measure in number.measures):
        return True
    return any(quantities.same(number, one, unit_elsewhere=True) for one in allowed.numbers)


def _texts(result: dict[str, object]) -> Iterable[str]:
    """What a result says: its cells, its counts, its statement."""
    yield str(result.get("sql"))
    yield str(result.get("row_count"))
    for row in _rows(result):
        for cell in row if isinstance(row, list) else (row,):
            yield " ".join(map(str, cell)) if isinstance(cell, list) else str(cell)


def _rows(result: dict[str, object]) -> list[object]:
    rows = result.get("rows")
    return rows if isinstance(rows, list) else []


def _counts_some(result: dict[str, object]) -> bool:
    """Whether a result is one count, of something."""
    counts = _COUNT.match(str(result.get("sql"))) is not None
    return counts and len(_rows(result)) == 1 and _rows(result) != [["0"]]
