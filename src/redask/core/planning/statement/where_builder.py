"""The tests of a statement: those of its own tables, and of others by EXISTS or a count.

    said of another table        test
    it takes part                EXISTS, with all conditions on it; nothing if it always does
    not, no, never               NOT EXISTS, with the conditions that follow
    so many of it                a count, if one key leads there and may lead to many rows

Two conditions that "or" joins are one test, if both are of one table and it is the only one.

Refused: conditions beside NOT EXISTS on other tables; two conditions on columns that refer to each
other; a table that only a preposition names, or that is far away and nothing is said of; a pattern
on a column that is named in part, or of which two tables have one.
"""

from dataclasses import dataclass, field, replace

from redask.core.planning.question.name_phrases import ColumnPhrase
from redask.core.planning.question.readings import (
    AskedCondition,
    Counted,
    Modifier,
    Reading,
    TableMention,
)
from redask.core.planning.statement import key_paths
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.condition_tests import test_of
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.output_builder import Names
from redask.core.planning.statement.simplification import is_total
from redask.core.planning.statement.trees import (
    OPPOSITE,
    ColumnOf,
    Existence,
    Junction,
    KeyStep,
    Tally,
    Test,
)

_PATTERNS = ("contain", "start", "end")
Tests = dict[str, list[Test]]


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The tests found so far, by where they belong."""

    direct: list[Test] = field(default_factory=list)
    positive: Tests = field(default_factory=dict)
    negative: Tests = field(default_factory=dict)
    counted: dict[str, Counted] = field(default_factory=dict)
    loose: list[str] = field(default_factory=list)
    seen: list[tuple[AskedCondition, ColumnOf]] = field(default_factory=list)


class WhereBuilder:
    """Builds the tests of one reading; `here` are the tables that the statement joins."""

    def __init__(self, reading: Reading, scope: ColumnScope, tables: Names, here: set[str]) -> None:
        self._reading = reading
        self._scope = scope
        self._tables = tables
        self._here = here
        self.cost = 0

    def tests(self) -> tuple[Test, ...]:
        """All tests, which must hold together."""
        found = _Gathered()
        before: Modifier | None = None
        for each in self._reading.modifiers:
            if isinstance(each, AskedCondition) and each.alternative:
                self._check_alternative(before)
            before = each
            if isinstance(each, TableMention):
                self._mention(each, found)
            elif isinstance(each, Counted):
                table = self._tables[each.table.start, each.table.end]
                if table != self._scope.first:
                    found.counted[table] = each
            elif isinstance(each, AskedCondition):
                self._condition(each, found)
        self._merge(found.positive, found.negative)
        return self._composed(found)

    def _composed(self, found: _Gathered) -> tuple[Test, ...]:
        for table, tests in found.positive.items():
            if not tests and table in found.loose and table not in found.counted:
                raise Doubt("ambiguous", table)
        if found.negative and (found.positive or found.counted):
            raise Doubt("ambiguous", "not")
        direct = list(found.direct)
        for table, each in found.counted.items():
            direct.append(self._tally(table, each, tuple(found.positive.pop(table, []))))
        for table, tests in found.positive.items():
            steps = self._way(table)
            if not tests and len(steps) > 1:
                raise Doubt("ambiguous", table)
            if tests or not all(is_total(self._scope.linker, step) for step in steps):
                direct.append(Existence(steps, tuple(tests)))
        for table, tests in found.negative.items():
            direct.append(Existence(self._way(table), tuple(tests), negative=True))
        return tuple(direct)

    def _mention(self, each: TableMention, found: _Gathered) -> None:
        table = self._tables[each.table.start, each.table.end]
        if each.loose:
            found.loose.append(table)
        if each.negative:
            if table in self._here:
                raise Doubt("ambiguous", table)
            found.negative.setdefault(table, [])
        elif table not in self._here and table not in found.negative:
            found.positive.setdefault(table, [])

    # --- conditions ----------------------------------------------------------------------

    def _condition(self, each: AskedCondition, found: _Gathered) -> None:
        if each.column is None and each.op in _PATTERNS:
            each = replace(each, column=self._only_column())
        column, test, cost = test_of(each, self._scope)
        self.cost += cost
        self._check(each, column, found)
        place = self._place(each, column, found)
        if each.negative and place is not found.direct:
            _, test, _ = test_of(replace(each, negative=False), self._scope)
        if each.alternative:
            test = self._either(found, place, test)
        place.append(test)
        found.seen.append((each, column))

    def _check_alternative(self, before: Modifier | None) -> None:
        """What "or" is an alternative to is said only if it is the one condition before it."""
        conditions = [one for one in self._reading.modifiers if isinstance(one, AskedCondition)]
        if len(conditions) != 2 or before != conditions[0] or any(c.negative for c in conditions):
            raise Doubt("ambiguous", "or")

    def _either(self, found: _Gathered, place: list[Test], test: Test) -> Test:
        """The test of a condition, and the one before it, of which one must hold."""
        if not place or found.negative or found.counted:
            raise Doubt("ambiguous", "or")
        return Junction("or", (place.pop(), test))

    def _check(self, each: AskedCondition, column: ColumnOf, found: _Gathered) -> None:
        """Doubts that come of a condition beside those before it."""
        if not each.apart and any(before.against for before, _ in found.seen):
            raise Doubt("ambiguous", "average")
        if any(self._scope.refers(column, other) for _, other in found.seen):
            raise Doubt("ambiguous", column.name)
        if each.both and column.table not in self._here:
            raise Doubt("ambiguous", "both")
        if each.op in _PATTERNS and each.column is not None and self._is_vague(each.column):
            raise Doubt("ambiguous", column.name)

    def _is_vague(self, phrase: ColumnPhrase) -> bool:
        """Whether a phrase names a column in part, or columns of two tables of the reading."""
        best = phrase.links[0].cost
        tables = {link.table for link in phrase.links if link.cost <= best + 1}
        known = {self._scope.first, *self._scope.named}
        return best > 0 or len(tables & known) > 1

    def _place(self, each: AskedCondition, column: ColumnOf, found: _Gathered) -> list[Test]:
        """Where the test of a condition belongs."""
        if column.table in self._here:
            return found.direct
        if each.negative:
            return found.negative.setdefault(column.table, [])
        if column.table in found.negative:
            if each.apart:
                raise Doubt("ambiguous", "and")
            return found.negative[column.table]
        return found.positive.setdefault(column.table, [])

    def _only_column(self) -> ColumnPhrase:
        """The column that is shown, if it is one."""
        items = self._reading.items
        if len(items) != 1 or items[0].column is None:
            raise Doubt("ambiguous", "contains")
        return items[0].column

    # --- other tables --------------------------------------------------------------------

    def _merge(self, positive: Tests, negative: Tests) -> None:
        """A table that only leads to another one needs no test of its own."""
        for table in list(positive):
            steps = key_paths.steps_between(self._scope.linker, self._scope.first, table)
            passed = {step.table for step in steps} - {table}
            for other in [each for each in positive if each in passed and not positive[each]]:
                del positive[other]
            for other in [each for each in negative if each in passed]:
                if negative.pop(other):
                    raise Doubt("ambiguous", other)
                negative[table] = positive.pop(table, [])

    def _way(self, table: str) -> tuple[KeyStep, ...]:
        """The steps to a table from the first, or from the last that is joined already."""
        steps = key_paths.steps_between(self._scope.linker, self._scope.first, table)
        while steps and steps[0].table in self._here:
            steps = steps[1:]
        if not steps or any(step.table in self._here for step in steps):
            raise Doubt("ambiguous", table)
        return steps

    def _tally(self, table: str, each: Counted, tests: tuple[Test, ...]) -> Tally:
        steps = self._way(table)
        if len(steps) > 1 or not key_paths.fans_out(self._scope.linker, steps[0]):
            raise Doubt("ambiguous", table)
        op = OPPOSITE[each.op] if each.negative else each.op
        if each.op in ("<", "<=", "<>") and key_paths.leaves_out(self._scope.linker, steps[0]):
            raise Doubt("ambiguous", f"whether those without {table} count")
        return Tally(steps, tests, op, each.number)
