"""SELECT in worker processes: `ProcessSelector(factory, …)`, a `Selector` for servers.

Statements run in a pool of processes, each with a selector of its own that `factory` makes
(`module:function` and its arguments). One user's SELECTs have `processes` of them at once;
`for_asks` is the same selector in the lane of asks, `call_for_ask` what else its processes do for
asks (`ask_service`), where the factory makes such a service.

The tables may be so far behind that no statement can catch them up within its time. A statement
that exceeds it therefore has them caught up in one of the processes, without a deadline, and the
next statements find them so.

A schema to plan with is sent once, and then only that it is still the same.

A result is handed over in pages of `PAGE_ROWS`. More than `MAX_CELLS` values are LimitExceeded;
`select_pages` has no such bound, and keeps one page in memory.
A selector in a worker may have an `interrupt()`, which stops the statement that runs; without one,
a statement that oversteps its time ends with its process.
"""

import copy
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from typing import Any, Self

from redask.core.access.worker_shares import Lane, WorkerClaim, WorkerQuota
from redask.core.errors import AskError, DeadlineExceeded, LimitExceeded
from redask.core.model import Caller
from redask.core.planning.plan_schema import PlanSchema, StoredValue
from redask.core.ports import (
    SELECT_MS,
    SELECT_ROWS,
    Cancellation,
    Selector,
    SelectResult,
    SelectShape,
    TableShape,
)
from redask.core.ports.selecting import SELECT_BYTES, SelectPage
from redask.engine.processes.parent_threads import ParentThreads
from redask.engine.processes.worker_messages import WorkerLimits, packed
from redask.engine.processes.worker_processes import WorkerProcesses
from redask.engine.processes.worker_talk import ParentWork

PAGE_ROWS = 5_000
MAX_CELLS = 4_000_000
_TABLES_SECONDS = 30.0
_SCHEMAS = 256  # of callers
_SPARE = 3  # for other users' SELECTs, for asks, for another tenant: see `worker_shares`
_CATCH_UP_SECONDS = 3600.0
_SERVICE = "redask.engine.processes.process_selector:make_service"


