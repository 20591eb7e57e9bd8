"""Values that follow from the cells of cited rows: `holds` one of the usual derivations.

    count         of the cited rows, or of the rows of a result that is cited
    sum, difference of two      of the numbers of one column, in one unit

A minimum or a maximum is a cell itself. A row is a source all of whose fields are cells; a result
is one with fields `rows.N`. At most CELLS numbers of a column are compared by pairs.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from redask.core.equivalence import quantities
from redask.core.equivalence.quantities import Measure, Quantity
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.grounding.value_tokens import ValueToken

CELLS = 24
_ROW = re.compile(r"rows\.([0-9]+)(?:\.|$)")


def holds(value: ValueToken, cited: Sequence[SourceText]) -> bool:
    """Whether a claimed value follows from the cells of the cited sources."""
    claimed = value.quantity
    if claimed is None or claimed.ordinal:
        return False
    rows = [source for source in cited if all(passage.named for passage in source.passages)]
    if claimed.unit is None and any(claimed.value == count for count in _counts(rows)):
        return True
    return any(
        quantities.same(claimed, result, unit_elsewhere=True)
        for column in _columns(rows).values()
        for result in _derived(column)
    )


def _counts(rows: Sequence[SourceText]) -> Iterator[int]:
    """How many rows are cited, and how many each result has."""
    if len(rows) > 1:
        yield len(rows)
    for source in rows:
        numbers = {found[1] for field in source.fields if (found := _ROW.match(field.name))}
        if numbers:
            yield len(numbers)


def _columns(rows: Sequence[SourceText]) -> dict[tuple[str, str | None], list[Quantity]]:
    """The numbers of each column, by its name and their unit."""
    columns: dict[tuple[str, str | None], list[Quantity]] = {}
    for source in rows:
        for number, passage in enumerate(source.passages):
            name = _ROW.sub("", source.fields[passage.field].name)
            for each in source.values(number):
                if each.quantity is not None:
                    columns.setdefault((name, each.quantity.unit), []).append(each.quantity)
    return columns


def _derived(column: Sequence[Quantity]) -> Iterator[Quantity]:
    """The sum of a column, and the differences of its numbers."""
    if len(column) > 1:
        yield _like(column[0], sum(each.measures[0].number for each in column))
        for one, other in combinations(column[:CELLS], 2):
            yield _like(one, abs(one.measures[0].number - other.measures[0].number))


def _like(quantity: Quantity, number: Fraction | int) -> Quantity:
    measure = quantity.measures[0]
    return Quantity(quantity.span, (Measure(Fraction(number), measure.digit, measure.unit),))
