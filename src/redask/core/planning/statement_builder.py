"""One statement from one reading, once its tables are chosen: outputs, tests, groups, order."""

from dataclasses import dataclass, replace
from itertools import pairwise

from redask.core.planning import joins
from redask.core.planning.column_choice import Scope, choose, measured, shown_name
from redask.core.planning.condition_tests import contradictory, test_of
from redask.core.planning.joins import Doubt
from redask.core.planning.phrases import ColumnPhrase, TablePhrase
from redask.core.planning.readings import (
    Condition,
    Counted,
    Each,
    Extreme,
    Few,
    Levelled,
    Item,
    Mention,
    Reading,
    Sort,
    Verb,
)
from redask.core.planning.simplification import is_total, simplified
from redask.core.planning.trees import (
    Column,
    Existence,
    Junction,
    Measure,
    Statement,
    Step,
    Tally,
    Test,
)
from redask.core.planning.words import identifier_words, stem

Names = dict[tuple[int, int], str]
_NUMBERS_ONLY = ("avg", "sum")
_RANKS = {stem(word) for word in ("rank", "ranking", "position", "place", "grade")}


@dataclass(frozen=True, slots=True)
class _Order:
    """What rows or groups are ordered by, and how many are kept."""

    measure: Measure
    direction: str
    limit: int | None = None


