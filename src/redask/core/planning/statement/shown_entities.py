"""What stands for a row of a table where the question names only the table: `shown(scope, table)`.

the table has                                  shown
one column `name`, `full_name`, or its own     that (`customer_name`, `CustName` of customers)
first and last name                            both: a person; never a `title`, which is a job
one column `title`                             that
no name of any kind, one column as key, `id`   the key
none of these                                  a doubt
"""

from redask.core.planning.question.readings import Reading
from redask.core.planning.question.words import identifier_words
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.trees import ColumnOf, Comparison, Membership, Statement

_NAMES = (("nam",), ("full", "nam"))
_PERSON = (("first", "nam"), ("last", "nam"))
_TITLE = ("titl",)
_NAMING = frozenset(["nam", "titl"])
_KEYS = frozenset("id number cod key".split())


def shown(scope: ColumnScope, table: str) -> tuple[ColumnOf, ...]:
    """The columns that stand for an entity of a table."""
    found = naming(scope, table) or _numbering(scope, table)
    if not found:
        raise Doubt("ambiguous", f"what to show of {table}")
    return found


def naming(scope: ColumnScope, table: str) -> tuple[ColumnOf, ...]:
    """The columns that name an entity of a table; none where it has no name."""
    for wanted in _NAMES:
        found = _called(scope, table, wanted)
        if len(found) == 1:
            return found
    first, last = (_called(scope, table, part) for part in _PERSON)
    if len(first) == len(last) == 1:
        return first + last
    titles = _called(scope, table, _TITLE)
    return titles if len(titles) == 1 and not first and not last else ()


def _numbering(scope: ColumnScope, table: str) -> tuple[ColumnOf, ...]:
    """The key of a table whose rows have numbers and no names."""
    owner = scope.linker.tables[table]
    words = {word for column in owner.columns for word in identifier_words(column.name)}
    key = owner.primary_key
    if words & _NAMING or len(key) != 1 or not _KEYS & set(identifier_words(key[0])):
        return ()
    return (ColumnOf(table, key[0]),)


def _called(scope: ColumnScope, table: str, wanted: tuple[str, ...]) -> tuple[ColumnOf, ...]:
    """The columns with this name, with or without the table's words in it."""
    owner = identifier_words(table)
    found = []
    for column in scope.linker.tables[table].columns:
        words = identifier_words(column.name)
        bare = tuple(word for word in words if word not in owner)
        if wanted in (words, bare) or (len(bare) > 1 and _begins(bare[0], owner, bare[1:], wanted)):
            found.append(ColumnOf(table, column.name))
    return tuple(found)


def _begins(
    word: str, owner: tuple[str, ...], rest: tuple[str, ...], wanted: tuple[str, ...]
) -> bool:
    """Whether a word is the beginning of the table's name: `ResName` of restaurants."""
    return rest == wanted and bool(owner) and len(word) > 1 and owner[0].startswith(word)


def says_nothing(statement: Statement, reading: Reading) -> bool:
    """Whether rows that are asked for by their key would be shown by that key alone."""
    if [item.kind for item in reading.items] != ["entity"] or len(statement.outputs) != 1:
        return False
    column = statement.outputs[0].column
    return any(
        isinstance(test, Comparison | Membership) and test.column == column and _tells(test)
        for test in statement.where
    )


def _tells(test: Comparison | Membership) -> bool:
    return not test.negative if isinstance(test, Membership) else test.op == "="
