"""Schema linking: which tables and columns the words of a question may name, and at what cost.

    a column is named by                                                cost
    all words of its name, in any order; with its table's words           0
    its name without its table's words (`customer_name` of customers)     1
    a synonym or agent noun in the place of a word                       +2
    its name and a word that only says what it is (`zip code` of zip)     4
    part of its name, but never `id`, `name`, `code`, `number` alone      4, +1 for each word less

    a table is named by all words of its name: 0; by a part that ends with its last word: 2 or more.

The user's own words for a column or table count like its name. What depends on the schema alone is
worked out once: `linker(schema)`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from redask.core.planning.flag_values import BOOLEAN, ColumnFlag, flag_of, is_adjective
from redask.core.planning.plan_schema import ForeignKey, PlanColumn, PlanSchema, PlanTable
from redask.core.planning.question import cues
from redask.core.planning.question.words import identifier_words

_SILENT = frozenset("of in the by per a an".split())
_GENERIC = frozenset("id nam cod number".split())
_SUFFIXES = frozenset("nam number cod valu amount information record detail".split())
_TABLE_SUFFIXES = frozenset(
    "record entry item member information row detail info data list".split()
)
_PREFIXES = frozenset("ref reference tbl tb".split())
_FLAGS = frozenset("is has was".split())
_MAX_WORDS = 6
SYNONYM_COST = 2
PART_COST = 4  # from here on a phrase is not the whole name
NameKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """A column that some words may name, at a cost; `owned`: they name its table as well."""

    table: str
    column: str
    cost: int
    owned: bool = False

    @property
    def place(self) -> str:
        """What is named, to show."""
        return f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True)
class TableLink:
    """A table that some words may name."""

    table: str
    cost: int

    @property
    def place(self) -> str:
        """What is named, to show."""
        return self.table


def _key(words: Iterable[str]) -> NameKey:
    return tuple(sorted(word for word in words if word not in _SILENT))


class Linker:
    """The names of one schema, ready to be looked up."""

    def __init__(self, schema: PlanSchema) -> None:
        self.schema = schema
        self.tables: dict[str, PlanTable] = {table.name: table for table in schema.tables}
        self.columns: dict[tuple[str, str], PlanColumn] = {
            (table.name, column.name): column for table in schema.tables for column in table.columns
        }
        self.keys_of: dict[str, list[ForeignKey]] = {name: [] for name in self.tables}
        for key in schema.keys:
            if key.table in self.tables and key.to_table in self.tables:
                self.keys_of[key.table].append(key)
                if key.table != key.to_table:
                    self.keys_of[key.to_table].append(key)
        self._columns: dict[NameKey, dict[tuple[str, str], int]] = {}
        self._tables: dict[NameKey, dict[str, int]] = {}
        self._owners: dict[str, frozenset[str]] = {}
        for table in schema.tables:
            self._add_table(table)
        keys = (*self._columns, *self._tables)
        self._words = frozenset(word for key in keys for word in key)

    def _add_table(self, table: PlanTable) -> None:
        name = identifier_words(table.name)
        bare = name[1:] if len(name) > 1 and name[0] in _PREFIXES else name
        self._owners[table.name] = frozenset(bare)
        if len(bare) > 1 and bare[-1] in _TABLE_SUFFIXES:
            self._name_table(bare[:-1], table.name, 1)
        for words in (name, bare, *map(identifier_words, table.words)):
            self._name_table(words, table.name, 0)
            kept = _key(words)
            for extra in _TABLE_SUFFIXES:
                self._name_table((*kept, extra), table.name, 2)
            for size in range(len(words) - 1):
                for left in combinations(words[:-1], size):
                    self._name_table((*left, words[-1]), table.name, len(words) - size)
        for column in table.columns:
            for words in (identifier_words(column.name), *map(identifier_words, column.words)):
                self._add_column(table.name, bare, column.name, words)

    def _name_table(self, words: Iterable[str], table: str, cost: int) -> None:
        key = _key(words)
        if key:
            found = self._tables.setdefault(key, {})
            found[table] = min(cost, found.get(table, cost))

    def _name_column(self, words: Iterable[str], table: str, column: str, cost: int) -> None:
        key = _key(words)
        if key and len(key) <= _MAX_WORDS:
            found = self._columns.setdefault(key, {})
            found[table, column] = min(cost, found.get((table, column), cost))

    def _add_column(self, table: str, owner: NameKey, column: str, words: NameKey) -> None:
        if not words:
            return  # a name of signs alone
        kept = tuple(word for word in words if word not in _SILENT) or words
        initial = bool(owner) and owner[0] != kept[0] and owner[0].startswith(kept[0])
        if len(kept) > 1 and (initial or kept[0] in _FLAGS):
            kept = kept[1:]  # `cName` of the table college; `is_active`
        bare = tuple(word for word in kept if word not in owner)
        self._name_column(kept, table, column, 0)
        self._name_column((*owner, *(bare or kept)), table, column, 0)
        if bare:
            self._name_column(bare, table, column, 1)
        for name in (kept, bare):
            if name and name[-1] not in _SUFFIXES:
                for suffix in _SUFFIXES:
                    self._name_column((*name, suffix), table, column, 4)
        shortened = kept[:5]
        for size in range(1, len(shortened)):
            for part in combinations(shortened, size):
                if not set(part) <= _GENERIC | set(owner):
                    missing = len(set(bare or kept) - set(part))
                    if "id" in set(kept) - set(part) and missing > 1:
                        continue
                    self._name_column(part, table, column, 4 + missing)
                    if missing == 1 and not set(owner) & set(part):
                        self._name_column((*owner, *part), table, column, 5)

    def knows(self, word: str) -> bool:
        """Whether a stem, or another for it, is in a name."""
        return word in self._words or any(other in self._words for other in _others(word))

    def flag(self, table: str, column: str) -> ColumnFlag | None:
        """What a column stores for yes and no, if it says so of its rows."""
        place = self.columns[table, column]
        flag = place.flag or flag_of(place.type, ())
        is_number = flag is not None and not flag.quoted and flag != BOOLEAN
        return flag if not is_number or is_adjective(column) else None

    def is_adjective(self, table: str, column: str, last: set[str]) -> bool:
        """Whether a flag and then its table are named: `paid invoices`."""
        is_said = last <= self._owners[table] and not last & set(identifier_words(column))
        return is_said and self.flag(table, column) is not None

    def columns_named(self, words: Sequence[str]) -> tuple[ColumnLink, ...]:
        """The columns that these stems may name, best first."""
        found: dict[tuple[str, str], int] = {}
        for key, extra in _spellings(words):
            for place, cost in self._columns.get(key, {}).items():
                found[place] = min(cost + extra, found.get(place, 99))
        spoken = set(words)
        links = (
            ColumnLink(table, column, cost, self._owners[table] <= spoken)
            for (table, column), cost in found.items()
        )
        return tuple(sorted(links, key=lambda link: (link.cost, link.table, link.column)))

    def tables_named(self, words: Sequence[str]) -> tuple[TableLink, ...]:
        """The tables that these stems may name, best first."""
        found: dict[str, int] = {}
        for key, extra in _spellings(words):
            for table, cost in self._tables.get(key, {}).items():
                found[table] = min(cost + extra, found.get(table, 99))
        if 0 in found.values():
            found = {table: cost for table, cost in found.items() if cost == 0}
        links = (TableLink(table, cost) for table, cost in found.items())
        return tuple(sorted(links, key=lambda link: (link.cost, link.table)))


def _spellings(words: Sequence[str]) -> list[tuple[NameKey, int]]:
    """The words as they are, and with one of them replaced by another that means the same."""
    kept = [word for word in words if word not in _SILENT]
    if not kept or len(kept) > _MAX_WORDS:
        return []
    found = [(_key(kept), 0)]
    for place, word in enumerate(kept):
        for other in _others(word):
            found.append((_key((*kept[:place], other, *kept[place + 1 :])), SYNONYM_COST))
    return found


def _others(word: str) -> tuple[str, ...]:
    """Synonyms, and the verb of an agent noun: director → direct."""
    found = cues.SYNONYMS.get(word, ())
    return (*found, word[:-2]) if len(word) > 6 and word.endswith(("er", "or")) else found


@lru_cache(maxsize=64)
def linker(schema: PlanSchema) -> Linker:
    """The linker of a schema; equal schemas share one."""
    return Linker(schema)
