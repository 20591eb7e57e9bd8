"""What a plan is made of: tables, columns, keys and values, as one caller may read them.

Names are those of SELECT; a type is PostgreSQL's, as `ports.TableShape` has it. Counts are of the
rows that the caller reads. Tables are by name, columns as in the table. Every table has a column
`urn` besides, unique and never NULL, which is not listed here; nor is `id` where no row has one of
its own (it is then the primary key once more, as text, or a number that redask gave).

    primary key    declared, else the one column that is unique, has no NULL and is named as a key
                   (`id`, `<table>_id`, …); empty when there is none
    foreign key    declared, else inferred: equal types, a name that says so, the target unique,
                   every value found there
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.core.planning.flag_values import ColumnFlag


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """A column; `distinct` leaves NULLs out, `words` are the user's own for it.

    `flag`: what it stores for yes and no, if it holds nothing else.
    """

    name: str
    type: str
    distinct: int = 0
    nulls: int = 0
    words: tuple[str, ...] = ()
    flag: ColumnFlag | None = None


@dataclass(frozen=True, slots=True)
class PlanTable:
    """A table; `words` are the user's own for it."""

    name: str
    columns: tuple[PlanColumn, ...]
    primary_key: tuple[str, ...] = ()
    rows: int = 0
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of a table whose values are found in those of another (or of the same)."""

    table: str
    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    declared: bool = True


@dataclass(frozen=True, slots=True)
class PlanSchema:
    """All that one caller can SELECT from, but for the audit log and what is only searched.

    That is a collection of nothing but documents, vectors or edges.
    """

    tables: tuple[PlanTable, ...]
    keys: tuple[ForeignKey, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A text that a column holds in a row that the caller reads, in its stored spelling."""

    table: str
    column: str
    value: str


class ValueIndex(Protocol):
    """The text values of the columns that the caller reads."""

    def find(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        """The values that are equal to each text once `value_text.normalised`; none: no key.

        By table, column and value. Many texts at once cost little more than one.
        """
