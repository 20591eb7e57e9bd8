"""The first, the last, the most of a column that a verb names: `ranked_statement(words, linker)`.

    question                                           statement
    who was hired first? which ticket was opened last? the names, by the one date with that verb
    who earns the most? which boat weighs the least?   the names, by the one number for that verb

Only where one table has such a column, and a name for its rows. Anything else: None.
"""

from collections.abc import Sequence

from redask.core.planning.plan import Certain
from redask.core.planning.question import cues
from redask.core.planning.question.linking import SYNONYM_COST, Linker
from redask.core.planning.question.words import QuestionWord, identifier_words
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.told_results import told
from redask.core.planning.statement.trees import ColumnOf, MeasuredColumn, Statement

_WAS = frozenset("was were is".split())
_BY_TIME = {"first": "asc", "last": "desc"}
_BY_NUMBER = {"most": "desc", "least": "asc"}
_MOST_WORDS = 8


def ranked_statement(words: Sequence[QuestionWord], linker: Linker) -> Certain | None:
    """The plan; None: no such question."""
    kept = [word for word in words if word.low != "the"]
    lows = [word.low for word in kept]
    if not 3 <= len(kept) <= _MOST_WORDS or lows[0] not in ("who", "which"):
        return None
    verb, tail = kept[-2], lows[-1]
    if tail in _BY_TIME and lows[-3] in _WAS:
        columns, direction, noun = _moments(verb, linker), _BY_TIME[tail], kept[1:-3]
    elif tail in _BY_NUMBER and verb.stem in cues.SYNONYMS:
        columns, direction, noun = _numbers(verb, linker), _BY_NUMBER[tail], kept[1:-2]
    else:
        return None
    if bool(noun) != (lows[0] == "which"):
        return None
    tables = {link.table for link in linker.tables_named([word.stem for word in noun])}
    meant = [column for column in columns if not noun or column.table in tables]
    if len(meant) != 1:
        return None
    names = naming(_scope(meant[0].table, linker), meant[0].table)
    if not names:
        return None
    statement = Statement(
        tuple(MeasuredColumn(column=name) for name in names),
        meant[0].table,
        order=((MeasuredColumn(column=meant[0]), direction),),
        limit=1,
    )
    return Certain(sql_text.write(statement), "top", 1.0, (), None, told(statement, linker, lows))


def _moments(verb: QuestionWord, linker: Linker) -> list[ColumnOf]:
    """The dates whose names have the verb: hired, hire_date."""
    return [
        place
        for table in linker.schema.tables
        for column in table.columns
        if verb.stem in identifier_words(column.name)
        and _scope(table.name, linker).is_moment(place := ColumnOf(table.name, column.name))
    ]


def _numbers(verb: QuestionWord, linker: Linker) -> list[ColumnOf]:
    """The numbers that the verb asks for: earns, salary."""
    return [
        place
        for link in linker.columns_named([verb.stem])
        if link.cost <= SYNONYM_COST
        and _scope(link.table, linker).is_number(place := ColumnOf(link.table, link.column))
    ]


def _scope(table: str, linker: Linker) -> ColumnScope:
    return ColumnScope(linker, table, (table,), ())
