"""Statements without joins that change nothing: one text for what means the same.

A join to the table that a key refers to is left out if only the key's own columns are used of that
table, and the key is never NULL: the columns that refer to them have the same values.
"""

from dataclasses import fields, is_dataclass, replace
from typing import Any

from redask.core.planning.question.linking import Linker
from redask.core.planning.statement.key_paths import fans_out
from redask.core.planning.statement.trees import ColumnOf, KeyStep, Statement


def is_total(linker: Linker, step: KeyStep) -> bool:
    """Whether a step finds exactly one row for each row: no fan-out, no NULL in the key."""
    if fans_out(linker, step):
        return False
    return all(linker.columns[left.table, left.name].nulls == 0 for left, _ in step.pairs)


def simplified(statement: Statement, linker: Linker) -> Statement:
    """The statement without the joins it does not need."""
    for step in reversed(statement.steps):
        if is_total(linker, step):
            same = {right: left for left, right in step.pairs}
            rest = tuple(each for each in statement.steps if each != step)
            shorter: Statement = _substituted(replace(statement, steps=rest), same)
            if not _mentions(shorter, step.table):
                statement = shorter
    return statement


def _substituted(node: Any, same: dict[ColumnOf, ColumnOf]) -> Any:
    """The tree with columns replaced by others that have the same values."""
    if isinstance(node, ColumnOf):
        return same.get(node, node)
    if isinstance(node, tuple):
        return tuple(_substituted(each, same) for each in node)
    if is_dataclass(node) and not isinstance(node, type):
        parts = {each.name: getattr(node, each.name) for each in fields(node)}
        return replace(node, **{name: _substituted(part, same) for name, part in parts.items()})
    return node


def _mentions(node: Any, table: str) -> bool:
    """Whether a tree uses a column of a table."""
    if isinstance(node, ColumnOf):
        return node.table == table
    if isinstance(node, tuple):
        return any(_mentions(each, table) for each in node)
    if is_dataclass(node) and not isinstance(node, type):
        return any(_mentions(getattr(node, each.name), table) for each in fields(node))
    return False
