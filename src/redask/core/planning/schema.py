"""What a planner is told of the tables: only what the caller may read.

    PlanSchema     tables, and the foreign keys between them, declared or inferred
    PlanTable      name, columns, primary key, number of rows
    PlanColumn     name, PostgreSQL's type, distinct values, NULLs, the user's own words for it
    ValueIndex     the stored values that a text of the question may mean, in any spelling

`find` is asked once for each question, with all texts that may be values, as `words.normal` writes
them: case folded, hyphens and runs of blanks one blank, outer punctuation gone. The index keeps
its values under the same normal form, and answers with the spelling that is stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """A column: `type` is PostgreSQL's name of it; `words` are synonyms and a description."""

    name: str
    type: str
    distinct: int = 0
    nulls: int = 0
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanTable:
    """A table; `words` are the user's other names for it."""

    name: str
    columns: tuple[PlanColumn, ...]
    primary_key: tuple[str, ...] = ()
    rows: int = 0
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`table.columns` refer to `to_table.to_columns`; not `declared`: inferred from the values."""

    table: str
    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    declared: bool = True


@dataclass(frozen=True, slots=True)
class PlanSchema:
    """All tables and keys that the caller may read."""

    tables: tuple[PlanTable, ...]
    keys: tuple[ForeignKey, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value as it is stored in a column."""

    table: str
    column: str
    value: str


class ValueIndex(Protocol):
    """The distinct text values of the columns that the caller may read."""

    def find(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        """For each text that is a value: where, and in which spelling; other texts are absent."""
