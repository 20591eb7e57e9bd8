"""Paths between tables along foreign keys: used only where there is exactly one.

    tables                          path
    linked by one key               that key
    linked by two or more keys      none: nobody said which is meant
    linked through other tables     the keys, if no other way is as short
    linked by what both refer to    none: students and courses of a department need not meet
    further apart, or not at all    none

A step to the table that a key refers to keeps the number of rows; a step the other way round may
multiply them (`fans_out`).
"""

from itertools import pairwise

from redask.core.planning.plan_schema import ForeignKey
from redask.core.planning.question.linking import Linker
from redask.core.planning.statement.trees import Column, Step

_LONGEST = 3


class Doubt(Exception):
    """A reading that does not hold: `kind` of refusal and what it is about."""

    def __init__(self, kind: str, about: str = "") -> None:
        super().__init__(kind, about)
        self.kind = kind
        self.about = about


def steps_between(linker: Linker, source: str, target: str) -> tuple[Step, ...]:
    """The only shortest way from one table to another; `Doubt` where there is none, or two."""
    if source == target:
        return ()
    ways: list[tuple[tuple[ForeignKey, str], ...]] = [()]
    for _ in range(_LONGEST):
        longer = [
            (*way, (key, _other(key, _end(way, source))))
            for way in ways
            for key in linker.keys_of[_end(way, source)]
            if _other(key, _end(way, source)) not in _passed(way, source)
        ]
        found = [way for way in longer if _end(way, source) == target]
        if len(found) == 1:
            if _meets(linker, found[0]):
                raise Doubt("ambiguous", f"how {source} and {target} are linked")
            return tuple(_step(key, table) for key, table in found[0])
        if found:
            raise Doubt("ambiguous", f"how {source} and {target} are linked")
        ways = longer[:200]
    raise Doubt("not_computable", f"how {source} and {target} are linked")


def _end(way: tuple[tuple[ForeignKey, str], ...], source: str) -> str:
    return way[-1][1] if way else source


def _passed(way: tuple[tuple[ForeignKey, str], ...], source: str) -> set[str]:
    return {source, *(table for _, table in way)}


def _meets(linker: Linker, way: tuple[tuple[ForeignKey, str], ...]) -> bool:
    """Whether rows of a way have nothing in common but that both refer to the same row."""
    return any(
        table == key.to_table
        and table == after.to_table
        and not (_is_unique(linker, key) or _is_unique(linker, after))
        for (key, table), (after, _) in pairwise(way)
    )


def _is_unique(linker: Linker, key: ForeignKey) -> bool:
    """Whether no two rows refer to the same one: then the rows say more of that one."""
    table = linker.tables[key.table]
    return len(key.columns) == 1 and (
        linker.columns[key.table, key.columns[0]].distinct == table.rows
    )


def _other(key: ForeignKey, table: str) -> str:
    return key.to_table if key.table == table else key.table


def _step(key: ForeignKey, table: str) -> Step:
    pairs = tuple(
        (Column(key.table, mine), Column(key.to_table, theirs))
        for mine, theirs in zip(key.columns, key.to_columns, strict=True)
    )
    if table == key.table:
        return Step(table, tuple((theirs, mine) for mine, theirs in pairs))
    return Step(table, pairs)


def fans_out(linker: Linker, step: Step) -> bool:
    """Whether a step may give more than one row for a row: its columns are no key of its table."""
    return {right.name for _, right in step.pairs} != set(linker.tables[step.table].primary_key)


def leaves_out(linker: Linker, step: Step) -> bool:
    """Whether a step back along a key finds nothing for some rows."""
    left, right = step.pairs[0]
    found = linker.columns[right.table, right.name].distinct
    return len(step.pairs) > 1 or linker.tables[left.table].rows > found


def joined(linker: Linker, first: str, others: list[str]) -> tuple[Step, ...]:
    """The steps that bring all tables in, each once."""
    steps: dict[str, Step] = {}
    for other in others:
        for step in steps_between(linker, first, other):
            steps[step.table] = step  # the only shortest ways from one table are a tree
    return tuple(steps.values())
