"""What is said once a client is signed in: simple queries and the extended protocol.

    simple      Query                           all of it, then ReadyForQuery
    extended    Parse Bind Describe Execute …   Sync: ReadyForQuery; after an error, everything
                                                up to Sync is passed over

Describe never runs anything: a statement's columns and parameters are known when it is parsed.
Statements run through the admission, and are cancelled by `cancel` (somebody's CancelRequest, or
the statement's own time), and by cancelling the task that runs `talk`: the client left. Either way
an ask leaves its audit row, and whoever stays hears 57014 after that.

    status      statement                       becomes
    I           BEGIN                           T
    T           an error                        E
    T, E        COMMIT, ROLLBACK                I; COMMIT in E says ROLLBACK
    E           ROLLBACK TO                     T
    E           anything else                   25P02
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from redask.core.errors import AskError, BadAsk, BadStatement, Cancelled
from redask.core.wire import outcomes
from redask.server.admission import Admission
from redask.server.pgwire.protocol import backend_messages, frontend_messages
from redask.server.pgwire.protocol.client_connection import ClientConnection, ClientStalled
from redask.server.pgwire.protocol.frontend_messages import Message
from redask.server.pgwire.session.planned import (
    PlannedStatement,
    StatementSource,
    WireColumn,
    WireFault,
    WireRows,
)
from redask.server.pgwire.session.portals import Portal, Prepared, SessionStatements, bound
from redask.server.pgwire.types import encoding

BY_REQUEST = "the statement was cancelled on request"
OUT_OF_TIME = "the statement was cancelled: statement_timeout is over"
_TURN = 8  # statements that a client may run without letting others go first
_FAILED = "the transaction has failed: nothing is done until it is ended"


class MessageLoop:
    """One signed-in client."""

    def __init__(
        self, line: ClientConnection, dispatcher: StatementSource, admission: Admission
    ) -> None:
        self._line = line
        self._conversation = dispatcher
        self._gate = admission
        self._shelf = SessionStatements()
        self._status = "I"
        self._skipping = False
        self._running: asyncio.Task[Any] | None = None
        self._reason: str | None = None
        self._in_a_row = 0

    async def talk(self) -> None:
        """Until Terminate. Raises `ProtocolViolation`, `Stopping`, `ClientStalled`."""
        read: Callable[[], Message | None] = self._line.reader.message
        self._report()
        await self._ready()
        while True:
            message: Message = await self._line.next(read)
            if isinstance(message, frontend_messages.Terminate):
                return
            if isinstance(message, frontend_messages.Secret):
                raise frontend_messages.ProtocolViolation("a password nobody asked for")
            if isinstance(message, frontend_messages.Sync):
                await self._sync()
            elif not self._skipping or _is_bad_sync(message):
                await self._hear(message)

    def cancel(self, reason: str = BY_REQUEST) -> None:
        """Stop the statement that runs, if one does."""
        if self._running is not None and not self._running.done():
            self._reason = reason
            self._running.cancel()

    async def _hear(self, message: Message) -> None:
        match message:
            case frontend_messages.SimpleQuery(text):
                await self._query(text)
            case frontend_messages.FunctionCall():
                self._fail(WireFault("0A000", "function calls are not spoken: use a query"))
                await self._ready()
            case frontend_messages.Malformed(kind, fault):
                if kind in "QSF":
                    self._fail(fault)
                    self._skipping = False
                    await self._ready()
                else:
                    await self._skip(fault)
            case frontend_messages.CopyPart():
                pass
            case _:
                try:
                    await self._extended(message)
                except ClientStalled:
                    raise
                except Exception as error:
                    await self._skip(error)

    async def _skip(self, error: Exception) -> None:
        """Say it at once: the Flush that a client may count on will be passed over, too."""
        self._fail(error)
        self._skipping = True
        await self._line.flush()

    async def _query(self, text: str) -> None:
        try:
            statements = self._conversation.split(text)
            if not statements:
                self._line.say(backend_messages.EMPTY_QUERY)
            for sql in statements:
                await self._statement(sql, text)
        except ClientStalled:
            raise
        except Exception as error:
            self._fail(error)
        if self._status == "I":
            self._shelf.close_portals()
        await self._ready()

    async def _statement(self, sql: str, whole: str) -> None:
        """One statement of a simple query."""
        planned = await self._plan(sql, (), whole)
        if planned.parameters:
            raise WireFault("42P02", "there is no parameter $1 in a simple query")
        found = await self._run(planned, ())
        if planned.columns is not None:
            formats = (0,) * len(planned.columns)
            self._line.say(backend_messages.columns(planned.columns, formats))
            await self._rows(planned.columns, formats, found.rows)
        self._report()
        self._line.say(backend_messages.complete(found.tag))

    async def _extended(self, message: Message) -> None:
        match message:
            case frontend_messages.ParseStatement(name, text, declared):
                await self._parse(name, text, declared)
                self._line.say(backend_messages.PARSE_COMPLETE)
            case frontend_messages.BindPortal(portal, name):
                prepared = self._shelf.statement(name)
                self._refuse_if_failed(prepared.planned)
                self._shelf.keep_portal(portal, bound(prepared, message))
                self._line.say(backend_messages.BIND_COMPLETE)
            case frontend_messages.DescribeTarget("S", name):
                planned = self._shelf.statement(name).planned
                self._line.say(backend_messages.parameters(planned.parameters if planned else ()))
                self._describe(planned, None)
            case frontend_messages.DescribeTarget(_, name):
                portal_ = self._shelf.portal(name)
                self._describe(portal_.prepared.planned, portal_.formats)
            case frontend_messages.ExecutePortal(name, rows):
                await self._execute(self._shelf.portal(name), rows)
            case frontend_messages.CloseTarget(kind, name):
                close = self._shelf.close_statement if kind == "S" else self._shelf.close_portal
                close(name)
                self._line.say(backend_messages.CLOSE_COMPLETE)
            case frontend_messages.Flush():
                await self._line.flush()

    async def _parse(self, name: str, text: str, declared: Sequence[int]) -> None:
        statements = self._conversation.split(text)
        if len(statements) > 1:
            raise WireFault("42601", "a prepared statement is one statement, not several")
        planned = await self._plan(statements[0], declared, text) if statements else None
        self._shelf.keep_statement(name, Prepared(text, planned))

    def _describe(self, planned: PlannedStatement | None, formats: Sequence[int] | None) -> None:
        if planned is None or planned.columns is None:
            self._line.say(backend_messages.NO_DATA)
            return
        shown = (0,) * len(planned.columns) if formats is None else formats
        self._line.say(backend_messages.columns(planned.columns, shown))

    async def _execute(self, portal: Portal, limit: int) -> None:
        planned = portal.prepared.planned
        if planned is None:
            self._line.say(backend_messages.EMPTY_QUERY)
            return
        self._refuse_if_failed(planned)
        if portal.found is None:
            portal.found = await self._run(planned, portal.values)
        elif planned.columns is None:
            raise WireFault("55000", "the portal was run already")
        found = portal.found
        end = len(found.rows) if limit <= 0 else min(portal.given + limit, len(found.rows))
        rows = found.rows[portal.given : end]
        portal.given = end
        await self._rows(planned.columns or (), portal.formats, rows)
        self._report()
        if 0 < limit == len(rows):
            self._line.say(backend_messages.SUSPENDED)
        else:
            self._line.say(backend_messages.complete(_counted(found.tag, len(rows))))

    async def _rows(
        self,
        columns: Sequence[WireColumn],
        formats: Sequence[int],
        rows: Sequence[Sequence[object]],
    ) -> None:
        encoders = [
            encoding.encoder(column.oid, form == 1)
            for column, form in zip(columns, formats, strict=True)
        ]
        try:
            for row in rows:
                cells = [
                    None if value is None else encode(value)
                    for encode, value in zip(encoders, row, strict=True)
                ]
                self._line.say(backend_messages.row(cells))
                if self._line.has_much_to_say:
                    await self._line.flush()
                    await asyncio.sleep(0)  # the others' turn
        except BadAsk as error:
            raise WireFault("22000", error.message) from None

    async def _plan(self, sql: str, declared: Sequence[int], whole: str) -> PlannedStatement:
        try:
            planned = await self._conversation.plan(sql, declared)
        except BadStatement as error:
            self._refuse_if_failed(None)
            raise _Placed(error, _position(error, sql, whole)) from None
        except (AskError, WireFault):
            self._refuse_if_failed(None)
            raise
        self._refuse_if_failed(planned)
        return planned

    def _refuse_if_failed(self, planned: PlannedStatement | None) -> None:
        ends = planned is not None and planned.step in ("commit", "rollback", "restore")
        if self._status == "E" and not ends:
            raise WireFault("25P02", _FAILED)

    async def _run(self, planned: PlannedStatement, values: Sequence[object]) -> WireRows:
        if planned.step is not None:
            return self._step(planned.step, await planned.run(values))
        at_once = planned.run_now(values)
        if at_once is not None:
            self._in_a_row += 1
            if self._in_a_row % _TURN == 0:
                await asyncio.sleep(0)  # the others' turn
            return at_once
        seconds = self._conversation.timeout()
        timer = None
        if seconds:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(seconds, self.cancel, OUT_OF_TIME)
        self._reason = None
        try:
            found = await self._gate.run(lambda: planned.run(values), began=self._began)
            self._shelf.drop(found.drops)
            return found
        except Cancelled as error:
            raise Cancelled(self._reason or error.message) from None
        finally:
            self._running = None
            if timer is not None:
                timer.cancel()

    def _began(self, task: asyncio.Task[Any]) -> None:
        self._running = task

    def _step(self, step: str, found: WireRows) -> WireRows:
        """The transaction's next state, and what is said about it."""
        failed = self._status == "E"
        if step == "begin":
            if self._status == "T":
                self._line.say(backend_messages.warning("25001", "there is a transaction already"))
            self._status = "T"
        elif step == "restore":
            self._status = "T" if self._status != "I" else "I"
        else:
            if self._status == "I":
                self._line.say(backend_messages.warning("25P01", "there is no transaction"))
            self._status = "I"
            self._shelf.close_portals()
        return WireRows((), "ROLLBACK") if failed and step == "commit" else found

    def _fail(self, error: Exception) -> None:
        if self._status == "T":
            self._status = "E"
        self._line.say(told(error))

    def _report(self) -> None:
        for name, value in self._conversation.reports().items():
            self._line.say(backend_messages.parameter(name, value))

    async def _sync(self) -> None:
        self._skipping = False
        if self._status == "I":
            self._shelf.close_portals()
        await self._ready()

    async def _ready(self) -> None:
        self._line.say(backend_messages.ready(self._status))
        await self._line.flush()


