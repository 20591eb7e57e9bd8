"""One statement from one reading, once its tables are chosen.

    asked for                              statement
    columns                                SELECT columns; other tables that are named: EXISTS
    aggregates, counts                     one row; with columns or "each": GROUP BY
    the most rows of a table               GROUP BY, ORDER BY count, ties included
    at least n rows of a table             a count in WHERE; of the column's own table: HAVING
    not, no, never                         <>, or NOT EXISTS for another table

SUM, AVG and COUNT are refused where a join repeats rows.
"""

from dataclasses import replace
from itertools import pairwise
from typing import TypeGuard

from redask.core.planning.question.readings import (
    AskedCondition,
    Belonging,
    Counted,
    Extreme,
    Reading,
    TableMention,
    Verb,
)
from redask.core.planning.statement import key_paths, sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.condition_tests import contradictory
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.output_builder import Names, Order, OutputBuilder
from redask.core.planning.statement.shown_entities import says_nothing
from redask.core.planning.statement.simplification import simplified
from redask.core.planning.statement.trees import (
    ColumnOf,
    Comparison,
    Junction,
    KeyStep,
    MeasuredColumn,
    Membership,
    Missing,
    Statement,
    Test,
)
from redask.core.planning.statement.where_builder import WhereBuilder


def build(reading: Reading, scope: ColumnScope, tables: Names) -> tuple[Statement, int]:
    """The statement and what choosing its columns cost; `Doubt` where the reading fails."""
    builder = OutputBuilder(reading, scope, tables)
    _check_verbs(reading, scope, builder)
    outputs = builder.outputs()
    groups, shown = builder.groups(outputs)
    order, having = builder.order(outputs), builder.having()
    measures = [*outputs, *([order.measure] if order else [])]
    grouping = bool(having) or any(each.aggregate for each in measures)
    plain = [each.column for each in outputs if each.column and not each.aggregate]
    root = (builder.counted_table() if grouping else None) or _summed(measures) or scope.first
    if grouping:
        if shown:
            extra = [MeasuredColumn(column=column) for column in groups if column not in plain]
            outputs, measures = [*extra, *outputs], [*extra, *measures]
        groups = list(dict.fromkeys([*groups, *builder.keys(plain, root), *plain]))
        if not groups and (having or order):
            raise Doubt("ambiguous", "what to group by")
        if order and not order.measure.aggregate and order.measure.column not in groups:
            raise Doubt("ambiguous", "order")
    elif groups:
        builder.check_rows(groups)
        groups = []
    used = [*(each.column.table for each in measures if each.column), scope.first]
    used += [column.table for column in groups]
    others = [table for table in dict.fromkeys(used) if table != root]
    steps = key_paths.joined(scope.linker, root, others)
    if groups and (len(steps) > 1 or (steps and len({column.table for column in plain}) > 1)):
        raise Doubt("not_computable", "groups over several tables")
    _check_fan_out(measures, steps, scope)
    if not steps and any(isinstance(each, Belonging) for each in reading.modifiers):
        raise Doubt("not_computable", "they")
    if steps and not groups:
        _check_joined(reading, steps, scope)
    _check_least(order, steps, scope)
    where = WhereBuilder(reading, scope, tables, {root, *others})
    known = _known_groups(groups, scope) if order and order.limit else ()
    is_distinct = not grouping and _is_distinct(reading, scope, order, outputs)
    if is_distinct and len(plain) == len(outputs) == 1:
        known = _known_groups(plain, scope)
    statement = Statement(
        tuple(outputs),
        root,
        steps,
        (*_or_unknown(where.tests(), reading, scope), *known),
        tuple(groups),
        tuple(having),
        (),
        order.limit if order else None,
        is_distinct,
    )
    if order is not None:
        statement = replace(statement, order=_ordered(statement, order, scope))
    _check_share(statement)
    if contradictory(statement.where):
        raise Doubt("ambiguous", "and")
    if says_nothing(statement, reading):
        raise Doubt("not_computable", "")
    return simplified(statement, scope.linker), builder.cost + where.cost


def _or_unknown(tests: tuple[Test, ...], reading: Reading, scope: ColumnScope) -> tuple[Test, ...]:
    """What has no owner is not owned by Ada either, though SQL's <> leaves it out.

    Whoever asks for "an owner other than Ada" asks for an owner.
    """
    if any(isinstance(each, AskedCondition) and each.op == "<>" for each in reading.modifiers):
        return tests
    return tuple(
        Junction("or", (test, Missing(test.column))) if _leaves_out(test, scope) else test
        for test in tests
    )


