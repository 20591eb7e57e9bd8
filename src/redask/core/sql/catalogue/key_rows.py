"""Primary and foreign keys in the catalogue: constraints, the index of a primary key, their texts.

A key is one that a file declared when it was read, in the names of the caller's tables; who may
not read all of its columns is not told of it. Names are those that PostgreSQL would give:
`orders_pkey`, `orders_customer_id_fkey`. There is no index in fact; a primary key has a row in
`pg_index` because clients look for it there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from redask.core.sql.catalogue.object_ids import (
    FIRST_INDEX,
    OWNER,
    PUBLIC,
    modifier_number,
    numbered,
)
from redask.core.sql.catalogue.system_ids import SYSTEM_TABLES
from redask.core.sql.catalogue.type_rows import alignment, by_value, collation, storage, type_length
from redask.core.sql.runtime.pg_quoting import quote_ident
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.catalogue.catalogue_rows import CatalogueFacts

KeyRow = dict[str, object]
BTREE = 403
_CLASSES, _CONSTRAINTS = SYSTEM_TABLES["pg_class"], SYSTEM_TABLES["pg_constraint"]


@dataclass(frozen=True, slots=True)
class TableKey:
    """The primary key of a table, or (`to_table`) columns that reference those of another."""

    table: str
    columns: tuple[str, ...]
    to_table: str = ""
    to_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedKey:
    """A key with its name; `target` is the name of the primary key that it references."""

    name: str
    key: TableKey
    target: str | None = None

    @property
    def is_primary(self) -> bool:
        return not self.key.to_table


class CatalogueKeys:
    """The keys of one caller's tables."""

    def __init__(
        self,
        tables: Sequence[tuple[str, Sequence[tuple[str, SqlType]]]],
        keys: Sequence[TableKey],
    ) -> None:
        self._columns = {name: list(columns) for name, columns in tables}
        self._tables = numbered([name for name, _ in tables])
        self._keys = keys

    @cached_property
    def named(self) -> list[NamedKey]:
        """Primary keys first, then what references them; by table."""
        taken = set(self._columns)
        primary: list[NamedKey] = []
        foreign: list[NamedKey] = []
        for key in sorted(dict.fromkeys(self._keys), key=lambda one: (one.table, one.columns)):
            if not key.to_table and all(key.table != one.key.table for one in primary):
                primary.append(NamedKey(_free(f"{key.table}_pkey", taken), key))
        targets = {(one.key.table, one.key.columns): one.name for one in primary}
        for key in sorted(dict.fromkeys(self._keys), key=lambda one: (one.table, one.columns)):
            if key.to_table:
                name = _free(f"{key.table}_{'_'.join(key.columns)}_fkey", taken)
                target = targets.get((key.to_table, key.to_columns))
                foreign.append(NamedKey(name, key, target))
        return [*primary, *foreign]

    @cached_property
    def indexes(self) -> Mapping[str, int]:
        """The OID of each primary key's index, by its name."""
        return numbered([one.name for one in self.named if one.is_primary], FIRST_INDEX)

    @cached_property
    def constraints(self) -> Mapping[str, int]:
        """The OID of each key, by its name."""
        return numbered([one.name for one in self.named], FIRST_INDEX)

    def never_null(self, table: str) -> frozenset[str]:
        """The columns of a table's primary key."""
        own = [one.key.columns for one in self.named if one.is_primary and one.key.table == table]
        return frozenset(name for columns in own for name in columns)

    def has_index(self, table: str) -> bool:
        """Whether a table has a primary key."""
        return bool(self.never_null(table))

    def is_referenced(self, table: str) -> bool:
        """Whether a foreign key is of this table or references it: PostgreSQL has triggers then."""
        return any(
            table in (one.key.table, one.key.to_table) for one in self.named if not one.is_primary
        )

    def index_classes(self) -> list[KeyRow]:
        """The indexes in pg_class."""
        return [
            {
                "oid": self.indexes[one.name], "relname": one.name, "relnamespace": PUBLIC,
                "relowner": OWNER, "relam": BTREE, "relfilenode": self.indexes[one.name],
                "relpersistence": "p", "relkind": "i", "relnatts": len(one.key.columns),
                "relispopulated": True, "relreplident": "n",
            }
            for one in self.named if one.is_primary
        ]  # fmt: skip

    def index_attributes(self) -> list[KeyRow]:
        """The columns of the indexes in pg_attribute."""
        return [
            attribute_row(self.indexes[one.name], name, kind, number)
            for one in self.named
            if one.is_primary
            for number, (name, kind) in enumerate(self._of(one.key.table, one.key.columns), 1)
        ]

    def index_rows(self) -> list[KeyRow]:
        """pg_index."""
        return [
            {
                "indexrelid": self.indexes[one.name], "indrelid": self._tables[one.key.table],
                "indnatts": len(one.key.columns), "indnkeyatts": len(one.key.columns),
                "indisunique": True, "indisprimary": True, "indimmediate": True,
                "indisvalid": True, "indisready": True, "indislive": True,
                "indkey": self._places(one.key.table, one.key.columns),
                "indcollation": [
                    collation(kind) for _, kind in self._of(one.key.table, one.key.columns)
                ],
                "indclass": [0] * len(one.key.columns), "indoption": [0] * len(one.key.columns),
            }
            for one in self.named if one.is_primary
        ]  # fmt: skip

    def constraint_rows(self) -> list[KeyRow]:
        """pg_constraint."""
        rows = []
        for one in self.named:
            row: KeyRow = {
                "oid": self.constraints[one.name], "conname": one.name, "connamespace": PUBLIC,
                "contype": "p" if one.is_primary else "f", "convalidated": True,
                "conrelid": self._tables[one.key.table], "conislocal": True, "connoinherit": True,
                "conindid": self.indexes.get(one.name if one.is_primary else one.target or "", 0),
                "conkey": self._places(one.key.table, one.key.columns), "confkey": None,
                "confupdtype": " ", "confdeltype": " ", "confmatchtype": " ",
            }  # fmt: skip
            if not one.is_primary:
                row |= {
                    "confrelid": self._tables[one.key.to_table], "confupdtype": "a",
                    "confdeltype": "a", "confmatchtype": "s",
                    "confkey": self._places(one.key.to_table, one.key.to_columns),
                }  # fmt: skip
            rows.append(row)
        return rows

    def depend_rows(self) -> list[KeyRow]:
        """pg_depend: keys on their columns, an index on its key, a foreign key on an index."""
        rows: list[KeyRow] = []
        for one in self.named:
            key = _object("", _CONSTRAINTS, self.constraints[one.name])
            for table, columns, kind in (
                (one.key.table, one.key.columns, "a"),
                (one.key.to_table, one.key.to_columns, "n"),
            ):
                rows += [
                    key | _object("ref", _CLASSES, self._tables[table], place) | {"deptype": kind}
                    for place in (self._places(table, columns) if table else ())
                ]
            index = self.indexes.get(one.name if one.is_primary else one.target or "", 0)
            if one.is_primary:
                own = _object("ref", _CONSTRAINTS, self.constraints[one.name])
                rows.append(_object("", _CLASSES, index) | own | {"deptype": "i"})
            elif index:
                rows.append(key | _object("ref", _CLASSES, index) | {"deptype": "n"})
        return rows

    def definition_rows(self) -> list[KeyRow]:
        """What pg_get_constraintdef() and pg_get_indexdef() give: part 0, and each column."""
        rows: list[KeyRow] = []
        for one in self.named:
            rows.append(
                {"oid": self.constraints[one.name], "part": -1, "definition": _text(one.key)}
            )
            if one.is_primary:
                index = self.indexes[one.name]
                rows.append({"oid": index, "part": 0, "definition": index_text(one)})
                rows += [
                    {"oid": index, "part": number, "definition": quote_ident(name)}
                    for number, name in enumerate(one.key.columns, 1)
                ]
        return rows

    def _of(self, table: str, columns: Sequence[str]) -> list[tuple[str, SqlType]]:
        kinds = dict(self._columns[table])
        return [(name, kinds[name]) for name in columns]

    def _places(self, table: str, columns: Sequence[str]) -> list[int]:
        names = [name for name, _ in self._columns[table]]
        return [names.index(name) + 1 for name in columns]


