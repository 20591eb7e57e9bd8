"""A reading as statements: one for each choice of tables, and of the table that it is of.

    the reading                                        is of
    counts rows of a table, among other things         that table
    shows things "of TABLE", or the table itself       that table
    names a table in a column's phrase                 that table ("names of students")
    adds up a column for each row of a table           the only one with that column
    names a table later on                             the first that is not excluded
    names none                                         the only one with the one column shown, or
                                                       with every column that is named

`Doubt` says why a reading does not hold.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from redask.core.planning.question.linking import Linker
from redask.core.planning.question.name_phrases import TablePhrase
from redask.core.planning.question.readings import (
    AskedCondition,
    Counted,
    Each,
    Extreme,
    Item,
    Levelled,
    Reading,
    Restated,
    Sort,
    TableMention,
)
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.output_builder import Names
from redask.core.planning.statement.statement_builder import build
from redask.core.planning.statement.trees import Statement

_MAX_CHOICES = 16
_ALONE = 3  # what it costs that no table is named: more than another reading may be away


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
            link.cost - phrase.links[0].cost for phrase, link in zip(phrases, choice, strict=True)
        )
        for first, price in _firsts(reading, tables):
            named = dict.fromkeys((*tables.values(), *_owners(reading)))
            scope = ColumnScope(linker, first, tuple(named), tuple(tables.values()))
            try:
                statement, cost = build(reading, scope, tables)
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
        if isinstance(each, Counted | TableMention | Extreme | Each | Sort):
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
    shown = _owners(replace(reading, modifiers=()))
    if shown and not counted:
        return [(shown[0], 0)]
    if (holder := _measured_holder(reading)) is not None:
        return [(holder, 1)]
    for each in reading.modifiers:
        if isinstance(each, TableMention) and each.negative:
            continue
        if (
            isinstance(each, Counted | Each | Extreme | TableMention | Sort)
            and each.table is not None
        ):
            return [(_name(each.table, tables), 0)]
    return _holding(reading)


def _measured_holder(reading: Reading) -> str | None:
    """The one table with the columns that are added up for each row of another one."""
    if not any(isinstance(each, Each) and each.table for each in reading.modifiers):
        return None
    holders = {
        frozenset(link.table for link in item.column.links if link.cost <= 1)
        if _is_number(item) and item.column
        else frozenset()
        for item in reading.items
    }
    only = next(iter(holders))
    return next(iter(only)) if len(holders) == len(only) == 1 else None


def _name(phrase: TablePhrase | None, tables: Names) -> str:
    assert phrase is not None
    return tables[phrase.start, phrase.end]


def _owners(reading: Reading) -> list[str]:
    """The tables that column phrases name as well: `names of students`."""
    columns = [item.column for item in reading.items]
    columns += [
        each.column
        for each in reading.modifiers
        if isinstance(each, AskedCondition | Extreme | Sort)
    ]
    found = [
        [link.table for link in column.links if link.owned and link.cost <= 1]
        for column in columns
        if column is not None
    ]
    return list(dict.fromkeys(tables[0] for tables in found if len(set(tables)) == 1))


def _holding(reading: Reading) -> list[tuple[str, int]]:
    """The tables that hold a column for each item, cheapest first.

    Without a table that is named, only one column that no other table has is safe, or columns
    that are named in full and are together in one table only.
    """
    prices: dict[str, int] = {}
    items = reading.items
    columns = [item.column for item in items if item.column is not None]
    owners = _owners(reading)
    if not owners and (reading.modifiers or len(items) > 1 or len(columns[:1]) != 1):
        return _only_holder(reading)
    if not owners and len({link.table for link in columns[0].links if link.cost <= 4}) > 1:
        return []
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
    if owners:
        prices = {table: price for table, price in prices.items() if table in owners}
    least = min(prices.values(), default=0)
    ranked = sorted(prices.items(), key=lambda each: (each[1], each[0]))
    return [(table, (price - least) * 2) for table, price in ranked]


def _only_holder(reading: Reading) -> list[tuple[str, int]]:
    """The one table that has every column of a reading; one of them only it has.

    What is compared must have its column named: a value alone may be of any table, unless one
    number is asked for ("average salary in Sales"): then it is looked for around that column.
    """
    columns = [item.column for item in reading.items]
    for each in reading.modifiers:
        match each:
            case Each(phrases, None) if phrases and reading.items[0].aggregate:
                columns += phrases
            case Extreme(column=None, common=True):
                pass
            case AskedCondition(column=None) if _is_number(reading.items[0]) and _is_told(each):
                pass
            case AskedCondition() | Sort() | Extreme() | Levelled():
                columns.append(each.column)
            case _:
                return []
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return []
    holders = [
        {link.table for link in column.links if link.cost <= column.links[0].cost + 1}
        for column in known
    ]
    common = set.intersection(*holders) if holders else set()
    if len(common) != 1 or min(map(len, holders)) != 1:
        return []
    return [(table, _ALONE) for table in common]


def _is_number(item: Item) -> bool:
    """Whether one number is asked for that is made of a column."""
    return bool(item.aggregate) or (item.kind == "count" and item.column is not None)


def _is_told(condition: AskedCondition) -> bool:
    """Whether a condition without a column says what it is about: stored values, or a time."""
    values = condition.values
    is_time = len(values) == 1 and not values[0].stored and condition.op == "="
    return bool(values) and (is_time or all(value.stored for value in values))
