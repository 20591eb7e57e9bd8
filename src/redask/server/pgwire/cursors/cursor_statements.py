"""DECLARE, FETCH, MOVE and CLOSE as statements of a session.

A cursor is a portal that has run: its whole result is kept (see `api.select_kept`), so that it
scrolls, outlives its transaction (WITH HOLD) and shows the data as it was, for the price of disk.

    statement                                   error
    DECLARE without HOLD, no transaction        25P01
    DECLARE of a name that is there             42P03
    FETCH, MOVE, CLOSE of an unknown name       34000
    FETCH back of NO SCROLL                     55000
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.server.pgwire.cursors import cursor_syntax
from redask.server.pgwire.cursors.cursor_scan import CursorScan
from redask.server.pgwire.cursors.cursor_syntax import CursorDeclaration, FetchOrder
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import (
    NeverImmediate,
    PlannedStatement,
    StatementResult,
    TransactionStep,
)
from redask.server.pgwire.session.prepared_statements import Portal, PreparedStatement
from redask.server.pgwire.session.session_state import SessionState

_COST = 256
_BACK = 1000  # rows that are turned round at once


@dataclass(frozen=True, slots=True)
class DeclareStatement(NeverImmediate):
    """Opens a cursor over a SELECT that was planned."""

    state: SessionState
    declared: CursorDeclaration
    inner: PlannedStatement
    columns: tuple[ResultColumn, ...] | None = None
    step: TransactionStep | None = None

    @property
    def parameters(self) -> tuple[int, ...]:
        """Those of the SELECT."""
        return self.inner.parameters

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        declared, prepared = self.declared, self.state.prepared
        if not declared.is_held:
            self.state.check_block("DECLARE CURSOR")
        if declared.name in prepared.portals:
            raise SqlStateError("42P03", f'cursor "{declared.name}" already exists')
        result = await self.inner.run(parameters)
        formats = (int(declared.is_binary),) * len(self.inner.columns or ())
        portal = Portal(
            PreparedStatement(declared.query, self.inner),
            *((), formats, _COST + len(declared.query) * 4, result),
            CursorScan(len(result), declared.scrolls),
            is_cursor=True,
            is_held=declared.is_held,
            is_binary=declared.is_binary,
            level=len(self.state.savepoints),
        )
        try:
            prepared.add_portal(declared.name, portal)
        except SqlStateError:
            result.close()
            raise
        return StatementResult((), "DECLARE CURSOR")


@dataclass(frozen=True, slots=True)
class FetchStatement(NeverImmediate):
    """Returns rows of a cursor, or passes them over; `columns` as they were when it was planned."""

    state: SessionState
    order: FetchOrder
    columns: tuple[ResultColumn, ...] | None
    parameters: tuple[int, ...] = ()
    step: TransactionStep | None = None

    async def run(self, parameters: Sequence[object]) -> StatementResult:  # noqa: ARG002
        portal = await open_cursor(self.state, self.order.name)
        assert portal.scan is not None
        assert portal.result is not None
        if self.order.moves:
            passed = portal.scan.move(self.order.direction, self.order.count)
            return StatementResult((), f"MOVE {passed}")
        columns = cursor_columns(portal)
        if self.columns is not None and self.columns != columns:
            raise SqlStateError("0A000", "cached plan must not change result type")
        found = portal.scan.fetch(self.order.direction, self.order.count)
        return StatementResult(
            (),
            f"FETCH {len(found)}",
            columns=columns,
            kept=FetchedRows(portal.result, found),
            is_binary=portal.is_binary,
        )


@dataclass(frozen=True, slots=True)
class CloseStatement(NeverImmediate):
    """Closes a cursor, or all."""

    state: SessionState
    name: str | None
    columns: tuple[ResultColumn, ...] | None = None
    parameters: tuple[int, ...] = ()
    step: TransactionStep | None = None

    async def run(self, parameters: Sequence[object]) -> StatementResult:  # noqa: ARG002
        if self.name is None:
            self.state.prepared.close_portals()
            return StatementResult((), "CLOSE CURSOR ALL")
        find_cursor(self.state, self.name)
        self.state.prepared.close_portal(self.name)
        return StatementResult((), "CLOSE CURSOR")


class FetchedRows:
    """The rows of a FETCH, as a part of a result that somebody else closes."""

    def __init__(self, result: StatementResult, found: range) -> None:
        self._result = result
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    @property
    def in_memory(self) -> bool:
        """Whether reading waits for nothing."""
        return self._result.in_memory

    def read(self, start: int, stop: int) -> Sequence[Sequence[object]]:
        """The first of the rows from `start` to `stop`."""
        wanted = self._found[start:stop]
        if not wanted:
            return ()
        if self._found.step > 0:
            return self._result.read(wanted[0], wanted[-1] + 1)
        wanted = wanted[:_BACK]
        found: list[Sequence[object]] = []
        while len(found) < len(wanted):
            page = self._result.read(wanted[-1] + len(found), wanted[0] + 1)
            if not page:
                break
            found += page
        return found[::-1]

    def close(self) -> None:
        """The cursor is still open."""


def plan_fetch(sql: str, state: SessionState) -> FetchStatement:
    """A FETCH or a MOVE; what it returns is known if its cursor is open."""
    order = cursor_syntax.fetch(sql)
    portal = state.prepared.portals.get(order.name)
    columns = None if order.moves or portal is None else cursor_columns(portal)
    return FetchStatement(state, order, columns)


def plan_close(sql: str, state: SessionState) -> CloseStatement:
    """A CLOSE."""
    return CloseStatement(state, cursor_syntax.close(sql))


def find_cursor(state: SessionState, name: str) -> Portal:
    """The cursor or the portal of a name; 34000 without one."""
    portal = state.prepared.portals.get(name) if name else None
    if portal is None:
        raise SqlStateError("34000", f'cursor "{name}" does not exist')
    return portal


async def open_cursor(state: SessionState, name: str) -> Portal:
    """The cursor of a name; a portal that was bound and has not run is run now."""
    portal = find_cursor(state, name)
    planned = portal.prepared.planned
    if portal.scan is None:
        if planned is None or planned.columns is None:
            raise SqlStateError("55000", f'portal "{name}" cannot be run')
        portal.result = await planned.run(portal.values)
        portal.scan = CursorScan(len(portal.result))
    if not portal.is_cursor and portal.scan.at_end:  # its rows are gone
        raise SqlStateError("55000", f'portal "{name}" cannot be run')
    return portal


def cursor_columns(portal: Portal) -> tuple[ResultColumn, ...]:
    """The columns of a cursor."""
    planned = portal.prepared.planned
    return (planned.columns if planned else None) or ()
