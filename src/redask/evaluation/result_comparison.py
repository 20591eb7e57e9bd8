"""Whether a result is the gold one: `is_right(rows, gold, ordered)`.

rows       as a set, in which a row counts once; in order, if order counts
columns    in any order, but the same for all rows; as many as in the gold; of many columns those
           with the same values are taken for each other
numbers    equal, fractions to 6 digits; a number and the same number as text are equal
dates      as SQLite has them, as text; a midnight may be left out
text       equal but for white space at the ends
"""

import math
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from itertools import permutations

_DIGITS = 1e-6
_MOST_COLUMNS = 6  # of which every order is tried
ResultRow = Sequence[object]


def is_right(rows: Sequence[ResultRow], gold: Sequence[ResultRow], *, ordered: bool) -> bool:
    """Whether the rows are those of the gold."""
    if not rows or not gold:
        return not rows and not gold
    width = len(gold[0])
    if any(len(row) != width for row in rows):
        return False
    ours = [tuple(map(_cell, row)) for row in rows]
    theirs = list(dict.fromkeys(tuple(map(_cell, row)) for row in gold))
    if width > _MOST_COLUMNS:
        ours, theirs = _by_columns(ours), list(dict.fromkeys(_by_columns(theirs)))
    orders = permutations(range(width)) if width <= _MOST_COLUMNS else [tuple(range(width))]
    for order in orders:
        turned = list(dict.fromkeys(tuple(row[place] for place in order) for row in ours))
        if _equal(turned, theirs, ordered=ordered):
            return True
    return False


def _by_columns(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The rows with their columns in one order, that of what they hold."""
    columns = sorted(zip(*rows, strict=True), key=lambda column: sorted(map(repr, column)))
    return list(zip(*columns, strict=True))


def _equal(ours: list[tuple[object, ...]], theirs: list[tuple[object, ...]], ordered: bool) -> bool:
    if len(ours) != len(theirs):
        return False
    if not ordered:
        ours, theirs = sorted(ours, key=_rank), sorted(theirs, key=_rank)
    return all(
        _same(own, other)
        for row, gold in zip(ours, theirs, strict=True)
        for own, other in zip(row, gold, strict=True)
    )


def _cell(value: object) -> object:
    match value:
        case bool():
            return int(value)
        case Decimal():
            return float(value)
        case datetime():
            return str(value).removesuffix(" 00:00:00")
        case date() | time():
            return str(value)
        case str():
            return _number(value.strip().removesuffix(" 00:00:00"))
        case _:
            return value


def _number(text: str) -> object:
    """A text that is a plain number as that number."""
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return int(number) if number.is_integer() else number


def _rank(row: tuple[object, ...]) -> list[tuple[int, float, str]]:
    """Rows in one order, in which numbers that are equal to 6 digits are next to each other."""
    return [
        (0, float(f"{each:.5g}"), "")
        if isinstance(each, int | float)
        else (1, 0.0, "" if each is None else str(each))
        for each in row
    ]


def _same(own: object, other: object) -> bool:
    if isinstance(own, int) and isinstance(other, int):
        return own == other
    if isinstance(own, int | float) and isinstance(other, int | float):
        return math.isclose(own, other, rel_tol=_DIGITS, abs_tol=_DIGITS)
    return own == other
