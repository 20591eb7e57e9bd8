"""Numbers with their units: `find(text)` in text order, `same(claimed, found)` across spellings.

A quantity is digits, a fraction (1/2, ½) or number words; before it a sign or a currency, after it
a magnitude (million, k), a unit (`units`), or both. Spaces that tokenisers put in are ignored
(`$ 5`, `3.5 %`, `1 - year`). What is ambiguous has several measures, the likeliest first.

    5–10 km, 5 to 10 million      the first has the second's unit and magnitude
    5 and 10 km                   the first may have it
    1 in 5, nine out of ten       one quantity, a fraction
    3rd, third                    ordinal: the same only as another ordinal
    T-1043, p53, 1.2.3            none: identifiers

`same` holds if one measure of each fits:

    equal values in the same canonical unit (5 km, 5,000 m)
    claimed as a rounding (about, nearly)      found rounds to it at its last digit, within 10 %
    claimed as a bound (more than, up to)      found is on that side, at most one step away; not
                                               the bound itself, if it is `more than`, `less than`
    units of different systems (miles, km)     equal to the claimed digit, and within 3 %
    claimed without a unit, found with one     the number as it is written there
    a fraction and a percentage                half, 0.5, 1 in 2, 50 %
    claimed with a unit, found without         only with `unit_elsewhere`: a cell, whose unit is in
                                               the column's name

Never the same: opposite bounds (over 5, under 5). The caller's duty: a year is a number, too; drop
what overlaps a moment with `outside`.
"""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from redask.core.equivalence.lower_case import lower
from redask.core.equivalence.quantity_syntax import Measure, Quantity, read_all
from redask.core.text import compiled_later

__all__ = ["Measure", "Quantity", "find", "outside", "same"]

_RANGE = compiled_later(r"\s?(?:[-–—‐‑~]|to|through|bis|\+/-|\+-|±|[x×])\s?")
_LAST = re.compile(r"\s?,?\s?(?:and|or|und|oder|versus|vs\.?)\s?")
_COMMA = re.compile(r"\s?,\s?")
_IN = (" in ", " out of ")
_MAX_GAP = 10
_ROUNDING = Fraction(1, 10)
_CONVERSION = Fraction(3, 100)


def find(text: str) -> tuple[Quantity, ...]:
    """Every quantity of the text, in order, none overlapping another."""
    lowered = lower(text)
    found = list(_ratios(list(read_all(text, lowered)), lowered))
    listed = False  # after the comma is a list that ends in `and`
    for n in range(len(found) - 2, -1, -1):
        first, second = found[n], found[n + 1]
        (_, end), (start, _) = first.span, second.span
        if start - end > _MAX_GAP or first.ordinal or second.ordinal:
            listed = False
            continue
        gap = lowered[end:start]
        if _RANGE.fullmatch(gap):
            found[n] = _shared(first, second, certain=True)
            found[n + 1] = _with_currency(second, first)
        else:
            last = _LAST.fullmatch(gap)
            listed = last is not None or (listed and _COMMA.fullmatch(gap) is not None)
            if listed:
                found[n] = _shared(first, second, certain=False)
    return tuple(found)


def outside(found: Iterable[Quantity], spans: Iterable[tuple[int, int]]) -> tuple[Quantity, ...]:
    """The quantities that overlap none of the spans; both are in text order."""
    kept: list[Quantity] = []
    waiting = iter(spans)
    span = next(waiting, None)
    for quantity in found:
        start, end = quantity.span
        while span is not None and span[1] <= start:
            span = next(waiting, None)
        if span is None or span[0] >= end:
            kept.append(quantity)
    return tuple(kept)


def same(claimed: Quantity, found: Quantity, *, unit_elsewhere: bool = False) -> bool:
    """Whether what is claimed is what was found, or a stated rounding of it."""
    if claimed.ordinal != found.ordinal or claimed.bound * found.bound < 0:
        return False
    beyond = abs(claimed.bound) > 1 and not found.bound and not found.approximate
    for ours in claimed.measures:
        for theirs in found.measures:
            if beyond and _is_equal(ours, theirs):
                continue
            if _fits(claimed, ours, found, theirs, unit_elsewhere):
                return True
    return False


