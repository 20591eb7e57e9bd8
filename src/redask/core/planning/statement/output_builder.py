"""What a statement shows, groups and orders by, from the phrases of a reading.

refused                                               because
the average of text, the highest rank                 it means nothing, or either end
an average beside a column without `each`             nobody said what it is the average of
a table beside columns (`the name and the stadium`)   its name, number or both could be meant
a count of the values of a column, not of different   rows or values could be meant; of a number
                                                      that counts (`hours`) it is the sum
`for each TABLE` with nothing to show of it           name and number could be meant

The highest revenue, units, hours of a column whose values repeat are those added up.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

from redask.core.planning.question import cues
from redask.core.planning.question.name_phrases import ColumnPhrase, TablePhrase
from redask.core.planning.question.readings import (
    Counted,
    Each,
    Extreme,
    Few,
    Item,
    Levelled,
    Reading,
    Sort,
)
from redask.core.planning.question.words import identifier_words, stem
from redask.core.planning.statement.column_choice import ColumnScope, choose, measured
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.shown_entities import naming, shown
from redask.core.planning.statement.trees import OPPOSITE, ColumnOf, MeasuredColumn

Names = dict[tuple[int, int], str]
Having = tuple[MeasuredColumn, str, str]
_NUMBERS_ONLY = ("avg", "sum")
_RANKS = {stem(word) for word in ("rank", "ranking", "position", "place", "grade")}
_TITLES = {stem(word) for word in ("name", "title")}


def adds_up(column: str) -> bool:
    """Whether the sum of a column is what is meant: `hours`, `revenue`; not `floor`, `address`."""
    low = column.lower()
    is_plural = low.endswith("s") and not low.endswith(("ss", "us", "is"))
    return is_plural or is_additive(column)


def is_additive(column: str) -> bool:
    """Whether a column's name ends in one of `cues.ADDITIVE`."""
    return bool(cues.ADDITIVE & set(identifier_words(column)[-1:]))


@dataclass(frozen=True, slots=True)
class Order:
    """What rows or groups are ordered by, and how many are kept."""

    measure: MeasuredColumn
    direction: str
    limit: int | None = None


