"""What a statement may miss though every word of the question is accounted for: `other_meaning`.

    question                                  the statement            what else it may mean
    how many orders has Acme booked?          status = 'booked'        a verb: all that Acme booked
    who is the highest paid driver?           max(salary)              a name
    total mrr                                 a sum over currencies    one for each currency
    shipments over 1.500 euro                 > 1.500                  > 1500
    closed tickets; which vendors auto-renew? the column's values      the rows for which it holds
    which driver made the fewest trips?       of those who made any    one who made none

Such a statement is not run: it would prove a wrong number.
"""

import re

from redask.core.planning.question import cues
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.phrases import Phrases
from redask.core.planning.question.words import identifier_words, stem
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.trees import (
    ColumnOf,
    Comparison,
    Existence,
    Junction,
    Membership,
    Statement,
    Test,
)
from redask.core.planning.value_text import normalised

_DOING, _HAVING = frozenset("did does do".split()), frozenset("has have had".split())
_PARTICIPLES = frozenset(
    "lost sent paid sold bought made done broken taken given written won held left kept".split()
)
_BEFORE_STATES = frozenset(
    "is are was were be been being not in on at of from for by with to as the a an".split()
)
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_CURRENCY = stem("currency")
_MONEY = cues.MONEY_NOUNS | frozenset(
    stem(word) for word in "mrr arr spend spending income turnover profit sales".split()
)


def other_meaning(statement: Statement, phrases: Phrases, linker: Linker) -> str | None:
    """What of the question is open; None: nothing that is known of."""
    return (
        _verb_as_value(statement, phrases)
        or _person_as_number(statement, phrases)
        or _mixed_currencies(statement, linker)
        or _thousands(statement)
        or _condition_as_column(statement, phrases, linker)
        or _fewest(statement, linker)
    )


def _verb_as_value(statement: Statement, phrases: Phrases) -> str | None:
    """The last word, if it is a stored value and what somebody has done."""
    words = [word for word in phrases.words if word.kind != "mark"]
    if len(words) < 4 or not words[-1].text.islower() or words[-2].low in _BEFORE_STATES:
        return None
    if any(phrases.columns[phrases.words.index(words[-2])]):
        return None  # "the status booked"
    before, last = {word.low for word in words[:-1]}, words[-1].low
    has_done = last.endswith("ed") or last in _PARTICIPLES
    if not (_DOING & before or (_HAVING & before and has_done)):
        return None
    said = normalised(words[-1].text)
    stored = (normalised(each) for each in _texts(statement.where))
    return words[-1].text if said in stored else None


def _person_as_number(statement: Statement, phrases: Phrases) -> str | None:
    """ "who", or "paid" of "the lowest paid driver", if only a number is shown."""
    aggregates = {each.aggregate for each in statement.outputs}
    if "" in aggregates:
        return None
    words = [word.low for word in phrases.words]
    if words[0] == "who":
        return "who"
    return "paid" if "paid" in words and aggregates <= {"min", "max"} else None


def _mixed_currencies(statement: Statement, linker: Linker) -> str | None:
    """The currency's column, if amounts of several are added up or averaged."""
    summed = [each.column for each in statement.outputs if each.aggregate in ("sum", "avg")]
    summed += [each.column for each, _ in statement.order if each.aggregate in ("sum", "avg")]
    known = {*statement.groups, *_tested(statement.where)}
    for column in summed:
        if column is None or not _MONEY & set(identifier_words(column.name)):
            continue
        for other in linker.tables[column.table].columns:
            is_currency = identifier_words(other.name)[-1:] == (_CURRENCY,)
            if (
                is_currency
                and other.distinct > 1
                and ColumnOf(column.table, other.name) not in known
            ):
                return other.name
    return None


def _thousands(statement: Statement) -> str | None:
    """A number that is a decimal in one country, and thousands in another."""
    return next((text for text in _texts(statement.where) if _THOUSANDS.fullmatch(text)), None)


def _condition_as_column(statement: Statement, phrases: Phrases, linker: Linker) -> str | None:
    """The only column that is shown, if it is a yes or no, or "closed" before "tickets"."""
    if len(statement.outputs) != 1 or statement.outputs[0].aggregate:
        return None
    column = statement.outputs[0].column
    if column is None:
        return None
    if linker.columns[column.table, column.name].flag and phrases.words[0].low == "which":
        return column.name
    scope = ColumnScope(linker, column.table, (column.table,), ())
    for at, word in enumerate(phrases.words[:-1]):
        is_shown = word.stem in identifier_words(column.name) and word.low.endswith("ed")
        if is_shown and phrases.tables[at + 1] and not _is_name(column, scope):
            return word.text
    return None


def _is_name(column: ColumnOf, scope: ColumnScope) -> bool:
    return not scope.is_moment(column) and not scope.linker.columns[column.table, column.name].nulls


def _fewest(statement: Statement, linker: Linker) -> str | None:
    """What rows refer to, if those with the fewest are sought: some may have none."""
    ascending = [each for each, way in statement.order if way == "asc"]
    if not statement.limit or not any(each.aggregate == "count" for each in ascending):
        return None
    referring = [
        ColumnOf(key.table, key.columns[0])
        for key in linker.keys_of[statement.table]
        if key.table == statement.table
    ]
    is_referred = any(column in statement.groups for column in referring)
    return f"whether those without {statement.table} count" if is_referred else None


def _texts(tests: tuple[Test, ...]) -> list[str]:
    """The literals of tests."""
    found: list[str] = []
    for test in tests:
        match test:
            case Comparison(literal=literal):
                found.append(literal.text)
            case Membership(literals=literals):
                found += [each.text for each in literals]
            case Existence(tests=inner) | Junction(parts=inner):
                found += _texts(inner)
            case _:
                pass
    return found


def _tested(tests: tuple[Test, ...]) -> list[ColumnOf]:
    """The columns that are tested for equality."""
    found: list[ColumnOf] = []
    for test in tests:
        match test:
            case Comparison(column=column, op="=") | Membership(column=column, negative=False):
                found.append(column)
            case Junction(parts=inner):
                found += _tested(inner)
            case _:
                pass
    return found