class ProcessSelector:
    """See the module."""

    def __init__(
        self,
        factory: str,
        arguments: tuple[object, ...],
        *,
        processes: int,
        limits: WorkerLimits | None = None,
        quota: WorkerQuota | None = None,
        service: bool = False,
        parent_work: ParentWork | None = None,
        parent_threads: ParentThreads | None = None,
    ) -> None:
        """`service`: the factory makes what the processes serve, not a selector."""
        self._pool = WorkerProcesses(
            factory if service else _SERVICE,
            arguments if service else (factory, arguments),
            size=processes + _SPARE,
            limits=limits,
            quota=quota,
            parent_work=parent_work,
            parent_threads=parent_threads,
            work="the SELECT",
            deadline_setting="select.timeout_ms",
        )
        self._processes = processes
        self._lane = Lane.SELECT
        self._lock = threading.Lock()
        self._catching_up: set[str] = set()  # tenants
        self._schemas: dict[Caller, tuple[str, PlanSchema]] = {}  # and their digests

    def for_asks(self) -> Self:
        """The same selector, for what asks need: SELECTs do not keep it waiting."""
        other = copy.copy(self)
        other._lane = Lane.ASK
        return other

    def _claim(self, caller: Caller, lane: Lane | None = None) -> WorkerClaim:
        return WorkerClaim(caller.tenant, caller.user, lane or self._lane)

    def warm(self) -> Self:
        """Start the processes before the first statement comes. → the selector"""
        self._pool.warm()
        return self

    def select(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> SelectResult:
        """The rows of a SELECT."""
        with self._noticing(caller):
            found = self._pool.call(
                "select",
                *(sql, params, caller),
                declared=tuple(declared),
                facts=None if facts is None else dict(facts),
                timeout_ms=timeout_ms,
                max_rows=max_rows,
                timeout_seconds=timeout_ms / 1000,
                cancelled=cancelled,
                claim=self._claim(caller),
            )
        if isinstance(found, SelectResult):
            return found
        first, *pages = found
        return SelectResult(first.columns, [*first.rows, *(row for page in pages for row in page)])

    def select_json(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        browsers: bool,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> list[bytes]:
        """The rows of a SELECT as JSON, which the process that made them writes; in pieces."""
        with self._noticing(caller):
            found: list[bytes] = self._pool.call(
                "select_json",
                *(sql, params, caller),
                browsers=browsers,
                timeout_ms=timeout_ms,
                max_rows=max_rows,
                timeout_seconds=timeout_ms / 1000,
                cancelled=cancelled,
                claim=self._claim(caller),
            )
        return found

    def select_pages(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,
        max_bytes: int = SELECT_BYTES,
        cancelled: Cancellation | None = None,
    ) -> Iterator[SelectPage]:
        """The rows of a SELECT of any length, page by page."""
        with self._noticing(caller):
            yield from self._pool.stream(
                "select_pages",
                *(sql, params, caller),
                declared=tuple(declared),
                facts=None if facts is None else dict(facts),
                timeout_ms=timeout_ms,
                max_bytes=max_bytes,
                timeout_seconds=timeout_ms / 1000,
                cancelled=cancelled,
                claim=self._claim(caller),
            )

    def describe(
        self,
        sql: str,
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,
        cancelled: Cancellation | None = None,
    ) -> SelectShape:
        """What a SELECT would give, and what its parameters are."""
        with self._noticing(caller):
            shape: SelectShape = self._pool.call(
                "describe",
                *(sql, caller),
                declared=tuple(declared),
                facts=None if facts is None else dict(facts),
                timeout_ms=timeout_ms,
                timeout_seconds=timeout_ms / 1000,
                cancelled=cancelled,
                claim=self._claim(caller),
            )
        return shape

    def call_for_ask(
        self,
        method: str,
        *arguments: object,
        caller: Caller,
        seconds: float,
        cancelled: Cancellation | None,
    ) -> Any:
        """What another method of the service gives, in the lane of asks."""
        return self._pool.call(
            method,
            *arguments,
            timeout_seconds=seconds,
            cancelled=cancelled,
            claim=self._claim(caller, Lane.ASK),
        )

    def tables(self, caller: Caller) -> list[TableShape]:
        """What the caller can SELECT from, by name."""
        tables: list[TableShape] = self._pool.call(
            "tables", caller, timeout_seconds=_TABLES_SECONDS, claim=self._claim(caller, Lane.ASK)
        )
        return tables

    def plan_schema(self, caller: Caller) -> PlanSchema:
        """The tables that the caller may plan a SELECT with, counted in what the caller reads."""
        with self._lock:
            known = self._schemas.get(caller)
        digest, schema = self._pool.call(
            "plan_schema",
            *(caller, known and known[0]),
            timeout_seconds=_TABLES_SECONDS,
            claim=self._claim(caller, Lane.ASK),
        )
        if schema is None and known is not None:
            return known[1]
        with self._lock:
            self._schemas[caller] = (digest, schema)
            if len(self._schemas) > _SCHEMAS:
                del self._schemas[next(iter(self._schemas))]
        found: PlanSchema = schema
        return found

    def find_values(
        self, texts: Sequence[str], caller: Caller
    ) -> Mapping[str, tuple[StoredValue, ...]]:
        """The text values that the caller reads and that are equal to these: see `ValueIndex`."""
        found: Mapping[str, tuple[StoredValue, ...]] = self._pool.call(
            "find_values",
            *(tuple(texts), caller),
            timeout_seconds=_TABLES_SECONDS,
            claim=self._claim(caller, Lane.ASK),
        )
        return found

    def canonical(self, sql: str) -> str:
        """The one spelling of a SELECT that was described; rows that tie at its LIMIT belong."""
        text: str = self._pool.call("canonical", sql, timeout_seconds=_TABLES_SECONDS)
        return text

    def fix_type(self, column: str, type_name: str | None, caller: Caller) -> None:
        """Fix the type of a column, `table.column`, or (None) take it from the data; for owners."""
        self._pool.call(
            "fix_type",
            *(column, type_name, caller),
            timeout_seconds=_TABLES_SECONDS,
            claim=self._claim(caller, Lane.ADMINISTRATION),
        )

    def catch_up(self, caller: Caller) -> None:
        """Bring the tables, and the index, up to date in one of the processes."""
        self._pool.call(
            "catch_up",
            caller,
            timeout_seconds=_CATCH_UP_SECONDS,
            claim=self._claim(caller, Lane.ADMINISTRATION),
        )

    @contextmanager
    def _noticing(self, caller: Caller) -> Iterator[None]:
        try:
            yield
        except DeadlineExceeded:
            self.catch_up_soon(caller)
            raise

    def catch_up_soon(self, caller: Caller) -> None:
        """Have a caller's tenant caught up, without a deadline, unless that is going on."""
        with self._lock:
            is_first = caller.tenant not in self._catching_up
            self._catching_up.add(caller.tenant)
        if not is_first:
            return
        name = "select-catch-up"
        thread = threading.Thread(target=self._catch_up, args=(caller,), name=name, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no thread can be started: the next statement tries again
            with self._lock:
                self._catching_up.discard(caller.tenant)

    def _catch_up(self, caller: Caller) -> None:
        try:
            with suppress(AskError):  # the next statement says what is wrong
                self.catch_up(caller)
        finally:
            with self._lock:
                self._catching_up.discard(caller.tenant)

    def close(self) -> None:
        """End the processes; statements that run are `Cancelled`."""
        self._pool.close()


class SelectService:
    """A selector as a worker process serves it."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._digested: tuple[PlanSchema, str] | None = None  # the last one
        self.describe = selector.describe
        self.select_json = selector.select_json
        self.select_pages = selector.select_pages
        self.tables = selector.tables
        self.find_values = selector.find_values
        self.canonical = selector.canonical
        self.fix_type = selector.fix_type
        self.catch_up = selector.catch_up
        self.close = selector.close

    def select(self, *arguments: Any, **named: Any) -> "SelectResult | Iterator[object]":
        """The result, if it is small; else a result with the first rows, then pages of rows."""
        result = self._selector.select(*arguments, **named)
        if len(result.rows) * len(result.columns) > MAX_CELLS:
            message = f"the result has more than {MAX_CELLS} values: add a LIMIT"
            raise LimitExceeded("result_cells", message, detail="result_cells")
        return result if len(result.rows) <= PAGE_ROWS else _pages(result)

    def plan_schema(self, caller: Caller, known: str | None) -> tuple[str, PlanSchema | None]:
        """The digest of the caller's schema, and the schema if that is not the known one."""
        schema = self._selector.plan_schema(caller)
        if self._digested is None or self._digested[0] is not schema:
            self._digested = (schema, sha256(packed(schema)).hexdigest())
        digest = self._digested[1]
        return digest, None if digest == known else schema

    def interrupt(self) -> None:
        """Stop the statement that runs, if the selector can."""
        interrupt = getattr(self._selector, "interrupt", None)
        if interrupt is not None:
            interrupt()


def _pages(result: SelectResult) -> Iterator[object]:
    yield SelectResult(result.columns, result.rows[:PAGE_ROWS])
    for start in range(PAGE_ROWS, len(result.rows), PAGE_ROWS):
        yield result.rows[start : start + PAGE_ROWS]


def make_service(factory: str, arguments: tuple[object, ...]) -> SelectService:
    """What a worker process serves."""
    module, _, name = factory.partition(":")
    return SelectService(getattr(import_module(module), name)(*arguments))