def _object(prefix: str, catalogue: int, oid: int, part: int = 0) -> KeyRow:
    """One end of a dependency."""
    return {f"{prefix}classid": catalogue, f"{prefix}objid": oid, f"{prefix}objsubid": part}


def attribute_row(relation: int, name: str, kind: SqlType, number: int) -> KeyRow:
    """A column in pg_attribute."""
    return {
        "attrelid": relation, "attname": name, "atttypid": kind.oid, "attstattarget": -1,
        "attlen": type_length(kind), "attnum": number, "attndims": int(kind.is_array),
        "attcacheoff": -1, "atttypmod": modifier_number(kind), "attbyval": by_value(kind),
        "attalign": alignment(kind), "attstorage": storage(kind), "attislocal": True,
        "attcollation": collation(kind),
    }  # fmt: skip


def index_text(one: NamedKey) -> str:
    """As pg_get_indexdef() writes the index of a primary key."""
    table = f"public.{quote_ident(one.key.table)}"
    return f"CREATE UNIQUE INDEX {quote_ident(one.name)} ON {table} USING btree {_list(one.key)}"


def _text(key: TableKey) -> str:
    if not key.to_table:
        return f"PRIMARY KEY {_list(key)}"
    there = ", ".join(map(quote_ident, key.to_columns))
    return f"FOREIGN KEY {_list(key)} REFERENCES {quote_ident(key.to_table)}({there})"