class StatementBuilder:
    """Builds a statement; raises `Doubt` where the reading does not hold."""

    def __init__(self, reading: Reading, scope: Scope, tables: Names) -> None:
        self._reading = reading
        self._scope = scope
        self._linker = scope.linker
        self._tables = tables
        self._cost = 0
        self._root = scope.first
        self._joined: tuple[str, ...] = ()

    def build(self) -> tuple[Statement, int]:
        """The statement and what choosing its columns cost."""
        reading = self._reading
        self._check_verbs()
        outputs = [self._output(item) for item in reading.items]
        if any(item.kind == "star" for item in reading.items):
            columns = self._linker.tables[self._scope.first].columns
            outputs = [Measure(column=Column(self._scope.first, each.name)) for each in columns]
        self._check_mixture(outputs)
        groups = self._groups(outputs)
        order = self._order(outputs)
        having = self._having()
        aggregated = any(each.aggregate for each in outputs)
        grouping = aggregated or bool(having) or (order is not None and bool(order.measure.aggregate))
        plain = [each.column for each in outputs if each.column and not each.aggregate]
        if grouping:
            shown = [Measure(column=column) for column in groups if column not in plain]
            outputs = [*shown, *outputs] if not self._key_only(groups) else outputs
            groups = [*groups, *self._keys(plain, bool(having) or order is not None)]
            groups += [column for column in plain if column not in groups]
        elif groups:
            self._check_rows(groups)
            groups = []
        measures = [*outputs, *([order.measure] if order else [])]
        if having and not groups:
            raise Doubt("ambiguous", "what to group by")
        self._place(measures, groups, grouping)
        steps = joins.joined(self._linker, self._root, list(self._joined))
        outputs = [self._safe_measure(each, steps, grouping) for each in outputs]
        if order is not None:
            order = replace(order, measure=self._safe_measure(order.measure, steps, grouping))
        where = self._where()
        if grouping and (len(steps) > 1 or (steps and len({c.table for c in plain if c}) > 1)):
            raise Doubt("not_computable", "groups over several tables")
        statement = Statement(
            tuple(outputs),
            self._root,
            steps,
            where,
            tuple(dict.fromkeys(groups)),
            tuple(having),
            ((order.measure, order.direction),) if order else (),
            order.limit if order else None,
            self._is_distinct(grouping, order, outputs),
        )
        if contradictory(statement.where):
            raise Doubt("ambiguous", "and")
        return simplified(statement, self._linker), self._cost

    # --- what is shown -------------------------------------------------------------------

    def _column(self, phrase: ColumnPhrase) -> Column:
        column, cost = choose(phrase, self._scope, shown=True)
        self._cost += cost
        if phrase.counting and (phrase.total or not self._is_quantity(column)):
            raise Doubt("ambiguous", column.name)
        return column

    def _is_quantity(self, column: Column) -> bool:
        """Whether a column holds numbers that measure, not ones that name."""
        keys = self._linker.tables[column.table].primary_key
        named = "id" in identifier_words(column.name)
        return self._scope.is_number(column) and column.name not in keys and not named

    def _table(self, phrase: TablePhrase) -> str:
        return self._tables[phrase.start, phrase.end]

    def _output(self, item: Item) -> Measure:
        if item.kind == "star":
            if len(self._reading.items) > 1:
                raise Doubt("ambiguous", "information")
            return Measure()
        if item.kind == "entity":
            assert item.table is not None
            return Measure(column=shown_name(self._scope, self._table(item.table)))
        if item.kind == "count":
            if item.column is not None:
                column = self._column(item.column)
                if not item.distinct:
                    raise Doubt("ambiguous", column.name)
                return Measure("count", column, distinct=True)
            return Measure("count")
        assert item.column is not None
        column = self._column(item.column)
        if item.aggregate in _NUMBERS_ONLY and not self._scope.is_number(column):
            raise Doubt("not_computable", column.name)
        if item.aggregate and (not self._ordered(column) or _is_rank(column)):
            raise Doubt("not_computable", column.name)
        return Measure(item.aggregate, column)

    def _check_verbs(self) -> None:
        """A verb that no list knows says how rows of one table, or of two with one key, belong."""
        for verb, node in pairwise(self._reading.modifiers):
            if isinstance(verb, Verb) and isinstance(node, Mention | Counted | Extreme):
                assert node.table is not None
                table = self._table(node.table)
                steps = joins.steps_between(self._linker, self._scope.first, table)
                if len(steps) > isinstance(node, Mention):
                    raise Doubt("not_computable", verb.word)

    def _check_mixture(self, outputs: list[Measure]) -> None:
        """`average age and salary`: nobody said whether the average is meant for both."""
        mixed = [bool(each.aggregate and each.column) for each in outputs]
        each = any(isinstance(one, Each) for one in self._reading.modifiers)
        if not each and any(one and not other for one, other in pairwise(mixed)):
            raise Doubt("ambiguous", "average")

    def _ordered(self, column: Column) -> bool:
        return self._scope.is_number(column) or self._scope.is_moment(column)

    # --- groups, order -------------------------------------------------------------------

    def _groups(self, outputs: list[Measure]) -> list[Column]:
        found: list[Column] = []
        for each in self._reading.modifiers:
            if isinstance(each, Each):
                found += [self._column(phrase) for phrase in each.columns]
                if each.table is not None:
                    if each.table.links[0].cost and outputs[0].column:
                        raise Doubt("ambiguous", "each")
                    found += self._key_of(self._table(each.table))
                    if not any(one.column and not one.aggregate for one in outputs):
                        raise Doubt("ambiguous", f"what to show of {self._table(each.table)}")
        return found

    def _check_rows(self, groups: list[Column]) -> None:
        """`for each student` of a plain list means all students; any other group is a doubt."""
        if any(column.table != self._scope.first for column in groups):
            raise Doubt("ambiguous", "each")
        if any(isinstance(each, Each) and each.columns for each in self._reading.modifiers):
            raise Doubt("ambiguous", "each")

    def _key_of(self, table: str) -> list[Column]:
        key = self._linker.tables[table].primary_key
        if not key:
            raise Doubt("not_computable", f"what tells rows of {table} apart")
        return [Column(table, name) for name in key]

    def _key_only(self, groups: list[Column]) -> bool:
        """Whether the groups are entities, whose keys nobody asked to see."""
        return any(
            isinstance(each, Each) and each.table is not None for each in self._reading.modifiers
        )

    def _keys(self, plain: list[Column], ranked: bool) -> list[Column]:
        """The keys of the entities whose columns are shown beside a count."""
        named = set(self._scope.named)
        tables = [column.table for column in plain if column.table in named]
        counted = self._counted_table()
        if not tables or counted is None or any(table == counted for table in tables):
            return []
        key = self._key_of(tables[0])
        names = {"nam", "titl"}
        if any(column in key or names & set(identifier_words(column.name)) for column in plain):
            return key
        return []

    def _counted_table(self) -> str | None:
        """The table whose rows are counted, if one is."""
        found = [
            self._table(item.table)
            for item in self._reading.items
            if item.kind == "count" and item.table is not None
        ]
        found += [
            self._table(each.table)
            for each in self._reading.modifiers
            if isinstance(each, Extreme | Sort) and each.table is not None
        ]
        if len(set(found)) > 1:
            raise Doubt("ambiguous", "number")
        return found[0] if found else None

    def _order(self, outputs: list[Measure]) -> _Order | None:
        found = []
        for each in self._reading.modifiers:
            if isinstance(each, Extreme):
                found.append(self._extreme(each))
            elif isinstance(each, Sort):
                found.append(_Order(self._sorted(each, outputs), each.direction))
        if len(found) > 1:
            raise Doubt("ambiguous", "order")
        few = [each.number for each in self._reading.modifiers if isinstance(each, Few)]
        if not few:
            return found[0] if found else None
        if len(few) > 1 or not found or found[0].limit != 1:
            raise Doubt("ambiguous", "number")
        return replace(found[0], limit=few[0])

    def _extreme(self, each: Extreme) -> _Order:
        direction = "desc" if each.direction == "max" else "asc"
        if each.dimension:
            column, sign = measured(each.dimension, self._scope)
            return _Order(Measure(column=column), "desc" if sign > 0 else "asc", each.number)
        if each.common:
            return _Order(Measure("count"), direction, each.number)
        if each.table is not None:
            return _Order(Measure("count"), direction, each.number)
        assert each.column is not None
        column = self._column(each.column)
        if not self._ordered(column) or _is_rank(column) or (each.loose and not self._tables):
            raise Doubt("not_computable", column.name)
        return _Order(Measure(each.aggregate, column), direction, each.number)

    def _sorted(self, each: Sort, outputs: list[Measure]) -> Measure:
        if each.table is not None:
            return Measure("count")
        if each.column is not None:
            column = self._column(each.column)
            return next((one for one in outputs if one.column == column), Measure(column=column))
        if not outputs[0].column:
            raise Doubt("ambiguous", "order")
        return outputs[0]

    def _having(self) -> list[tuple[Measure, str, str]]:
        """Counts of the first table's own rows, by the columns shown."""
        found = [
            (Measure("count"), _turned(each.op, each.negative), each.number)
            for each in self._reading.modifiers
            if isinstance(each, Counted) and self._table(each.table) == self._scope.first
        ]
        for each in self._reading.modifiers:
            if isinstance(each, Levelled):
                column = self._column(each.column)
                if not self._scope.is_number(column) or column.table != self._scope.first:
                    raise Doubt("not_computable", column.name)
                found.append((Measure(each.aggregate, column), each.op, each.number))
        return found

    # --- tables --------------------------------------------------------------------------

    def _place(self, measures: list[Measure], groups: list[Column], grouping: bool) -> None:
        """Decide which table the statement starts from, and which are joined."""
        tables = [each.column.table for each in measures if each.column is not None]
        tables += [column.table for column in groups]
        many = self._counted_table() if grouping else None
        sums = [each.column.table for each in measures if each.aggregate and each.column]
        if many is not None:
            tables.append(self._scope.first)
            self._root = many
        elif sums:
            tables.append(self._scope.first)
            self._root = sums[0]
        else:
            tables.append(self._scope.first)
        self._joined = tuple(dict.fromkeys(table for table in tables if table != self._root))

    def _safe_measure(self, each: Measure, steps: tuple[Step, ...], grouping: bool) -> Measure:
        """An aggregate that no join can change."""
        fanned = any(joins.fans_out(self._linker, step) for step in steps)
        if not fanned or each.aggregate in ("", "min", "max") or each.distinct:
            return each
        if each.aggregate == "count" and each.column is None:
            key = self._key_of(self._root)
            if len(key) == 1 and not grouping:
                return Measure("count", key[0], distinct=True)
        raise Doubt("not_computable", "a join that repeats rows")

    def _is_distinct(self, grouping: bool, order: _Order | None, outputs: list[Measure]) -> bool:
        reading = self._reading
        asked = any(item.distinct and item.kind != "count" for item in reading.items)
        attributes = not self._tables and all(item.kind == "column" for item in reading.items)
        if grouping or not (asked or attributes):
            return False
        shown = order is None or order.measure in outputs
        if order is not None and order.limit is not None:
            return False
        return shown

    # --- where ---------------------------------------------------------------------------

    def _where(self) -> tuple[Test, ...]:
        """The tests of the statement: its own, and those of tables that are not joined."""
        here = {self._root, *self._joined}
        direct: list[Test] = []
        positive: dict[str, list[Test]] = {}
        negative: dict[str, list[Test]] = {}
        counted: dict[str, Counted] = {}
        total = 0
        against = False
        loose: set[str] = set()
        columns: list[Column] = []
        for each in self._reading.modifiers:
            if isinstance(each, Mention):
                if each.loose:
                    loose.add(self._table(each.table))
                self._mention(each, here, positive, negative)
            elif isinstance(each, Counted) and self._table(each.table) != self._scope.first:
                counted[self._table(each.table)] = each
            elif isinstance(each, Condition):
                total += 1
                if against and not each.apart:
                    raise Doubt("ambiguous", "average")
                against = against or bool(each.against)
                columns.append(self._condition(each, here, direct, positive, negative, total))
                if any(self._scope.refers(columns[-1], other) for other in columns[:-1]):
                    raise Doubt("ambiguous", columns[-1].name)
                if each.both and columns[-1].table not in here:
                    raise Doubt("ambiguous", "both")
        _merge(self._scope, positive, negative)
        for table, tests in positive.items():
            if not tests and table in loose and table not in counted:
                raise Doubt("ambiguous", table)
        if negative and (positive or counted):
            raise Doubt("ambiguous", "not")
        for table, one in counted.items():
            direct.append(self._tally(table, one, tuple(positive.pop(table, []))))
        for table, tests in positive.items():
            if not tests and self._is_certain(self._way(table)):
                continue
            direct.append(Existence(self._way(table), tuple(tests)))
        for table, tests in negative.items():
            direct.append(Existence(self._way(table), tuple(tests), negative=True))
        return tuple(direct)

    def _mention(
        self,
        each: Mention,
        here: set[str],
        positive: dict[str, list[Test]],
        negative: dict[str, list[Test]],
    ) -> None:
        table = self._table(each.table)
        if each.negative:
            if table in here:
                raise Doubt("ambiguous", table)
            negative.setdefault(table, [])
        elif table not in here and table not in negative:
            positive.setdefault(table, [])

    def _condition(
        self,
        each: Condition,
        here: set[str],
        direct: list[Test],
        positive: dict[str, list[Test]],
        negative: dict[str, list[Test]],
        total: int,
    ) -> Column:
        if each.column is None and each.op in ("contain", "start", "end"):
            each = replace(each, column=self._only_column())
        column, test, cost = test_of(each, self._scope)
        self._cost += cost
        if column.table in here:
            place = direct
        elif each.negative:
            if column.table not in self._scope.named:
                raise Doubt("ambiguous", column.table)
            _, test, _ = test_of(replace(each, negative=False), self._scope)
            place = negative.setdefault(column.table, [])
        elif column.table in negative:
            if each.apart:
                raise Doubt("ambiguous", "and")
            place = negative[column.table]
        else:
            place = positive.setdefault(column.table, [])
        if each.either:
            if not place or total > 2:
                raise Doubt("ambiguous", "or")
            place[-1] = Junction("or", (place[-1], test))
        else:
            place.append(test)
        return column

    def _only_column(self) -> ColumnPhrase:
        """The column that is shown, if it is one."""
        items = self._reading.items
        if len(items) != 1 or items[0].column is None:
            raise Doubt("ambiguous", "contains")
        return items[0].column

    def _way(self, table: str) -> tuple[Step, ...]:
        """The steps to a table from one that is already there."""
        steps = joins.steps_between(self._linker, self._scope.first, table)
        here = {self._root, *self._joined}
        while steps and steps[0].table in here:
            steps = steps[1:]
        if not steps:
            raise Doubt("ambiguous", table)
        return steps

    def _is_certain(self, steps: tuple[Step, ...]) -> bool:
        """Whether every row has one at the end of the steps: keys that are never NULL."""
        return all(is_total(self._linker, step) for step in steps)

    def _tally(self, table: str, each: Counted, tests: tuple[Test, ...]) -> Tally:
        steps = self._way(table)
        if len(steps) > 1 or not joins.fans_out(self._linker, steps[0]):
            raise Doubt("ambiguous", table)
        key = self._linker.tables[table].primary_key
        counted = (Column(table, key[0]),) if len(steps) > 1 and len(key) == 1 else ()
        return Tally(steps, tests, _turned(each.op, each.negative), each.number, counted)


def _merge(scope: Scope, positive: dict[str, list[Test]], negative: dict[str, list[Test]]) -> None:
    """A table that only leads to another one needs no test of its own."""
    for table in list(positive):
        passed = {step.table for step in joins.steps_between(scope.linker, scope.first, table)}
        for other in passed - {table}:
            if other in negative:
                if negative.pop(other):
                    raise Doubt("ambiguous", other)
                negative[table] = positive.pop(table)
            elif other in positive and not positive[other]:
                del positive[other]


def _is_rank(column: Column) -> bool:
    """Whether the highest is the one with the lowest number, or the other way round."""
    return bool(_RANKS & set(identifier_words(column.name)))


def _turned(op: str, negative: bool) -> str:
    opposite = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
    return opposite[op] if negative else op
