"""A number that one row holds, asked like a count: `quantity_statement(words, linker, values)`.

    question                                        statement
    how many bags are in FDD-12313?                 the column `bags` of the row with that key
    how many bags does order FDD-12313 have?        the same; a key that is a number needs its table
    how many seats does (the room) Elbe have?       the column `seats` of the row with that name
    how much does Cara Diaz earn?                   the column that the verb measures: `salary`

Only where one table has the key, and the words for what is counted name a number of that table and
no table. "How many floors" is not the column `floor`, which is no count. Names are those of
`rows_by_name`. Anything else in the question: None.
"""

from collections.abc import Sequence

from redask.core.planning.direct.named_rows import NamedRow
from redask.core.planning.direct.rows_by_name import rows_named
from redask.core.planning.plan import Certain
from redask.core.planning.plan_schema import ValueIndex
from redask.core.planning.question.linking import SYNONYM_COST, Linker
from redask.core.planning.question.words import QuestionWord, identifier_words
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.trees import ColumnOf

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
    asked, rest = list(words[2:end]), list(words[end + 1 :])
    while rest and rest[0].low in _BEFORE:
        del rest[0]
    while rest and rest[-1].low in _BEHIND:
        del rest[-1]
    if lows[1] == "much" and end == 2 and len(rest) > 1:  # how much does NAME earn
        asked = [rest.pop()]
    stems = [word.stem for word in asked]
    ending = asked[-1].low if asked and lows[1] == "many" else ""
    if not asked or not rest or linker.tables_named(stems):
        return None
    found = [
        (row, column)
        for row in rows_named(rest, linker, values)
        if (column := _quantity(stems, ending, row, linker))
    ]
    if len(found) != 1:
        return None
    row, column = found[0]
    source = f"FROM {sql_text.identifier(row.table.name)} WHERE {row.where}"
    return Certain(f"SELECT {sql_text.identifier(column)} {source}", "row", 1.0, ())


def _quantity(stems: Sequence[str], spelt: str, row: NamedRow, linker: Linker) -> str | None:
    """The one column of the row's table that holds the number, and ends as it is spelt."""
    scope = ColumnScope(linker, row.table.name, (row.table.name,), ())
    found = [
        link.column
        for link in linker.columns_named(stems)
        if link.table == row.table.name and link.cost <= (1 if spelt else SYNONYM_COST)
    ]
    if len(found) != 1 or "id" in identifier_words(found[0]):
        return None
    column = linker.columns[row.table.name, found[0]]
    if not any(name.lower().endswith(spelt) for name in (column.name, *column.words)):
        return None
    return found[0] if scope.is_number(ColumnOf(row.table.name, found[0])) else None
