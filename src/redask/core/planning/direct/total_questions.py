"""A sum that is not called one: `total_question(question, words, linker)`.

    what was the revenue in May 2026?       What was the total revenue in May 2026?

Only of a number that people mean added up (`is_additive`), named right behind "what is the".
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
    """The question with the word that says so; None: it asks for no sum."""
    lows = [word.low for word in words]
    if lows[:1] != ["what"] or lows[1:2] == [] or lows[1] not in _IS:
        return None
    first = 3 if lows[2:3] == ["the"] else 2
    for end in range(first + 1, min(first + _MOST_WORDS, len(words)) + 1):
        links = linker.columns_named([word.stem for word in words[first:end]])
        best = [link for link in links if link.cost <= 1]
        if any(_is_summed(link.table, link.column, linker) for link in best):
            at = words[first].start
            return f"{question[:at]}total {question[at:]}"
    return None


def _is_summed(table: str, column: str, linker: Linker) -> bool:
    is_number = ColumnScope(linker, table, (table,), ()).is_number(ColumnOf(table, column))
    return is_number and is_additive(column)