def _leaves_out(test: Test, scope: ColumnScope) -> TypeGuard[Comparison | Membership]:
    """Whether a test is of something else than a value, and rows have none at all."""
    match test:
        case Comparison(column=column, op="<>") | Membership(column=column, negative=True):
            return scope.linker.columns[column.table, column.name].nulls > 0
        case _:
            return False


def _known_groups(groups: list[ColumnOf], scope: ColumnScope) -> tuple[Missing, ...]:
    """The columns are known of the group with the most, and of a list: no state is no state."""
    return tuple(
        Missing(column, negative=True)
        for column in groups
        if scope.linker.columns[column.table, column.name].nulls
    )


def _check_verbs(reading: Reading, scope: ColumnScope, builder: OutputBuilder) -> None:
    """A verb links rows of one table, or of two tables by one key; further it leads nowhere."""
    for verb, node in pairwise(reading.modifiers):
        if isinstance(verb, Verb) and isinstance(node, TableMention | Counted | Extreme):
            table = builder.table(node.table)
            steps = key_paths.steps_between(scope.linker, scope.first, table)
            if len(steps) > 1:
                raise Doubt("not_computable", verb.word)


def _summed(measures: list[MeasuredColumn]) -> str | None:
    """The table of the first column that is aggregated."""
    return next((each.column.table for each in measures if each.aggregate and each.column), None)


def _check_share(statement: Statement) -> None:
    """A share is of all rows of one table; a second test could say of which rows instead."""
    shares = [each for each in statement.outputs if each.aggregate in sql_text.SHARES]
    plain = Statement(statement.outputs[:1], statement.table, where=statement.where)
    if shares and (len(statement.where) != 1 or statement != plain):
        raise Doubt("not_computable", shares[0].aggregate)


def _check_joined(reading: Reading, steps: tuple[KeyStep, ...], scope: ColumnScope) -> None:
    """Columns of two tables are shown together if each is named in full, one row for one row."""
    named = all(item.column.links[0].cost == 0 for item in reading.items if item.column)
    if len(steps) > 1 or not named or key_paths.fans_out(scope.linker, steps[0]):
        raise Doubt("not_computable", "columns of several tables")


def _check_fan_out(
    measures: list[MeasuredColumn], steps: tuple[KeyStep, ...], scope: ColumnScope
) -> None:
    """Sums, averages and counts are refused where a join repeats rows."""
    repeated = any(key_paths.fans_out(scope.linker, step) for step in steps)
    if repeated and any(each.aggregate in ("count", "sum", "avg") for each in measures):
        raise Doubt("not_computable", "a join that repeats rows")


def _check_least(order: Order | None, steps: tuple[KeyStep, ...], scope: ColumnScope) -> None:
    """The fewest rows of a table are none at all, which a join does not find."""
    if order and order.limit and order.direction == "asc" and order.measure.aggregate == "count":
        for step in steps:
            if key_paths.leaves_out(scope.linker, _turned(step)):
                raise Doubt("ambiguous", f"whether those without {_turned(step).table} count")


def _turned(step: KeyStep) -> KeyStep:
    """The step the other way round."""
    return KeyStep(step.pairs[0][0].table, tuple((right, left) for left, right in step.pairs))


def _ordered(
    statement: Statement, order: Order, scope: ColumnScope
) -> tuple[tuple[MeasuredColumn, str], ...]:
    """The order asked for; rows that are equal in it follow their keys, so that it is one order,
    and groups theirs in the same direction.

    At a limit they stay equal: all rows that tie belong to the result.
    """
    keys = [
        ColumnOf(statement.table, name) for name in scope.linker.tables[statement.table].primary_key
    ]
    way = "asc"
    if statement.groups:
        keys, way = list(dict.fromkeys(statement.groups)), order.direction
    elif statement.distinct:
        keys = [each.column for each in statement.outputs if each.column]
    if statement.limit is not None:
        keys = []
    rest = (MeasuredColumn(column=key) for key in keys)
    found = ((each, way) for each in rest if each != order.measure)
    return ((order.measure, order.direction), *found)


def _is_distinct(
    reading: Reading, scope: ColumnScope, order: Order | None, outputs: list[MeasuredColumn]
) -> bool:
    """Whether equal rows are shown once: if asked for, or if values of columns are listed."""
    asked = any(item.distinct for item in reading.items)
    attributes = not scope.named and all(item.kind == "column" for item in reading.items)
    if order is not None and (order.limit is not None or order.measure not in outputs):
        return False
    return asked or attributes
