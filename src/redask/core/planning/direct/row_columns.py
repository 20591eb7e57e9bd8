"""What is shown of one row: `column_named` by the question, or `told_columns`, the most telling.

First what names the row, then the rows it refers to by their names, then dates, numbers, texts.
"""

from collections.abc import Iterator, Sequence

from redask.core.planning.plan_schema import ForeignKey, PlanTable
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord, identifier_words
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.told_results import is_key_asked, label, referred
from redask.core.planning.statement.trees import ColumnOf

OPENING = frozenset(
    """a about an are can display details everything find for get give information is list look me
    of on open please print pull row show see tell the up was what what's which who you""".split()
)
OF = frozenset("of for on in from".split())
MOST_WORDS = 4  # of a table's or a column's name


def column_named(words: Sequence[QuestionWord], table: PlanTable, linker: Linker) -> str | None:
    """The column of a table that words name, which end in "of" or the like.

    A column that refers to a row may be named without the word that says it is a key.
    """
    while words and words[-1].low == "the":
        words = words[:-1]
    if len(words) < 2 or words[-1].low not in OF or len(words) > MOST_WORDS + 1:
        return None
    stems = [word.stem for word in words[:-1]]
    links = linker.columns_named(stems)
    mine = [link for link in links if link.table == table.name and link.cost <= 1]
    best = [link.column for link in mine if link.cost == mine[0].cost] or [
        key.columns[0]
        for key in linker.keys_of[table.name]
        if key.table == table.name
        and len(key.columns) == 1
        and list(identifier_words(label(key.columns[0]))) == stems
    ]
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
            ranked.append((0, referred_name(refers[column.name], linker)))
        else:
            rank = 1 if scope.is_moment(place) else 2 if scope.is_number(place) else 3
            ranked.append((rank, sql_text.identifier(column.name)))
    yield from (shown for _, shown in sorted(ranked, key=lambda each: each[0]))
    if not names and not ranked:
        yield from map(sql_text.identifier, table.primary_key)


def shown_name(
    column: str, table: PlanTable, linker: Linker, words: Sequence[QuestionWord]
) -> str | None:
    """What names the row that a column refers to; None where the key is asked for, or is all."""
    if is_key_asked(word.low for word in words):
        return None
    for key in linker.keys_of[table.name]:
        if (key.table, key.columns) == (table.name, (column,)):
            named = referred(key, linker)
            return sql_text.output(named) if named else None
    return None


def referred_name(key: ForeignKey, linker: Linker) -> str:
    """The name of the row that a key refers to, or the key where that row has no name."""
    named = referred(key, linker)
    return sql_text.identifier(key.columns[0]) if named is None else sql_text.output(named)
