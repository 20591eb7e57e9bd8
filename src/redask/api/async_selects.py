"""SELECT of a database for asyncio: `AsyncSelects`, a part of `AsyncDatabase`.

Statements wait and run in threads of their own, so that they take none from asks. Whoever leaves,
or closes the database, has his statement stopped where it can be: in a worker process.
"""

import asyncio
import re
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from redask.api.select_rows import SelectRows
from redask.app import App
from redask.core.errors import DeadlineExceeded
from redask.core.model import Caller
from redask.core.planning.plan_schema import PlanSchema, StoredValue
from redask.core.ports import SelectResult, SelectShape, TableShape
from redask.core.ports.selecting import KeptResult
from redask.core.sql.text_limits import check_text
from redask.core.wire import json as canonical
from redask.core.wire.row_json import for_browsers

_T = TypeVar("_T")
WaitForPlace = Callable[[float], Awaitable[None]]  # waits so many seconds at most
_SELECT = re.compile(
    r"(?:\s|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+(?:SELECT|WITH)\b", re.I | re.ASCII
)


class AsyncSelects:
    """See the module."""

    _app: App

    def _asking(self) -> Caller:
        raise NotImplementedError

    def _check_open(self) -> None:
        raise NotImplementedError

    async def select(self, sql: str, params: Sequence[object] = ()) -> SelectRows:
        """Run a SELECT over collections as tables; see docs/sql.md. → its rows."""
        return await self._in_select_thread(
            lambda caller, left: SelectRows(self._select(sql, params, caller, left)), sql
        )

    async def select_json(
        self,
        sql: str,
        params: Sequence[object] = (),
        *,
        browsers: bool,
        turn: WaitForPlace | None = None,
    ) -> list[bytes]:
        """The rows as JSON for transports, in pieces: see `core.wire.row_json`.

        It begins after its `turn`, which has the time of a SELECT; what that takes is of its time.
        """
        chosen, app = self._app.settings, self._app
        left_ms, began = chosen.select_timeout_ms, time.monotonic()
        if turn is not None:
            await turn(left_ms / 1000)
            left_ms = max(1, left_ms - int((time.monotonic() - began) * 1000))

        def encoded(caller: Caller, left: threading.Event) -> list[bytes]:
            _check(sql)
            pieces = app.selector.select_json(
                *(sql, params, caller),
                browsers=browsers,
                timeout_ms=left_ms,
                max_rows=chosen.select_max_rows,
                cancelled=left,
            )
            return list(pieces)

        return await self._in_select_thread(encoded, sql)

    async def execute(self, statement: str, params: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Run an ASK, an EXPLAIN ASK or a SELECT: see `AsyncDatabase`."""
        raise NotImplementedError

    async def query(self, statement: str, params: Sequence[object] = ()) -> list[dict[str, Any]]:
        """`execute` for transports: rows with values that JSON has."""
        rows = await self.execute(statement, params)
        if not isinstance(rows, SelectRows):
            return rows
        return await self._app.in_thread(rows.json_rows)

    async def query_json(
        self,
        statement: str,
        params: Sequence[object] = (),
        *,
        browsers: bool,
        turn: WaitForPlace | None = None,
    ) -> list[bytes]:
        """The same as JSON, in pieces: a SELECT's become text in the process that made them.

        A SELECT begins after its `turn`.
        """
        if is_select(statement):
            return await self.select_json(statement, params, browsers=browsers, turn=turn)
        rows: object = await self.execute(statement, params)
        return [canonical.encode(for_browsers(rows) if browsers else rows)]

    async def select_result(
        self,
        sql: str,
        params: Sequence[object] = (),
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
    ) -> SelectResult:
        """The same for transports: columns with types, and rows; see `ports.Selector`."""
        return await self._in_select_thread(
            lambda caller, left: self._select(
                sql, params, caller, left, declared=declared, facts=facts
            ),
            sql,
        )

    async def select_kept(
        self,
        sql: str,
        params: Sequence[object] = (),
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
    ) -> KeptResult:
        """The same for a result of any length, whose rows are read later and must be closed."""
        chosen, app = self._app.settings, self._app

        def kept(caller: Caller, left: threading.Event) -> KeptResult:
            _check(sql)
            pages = app.selector.select_pages(
                *(sql, params, caller),
                declared=declared,
                facts=facts,
                timeout_ms=chosen.select_timeout_ms,
                max_bytes=chosen.select_max_bytes,
                cancelled=left,
            )
            made.append(app.spool.keep(pages, caller))
            return made[0]

        made: list[KeptResult] = []
        try:
            return await self._in_select_thread(kept, sql)
        except BaseException:
            for each in made:  # nobody gets it
                each.rows.close()
            raise

    async def describe(
        self,
        sql: str,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
    ) -> SelectShape:
        """What a SELECT would give, and what its parameters are, without running it."""
        most = self._app.settings.select_timeout_ms

        def described(caller: Caller, left: threading.Event) -> SelectShape:
            _check(sql)
            return self._app.selector.describe(
                sql, caller, declared=declared, facts=facts, timeout_ms=most, cancelled=left
            )

        return await self._in_select_thread(described)

    async def tables(self) -> list[TableShape]:
        """What can be named in a SELECT, with names and types of the columns."""
        return await self._in_select_thread(lambda caller, _: self._app.selector.tables(caller))

    async def plan_schema(self) -> PlanSchema:
        """The tables that a SELECT can be planned with, counted in what the caller reads."""
        sources = self._app.plan_sources
        return await self._in_select_thread(lambda caller, _: sources.schema(caller))

    async def find_values(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        """The text values that are equal to these, loosely, in what the caller reads."""
        sources = self._app.plan_sources
        return await self._in_select_thread(lambda caller, _: sources.values(caller).find(texts))

    async def _in_select_thread(
        self, work: Callable[[Caller, threading.Event], _T], statement: object = None
    ) -> _T:
        """Do it in a thread for SELECTs, as whoever asks when its turn comes.

        A statement that is run leaves a row in the access log, before its result is seen.
        """
        who: list[Caller] = []
        self._check_open()
        self._app.logs.check()
        left = threading.Event()
        most = self._app.settings.select_timeout_ms
        end = time.monotonic() + most / 1000

        def run() -> _T:
            if time.monotonic() > end:
                setting = "select.timeout_ms"
                message = f"the SELECT waited longer than {most} ms for its turn"
                raise DeadlineExceeded(setting, message, detail=setting)
            who.append(self._asking())
            return work(who[0], left)

        recorder = self._app.logs.recorder
        async with self._app.running.cancellable(), recorder.reading("select", statement, who):
            try:
                return await self._app.select_threads.run(run)
            except asyncio.CancelledError:
                left.set()
                raise

    def _select(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        left: threading.Event,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
    ) -> SelectResult:
        _check(sql)
        chosen = self._app.settings
        return self._app.selector.select(
            *(sql, params, caller),
            declared=declared,
            facts=facts,
            timeout_ms=chosen.select_timeout_ms,
            max_rows=chosen.select_max_rows,
            cancelled=left,
        )


def is_select(statement: object) -> bool:
    """Whether a statement is a SELECT, by its first word; what is no text is not."""
    return isinstance(statement, str) and _SELECT.match(statement) is not None


def _check(sql: object) -> None:
    if isinstance(sql, str):  # what is no text, the selector refuses
        check_text(sql)