class _Placed(Exception):
    """A statement that does not parse, with the place in all that was sent (from 1)."""

    def __init__(self, error: BadStatement, place: int) -> None:
        super().__init__(error.message)
        self.error = error
        self.place = place


def told(error: Exception, *, fatal: bool = False) -> bytes:
    """What a client hears of an error: our outcome's SQLSTATE, or the one it names itself."""
    if isinstance(error, WireFault):
        return backend_messages.trouble(error.sqlstate, error.message, fatal=fatal, hint=error.hint)
    place = error.place if isinstance(error, _Placed) else 0
    shown = error.error if isinstance(error, _Placed) else error
    outcome = outcomes.of(shown)
    return backend_messages.trouble(
        outcome.sqlstate,
        outcomes.message(shown),
        fatal=fatal,
        detail=shown.detail if isinstance(shown, AskError) else "",
        place=place,
        kind=outcome.kind,
    )


def _is_bad_sync(message: Message) -> bool:
    return isinstance(message, frontend_messages.Malformed) and message.kind == "S"


def _position(error: BadStatement, sql: str, whole: str) -> int:
    """Where in `whole` it is, of which `sql` is a part."""
    lines = sql.split("\n")
    before = sum(len(line) + 1 for line in lines[: error.line - 1])
    return max(0, whole.find(sql)) + before + error.column


def _counted(tag: str, rows: int) -> str:
    """The tag of a portal that handed out so many rows."""
    word, _, count = tag.rpartition(" ")
    return f"{word} {rows}" if word and count.isdigit() else tag
