"""A sum or a count that is not called one: `total_question(question, words, linker)`.

    what was the revenue in May 2026?       What was the total revenue in May 2026?
    revenue by region                       Total revenue per region
    incidents by severity                   How many incidents per severity
    number of incidents per severity        the same

A sum only of a number that people mean added up (`is_additive`), named right behind "what is the",
or as a heading. What is counted is named by its table, and the groups are no numbers and no dates:
"customers by revenue" asks for an order.
"""

from collections.abc import Sequence

from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.output_builder import is_additive
from redask.core.planning.statement.trees import ColumnOf

_IS = frozenset("is was".split())
_MOST_WORDS = 3  # of the column's name


def total_question(question: str, words: Sequence[QuestionWord], linker: Linker) -> str | None:
    """The question with the word that says so; None: it asks for no sum and no count."""
    return _what_is(question, words, linker) or _heading(question, words, linker)


def _what_is(question: str, words: Sequence[QuestionWord], linker: Linker) -> str | None:
    lows = [word.low for word in words]
    if lows[:1] != ["what"] or lows[1:2] == [] or lows[1] not in _IS:
        return None
    first = 3 if lows[2:3] == ["the"] else 2
    for end in range(first + 1, min(first + _MOST_WORDS, len(words)) + 1):
        if _adds_up(words[first:end], linker):
            at = words[first].start
            return f"{question[:at]}total {question[at:]}"
    return None


def _heading(question: str, words: Sequence[QuestionWord], linker: Linker) -> str | None:
    lows = [word.low for word in words]
    first = 2 if lows[:2] in (["number", "of"], ["count", "of"]) else 0
    at = next((place for place, low in enumerate(lows) if low in ("by", "per")), 0)
    named, groups = words[first:at], words[at + 1 :]
    if not named or not groups or len(named) > _MOST_WORDS:
        return None
    said, rest = question[named[0].start : named[-1].end], question[groups[0].start :]
    grouped = linker.columns_named([word.stem for word in groups])
    if any(_is_measured(link.table, link.column, linker) for link in grouped):
        return None
    tables = linker.tables_named([word.stem for word in named])
    if any(link.cost == 0 for link in tables) and named[-1].low.endswith("s"):
        return f"How many {said} per {rest}"
    return f"Total {said} per {rest}" if not first and _adds_up(named, linker) else None


def _adds_up(named: Sequence[QuestionWord], linker: Linker) -> bool:
    links = linker.columns_named([word.stem for word in named])
    return any(_is_summed(link.table, link.column, linker) for link in links if link.cost <= 1)


def _is_measured(table: str, column: str, linker: Linker) -> bool:
    scope, place = ColumnScope(linker, table, (table,), ()), ColumnOf(table, column)
    return scope.is_number(place) or scope.is_moment(place)


def _is_summed(table: str, column: str, linker: Linker) -> bool:
    is_number = ColumnScope(linker, table, (table,), ()).is_number(ColumnOf(table, column))
    return is_number and is_additive(column)