def _is_equal(ours: Measure, theirs: Measure) -> bool:
    if ours.canonical == theirs.canonical:
        return ours.value == theirs.value
    return ours.number == theirs.number


def _fits(
    claimed: Quantity, ours: Measure, found: Quantity, theirs: Measure, unit_elsewhere: bool
) -> bool:
    if ours.unit is theirs.unit:  # the usual case, without arithmetic
        if ours.number == theirs.number:
            return True
        if not claimed.approximate and not claimed.bound:
            return False
    if ours.canonical == theirs.canonical:
        converted = ours.system != theirs.system
        return _close(claimed, ours.value, theirs.value, ours.step, converted)
    if ours.canonical is None:
        if theirs.canonical == "%" and _is_part(claimed, ours):
            return _is_percentage(ours.number, theirs, claimed.fraction)
        return _close(claimed, ours.number, theirs.number, ours.digit, False)
    if theirs.canonical is not None:
        return False
    if ours.canonical == "%" and _is_part(found, theirs):
        return _is_percentage(theirs.number, ours, found.fraction)
    return unit_elsewhere and _close(claimed, ours.number, theirs.number, ours.digit, False)


def _close(
    claimed: Quantity, ours: Fraction, theirs: Fraction, step: Fraction, converted: bool
) -> bool:
    if ours == theirs:
        return True
    if not (claimed.bound or claimed.approximate or converted):
        return False
    error = abs(ours - theirs)
    if claimed.bound:
        return error <= step and (theirs > ours) == (claimed.bound > 0)
    allowed = _ROUNDING if claimed.approximate else _CONVERSION
    return 2 * error <= step and error <= allowed * abs(theirs)


def _is_part(quantity: Quantity, measure: Measure) -> bool:
    return quantity.fraction or 0 < measure.number < 1


def _is_percentage(part: Fraction, percentage: Measure, fraction: bool) -> bool:
    """A third is 33 %, as far as its digits go; a decimal is exact."""
    error = abs(part * 100 - percentage.number)
    return error == 0 or (fraction and 2 * error <= percentage.digit)


def _ratios(found: list[Quantity], lowered: str) -> Iterator[Quantity]:
    """One in five, 9 out of 10: two whole numbers become one fraction."""
    position = 0
    while position < len(found):
        first = found[position]
        position += 1
        if position < len(found):
            second = found[position]
            gap = lowered[first.span[1] : second.span[0]][:_MAX_GAP]
            if gap in _IN and _is_ratio(first, second, gap):
                part = Measure(first.value / second.value, Fraction(1, second.value.numerator))
                position += 1
                yield first._replace(
                    span=(first.span[0], second.span[1]), measures=(part,), fraction=True
                )
                continue
        yield first


def _is_ratio(first: Quantity, second: Quantity, gap: str) -> bool:
    ones = (first, second)
    if any(one.unit or one.ordinal or one.value.denominator > 1 for one in ones):
        return False
    if not 0 < first.value < second.value:
        return False
    return "out" in gap or (first.value == 1 and (second.value <= 1000 or second.step >= 1000))


def _shared(first: Quantity, second: Quantity, *, certain: bool) -> Quantity:
    """The first of a range or list with what only the second says: unit, magnitude."""
    if first.unit is not None and (first.magnitude or not second.magnitude):
        return first
    given: list[Measure] = []
    for measure in first.measures:
        for other in second.measures:
            unit = measure.unit or other.unit
            power = 1 if first.magnitude else 10**second.magnitude
            if unit != measure.unit or power > 1:
                given.append(Measure(measure.number * power, measure.digit * power, unit))
                if power > 1:
                    given.append(Measure(measure.number, measure.digit, unit))
    measures = (*given, *first.measures) if certain else (*first.measures, *given)
    if len(measures) > 2:  # two are never the same
        measures = tuple(dict.fromkeys(measures))
    return first._replace(measures=measures)


def _with_currency(second: Quantity, first: Quantity) -> Quantity:
    """`$5–10`: the second has the first's currency, if it has no unit of its own."""
    if second.unit is not None or first.system != "money":
        return second
    unit = first.measures[0].unit
    given = tuple(Measure(one.number, one.digit, unit) for one in second.measures)
    return second._replace(measures=given)
