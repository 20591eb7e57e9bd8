"""Numbers of an answer that cites a statement's result: `wrong` ones, which are no cells of it.

A number or date of a claim that cites a `query` source must be, in any equivalent spelling or as a
stated rounding,

    a cell of the rows that the source shows, or its `row_count`
    how many rows are shown, where it is not all of them
    a literal of the statement, or of the question

Whatever else the claim cites does not help: a count that is not the result's is a wrong count. A
claim that cites a row beside the result may say the row's values, too: `others` are their texts.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from redask.core.equivalence import moments, quantities
from redask.core.equivalence.moment_forms import Moment
from redask.core.equivalence.quantity_syntax import Quantity
from redask.core.model import Source

_QUERY = "urn:reddb:query:"


@dataclass(frozen=True, slots=True)
class KnownNumbers:
    """The numbers and dates that may be said; numbers also by their values."""

    numbers: tuple[Quantity, ...]
    dates: tuple[Moment, ...]
    values: frozenset[Fraction]


def is_query(source: Source) -> bool:
    """Whether a source is the result of a statement."""
    return source.urn.startswith(_QUERY)


def known(sources: Sequence[Source], question: str) -> KnownNumbers:
    """What may be said by a claim that cites these sources, one of them a result."""
    texts = [question]
    for source in sources:
        if is_query(source):
            texts += _texts(json.loads(source.payload, parse_int=str, parse_float=str))
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
    return KnownNumbers(tuple(numbers), tuple(dates), values)


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
    others = quantities.outside(quantities.find(claim), dated)
    spans += [each.span for each in others if not _is_known(each, allowed)]
    return tuple(claim[start:end] for start, end in spans)


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
    rows = result.get("rows")
    for row in rows if isinstance(rows, list) else ():
        for cell in row if isinstance(row, list) else (row,):
            yield " ".join(map(str, cell)) if isinstance(cell, list) else str(cell)
