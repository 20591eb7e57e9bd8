"""A number that one row holds, asked like a count: `quantity_statement(words, linker, values)`.

    question                                        statement
    how many bags are in FDD-12313?                 the column `bags` of the row with that key
    how many bags does order FDD-12313 have?        the same; a key that is a number needs its table

Only where one table has the key, and the words for what is counted name a number of that table and
no table. Anything else in the question: None.
"""

from collections.abc import Sequence

from redask.core.planning.direct.named_rows import NamedRow, row_at_end
from redask.core.planning.plan import Certain
from redask.core.planning.plan_schema import ValueIndex
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord, identifier_words
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.trees import ColumnOf, Literal
from redask.core.planning.value_text import normalised

_AUXILIARIES = frozenset("are is were was does do did has have had".split())
_BEFORE = frozenset("there in on of for at the with inside".split())
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
    if not asked or not rest or linker.tables_named(stems):
        return None
    row = _row(rest, linker, values)
    column = _quantity(stems, row, linker) if row else None
    if row is None or column is None:
        return None
    source = f"FROM {sql_text.identifier(row.table.name)} WHERE {row.where}"
    return Certain(f"SELECT {sql_text.identifier(column)} {source}", "row", 1.0, ())


def _row(words: Sequence[QuestionWord], linker: Linker, values: ValueIndex) -> NamedRow | None:
    """The row that these words name and nothing else: by its key, or by its table and key."""
    if len(words) > 1:
        found = row_at_end(words, linker, values)
        return found[0] if found and not found[1] else None
    text = normalised(words[0].text)
    held = values.find([text]).get(text, ()) if text else ()
    rows = [
        NamedRow(table, each.column, sql_text.literal(Literal(each.value)))
        for each in held
        if (table := linker.tables[each.table]).primary_key == (each.column,)
    ]
    return rows[0] if len(rows) == 1 else None


def _quantity(stems: Sequence[str], row: NamedRow, linker: Linker) -> str | None:
    """The one column of the row's table that holds the number."""
    scope = ColumnScope(linker, row.table.name, (row.table.name,), ())
    found = [
        link.column
        for link in linker.columns_named(stems)
        if link.table == row.table.name and link.cost <= 1
    ]
    if len(found) != 1 or "id" in identifier_words(found[0]):
        return None
    return found[0] if scope.is_number(ColumnOf(row.table.name, found[0])) else None
