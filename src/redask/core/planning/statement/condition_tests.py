"""Conditions of a reading as tests on columns: values in their stored spelling, types that fit.

    column        =, <>                            < <= > >= between         contains
    text          stored values, quotations        refused                   ILIKE
    number        numbers                          numbers                   refused
    date          a day, month or year as a range  before or after it        refused
    bool          refused                          refused                   refused
    a flag        what it stores for yes or no; no only where it is never NULL

A value without a column is one of the column where it is stored: the only one of the table that
the question is of, else of the tables it names, else the name of what its table refers to
(`employees in Finance`: the department of that name).
"""

from dataclasses import replace
from fractions import Fraction

from redask.core.planning.question.dates import UNDATED
from redask.core.planning.question.name_phrases import ColumnPhrase
from redask.core.planning.question.phrases import ValuePhrase
from redask.core.planning.question.readings import AskedCondition
from redask.core.planning.question.words import identifier_words
from redask.core.planning.statement.column_choice import (
    ColumnScope,
    choose,
    is_plain_moment,
    measured,
    moments,
)
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.periods import period
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.trees import (
    OPPOSITE,
    Against,
    ColumnOf,
    Comparison,
    Existence,
    Junction,
    Literal,
    Match,
    Membership,
    Missing,
    Recent,
    Test,
)

_PARENT, _FAR = 3, 6  # what a value of a table that is not named costs; _FAR: too much


def test_of(condition: AskedCondition, scope: ColumnScope) -> tuple[ColumnOf, Test, int]:
    """The column a condition is about, the test, and the cost of choosing the column."""
    if condition.dimension:
        column, sign = measured(condition.dimension, scope)
        if not scope.is_number(column):
            raise Doubt("not_computable", condition.dimension)
        op = "<" if sign < 0 and condition.op == ">" else condition.op
        return column, _numbers(column, replace(condition, op=op)), 0
    if condition.column is None:
        return _unnamed(condition, scope)
    column, cost = _valued(condition.column, condition, scope)
    if condition.op == "flag":
        return column, _flagged(column, condition.negative, scope), cost
    if condition.op == "present":
        if not scope.linker.columns[column.table, column.name].nulls:
            raise Doubt("not_computable", column.name)
        return column, Missing(column, not condition.negative), cost
    if condition.against:
        if not scope.is_number(column):
            raise Doubt("not_computable", column.name)
        return column, Against(column, _op(condition), condition.against), cost
    return column, _typed(column, condition, scope), cost


def _flagged(column: ColumnOf, negative: bool, scope: ColumnScope) -> Test:
    """A flag is what it stores for yes; it is not so where no is stored, which NULL is not."""
    flag = scope.linker.flag(column.table, column.name)
    if flag is None:
        raise Doubt("not_computable", column.name)
    if negative and scope.linker.columns[column.table, column.name].nulls:
        raise Doubt("ambiguous", f"whether those count of which {column.name} is not known")
    text = flag.no if negative else flag.yes
    return Comparison(column, "=", Literal(text, number=not flag.quoted))


def _valued(
    phrase: ColumnPhrase, condition: AskedCondition, scope: ColumnScope
) -> tuple[ColumnOf, int]:
    """The column of a condition: where its values are stored, if only some columns have them."""
    stored = [
        {(value.table, value.column) for value in phrase_value.stored}
        for phrase_value in condition.values
        if phrase_value.stored and condition.op in ("=", "<>")
    ]
    places = set.intersection(*stored) if stored else set()
    links = tuple(link for link in phrase.links if (link.table, link.column) in places)
    if links and links[0].cost <= phrase.links[0].cost + 4:
        narrowed = ColumnPhrase(phrase.start, phrase.end, links)
        column, cost = choose(narrowed, scope)
        return column, cost + links[0].cost - phrase.links[0].cost
    return choose(phrase, scope)


def _op(condition: AskedCondition) -> str:
    return OPPOSITE[condition.op] if condition.negative else condition.op


def _typed(column: ColumnOf, condition: AskedCondition, scope: ColumnScope) -> Test:
    if condition.joined == "and" and condition.op != "between":
        raise Doubt("ambiguous", "and")
    if scope.is_number(column):
        return _numbers(column, condition)
    if scope.is_moment(column):
        return _range(column, condition)
    if condition.op in ("contain", "start", "end") and scope.type_of(column) == "text":
        return _match(column, condition)
    if condition.op not in ("=", "<>") or scope.type_of(column) != "text":
        raise Doubt("not_computable", column.name)
    texts = [_stored(value, column) for value in condition.values]
    literals = tuple(Literal(text) for each in texts for text in each)
    return _among(column, literals, _op(condition))


def _among(column: ColumnOf, literals: tuple[Literal, ...], op: str) -> Test:
    if len(literals) == 1:
        return Comparison(column, op, literals[0])
    return Membership(column, literals, op == "<>")


def _stored(value: ValuePhrase, column: ColumnOf) -> tuple[str, ...]:
    """The spellings of a value that the column stores; a quotation may be stored nowhere."""
    place = (column.table, column.name)
    found = tuple(each.value for each in value.stored if (each.table, each.column) == place)
    if found:
        return found
    if value.quoted:
        return (value.text,)
    raise Doubt("entity_missing", value.text)


