"""SELECT over the Postgres wire: its columns and its parameters are known before it runs.

The selector describes the statement as the caller. A parameter has the type that the client
declared, else the one that PostgreSQL would infer; the values are bound as those types. If the
result is not what was announced, because the data or a policy changed since, the statement fails
with PostgreSQL's message, and the client prepares it anew.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadAsk
from redask.core.ports.selecting import Columns, KeptResult
from redask.core.sql.catalogue.object_ids import modifier_number
from redask.core.sql.types import BY_OID, SqlType
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import (
    NeverImmediate,
    StatementResult,
    TransactionStep,
)
from redask.server.pgwire.types.oids import UNKNOWN, parameter_oid, type_oid

SessionFacts = Callable[[], Awaitable[Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class SelectStatement(NeverImmediate):
    """A planned SELECT. `shape` and `types` are its columns and parameters as they were described.

    `facts` gives what the session knows; `apply` does what set_config() in it sets.
    """

    session: AsyncDatabase
    sql: str
    columns: tuple[ResultColumn, ...]
    parameters: tuple[int, ...]
    shape: Columns
    types: tuple[str, ...]
    facts: SessionFacts
    apply: Callable[[Sequence[object]], None]
    word: str = "SELECT"
    step: TransactionStep | None = None

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        found = await self.session.select_kept(
            self.sql, parameters, declared=self.types, facts=await self.facts()
        )
        if found.columns != self.shape:
            found.rows.close()
            raise SqlStateError("0A000", "cached plan must not change result type")
        self.apply(parameters)
        return StatementResult((), _tag(self.word, found), kept=found.rows)


@dataclass(frozen=True, slots=True)
class SimpleSelect(NeverImmediate):
    """A SELECT of a simple query: nobody asks what it gives before it runs."""

    session: AsyncDatabase
    sql: str
    facts: SessionFacts
    apply: Callable[[Sequence[object]], None]
    word: str
    columns: tuple[ResultColumn, ...] | None = None
    parameters: tuple[int, ...] = ()
    step: TransactionStep | None = None

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        try:
            found = await self.session.select_kept(self.sql, parameters, facts=await self.facts())
        except BadAsk as error:
            if error.detail == "params":
                raise SqlStateError("42P02", "there is no parameter $1") from None
            raise
        self.apply(())
        return StatementResult(
            (), _tag(self.word, found), columns=result_columns(found.columns), kept=found.rows
        )


async def plan_select(
    session: AsyncDatabase,
    sql: str,
    declared: Sequence[int],
    *,
    facts: SessionFacts,
    apply: Callable[[Sequence[object]], None],
    word: str = "SELECT",
) -> SelectStatement:
    """Describe the statement."""
    shape = await session.describe(sql, declared=declared_types(declared), facts=await facts())
    columns = result_columns(shape.columns)
    parameters = tuple(parameter_oid(kind) for kind in shape.parameters)
    return SelectStatement(
        *(session, sql, columns, parameters, shape.columns, shape.parameters, facts, apply, word)
    )


def result_columns(columns: Columns) -> tuple[ResultColumn, ...]:
    """The columns as RowDescription has them."""
    return tuple(
        ResultColumn(name, type_oid(kind), modifier_number(SqlType.parse(kind)))
        for name, kind in columns
    )


def _tag(word: str, found: KeptResult) -> str:
    return word if word == "EXPLAIN" else f"SELECT {len(found.rows)}"


def declared_types(declared: Sequence[int]) -> tuple[str | None, ...]:
    """The types that a client declared; None where it left that to us."""
    found: list[str | None] = []
    for number, oid in enumerate(declared, start=1):
        if oid not in (0, UNKNOWN) and oid not in BY_OID:
            raise SqlStateError(
                "0A000", f"the type of parameter ${number} (OID {oid}) is not known"
            )
        found.append(None if oid in (0, UNKNOWN) else str(BY_OID[oid]))
    return tuple(found)
