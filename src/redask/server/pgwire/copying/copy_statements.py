"""COPY … TO STDOUT as a statement: a SELECT under the caller's policy, whose rows are written."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from redask.core.errors import SqlError
from redask.server.pgwire.copying.copy_formats import copy_writer
from redask.server.pgwire.copying.copy_options import CopyOptions, read_copy, table_query
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import (
    NeverImmediate,
    PlannedStatement,
    StatementResult,
    TransactionStep,
)
from redask.server.pgwire.session.text_reading import read_text
from redask.server.pgwire.types.encoding import ResultStyle

PlanQuery = Callable[[str, str], Awaitable[PlannedStatement]]  # of a text and its first word


@dataclass(frozen=True, slots=True)
class CopyStatement(NeverImmediate):
    """A COPY whose SELECT was planned."""

    inner: PlannedStatement
    options: CopyOptions
    style: Callable[[], ResultStyle]
    columns: tuple[ResultColumn, ...] | None = None
    parameters: tuple[int, ...] = ()
    step: TransactionStep | None = None

    async def run(self, parameters: Sequence[object]) -> StatementResult:  # noqa: ARG002
        writer = copy_writer(self.options, self.inner.columns or (), self.style())
        result = await self.inner.run(())
        return StatementResult(result.rows, f"COPY {len(result)}", kept=result.kept, copy=writer)


async def plan_copy(
    sql: str, plan_query: PlanQuery, style: Callable[[], ResultStyle]
) -> CopyStatement:
    """Read the statement, and plan its SELECT; `style` is the session's when it runs."""
    order = await read_text(read_copy, sql)
    try:
        inner = await plan_query(order.query, order.word)
        if order.columns:
            names = tuple(each.name for each in inner.columns or ())
            inner = await plan_query(table_query(order, names), "SELECT")
    except SqlError as error:
        if order.word == "TABLE" and not order.query.startswith(" "):
            # a position in the query that stands for the table means nothing to the client
            raise SqlError(error.sqlstate, error.message, hint=error.hint) from None
        raise
    if inner.parameters:
        raise SqlStateError("42P02", "there is no parameter $1")
    copy_writer(order.options, inner.columns or ())
    return CopyStatement(inner, order.options, style)
