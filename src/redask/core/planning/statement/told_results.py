"""The result of a statement as it is told: `told(statement, linker, words)`, a second SELECT.

    the statement                            is told with
    keeps the most, the least, the top n     the number that they were ranked by, as one more column
    shows a column that refers to a row      what names that row, where the caller may read it
    counts from the newest date of a column  the month or year that was meant, as COUNTED_IN

The rows are the same, in the same order. None: there is nothing to add. Who asks for an id, a code
or a number gets that. The statement itself stays what proves the answer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from redask.core.planning.plan_schema import ForeignKey
from redask.core.planning.question.linking import Linker
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.trees import (
    ColumnOf,
    Existence,
    MeasuredColumn,
    NewestPeriod,
    Recent,
    ReferredName,
    Statement,
    Tally,
    Test,
)

COUNTED_IN = "counted_in"
_KEYS = frozenset("id ids number numbers code codes key keys".split())
_ID = frozenset(["id", "code", "key", "no"])
_SAID = {"avg": "average", "sum": "total", "max": "largest", "min": "smallest"}


def told(statement: Statement, linker: Linker, words: Iterable[str]) -> str | None:
    """The SELECT, or None; `words` are those of the question, in lower case."""
    if statement.outputs[0].aggregate in sql_text.SHARES:
        return None
    outputs = list(statement.outputs)
    if not is_key_asked(words) and not (statement.distinct and statement.order):
        outputs = [_named(each, linker) for each in outputs]
    outputs += _ranked_by(statement)
    periods = list(_periods(statement.where))
    if len(periods) == 1 and not statement.groups and not statement.distinct:
        outputs.append(MeasuredColumn(name=periods[0], label=COUNTED_IN))
    if tuple(outputs) == statement.outputs:
        return None
    return sql_text.write(replace(statement, outputs=tuple(outputs)))


def is_key_asked(words: Iterable[str]) -> bool:
    """Whether the words of a question ask for keys as they are."""
    return not _KEYS.isdisjoint(words)


# --- rows that columns refer to -------------------------------------------------------------


def referred(key: ForeignKey, linker: Linker) -> MeasuredColumn | None:
    """What names the row that a key of one column refers to; None where nothing does."""
    names = naming(ColumnScope(linker, key.to_table, (key.to_table,), ()), key.to_table)
    if not names or len(key.columns) != 1:
        return None
    own = ColumnOf(key.table, key.columns[0])
    target = ColumnOf(key.to_table, key.to_columns[0])
    return MeasuredColumn(column=own, name=ReferredName(own, target, names), label=label(own.name))


def label(name: str) -> str:
    """The name of a column without the word that says it is a key: `SupportRepId` → SupportRep."""
    for suffix in sorted(_ID):
        for written in (f"_{suffix}", f"_{suffix.upper()}", suffix.capitalize(), suffix.upper()):
            if name.endswith(written) and len(name) > len(written) + 1:
                return name[: -len(written)]
    return name


def _named(output: MeasuredColumn, linker: Linker) -> MeasuredColumn:
    column = output.column
    if column is None or output.aggregate:
        return output
    keys = [
        key
        for key in linker.keys_of[column.table]
        if (key.table, key.columns) == (column.table, (column.name,))
    ]
    named = referred(keys[0], linker) if len(keys) == 1 else None
    is_name = named and naming(ColumnScope(linker, column.table, (), ()), column.table) == (column,)
    return output if named is None or is_name else named


# --- numbers behind an order, periods --------------------------------------------------------


def _ranked_by(statement: Statement) -> list[MeasuredColumn]:
    """What the rows that are kept were ranked by, unless it is shown."""
    if statement.limit is None:
        return []
    measure = statement.order[0][0]
    if any(replace(each, label="") == measure for each in statement.outputs):
        return []
    if not measure.aggregate:
        return [measure]
    counted = measure.column.name if measure.column else _several(statement.table)
    said = _SAID.get(measure.aggregate)
    return [replace(measure, label=f"{said}_{counted}" if said else counted)]


def _several(table: str) -> str:
    """The name of a table, as of many."""
    if table.endswith("y") and table[-2:-1] not in "aeiou":
        return f"{table[:-1]}ies"
    return table if table.endswith("s") else f"{table}s"


def _periods(tests: Iterable[Test]) -> Iterator[NewestPeriod]:
    for test in tests:
        if isinstance(test, Recent):
            yield NewestPeriod(test.column, test.unit, test.back)
        elif isinstance(test, Existence | Tally):
            yield from _periods(test.tests)
