"""The messages of one session after start-up: simple and extended queries, in a `MessageLoop`.

    simple query      SimpleQuery                           its results, then ReadyForQuery
    extended query    Parse Bind Describe Execute …   Sync: ReadyForQuery; after an error, messages
                                                      up to Sync are ignored

Describe never runs anything: a statement's columns and parameters are known when it is parsed.
Statements run through the admission. They are planned and run in the time of statement_timeout,
and are cancelled by `cancel` (a cancel request, or that time is over), and by cancelling the task
of `run`: the client disconnected. Either way an ask writes its audit row, and then a client that is
still connected gets 57014. Between two pages of a result it can be cancelled, too.

    transaction status    statement             becomes
    I (idle)              BEGIN                 T
    T (in transaction)    an error              E
    T, E (failed)         COMMIT, ROLLBACK      I; the tag of COMMIT in E is ROLLBACK
    E                     ROLLBACK TO           T
    E                     anything else         25P02
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from redask.core.errors import AskError, BadStatement, Cancelled, SqlError
from redask.server.admission import UserAdmission
from redask.server.pgwire.cursors.cursor_scan import ALL, CursorScan
from redask.server.pgwire.own_sessions.open_sessions import SessionActivity
from redask.server.pgwire.protocol import backend_messages, client_encodings, frontend_messages
from redask.server.pgwire.protocol.client_connection import (
    ClientConnection,
    ClientStalled,
    Terminated,
)
from redask.server.pgwire.protocol.frontend_messages import FrontendMessage
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.error_responses import (
    MisplacedStatement,
    error_response,
    moved,
    position,
)
from redask.server.pgwire.session.planned_statement import (
    PlannedStatement,
    Planner,
    StatementResult,
    TransactionStep,
)
from redask.server.pgwire.session.prepared_statements import (
    Portal,
    PreparedStatement,
    bind,
)
from redask.server.pgwire.session.result_sending import ResultSender, counted
from redask.server.pgwire.session.session_state import QUERY

BY_REQUEST = "the statement was cancelled on request"
OUT_OF_TIME = "the statement was cancelled: statement_timeout is over"
_LONG_TEXT = 4096  # characters of a statement that is read beside the event loop
_TURN = 8  # immediate statements of one session between turns of the others
_SEVERAL = "cannot insert multiple commands into a prepared statement"
_FAILED = "current transaction is aborted, commands ignored until end of transaction block"


class MessageLoop:
    """One session."""

    def __init__(
        self, connection: ClientConnection, planner: Planner, admission: UserAdmission
    ) -> None:
        self._connection = connection
        self._planner, self._admission = planner, admission
        self._state = planner.state
        self._prepared = planner.state.prepared
        turn = admission.encoding()
        self._sender = ResultSender(connection, self._check_cancelled, planner.style, turn)
        self._skips_to_sync = False
        self._running: asyncio.Task[Any] | None = None
        self._cancel_reason: str | None = None
        self._is_sending = False
        self._timer: asyncio.TimerHandle | None = None
        self._immediate = 0

    async def run(self) -> None:
        """Until Terminate. Raises `ProtocolViolation`, `Stopping`, `ClientStalled`."""
        await self._ready_for_query()
        try:
            await self._messages()
        finally:
            self._prepared.close_portals()

    async def _messages(self) -> None:
        read: Callable[[], FrontendMessage | None] = self._connection.reader.message
        while True:
            message: FrontendMessage = await self._connection.next(read)
            if isinstance(message, frontend_messages.Terminate):
                return
            if isinstance(message, frontend_messages.PasswordMessage):
                raise frontend_messages.ProtocolViolation("a password nobody asked for")
            if isinstance(message, frontend_messages.Sync):
                await self._sync()
            elif not self._skips_to_sync or _is_malformed_sync(message):
                await self._handle(message)

    def cancel(self, reason: str = BY_REQUEST) -> None:
        """Cancel the statement that runs, if one does."""
        if self._running is not None and not self._running.done():
            self._cancel_reason = reason
            self._running.cancel()
        elif self._is_sending:
            self._cancel_reason = reason

    def terminate(self) -> None:
        """End the session, with the statement that runs."""
        self._connection.terminate()
        self.cancel()

    def activity(self) -> SessionActivity:
        """What `pg_stat_activity` says of it."""
        is_active = self._running is not None or self._is_sending
        application = self._planner.parameter("application_name") or ""
        return SessionActivity(self._state.told(is_active), self._state.query, application)

    async def _handle(self, message: FrontendMessage) -> None:
        match message:
            case frontend_messages.SimpleQuery(text):
                await self._simple_query(text)
            case frontend_messages.FunctionCall():
                self._fail(SqlStateError("0A000", "function calls are not spoken: use a query"))
                await self._ready_for_query()
            case frontend_messages.Malformed(kind, fault):
                if kind in "QSF":
                    self._fail(fault)
                    self._skips_to_sync = False
                    await self._ready_for_query()
                else:
                    await self._skip_to_sync(fault)
            case frontend_messages.CopyMessage():
                pass
            case _:
                try:
                    await self._extended_query(message)
                except (ClientStalled, Terminated):
                    raise
                except Exception as error:
                    await self._skip_to_sync(error)

    async def _skip_to_sync(self, error: Exception) -> None:
        """Send the error at once: a Flush that the client may have sent will be ignored, too."""
        self._fail(error)
        self._skips_to_sync = True
        await self._connection.flush()

    async def _simple_query(self, text: str) -> None:
        is_whole = True
        self._state.query = text[:QUERY]
        try:
            statements = await self._split(text)
            if not statements:
                self._connection.send(backend_messages.EMPTY_QUERY_RESPONSE)
            self._state.in_batch = len(statements) > 1
            for sql in statements:
                await self._simple_statement(sql, text)
        except (ClientStalled, Terminated):
            raise
        except Exception as error:
            is_whole = False
            self._fail(error)
        finally:
            self._state.in_batch = False
        if self._state.status == "I":
            self._state.end_transaction(committed=is_whole)
        await self._ready_for_query()

    async def _simple_statement(self, sql: str, whole: str) -> None:
        """One statement of a simple query."""
        planned = await self._plan(sql, None, whole)
        if planned.parameters:
            raise SqlStateError("42P02", "there is no parameter $1 in a simple query")
        result = None
        try:
            result = await self._run(planned, ())
            columns = planned.columns if result.columns is None else result.columns
            if columns is not None:
                formats = (int(result.is_binary),) * len(columns)
                self._connection.send(backend_messages.row_description(columns, formats))
                await self._sender.data_rows(columns, formats, result, range(len(result)))
            elif result.copy is not None:
                await self._sender.copy_out(result)
        except SqlError as error:
            raise moved(error, sql, whole) from None
        finally:
            self._ended()
            if result is not None:
                result.close()
        self._report_parameters()
        self._connection.send(backend_messages.command_complete(result.tag))

    async def _extended_query(self, message: FrontendMessage) -> None:
        match message:
            case frontend_messages.Parse(name, text, declared):
                await self._parse(name, text, declared)
                self._connection.send(backend_messages.PARSE_COMPLETE)
            case frontend_messages.Bind(portal, name):
                prepared = self._prepared.statement(name)
                self._check_transaction(prepared.planned)
                made = bind(prepared, message)
                made.level = len(self._state.savepoints)
                self._prepared.add_portal(portal, made)
                self._connection.send(backend_messages.BIND_COMPLETE)
            case frontend_messages.Describe("S", name):
                planned = self._prepared.statement(name).planned
                self._connection.send(
                    backend_messages.parameter_description(planned.parameters if planned else ())
                )
                self._describe(planned, None)
            case frontend_messages.Describe(_, name):
                portal_ = self._prepared.portal(name)
                self._describe(portal_.prepared.planned, portal_.formats)
            case frontend_messages.Execute(name, rows):
                await self._execute(name, rows)
            case frontend_messages.Close(kind, name):
                close = (
                    self._prepared.close_statement if kind == "S" else self._prepared.close_portal
                )
                close(name)
                self._connection.send(backend_messages.CLOSE_COMPLETE)
            case frontend_messages.Flush():
                await self._connection.flush()

    async def _split(self, text: str) -> list[str]:
        """The statements of a text; a long one is read in a thread, which takes its time."""
        if len(text) <= _LONG_TEXT:
            return self._planner.split(text)
        return await asyncio.to_thread(self._planner.split, text)

    async def _parse(self, name: str, text: str, declared: Sequence[int]) -> None:
        statements = await self._split(text)
        if len(statements) > 1:
            raise SqlStateError("42601", _SEVERAL)
        planned = await self._plan(statements[0], declared, text) if statements else None
        self._prepared.add_statement(name, PreparedStatement(text, planned))

    def _describe(self, planned: PlannedStatement | None, formats: Sequence[int] | None) -> None:
        if planned is None or planned.columns is None:
            self._connection.send(backend_messages.NO_DATA)
            return
        shown = (0,) * len(planned.columns) if formats is None else formats
        self._connection.send(backend_messages.row_description(planned.columns, shown))

    async def _execute(self, name: str, limit: int) -> None:
        portal = self._prepared.portal(name)
        self._state.query = portal.prepared.text[:QUERY]
        planned = portal.prepared.planned
        if planned is None:
            self._connection.send(backend_messages.EMPTY_QUERY_RESPONSE)
            return
        self._check_transaction(planned)
        try:
            if portal.result is None:
                portal.result = await self._run(planned, portal.values)
                portal.scan = CursorScan(len(portal.result))
            elif planned.columns is None:
                raise SqlStateError("55000", f'portal "{name}" cannot be run')
            await self._send(planned, portal, limit)
        finally:
            self._ended()

    async def _send(self, planned: PlannedStatement, portal: Portal, limit: int) -> None:
        """The next rows of a portal that has run."""
        result, scan = portal.result, portal.scan
        assert result is not None
        assert scan is not None
        if result.copy is not None:
            await self._sender.copy_out(result)
            self._connection.send(backend_messages.command_complete(result.tag))
            return
        rows = scan.fetch("forward", limit if limit > 0 else ALL)
        await self._sender.data_rows(planned.columns or (), portal.formats, result, rows)
        if scan.at_end:
            tag = counted(result.tag, len(rows))
            self._connection.send(backend_messages.command_complete(tag))
            if not portal.is_cursor:
                result.close()
        else:
            self._connection.send(backend_messages.PORTAL_SUSPENDED)

    async def _plan(self, sql: str, declared: Sequence[int] | None, whole: str) -> PlannedStatement:
        try:
            planned = await self._planned(sql, declared)
        except BadStatement as error:
            self._check_transaction(None)
            raise MisplacedStatement(error, position(error, sql, whole)) from None
        except SqlError as error:
            self._check_transaction(None)
            raise moved(error, sql, whole) from None
        except (AskError, SqlStateError):
            self._check_transaction(None)
            raise
        self._check_transaction(planned)
        return planned

    async def _planned(self, sql: str, declared: Sequence[int] | None) -> PlannedStatement:
        """Plan a statement, which may be cancelled and has its time as running it does."""
        planning = asyncio.ensure_future(self._planner.plan(sql, declared))
        self._set_timer()
        self._running = planning
        try:
            await asyncio.wait([planning])
            if planning.cancelled():
                raise Cancelled(self._cancel_reason or BY_REQUEST)
            return planning.result()
        finally:
            planning.cancel()  # the client disconnected
            self._running = None
            self._ended()

    def _set_timer(self) -> None:
        """Begin the time of a statement."""
        self._cancel_reason = None
        seconds = self._planner.timeout()
        if seconds:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(seconds, self.cancel, OUT_OF_TIME)

    def _check_transaction(self, planned: PlannedStatement | None) -> None:
        """25P02 in a failed transaction, unless the statement ends it."""
        ends = planned is not None and planned.step in ("commit", "rollback", "restore")
        if self._state.status == "E" and not ends:
            raise SqlStateError("25P02", _FAILED)

    async def _run(self, planned: PlannedStatement, values: Sequence[object]) -> StatementResult:
        if planned.step is not None:
            return self._transaction_step(planned.step, await planned.run(values))
        immediate = planned.run_now(values)
        if immediate is not None:
            self._immediate += 1
            if self._immediate % _TURN == 0:
                await asyncio.sleep(0)  # the other sessions' turn
            return immediate
        self._set_timer()
        try:
            result = await self._admission.run(lambda: planned.run(values), began=self._began)
            self._prepared.deallocate(result.deallocates)
            self._is_sending = True
            return result
        except Cancelled as error:
            raise Cancelled(self._cancel_reason or error.message) from None
        finally:
            self._running = None

    def _ended(self) -> None:
        """The statement is over, its rows are sent."""
        self._is_sending = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_cancelled(self) -> None:
        if self._is_sending and self._cancel_reason is not None:
            raise Cancelled(self._cancel_reason)

    def _began(self, task: asyncio.Task[Any]) -> None:
        self._running = task

    def _transaction_step(self, step: TransactionStep, result: StatementResult) -> StatementResult:
        """Change the transaction status. → the statement's result, with the tag PostgreSQL has"""
        failed = self._state.status == "E"
        notice = self._state.take(step)
        if notice is not None:
            self._connection.send(backend_messages.notice_response(*notice))
        return StatementResult((), "ROLLBACK") if failed and step == "commit" else result

    def _fail(self, error: Exception) -> None:
        if self._connection.is_terminated:
            raise Terminated from None
        if self._state.status == "T":
            self._state.status = "E"
        self._connection.send(error_response(error))

    def _report_parameters(self) -> None:
        for name, value in self._planner.changed_parameters().items():
            if name == "client_encoding":
                client_encodings.use(value)
            self._connection.send(backend_messages.parameter_status(name, value))

    async def _sync(self) -> None:
        if self._state.status == "I":
            self._state.end_transaction(committed=not self._skips_to_sync)
        self._skips_to_sync = False
        await self._ready_for_query()

    async def _ready_for_query(self) -> None:
        self._report_parameters()
        self._connection.send(backend_messages.ready_for_query(self._state.status))
        await self._connection.flush()


def _is_malformed_sync(message: FrontendMessage) -> bool:
    return isinstance(message, frontend_messages.Malformed) and message.kind == "S"
