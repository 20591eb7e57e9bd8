"""What is shown of one row: `column_named` by the question, or `told_columns`, the most telling.

First what names the row, then the rows it refers to by their names, then dates, numbers, texts.
"""

import re
from collections.abc import Iterator, Sequence

from redask.core.planning.plan_schema import ForeignKey, PlanTable
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.trees import ColumnOf

OPENING = frozenset(
    """a about an are can display details everything find for get give information is list look me
    of on open please print pull row show see tell the up was what what's which who you""".split()
)
OF = frozenset("of for on in from".split())
MOST_WORDS = 4  # of a table's or a column's name
_ID = re.compile(r"_?(?:id|ID|Id)\Z")


def column_named(words: Sequence[QuestionWord], table: PlanTable, linker: Linker) -> str | None:
    """The column of a table that words name, which end in "of" or the like."""
    while words and words[-1].low == "the":
        words = words[:-1]
    if len(words) < 2 or words[-1].low not in OF or len(words) > MOST_WORDS + 1:
        return None
    links = linker.columns_named([word.stem for word in words[:-1]])
    mine = [link for link in links if link.table == table.name and link.cost <= 1]
    best = [link.column for link in mine if link.cost == mine[0].cost]
    return best[0] if len(best) == 1 else None


def told_columns(table: PlanTable, linker: Linker) -> Iterator[str]:
    """The columns of a row as expressions, those that tell most first."""
    scope = ColumnScope(linker, table.name, (table.name,), ())
    names = [column.name for column in naming(scope, table.name)]
    yield from map(sql_text.identifier, names)
    refers = {
        key.columns[0]: key
        for key in linker.keys_of[table.name]
        if key.table == table.name and len(key.columns) == 1
    }
    ranked: list[tuple[int, str]] = []
    for column in table.columns:
        place = ColumnOf(table.name, column.name)
        if column.name in names or column.name in table.primary_key:
            continue
        if column.name in refers:
            ranked.append((0, _referred(refers[column.name], linker)))
        else:
            rank = 1 if scope.is_moment(place) else 2 if scope.is_number(place) else 3
            ranked.append((rank, sql_text.identifier(column.name)))
    yield from (shown for _, shown in sorted(ranked, key=lambda each: each[0]))
    if not names and not ranked:
        yield from map(sql_text.identifier, table.primary_key)


def _referred(key: ForeignKey, linker: Linker) -> str:
    """The name of the row that a key refers to, or the key where that row has no name."""
    own = sql_text.identifier(key.columns[0])
    named = naming(ColumnScope(linker, key.to_table, (key.to_table,), ()), key.to_table)
    if not named:
        return own
    text = " || ' ' || ".join(f"referred.{sql_text.identifier(each.name)}" for each in named)
    theirs = f"referred.{sql_text.identifier(key.to_columns[0])}"
    source = f"{sql_text.identifier(key.to_table)} AS referred"
    label = _ID.sub("", key.columns[0]) or key.columns[0]
    test = f"{theirs} = {sql_text.identifier(key.table)}.{own}"
    return f"(SELECT {text} FROM {source} WHERE {test}) AS {sql_text.identifier(label)}"
