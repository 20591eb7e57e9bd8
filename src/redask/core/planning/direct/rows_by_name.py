"""Rows that a question names by their key or their name: `rows_named(words, linker, values)`.

    words                        rows
    T-1043, ticket T-1043        with that key; a key that is a number needs its table
    Elbe, room Elbe              with that name: what names the rows of the table, or its only
                                 text, where no two rows have the same

Only words that are nothing else: "the cheap ticket T-1043" names none.
"""

from collections.abc import Sequence

from redask.core.planning.direct.named_rows import NamedRow, row_at_end
from redask.core.planning.direct.row_columns import MOST_WORDS
from redask.core.planning.plan_schema import PlanTable, ValueIndex
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.trees import ColumnOf, Literal
from redask.core.planning.value_text import normalised

_TEXTS = frozenset("text varchar bpchar".split()) | {"character varying", "character"}


def rows_named(words: Sequence[QuestionWord], linker: Linker, values: ValueIndex) -> list[NamedRow]:
    """The rows that these words name and nothing else, by key or name, their table before it."""
    if len(words) > 1 and (found := row_at_end(words, linker, values)):
        return [] if found[1] else [found[0]]
    start, tables = _table_before(words, linker)
    text = normalised(" ".join(word.text for word in words[start:]))
    held = values.find([text]).get(text, ()) if text else ()
    return [
        NamedRow(table, each.column, Literal(each.value))
        for each in held
        if each.table in linker.tables  # a question may be asked of some collections only
        if (table := linker.tables[each.table]).name in tables or not start
        if (each.column,) in (table.primary_key, name_column(table, linker))
    ]


def _table_before(words: Sequence[QuestionWord], linker: Linker) -> tuple[int, frozenset[str]]:
    """How many of the first words name tables, and which; 0: none do."""
    for start in range(min(MOST_WORDS, len(words) - 1), 0, -1):
        links = linker.tables_named([word.stem for word in words[:start]])
        if tables := frozenset(link.table for link in links if link.cost == 0):
            return start, tables
    return 0, frozenset()


def name_column(table: PlanTable, linker: Linker) -> tuple[str, ...]:
    """The column that names the rows, or their only text, if no two rows share a value."""
    scope = ColumnScope(linker, table.name, (table.name,), ())
    names = [column.name for column in naming(scope, table.name)]
    texts = [
        each.name
        for each in table.columns
        if scope.type_of(ColumnOf(table.name, each.name)) in _TEXTS
    ]
    unique = {each.name for each in table.columns if each.distinct == table.rows}
    named = names or texts
    return tuple(named) if len(named) == 1 and named[0] in unique else ()
