"""A column of a person whom a question names by both names: `person_statement`.

    question                                             statement
    what is the hire date of Nancy Edwards?              the column, of people of that name
    when was Andrew Adams hired?                         the date whose name has the verb

Only where one table has such a person, and the name is no other value of the data. Two people of
one name are both shown. Anything else in the question: None.
"""

from collections.abc import Sequence

from redask.core.planning.direct.row_columns import OF, OPENING, column_named
from redask.core.planning.plan_schema import PlanTable, ValueIndex
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord, identifier_words
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.shown_entities import naming
from redask.core.planning.statement.trees import ColumnOf, Literal
from redask.core.planning.value_text import normalised

_WHEN = (("when", "was"), ("when", "did"), ("when", "is"))


def person_statement(
    words: Sequence[QuestionWord], linker: Linker, values: ValueIndex
) -> str | None:
    """The SELECT; None: no such question."""
    if len(words) < 4 or any(word.kind != "word" for word in words):
        return None
    is_when = tuple(word.low for word in words[:2]) in _WHEN
    if not (len(words) == 5 if is_when else words[-3].low in OF):
        return None  # before any value is looked up
    place = slice(2, 4) if is_when else slice(len(words) - 2, len(words))
    found = _person(words[place], linker, values)
    if found is None:
        return None
    table, where = found
    if is_when:
        column = _moment(words[4], table, linker)
    else:
        column = _asked(words[: place.start], table, linker)
    if column is None:
        return None
    source = f"FROM {sql_text.identifier(table.name)} WHERE {where}"
    return f"SELECT {sql_text.identifier(column)} {source}"


def _person(
    names: Sequence[QuestionWord], linker: Linker, values: ValueIndex
) -> tuple[PlanTable, str] | None:
    """The one table that has a person of these names, and the condition."""
    first, last = (normalised(name.text) for name in names)
    held = values.find([first, last, f"{first} {last}"])
    if f"{first} {last}" in held:
        return None
    found: list[tuple[PlanTable, str]] = []
    for table in linker.schema.tables:
        columns = naming(ColumnScope(linker, table.name, (table.name,), ()), table.name)
        if len(columns) != 2:
            continue
        tests = [
            f"{sql_text.identifier(each.column)} = {sql_text.literal(Literal(each.value))}"
            for text, column in zip((first, last), columns, strict=True)
            for each in held.get(text, ())
            if (each.table, each.column) == (table.name, column.name)
        ]
        if len(tests) == 2:  # a name in two spellings is a doubt
            found.append((table, " AND ".join(tests)))
    return found[0] if len(found) == 1 else None


def _asked(words: Sequence[QuestionWord], table: PlanTable, linker: Linker) -> str | None:
    """The column that stands before the name."""
    while words and words[0].low in OPENING:
        if column := column_named(words, table, linker):
            return column
        words = words[1:]
    return column_named(words, table, linker)


def _moment(verb: QuestionWord, table: PlanTable, linker: Linker) -> str | None:
    """The one date whose name has the verb: hired, HireDate."""
    scope = ColumnScope(linker, table.name, (table.name,), ())
    found = [
        column.name
        for column in table.columns
        if scope.is_moment(ColumnOf(table.name, column.name))
        and verb.stem in identifier_words(column.name)
    ]
    return found[0] if len(found) == 1 else None
