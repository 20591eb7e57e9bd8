"""A reading as statements: each table phrase a table, each column phrase a column, joins between.

    asked for                              statement
    columns                                SELECT columns; other tables that are named: EXISTS
    aggregates, counts                     one row; with columns or "each": GROUP BY
    the most rows of a table               GROUP BY, ORDER BY count, ties included
    at least n rows of a table             a count in WHERE; of the column's own table: HAVING
    not, no, never                         <>, or NOT EXISTS for another table

SUM and AVG are refused where a join repeats rows; counts are then of different keys.
`Doubt` says why a reading does not hold.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from redask.core.planning.column_choice import Scope
from redask.core.planning.joins import Doubt
from redask.core.planning.linking import Linker
from redask.core.planning.phrases import TablePhrase
from redask.core.planning.readings import (
    Counted,
    Each,
    Extreme,
    Item,
    Mention,
    Reading,
    Restated,
    Sort,
)
from redask.core.planning.statement_builder import Names, StatementBuilder
from redask.core.planning.trees import Statement

_MAX_CHOICES = 16


def statements(reading: Reading, linker: Linker) -> Iterator[tuple[Statement, int] | Doubt]:
    """The statements that a reading may mean, with their costs; doubts where it means none."""
    reading = _restated(reading)
    phrases = _table_phrases(reading)
    for choice in islice(product(*(phrase.links for phrase in phrases)), _MAX_CHOICES):
        tables: Names = {
            (phrase.start, phrase.end): link.table
            for phrase, link in zip(phrases, choice, strict=True)
        }
        extra = sum(
            link.cost - phrase.links[0].cost
            for phrase, link in zip(phrases, choice, strict=True)
        )
        for first, price in _firsts(reading, tables):
            scope = Scope(linker, first, tuple(dict.fromkeys(tables.values())))
            try:
                statement, cost = StatementBuilder(reading, scope, tables).build()
            except Doubt as doubt:
                yield doubt
            else:
                yield statement, reading.cost + extra + price + cost


def _restated(reading: Reading) -> Reading:
    """The reading with what its second sentence asks to show, if that adds to the first."""
    again = [each for each in reading.modifiers if isinstance(each, Restated)]
    if not again:
        return reading
    table = reading.table or next((item.table for item in reading.items if item.table), None)
    rest = tuple(each for each in reading.modifiers if not isinstance(each, Restated))
    return replace(reading, items=again[-1].items, table=table, modifiers=rest)


def _table_phrases(reading: Reading) -> list[TablePhrase]:
    found: list[TablePhrase | None] = [reading.table]
    found += [item.table for item in reading.items]
    for each in reading.modifiers:
        if isinstance(each, Counted | Mention | Extreme | Each | Sort):
            found.append(each.table)
    unique = {(phrase.start, phrase.end): phrase for phrase in found if phrase is not None}
    return list(unique.values())


def _firsts(reading: Reading, tables: Names) -> list[tuple[str, int]]:
    """The tables that a reading may be of, each with what it costs to think so."""
    counted = [item for item in reading.items if item.kind == "count" and item.table]
    entity = [item for item in reading.items if item.kind == "entity"]
    if counted and (len(reading.items) > 1 or reading.table is None):
        return [(_name(counted[0].table, tables), 0)]
    if reading.table is not None:
        return [(_name(reading.table, tables), 0)]
    if entity:
        return [(_name(entity[0].table, tables), 0)]
    owned = [item.table for item in reading.items if item.table]
    if owned:
        return [(_name(owned[0], tables), 0)]
    for each in reading.modifiers:
        if isinstance(each, Counted | Extreme | Mention | Sort) and each.table is not None:
            if not (isinstance(each, Mention) and each.negative):
                return [(_name(each.table, tables), 0)]
    return _holding(reading.items)


def _name(phrase: TablePhrase | None, tables: Names) -> str:
    assert phrase is not None
    return tables[phrase.start, phrase.end]


def _holding(items: tuple[Item, ...]) -> list[tuple[str, int]]:
    """The tables that hold a column for each item, cheapest first."""
    prices: dict[str, int] = {}
    columns = [item.column for item in items if item.column is not None]
    for place, column in enumerate(columns):
        here: dict[str, int] = {}
        for link in column.links:
            price = link.cost - column.links[0].cost + (0 if link.owned else 2)
            here.setdefault(link.table, price)
        if place == 0:
            prices = here
        else:
            prices = {
                table: price + here[table] for table, price in prices.items() if table in here
            }
    least = min(prices.values(), default=0)
    ranked = sorted(prices.items(), key=lambda each: (each[1], each[0]))
    return [(table, (price - least) * 2) for table, price in ranked]
