"""Who or what a row refers to, asked by its name: `referred_statement(words, linker, values)`.

    question                                  statement
    who is the manager of Kim Park?           the column `manager_id` of that row, told by the name
    who is Kim Park's manager?                of the row that it refers to
    who manages Kim Park?                     the same: the verb of the column
    which projects does Ana Silva lead?       the rows that refer to that row, by their names

Only where one row is meant, and one key. Anything else in the question: None.
"""

from collections.abc import Sequence
from dataclasses import replace

from redask.core.planning.direct.row_columns import shown_name
from redask.core.planning.direct.rows_by_name import rows_named
from redask.core.planning.plan import Certain
from redask.core.planning.plan_schema import ValueIndex
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord, identifier_words
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.told_results import label
from redask.core.planning.statement.trees import (
    ColumnOf,
    Comparison,
    Existence,
    KeyStep,
    MeasuredColumn,
    Statement,
)

_IS = frozenset("is was are were".split())
_OWNED = ("'s", "’s")
_DOES = frozenset("do does did".split())
_DOERS = ("", "r", "er", "or")
_LEAST, _MOST = 3, 12  # words of such a question


def referred_statement(
    words: Sequence[QuestionWord], linker: Linker, values: ValueIndex
) -> Certain | None:
    """The plan; None: no such question."""
    lows = [word.low for word in words]
    if not _LEAST <= len(words) <= _MOST:
        return None
    if lows[0] == "which":
        return _referring(words, lows, linker, values)
    if lows[0] not in ("who", "what"):
        return None
    parts = _parts(words, lows)
    if parts is None:
        return None
    asked, named, is_verb = parts
    found = [
        (row, key.columns[0])
        for row in rows_named(named, linker, values)
        for key in linker.keys_of[row.table.name]
        if key.table == row.table.name
        and len(key.columns) == 1
        and _is_meant(key.columns[0], asked, is_verb)
    ]
    if len(found) != 1:
        return None
    row, column = found[0]
    name = shown_name(column, row.table, linker, ())
    if name is None:
        return None
    source = f"FROM {sql_text.identifier(row.table.name)} WHERE {row.where}"
    statement = f"SELECT {sql_text.identifier(column)} {source}"
    return Certain(statement, "row", 1.0, (), None, f"SELECT {name} {source}")


def _referring(
    words: Sequence[QuestionWord], lows: Sequence[str], linker: Linker, values: ValueIndex
) -> Certain | None:
    """The rows of the table that is named which refer to the row that is named."""
    at = next((place for place, low in enumerate(lows) if low in _DOES), 0)
    noun, named = words[1:at], _bare(words[at + 1 : -1])
    if not noun or not named:
        return None
    tables = [link.table for link in linker.tables_named([word.stem for word in noun])]
    found = [
        (key, row)
        for row in rows_named(named, linker, values)
        for key in linker.keys_of[row.table.name]
        if key.table in tables and key.to_table == row.table.name != key.table
        if len(key.columns) == 1 and _is_meant(key.columns[0], [words[-1].stem], True)
    ]
    if len(found) != 1:
        return None
    key, row = found[0]
    names = naming(ColumnScope(linker, key.table, (key.table,), ()), key.table)
    if not names:
        return None
    mine, theirs = (ColumnOf(key.table, key.columns[0]), ColumnOf(key.to_table, key.to_columns[0]))
    test = Comparison(ColumnOf(row.table.name, row.key), "=", row.value)
    step = KeyStep(row.table.name, ((mine, theirs),))
    outputs = tuple(MeasuredColumn(column=name) for name in names)
    statement = Statement(outputs, key.table, where=(Existence((step,), (test,)),))
    return Certain(sql_text.write(statement), "filter", 1.0, ())


def _parts(
    words: Sequence[QuestionWord], lows: Sequence[str]
) -> tuple[list[str], Sequence[QuestionWord], bool] | None:
    """The stems of what is asked, the words that name the row, and whether a verb asks."""
    if lows[1] not in _IS:
        return ([words[1].stem], _bare(words[2:]), True) if lows[0] == "who" else None
    body, low = words[2:], lows[2:]
    if "of" in low:
        asked, named = body[: low.index("of")], body[low.index("of") + 1 :]
    else:
        at = next((place for place, each in enumerate(low) if each.endswith(_OWNED)), len(low))
        if at == len(low):
            return None
        owner = replace(body[at], text=body[at].text[: -len("'s")])
        named, asked = [*body[:at], owner], body[at + 1 :]
    asked = _bare(asked)
    return ([word.stem for word in asked], _bare(named), False) if asked and named else None


def _bare(words: Sequence[QuestionWord]) -> Sequence[QuestionWord]:
    return words[1:] if words and words[0].low in ("the", "a", "an") else words


def _is_meant(column: str, asked: Sequence[str], is_verb: bool) -> bool:
    """Whether a column that refers to a row is named, or is who does what the verb says."""
    stems = list(identifier_words(label(column)))
    if not is_verb:
        return stems == list(asked)
    return len(stems) == 1 and stems[0] in [f"{asked[0]}{doer}" for doer in _DOERS]