def _numbers(column: ColumnOf, condition: AskedCondition) -> Test:
    literals = []
    for value in condition.values:
        if value.number is None:
            raise Doubt("not_computable", value.text)
        literals.append(Literal(value.number, number=True))
    if condition.op == "between":
        low, high = literals
        if condition.negative:
            raise Doubt("ambiguous", "between")
        return Junction("and", (Comparison(column, ">=", low), Comparison(column, "<=", high)))
    if condition.op not in OPPOSITE:
        raise Doubt("not_computable", column.name)
    return _among(column, tuple(literals), _op(condition))


def _range(column: ColumnOf, condition: AskedCondition) -> Test:
    """A comparison with a period: `in` it, before its start, or from its end on."""
    if any(value.text in UNDATED for value in condition.values):
        return _recent(column, condition)
    if condition.op == "between":
        first, last = (period(value.text) for value in condition.values)
        start, end = first[0], last[1]
    elif len(condition.values) == 1:
        start, end = period(condition.values[0].text)
    else:
        raise Doubt("not_computable", column.name)
    inside = (
        Comparison(column, ">=", Literal(start)),
        Comparison(column, "<", Literal(end)),
    )
    if condition.negative or condition.op == "<>":
        raise Doubt("ambiguous", column.name)
    sides: dict[str, Test] = {
        "=": Junction("and", inside),
        "between": Junction("and", inside),
        "<": Comparison(column, "<", Literal(start)),
        ">=": inside[0],
        "<=": inside[1],
        ">": Comparison(column, ">=", Literal(end)),
    }
    if condition.op not in sides:
        raise Doubt("not_computable", column.name)
    return sides[condition.op]


def _recent(column: ColumnOf, condition: AskedCondition) -> Test:
    """`last month`, counted from the newest date of the column."""
    texts = [value.text for value in condition.values]
    if condition.op != "=" or condition.negative or len(texts) > 1:
        raise Doubt("not_computable", texts[0])
    return Recent(column, *UNDATED[texts[0]])


def _match(column: ColumnOf, condition: AskedCondition) -> Test:
    text = condition.values[0].text
    for special in "\\%_":
        text = text.replace(special, "\\" + special)
    start = "" if condition.op == "start" else "%"
    end = "" if condition.op == "end" else "%"
    return Match(column, f"{start}{text}{end}", condition.negative)


# --- values without a column ---------------------------------------------------------------


def _unnamed(condition: AskedCondition, scope: ColumnScope) -> tuple[ColumnOf, Test, int]:
    if condition.values and not condition.values[0].stored:
        found = moments(scope)
        if len(found) != 1 or not is_plain_moment(found[0]):
            raise Doubt("ambiguous", condition.values[0].text)
        return found[0], _typed(found[0], condition, scope), 0
    places = set.intersection(
        *({(each.table, each.column) for each in value.stored} for value in condition.values)
    )
    near = {link.table for link in condition.near.links} if condition.near else set()
    priced = sorted(
        (_price(ColumnOf(*place), near, condition, scope), ColumnOf(*place)) for place in places
    )
    cost = priced[0][0] if priced else _FAR
    if cost >= _FAR or any(map(_is_spelled_apart, condition.values)):
        raise Doubt("ambiguous", condition.values[0].text)
    cheapest = [column for price, column in priced if price == cost]
    for other in cheapest[1:]:
        if not scope.refers(cheapest[0], other):
            raise Doubt("ambiguous", condition.values[0].text)
    return cheapest[0], _typed(cheapest[0], condition, scope), cost


def _is_spelled_apart(value: ValuePhrase) -> bool:
    """Whether several columns store a value, and not in one spelling: it may be two things."""
    places = {(each.table, each.column) for each in value.stored}
    return len(places) > 1 and len({each.value for each in value.stored}) > 1


def _price(column: ColumnOf, near: set[str], condition: AskedCondition, scope: ColumnScope) -> int:
    """A value beside a table's name is one of that table, and rather its name than another."""
    base = _PARENT if _names_parent(column, scope) else scope.price(column.table)
    if near:
        base = 0 if column.table in near else base + 4
    if condition.hint == "name":
        base += 0 if {"nam", "titl"} & set(identifier_words(column.name)) else 2
    return base


def _names_parent(column: ColumnOf, scope: ColumnScope) -> bool:
    """Whether a column names the rows of an unnamed table that one key of the first refers to."""
    keys = [key for key in scope.linker.keys_of[scope.first] if key.to_table == column.table]
    return (
        scope.price(column.table) >= _FAR
        and [key.table for key in keys] == [scope.first]
        and naming(scope, column.table) == (column,)
    )


def contradictory(tests: tuple[Test, ...]) -> bool:
    """Whether tests that must all hold never do: then the question meant something else."""
    for test in tests:
        if isinstance(test, Existence) and contradictory(test.tests):
            return True
    compared = [test for test in tests if isinstance(test, Comparison)]
    columns = [test.column for test in tests if isinstance(test, Comparison | Membership)]
    if any(columns.count(test.column) > 1 for test in compared if test.op == "="):
        return True
    return any(
        low.column == high.column
        and low.op in (">", ">=")
        and high.op in ("<", "<=")
        and low.literal.number
        and Fraction(low.literal.text) >= Fraction(high.literal.text)
        for low in compared
        for high in compared
    )