def _list(key: TableKey) -> str:
    return f"({', '.join(map(quote_ident, key.columns))})"


def _free(name: str, taken: set[str]) -> str:
    """A name that nothing else has, as PostgreSQL numbers them."""
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}{number}"
    taken.add(found)
    return found


# --- information_schema ------------------------------------------------------------------------


def _base(facts: "CatalogueFacts", one: NamedKey, table: str) -> KeyRow:
    return {
        "constraint_catalog": facts.database, "constraint_schema": "public",
        "constraint_name": one.name, "table_catalog": facts.database, "table_schema": "public",
        "table_name": table,
    }  # fmt: skip


def _table_constraints(facts: "CatalogueFacts") -> Iterator[KeyRow]:
    for one in facts.catalogue_keys.named:
        yield _base(facts, one, one.key.table) | {
            "constraint_type": "PRIMARY KEY" if one.is_primary else "FOREIGN KEY",
            "is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES",
        }  # fmt: skip


def _key_columns(facts: "CatalogueFacts") -> Iterator[KeyRow]:
    for one in facts.catalogue_keys.named:
        for number, name in enumerate(one.key.columns, 1):
            yield _base(facts, one, one.key.table) | {
                "column_name": name, "ordinal_position": number,
                "position_in_unique_constraint": None if one.is_primary else number,
            }  # fmt: skip


def _used_columns(facts: "CatalogueFacts") -> Iterator[KeyRow]:
    for one in facts.catalogue_keys.named:
        table = one.key.to_table or one.key.table
        for name in one.key.to_columns or one.key.columns:
            yield _base(facts, one, table) | {"column_name": name}


def _used_tables(facts: "CatalogueFacts") -> Iterator[KeyRow]:
    for one in facts.catalogue_keys.named:
        yield _base(facts, one, one.key.to_table or one.key.table)


def _referential(facts: "CatalogueFacts") -> Iterator[KeyRow]:
    for one in facts.catalogue_keys.named:
        if not one.is_primary:
            known = one.target and facts.database
            yield {
                "constraint_catalog": facts.database, "constraint_schema": "public",
                "constraint_name": one.name, "unique_constraint_catalog": known,
                "unique_constraint_schema": known and "public",
                "unique_constraint_name": one.target, "match_option": "NONE",
                "update_rule": "NO ACTION", "delete_rule": "NO ACTION",
            }  # fmt: skip


def _indexes(facts: "CatalogueFacts") -> Iterator[KeyRow]:
    for one in facts.catalogue_keys.named:
        if one.is_primary:
            yield {
                "schemaname": "public", "tablename": one.key.table, "indexname": one.name,
                "indexdef": index_text(one),
            }  # fmt: skip


KEY_ROWS: "dict[str, Callable[[CatalogueFacts], list[KeyRow]]]" = {
    "pg_catalog.pg_constraint": lambda facts: facts.catalogue_keys.constraint_rows(),
    "pg_catalog.pg_depend": lambda facts: facts.catalogue_keys.depend_rows(),
    "pg_catalog.pg_index": lambda facts: facts.catalogue_keys.index_rows(),
    "pg_catalog.pg_indexes": lambda facts: list(_indexes(facts)),
    "pg_catalog.redask_definitions": lambda facts: facts.catalogue_keys.definition_rows(),
    "information_schema.table_constraints": lambda facts: list(_table_constraints(facts)),
    "information_schema.key_column_usage": lambda facts: list(_key_columns(facts)),
    "information_schema.constraint_column_usage": lambda facts: list(_used_columns(facts)),
    "information_schema.constraint_table_usage": lambda facts: list(_used_tables(facts)),
    "information_schema.referential_constraints": lambda facts: list(_referential(facts)),
}
