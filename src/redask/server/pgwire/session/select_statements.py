"""SELECT on collections over the Postgres wire: its columns are known before it runs.

The selector describes the statement as the caller, with PostgreSQL's types. A statement that
SQLite does not parse is tried once more in SQLite's dialect (`dialect`).

    type of the column     a parameter compared with it takes
    int8                   an integer, also written as text
    float8                 a number, also written as text
    bool                   true and false, t, 1, on …
    text                   text; a number is written out
    any other              what came
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadAsk
from redask.core.ports import SelectResult, SelectShape
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.dialect import respelt
from redask.server.pgwire.session.planned_statement import (
    NeverImmediate,
    StatementResult,
    TransactionStep,
)
from redask.server.pgwire.types import encoding
from redask.server.pgwire.types.oids import TEXT, TYPES, UNKNOWN, type_oid


@dataclass(frozen=True, slots=True)
class CollectionSelect(NeverImmediate):
    """A planned SELECT; `wanted` are the types of the parameters in the statement."""

    session: AsyncDatabase
    sql: str
    columns: tuple[ResultColumn, ...]
    parameters: tuple[int, ...]
    wanted: tuple[str, ...]
    step: TransactionStep | None = None

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        found = await self.session.select_result(self.sql, self._values(parameters))
        if not self._has_announced_columns(found):
            # SQLite may name a column otherwise when it describes: only another description counts
            shape = await self.session.describe(self.sql)
            if [name for name, _ in shape.columns] != [column.name for column in self.columns]:
                # the data or the policy changed since it was planned; PostgreSQL's message
                raise SqlStateError("0A000", "cached plan must not change result type")
        return _rows(found)

    def _has_announced_columns(self, found: SelectResult) -> bool:
        names = [name for name, _ in found.columns]
        return not found.rows or names == [column.name for column in self.columns]

    def _values(self, parameters: Sequence[object]) -> list[object]:
        return [_fitting(given, want) for given, want in zip(parameters, self.wanted, strict=True)]


def _rows(found: SelectResult) -> StatementResult:
    return StatementResult(found.rows, f"SELECT {len(found.rows)}")


async def plan_select(
    session: AsyncDatabase, sql: str, declared: Sequence[int]
) -> CollectionSelect:
    """Describe the SELECT as it is written, else as SQLite would write it."""
    try:
        shape, text = await session.describe(sql), sql
    except BadAsk:
        other = await asyncio.to_thread(respelt, sql)
        if other is None or other == sql:
            raise
        shape, text = await session.describe(other), other
    return CollectionSelect(
        session,
        text,
        tuple(ResultColumn(name, type_oid(kind)) for name, kind in shape.columns),
        announced(shape, declared),
        shape.parameters,
    )


def announced(shape: SelectShape, declared: Sequence[int]) -> tuple[int, ...]:
    """The types of the parameters: as the client declared them, else as they are compared."""
    given = [*declared, *[0] * len(shape.parameters)]
    return tuple(
        own if own in TYPES and own != UNKNOWN else type_oid(kind)
        for own, kind in zip(given, shape.parameters, strict=False)
    )


def _fitting(value: object, kind: str) -> object:
    """The value as one of the type that it is compared with, if it can be."""
    if value is None:
        return None
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if kind in ("int8", "float8", "bool") and isinstance(value, str):
        try:
            return encoding.decode(type_oid(kind), value.encode(), False)
        except BadAsk:
            return value  # equal to no number
    if kind == "text" and isinstance(value, int | float) and not isinstance(value, bool):
        written = encoding.encode(TEXT, value, False)
        return "" if written is None else written.decode()
    return value
