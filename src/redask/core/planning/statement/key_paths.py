"""Paths between tables along foreign keys: used only where there is exactly one.

    tables                          path
    linked by one key               that key
    linked by two or more keys      none: nobody said which is meant
    linked through one table        the two keys, if no other table links them as well
    further apart, or not at all    none

A step to the table that a key refers to keeps the number of rows; a step the other way round may
multiply them (`fans_out`).
"""

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
            return tuple(_step(key, table) for key, table in found[0])
        if found:
            raise Doubt("ambiguous", f"how {source} and {target} are linked")
        ways = longer[:200]
    raise Doubt("not_computable", f"how {source} and {target} are linked")


def _end(way: tuple[tuple[ForeignKey, str], ...], source: str) -> str:
    return way[-1][1] if way else source


def _passed(way: tuple[tuple[ForeignKey, str], ...], source: str) -> set[str]:
    return {source, *(table for _, table in way)}


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


def joined(linker: Linker, first: str, others: list[str]) -> tuple[Step, ...]:
    """The steps that bring all tables in, each once."""
    steps: dict[str, Step] = {}
    for other in others:
        for step in steps_between(linker, first, other):
            steps[step.table] = step  # the only shortest ways from one table are a tree
    return tuple(steps.values())
