"""A row that a question names by its table and its key: `row_statement(words, linker, values)`.

    question                                        statement
    invoice 98 · show me ticket T-1043              the row: at most MOST columns
    the total of invoice 98 · what is the email     that column alone; one that refers to a row is
    of customer 12?                                 told by what names that row

The table is named by all its words, the key is the table's one key column; a key that is text must
be there, a number may not be. What is left over in the question: None.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.core.planning.direct.row_columns import (
    MOST_WORDS,
    OF,
    OPENING,
    column_named,
    shown_name,
    told_columns,
)
from redask.core.planning.plan import Certain
from redask.core.planning.plan_schema import PlanTable, ValueIndex
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.trees import ColumnOf, Literal
from redask.core.planning.value_text import normalised

MOST = 5
_NUMBER = frozenset("number no nr id key code #".split())
_SILENT = OF | frozenset("the by per a an".split())


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A row: its table, and the value of a column that only this row has."""

    table: PlanTable
    key: str
    value: Literal

    @property
    def where(self) -> str:
        """The condition that only this row meets."""
        return f"{sql_text.identifier(self.key)} = {sql_text.literal(self.value)}"


def row_statement(
    words: Sequence[QuestionWord], linker: Linker, values: ValueIndex
) -> Certain | None:
    """The SELECT of the row, and that of its URN; or of one column alone. None: no such row."""
    found = row_at_end(words, linker, values)
    if found is None:
        return None
    row, before = found
    source = f"FROM {sql_text.identifier(row.table.name)} WHERE {row.where}"
    column = _asked(before, row.table, linker)
    if column is None:
        return None
    if column:
        name = shown_name(column, row.table, linker, before)
        told = f"SELECT {name} {source}" if name else None
        return Certain(f"SELECT {sql_text.identifier(column)} {source}", "row", 1.0, (), None, told)
    shown = list(told_columns(row.table, linker))[:MOST]
    itself = f"SELECT urn {source}" if len(shown) > 1 else None
    return Certain(f"SELECT {', '.join(shown)} {source}", "row", 1.0, (), itself)


def row_at_end(
    words: Sequence[QuestionWord], linker: Linker, values: ValueIndex
) -> tuple[NamedRow, Sequence[QuestionWord]] | None:
    """The row that the end of a question names, and what stands before it."""
    if len(words) < 2:
        return None
    end = len(words) - 1
    if end > 1 and words[end - 1].low in _NUMBER:
        end -= 1
    for start in range(max(0, end - MOST_WORDS), end):
        if words[start].low in _SILENT:
            continue
        stems = [word.stem for word in words[start:end]]
        tables = [link.table for link in linker.tables_named(stems) if link.cost == 0]
        if len(tables) == 1:
            table = linker.tables[tables[0]]
            value = _key_value(words[-1], table, linker, values)
            if value is None:
                return None
            return NamedRow(table, table.primary_key[0], value), words[:start]
    return None


def _key_value(
    token: QuestionWord, table: PlanTable, linker: Linker, values: ValueIndex
) -> Literal | None:
    """A token as a key of the table; None if it is none."""
    if len(table.primary_key) != 1:
        return None
    key = table.primary_key[0]
    scope = ColumnScope(linker, table.name, (table.name,), ())
    if scope.is_number(ColumnOf(table.name, key)):
        is_key = token.kind == "number" and token.text.isdecimal()
        return Literal(token.text, number=True) if is_key else None
    text = normalised(token.text)
    held = values.find([text]).get(text, ()) if text else ()
    here = [each.value for each in held if (each.table, each.column) == (table.name, key)]
    return Literal(here[0]) if len(here) == 1 else None


def _asked(before: Sequence[QuestionWord], table: PlanTable, linker: Linker) -> str | None:
    """The column that is asked for; "" where it is the row, None where it is anything else."""
    rest = [word for word in before if word.kind != "mark"]
    while rest and rest[0].low in OPENING and not column_named(rest, table, linker):
        rest = rest[1:]
    return column_named(rest, table, linker) if rest else ""
