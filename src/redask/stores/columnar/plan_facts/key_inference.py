"""Keys that nobody declared: `primary_key` of a table, and `references` that may be foreign keys.

    primary key     the one column that is unique, has no NULL, and is named as a key. In this
                    order: `id`; the table and `id`; anything and `id`; the table and, or anything
                    and, another word for a key. Two of the same rank: none
    reference       a column to the primary key (of one column) of another table, or of its own;
                    both of one type; and the column's name ends with
                      the key's name, which is more than a word for a key        `StuID` → `StuID`
                      the table's name and the key's                     `home_team_id` → `team.id`
    of several      first those whose table the column names, then those with more rows; two that
                    are alike in both: neither
    a primary key   references only a table with more rows than its own

A reference is a foreign key if every value is found there: that is for the caller to see.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from redask.core.planning.plan_schema import PlanColumn, PlanTable

_WORDS = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+")
_KEY_WORDS = ("code", "key", "no", "num", "number", "nr")
_INTEGERS = ("int2", "int4", "int8")


@dataclass(frozen=True, slots=True)
class ColumnReference:
    """A column of so many values that may reference the key of a table, by name and type."""

    table: str
    column: str
    to_table: str
    to_column: str
    distinct: int


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: CamelCase and underscores divide it."""
    return tuple(word.lower() for word in _WORDS.findall(name))


def primary_key(table: PlanTable) -> tuple[str, ...]:
    """The column that is the key of a table by its name and its values; empty when none is."""
    unique = [each for each in table.columns if is_unique(table, each)]
    own = _joined(words_of(table.name))
    ranked = [(rank, each.name) for each in unique if (rank := _rank(each.name, own)) is not None]
    best = min((rank for rank, _ in ranked), default=None)
    found = [name for rank, name in ranked if rank == best]
    return (found[0],) if len(found) == 1 else ()


def is_unique(table: PlanTable, column: PlanColumn) -> bool:
    """Whether the column tells every row from the others."""
    return bool(table.rows) and not column.nulls and column.distinct == table.rows


def references(
    tables: Sequence[PlanTable], declared: Mapping[str, frozenset[str]]
) -> Iterator[ColumnReference]:
    """What each column may reference, best first; `declared` columns of a table are left out."""
    targets = [
        KeyTarget(table, column)
        for table in tables
        if len(table.primary_key) == 1
        for column in table.columns
        if (column.name,) == table.primary_key and is_unique(table, column)
    ]
    for table in tables:
        for column in table.columns:
            if column.name in declared.get(table.name, frozenset()) or not column.distinct:
                continue
            own = _joined(words_of(column.name))
            found = [
                (rank, -target.table.rows, target.table.name, target.key.name)
                for target in targets
                if (rank := target.named_by(own)) is not None
                and _may_reference(table, column, target.table, target.key)
            ]
            for rank, rows, name, key_name in sorted(found):
                if [each[:2] for each in found].count((rank, rows)) == 1:
                    yield ColumnReference(table.name, column.name, name, key_name, column.distinct)


class KeyTarget:
    """A key that may be referenced, with its name in words."""

    def __init__(self, table: PlanTable, key: PlanColumn) -> None:
        self.table = table
        self.key = key
        words = words_of(key.name)
        self._name = _joined(words)
        self._forms = _forms(_joined(words_of(table.name)))
        self._is_generic = self._name == "id" or self._name in _KEY_WORDS
        self._is_long = len(words) > 1

    def named_by(self, column: str) -> int | None:
        """How well a column's words say that it references the key: 0 by table, 1 by key."""
        if not self._name or not column.endswith(self._name):
            return None
        rest = column.removesuffix(self._name)
        if any(rest.endswith(form) or self._name.startswith(form) for form in self._forms):
            return 0
        return 1 if not self._is_generic and (not rest or self._is_long) else None


def _may_reference(table: PlanTable, column: PlanColumn, to: PlanTable, key: PlanColumn) -> bool:
    if (table.name, column.name) == (to.name, key.name) or _family(column) != _family(key):
        return False
    if column.distinct > to.rows:
        return False
    own_key = (column.name,) == table.primary_key
    return not own_key or (to.rows > table.rows and table.name != to.name)


def _rank(name: str, table: str) -> int | None:
    words = words_of(name)
    if not words:
        return None
    rest = _joined(words[:-1])
    if words[-1] == "id":
        return 0 if not rest else 1 if _same(rest, table) else 2
    if words[-1] in _KEY_WORDS:
        return 3 if _same(rest, table) else 4
    # `stuid` and `ISBN` are one word to us
    return 2 if len(words) == 1 and words[0].endswith("id") else None


def _same(text: str, table: str) -> bool:
    return text in _forms(table)


def _forms(table: str) -> tuple[str, ...]:
    """A table's name, and what may be its singular."""
    endings = [("ies", "y"), ("es", ""), ("s", "")]
    singular = [table[: -len(end)] + y for end, y in endings if table.endswith(end)]
    return tuple(form for form in (table, *singular) if len(form) > 1)


def _joined(words: Sequence[str]) -> str:
    return "".join(words)


def _family(column: PlanColumn) -> str:
    return "integer" if column.type in _INTEGERS else column.type
