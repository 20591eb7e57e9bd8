"""regclass, regtype, regnamespace, regproc: names to OIDs and back, in the caller's catalogue.

A literal or a parameter is looked up when the statement is bound or run; a text that a row has,
by a subquery over pg_class or by a function of the runtime. A table that the caller cannot read is
one that does not exist.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from redask.core.errors import SqlError
from redask.core.sql.binder.bound import Bound
from redask.core.sql.catalogue import object_ids
from redask.core.sql.types import SqlType

Find = Callable[[str | None, str], int | None]


class Catalogue(Protocol):
    """What a statement's context gives: the OID of a table, pg_class in FROM, and new names."""

    def oid(self, schema: str | None, name: str) -> int | None:
        """The OID of a table that the caller can name."""

    def classes(self) -> str:
        """pg_class, as it stands in the generated text."""

    def alias(self, letter: str) -> str:
        """A new name in the generated text."""


def number_of(kind: str, text: str, find: Find) -> int:
    """The OID that a text means; raises what PostgreSQL raises."""
    if kind == "regclass":
        return table_number(text, find)
    if kind in object_ids.NOTHING_NAMED:
        return object_ids.no_number(kind, text)
    readers: dict[str, Callable[[str], int]] = {
        "regtype": object_ids.type_number,
        "regnamespace": object_ids.schema_number,
        "regproc": object_ids.function_number,
        "regprocedure": object_ids.procedure_number,
    }
    return readers[kind](text)


def table_number(text: str, find: Find) -> int:
    """The OID of a table by its name, quoted or not, with or without its schema."""
    if text.strip().isdecimal():
        return int(text)
    if text == "-":
        return 0
    parts = object_ids.name_parts(text)
    found = find(parts[-2] if len(parts) > 1 else None, parts[-1])
    if found is None:
        raise SqlError("42P01", f'relation "{".".join(parts)}" does not exist')
    return found


class RegisteredTypes:
    """The casts of one statement from and to these types."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def constant(self, text: str, wanted: SqlType, location: int) -> Bound:
        """A literal."""
        number = number_of(wanted.name, text, self._catalogue.oid)
        return Bound(f"CAST({number} AS BIGINT)", wanted, location=location)

    def constants(self, texts: Sequence[str | None], wanted: SqlType, location: int) -> Bound:
        """The elements of a literal that is an array."""
        items = [
            "NULL" if each is None else str(number_of(wanted.name, each, self._catalogue.oid))
            for each in texts
        ]
        return Bound(f"CAST([{', '.join(items)}] AS BIGINT[])", wanted, location=location)

    def from_text(self, value: Bound, wanted: SqlType) -> Bound:
        """A text of a row."""
        if wanted.name != "regclass":
            return value.like(f"pg_{wanted.name}_in({value.sql})", type=wanted)
        alias = self._catalogue.alias("k")
        text = (
            f"coalesce((SELECT min({alias}.c1) FROM {self._catalogue.classes()} AS {alias}"
            f" WHERE {alias}.c2 = pg_relation_name({value.sql})), pg_system_number({value.sql}),"
            f" CASE WHEN {value.sql} IS NOT NULL THEN"
            f" error('pg:42P01:relation does not exist') END)"
        )
        return value.like(text, type=wanted)

    def to_text(self, value: Bound, wanted: SqlType) -> Bound:
        """An OID as its name."""
        name = value.type.name
        if name != "regclass":
            return value.like(f"pg_{name}_out({value.sql})", type=wanted)
        alias = self._catalogue.alias("k")
        text = (
            f"coalesce((SELECT pg_quote_ident({alias}.c2) FROM {self._catalogue.classes()}"
            f" AS {alias} WHERE {alias}.c1 = {value.sql}), pg_system_relation({value.sql}))"
        )
        return value.like(text, type=wanted)
