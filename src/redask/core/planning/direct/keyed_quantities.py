"""A number that one row holds, asked like a count: `quantity_statement(words, linker, values)`.

    question                                        statement
    how many bags are in FDD-12313?                 the column `bags` of the row with that key
    how many bags does order FDD-12313 have?        the same; a key that is a number needs its table
    how many seats does (the room) Elbe have?       the column `seats` of the row with that name

Only where one table has the key, and the words for what is counted name a number of that table and
no table. "How many floors" is not the column `floor`, which is no count. A name is what names the
table's rows, or its only text, and no two rows have it. Anything else in the question: None.
"""

from collections.abc import Sequence

from redask.core.planning.direct.named_rows import NamedRow, row_at_end
from redask.core.planning.direct.row_columns import MOST_WORDS
from redask.core.planning.plan import Certain
from redask.core.planning.plan_schema import PlanTable, ValueIndex
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord, identifier_words
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.trees import ColumnOf, Literal
from redask.core.planning.value_text import normalised

_AUXILIARIES = frozenset("are is were was does do did has have had".split())
_BEFORE = frozenset("there in on of for at the with inside".split())
_TEXTS = frozenset("text varchar bpchar".split()) | {"character varying", "character"}
_BEHIND = frozenset("have has had contain contains hold holds include includes there".split())


def quantity_statement(
    words: Sequence[QuestionWord], linker: Linker, values: ValueIndex
) -> Certain | None:
    """The plan; None: no such question."""
    lows = [word.low for word in words]
    if lows[:2] not in (["how", "many"], ["how", "much"]):
        return None
    end = next((place for place, low in enumerate(lows) if low in _AUXILIARIES), len(words))
    asked, rest = words[2:end], list(words[end + 1 :])
    while rest and rest[0].low in _BEFORE:
        del rest[0]
    while rest and rest[-1].low in _BEHIND:
        del rest[-1]
    stems = [word.stem for word in asked]
    ending = asked[-1].low if asked and lows[1] == "many" else ""
    if not asked or not rest or linker.tables_named(stems):
        return None
    found = [
        (row, column)
        for row in _rows(rest, linker, values)
        if (column := _quantity(stems, ending, row, linker))
    ]
    if len(found) != 1:
        return None
    row, column = found[0]
    source = f"FROM {sql_text.identifier(row.table.name)} WHERE {row.where}"
    return Certain(f"SELECT {sql_text.identifier(column)} {source}", "row", 1.0, ())


def _rows(words: Sequence[QuestionWord], linker: Linker, values: ValueIndex) -> list[NamedRow]:
    """The rows that these words name and nothing else, by key or name, their table before it."""
    if len(words) > 1 and (found := row_at_end(words, linker, values)):
        return [] if found[1] else [found[0]]
    start, tables = _table_before(words, linker)
    text = normalised(" ".join(word.text for word in words[start:]))
    held = values.find([text]).get(text, ()) if text else ()
    return [
        NamedRow(table, each.column, sql_text.literal(Literal(each.value)))
        for each in held
        if (table := linker.tables[each.table]).name in tables or not start
        if (each.column,) in (table.primary_key, _name(table, linker))
    ]


def _table_before(words: Sequence[QuestionWord], linker: Linker) -> tuple[int, frozenset[str]]:
    """How many of the first words name tables, and which; 0: none do."""
    for start in range(min(MOST_WORDS, len(words) - 1), 0, -1):
        links = linker.tables_named([word.stem for word in words[:start]])
        if tables := frozenset(link.table for link in links if link.cost == 0):
            return start, tables
    return 0, frozenset()


def _name(table: PlanTable, linker: Linker) -> tuple[str, ...]:
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


def _quantity(stems: Sequence[str], spelt: str, row: NamedRow, linker: Linker) -> str | None:
    """The one column of the row's table that holds the number, and ends as it is spelt."""
    scope = ColumnScope(linker, row.table.name, (row.table.name,), ())
    found = [
        link.column
        for link in linker.columns_named(stems)
        if link.table == row.table.name and link.cost <= 1
    ]
    if len(found) != 1 or "id" in identifier_words(found[0]):
        return None
    column = linker.columns[row.table.name, found[0]]
    if not any(name.lower().endswith(spelt) for name in (column.name, *column.words)):
        return None
    return found[0] if scope.is_number(ColumnOf(row.table.name, found[0])) else None