class OutputBuilder:
    """Chooses the columns of one reading; `cost` is what the choices cost."""

    def __init__(self, reading: Reading, scope: ColumnScope, tables: Names) -> None:
        self._reading = reading
        self._scope = scope
        self._tables = tables
        self.cost = 0

    def table(self, phrase: TablePhrase | None) -> str:
        """The table that a phrase was taken for."""
        return self._tables[phrase.start, phrase.end] if phrase else self._scope.first

    def key_of(self, table: str) -> list[ColumnOf]:
        """The primary key of a table; a doubt where it has none."""
        key = self._scope.linker.tables[table].primary_key
        if not key:
            raise Doubt("not_computable", f"what tells rows of {table} apart")
        return [ColumnOf(table, name) for name in key]

    def _column(self, phrase: ColumnPhrase) -> ColumnOf:
        column, cost = choose(phrase, self._scope, shown=True)
        self.cost += cost
        if phrase.counting and not self._is_quantity(column):
            raise Doubt("ambiguous", column.name)
        return column

    def _is_quantity(self, column: ColumnOf) -> bool:
        """Whether a column holds numbers that measure, not ones that name."""
        keys = self._scope.linker.tables[column.table].primary_key
        named = "id" in identifier_words(column.name)
        return self._scope.is_number(column) and column.name not in keys and not named

    def _is_ordered(self, column: ColumnOf) -> bool:
        """Whether a column has a highest and a lowest value that mean what they say."""
        ranked = _RANKS & set(identifier_words(column.name))
        return not ranked and (self._scope.is_number(column) or self._scope.is_moment(column))

    # --- what is shown -------------------------------------------------------------------

    def outputs(self) -> list[MeasuredColumn]:
        """What is shown, in the question's order."""
        items = self._reading.items
        if any(item.kind == "star" for item in items):
            if len(items) > 1:
                raise Doubt("ambiguous", "information")
            first = self._scope.first
            columns = self._scope.linker.tables[first].columns
            return [MeasuredColumn(column=ColumnOf(first, each.name)) for each in columns]
        if len(items) > 1 and any(item.kind == "entity" for item in items):
            raise Doubt("ambiguous", "what to show")
        outputs = [each for item in items for each in self._shown(item)]
        mixed = [bool(each.aggregate and each.column) for each in outputs]
        grouped = any(isinstance(one, Each) for one in self._reading.modifiers)
        if not grouped and any(one and not other for one, other in pairwise(mixed)):
            raise Doubt("ambiguous", "average")
        return outputs

    def _shown(self, item: Item) -> list[MeasuredColumn]:
        if item.kind == "entity":
            columns = shown(self._scope, self.table(item.table))
            return [MeasuredColumn(column=column) for column in columns]
        if item.kind == "named":
            names = naming(self._scope, self.table(item.table))
            if not names:
                raise Doubt("attribute_missing", "name")
            return [MeasuredColumn(column=column) for column in names]
        return [self._output(item)]

    def _output(self, item: Item) -> MeasuredColumn:
        if item.column is None:
            return MeasuredColumn(item.aggregate or "count")
        column = self._column(item.column)
        if item.kind == "count":
            if item.distinct:
                return MeasuredColumn("count", column, distinct=True)
            owned = any(link.owned for link in item.column.links if link.column == column.name)
            if owned or not self._is_quantity(column) or not adds_up(column.name):
                raise Doubt("ambiguous", column.name)
            return MeasuredColumn("sum", column)
        if item.aggregate in _NUMBERS_ONLY and not self._scope.is_number(column):
            raise Doubt("not_computable", column.name)
        if item.aggregate and not self._is_ordered(column):
            raise Doubt("not_computable", column.name)
        return MeasuredColumn(item.aggregate, column)

    # --- groups --------------------------------------------------------------------------

    def groups(self, outputs: list[MeasuredColumn]) -> tuple[list[ColumnOf], bool]:
        """What `each` names to group by, and whether that is to be shown."""
        found: list[ColumnOf] = []
        entities = False
        for each in self._reading.modifiers:
            if isinstance(each, Each):
                found += [self._column(phrase) for phrase in each.columns]
                if each.table is not None:
                    table = self.table(each.table)
                    if each.table.links[0].cost and outputs[0].column:
                        raise Doubt("ambiguous", "each")
                    if not any(one.column and not one.aggregate for one in outputs):
                        outputs[:0] = [
                            MeasuredColumn(column=column) for column in self._titled(table)
                        ]
                    found += self.key_of(table)
                    entities = True
        return found, not entities

    def _titled(self, table: str) -> tuple[ColumnOf, ...]:
        """What names each row of a table that something else is counted for."""
        names = naming(self._scope, table)
        if not names or table == self._scope.first:
            raise Doubt("ambiguous", f"what to show of {table}")
        return names

    def check_rows(self, groups: list[ColumnOf]) -> None:
        """`for each student` of a plain list means all students; any other group is a doubt."""
        named = any(isinstance(each, Each) and each.columns for each in self._reading.modifiers)
        if named or any(column.table != self._scope.first for column in groups):
            raise Doubt("ambiguous", "each")

    def keys(self, plain: list[ColumnOf], root: str) -> list[ColumnOf]:
        """The keys of the entities whose names are shown beside an aggregate of something else."""
        tables = [column.table for column in plain if column.table in self._scope.named]
        if not tables or root in tables:
            return []
        key = self.key_of(tables[0])
        named = (column in key or _TITLES & set(identifier_words(column.name)) for column in plain)
        return key if any(named) else []

    def counted_table(self) -> str | None:
        """The table whose rows are counted, if one is."""
        found = [
            self.table(item.table)
            for item in self._reading.items
            if item.kind == "count" and item.table is not None
        ]
        found += [
            self.table(each.table)
            for each in self._reading.modifiers
            if isinstance(each, Extreme | Sort) and each.table is not None
        ]
        if len(set(found)) > 1:
            raise Doubt("ambiguous", "number")
        return found[0] if found else None

    def having(self) -> list[Having]:
        """Tests of groups: counts of the first table's own rows, aggregates of its columns."""
        found: list[Having] = []
        for each in self._reading.modifiers:
            if isinstance(each, Counted) and self.table(each.table) == self._scope.first:
                op = OPPOSITE[each.op] if each.negative else each.op
                found.append((MeasuredColumn("count"), op, each.number))
            elif isinstance(each, Levelled):
                column = self._column(each.column)
                if not self._scope.is_number(column) or column.table != self._scope.first:
                    raise Doubt("not_computable", column.name)
                found.append((MeasuredColumn(each.aggregate, column), each.op, each.number))
        return found

    # --- order ---------------------------------------------------------------------------

    def order(self, outputs: list[MeasuredColumn]) -> Order | None:
        """The one order that is asked for."""
        found = []
        for each in self._reading.modifiers:
            if isinstance(each, Extreme):
                found.append(self._extreme(each, outputs))
            elif isinstance(each, Sort):
                found.append(Order(self._sorted(each, outputs), each.direction))
        if len(found) > 1:
            raise Doubt("ambiguous", "order")
        few = [each.number for each in self._reading.modifiers if isinstance(each, Few)]
        if not few:
            return found[0] if found else None
        if len(few) > 1 or not found or found[0].limit != 1:
            raise Doubt("ambiguous", "number")
        return replace(found[0], limit=few[0])

    def _extreme(self, each: Extreme, outputs: list[MeasuredColumn]) -> Order:
        direction = "desc" if each.direction == "max" else "asc"
        if each.dimension:
            column, sign = measured(each.dimension, self._scope)
            return Order(MeasuredColumn(column=column), "desc" if sign > 0 else "asc", each.number)
        if each.column is None:
            return Order(MeasuredColumn("count"), direction, each.number)
        if each.loose and (added := self._added(each.column)) is not None:
            return Order(MeasuredColumn("sum", added), direction, each.number)
        column = self._column(each.column)
        if not self._is_ordered(column) or (each.loose and not self._tables):
            raise Doubt("not_computable", column.name)
        aggregate = each.aggregate or self._summed_up(column, outputs)
        return Order(MeasuredColumn(aggregate, column), direction, each.number)

    def _summed_up(self, column: ColumnOf, outputs: list[MeasuredColumn]) -> str:
        """ "sum" where "the highest revenue" is of a region that many rows have; else nothing."""
        items = self._reading.items
        if not is_additive(column.name) or len(items) != 1 or items[0].kind != "column":
            return ""
        shown = outputs[0].column
        if shown is None or shown.table != column.table or self._scope.is_number(shown):
            return ""
        rows = self._scope.linker.tables[shown.table].rows
        repeats = 2 * self._scope.linker.columns[shown.table, shown.name].distinct <= rows
        return "sum" if repeats and self._is_quantity(column) else ""

    def _added(self, phrase: ColumnPhrase) -> ColumnOf | None:
        """What is added up for "the most hours": a number of rows that refer to those asked for."""
        first, links = self._scope.first, [link for link in phrase.links if link.cost == 0]
        if any(link.table == first for link in phrase.links) or len(links) != 1:
            return None
        column = ColumnOf(links[0].table, links[0].column)
        keys = [key for key in self._scope.linker.keys_of[first] if key.table == column.table]
        is_child = len(keys) == 1 and keys[0].to_table == first
        counts = self._is_quantity(column) and adds_up(column.name)
        return column if is_child and counts else None

    def _sorted(self, each: Sort, outputs: list[MeasuredColumn]) -> MeasuredColumn:
        if each.table is not None:
            return MeasuredColumn("count")
        if each.column is not None:
            column = self._column(each.column)
            return next(
                (one for one in outputs if one.column == column), MeasuredColumn(column=column)
            )
        if not outputs[0].column:
            raise Doubt("ambiguous", "order")
        return outputs[0]
