"""SELECT at the store: `PreparedSelects` runs and describes, and remembers both.

What a statement was made ready with (its connection, views and guard) is kept for the next run
of the same text by the same caller, and used if the store is in the very same state: the
tenant's last change and its policies' number, read inside the run's own snapshot. Otherwise it is
made anew. Kept are statements on one collection; not those on the audit log, which changes
without the store. Descriptions are kept likewise.

`select_now` is for a caller who cannot wait, an event loop: it runs what is kept and took next to
no time when it last ran, and stops it soon. Statements with patterns (LIKE, GLOB) are not run so:
matching one is a single step of SQLite's, and can take long.

The SQL parser is imported with the first statement: it takes a while, and many never need it.
"""

import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from redask.core.model import Caller
from redask.core.ports import (
    SELECT_MS,
    SELECT_ROWS,
    Cancellation,
    SelectResult,
    SelectShape,
    TableShape,
)
from redask.stores.sqlite import migrations
from redask.stores.sqlite.connection import Database, translated
from redask.stores.sqlite.store import BUSY_TIMEOUT_SECONDS, FILE
from redask.stores.sqlite.visibility_queries import VisibilityCache
from redask.stores.visibility import StoreVisibility

if TYPE_CHECKING:
    from redask.stores.sqlite.select.execution import ReadySelect, Selection

_STATE = "SELECT seq, access FROM main.tenants WHERE name = ?"
_KEPT, _SHAPES, _LONGEST = 64, 1000, 4096
_QUICK_SECONDS, _QUICK_STEPS = 0.001, 1000
_State = tuple[int, int] | None
_Key = tuple[Caller, str, int, int]
_Rows = TypeVar("_Rows", SelectResult, SelectResult | None)


@dataclass(slots=True)
class _Kept:
    """A statement that was made ready in some state of the store; `stack` closes it."""

    state: _State
    selection: "Selection"
    ready: "ReadySelect"
    stack: ExitStack
    has_patterns: bool
    is_quick: bool = False


class PreparedSelects:
    """The SELECTs of one store."""

    def __init__(
        self,
        database: Database,
        visibility_of: Callable[[sqlite3.Connection, Caller], StoreVisibility],
    ) -> None:
        self._database = database
        self._visibility_of = visibility_of
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, list[_Kept]] = OrderedDict()
        self._count = 0
        self._shapes: OrderedDict[_Key, tuple[_State, SelectShape]] = OrderedDict()
        self._closed = False

    def select(
        self, sql: str, params: Sequence[object], caller: Caller, timeout_ms: int, max_rows: int
    ) -> SelectResult:
        """The rows."""
        from redask.stores.sqlite.select.execution import Selection

        key = (caller, sql, timeout_ms, max_rows)
        kept = self._take(key)
        if kept is not None and self._begin(kept, caller):
            # by the thread's own time: it may have waited for others
            return self._again(key, kept, params, kept.selection.fetch, time.thread_time)
        chosen = Selection(sql, params, timeout_ms, max_rows)
        if not chosen.lasting or len(sql) > _LONGEST:
            with self._database.beside() as connection:
                return chosen.run(
                    connection, caller, self._visibility_of, self._database.path.parent
                )
        return self._first(chosen, key, chosen.bound(params))

    def select_now(
        self, sql: str, params: Sequence[object], caller: Caller, timeout_ms: int, max_rows: int
    ) -> SelectResult | None:
        """The rows, if they are to be had at once; None: `select` them."""
        if any(isinstance(value, str) and len(value) > _LONGEST for value in params):
            return None
        key = (caller, sql, timeout_ms, max_rows)
        kept = self._take(key, only_quick=True)
        if kept is None or not self._begin(kept, caller):
            return None
        run = partial(kept.selection.fetch_within, steps=_QUICK_STEPS, seconds=2 * _QUICK_SECONDS)
        return self._again(key, kept, params, run, time.perf_counter)

    def describe(self, sql: str, caller: Caller, timeout_ms: int) -> SelectShape:
        """What a SELECT would give, and what its parameters are."""
        from redask.stores.sqlite.select.execution import Selection

        key = (caller, sql, timeout_ms, 0)
        with self._database.reading() as connection:
            state: _State = connection.execute(_STATE, (caller.tenant,)).fetchone()
        with self._lock:
            known = self._shapes.get(key)
        if known is not None and known[0] == state:
            return known[1]
        chosen = Selection(sql, None, timeout_ms, 0)
        with self._database.beside() as connection:
            shape = chosen.describe(
                connection, caller, self._visibility_of, self._database.path.parent
            )
        if len(sql) <= _LONGEST:
            with self._lock:
                self._shapes[key] = (state, shape)
                if len(self._shapes) > _SHAPES:
                    self._shapes.popitem(last=False)
        return shape

    def tables(self, caller: Caller) -> list[TableShape]:
        """What the caller can SELECT from, by name."""
        from redask.stores.sqlite.select.execution import tables_of

        with self._database.beside() as connection:
            return tables_of(connection, caller, self._visibility_of)

    def close(self) -> None:
        """Keep nothing any more."""
        self._closed = True
        self.forget()

    def forget(self) -> None:
        """Let go of everything that is kept."""
        with self._lock:
            leaving = [kept for those in self._kept.values() for kept in those]
            self._kept.clear()
            self._shapes.clear()
            self._count = 0
        for kept in leaving:
            kept.stack.close()

    def _first(self, chosen: "Selection", key: _Key, values: tuple[object, ...]) -> SelectResult:
        """Make a statement ready, run it, and keep it if all went well."""
        caller = key[0]
        with ExitStack() as stack:
            connection = stack.enter_context(self._database.beside())
            ready = chosen.ready(
                stack, connection, caller, self._visibility_of, self._database.path.parent
            )
            with ready.guard.resting:
                state: _State = connection.execute(_STATE, (caller.tenant,)).fetchone()
            rows = chosen.fetch(ready, values)
            with ready.guard.resting:
                connection.execute("COMMIT")
            patterns = ready.guard.patterns > 0
            self._keep(key, _Kept(state, chosen, ready, stack.pop_all(), patterns))
        return rows

    def _begin(self, kept: _Kept, caller: Caller) -> bool:
        """A snapshot to run in, if the store is as it was; if not, what was kept is closed."""
        state = None
        try:
            kept.ready.guard.begin()
            with translated(self._database.path.name), kept.ready.guard.resting:
                kept.ready.connection.execute("BEGIN")
                state = kept.ready.connection.execute(_STATE, (caller.tenant,)).fetchone()
        finally:
            if state != kept.state or state is None:
                kept.stack.close()
        return state is not None and state == kept.state

    def _again(
        self,
        key: _Key,
        kept: _Kept,
        params: Sequence[object],
        run: "Callable[[ReadySelect, Sequence[object]], _Rows]",
        clock: Callable[[], float],
    ) -> _Rows:
        """The rows of a statement that has begun; it is kept if all went well."""
        began = clock()
        try:
            values = kept.selection.bound(params)
            with translated(self._database.path.name):
                rows = run(kept.ready, values)
                with kept.ready.guard.resting:
                    kept.ready.connection.execute("COMMIT")
        except BaseException:
            kept.stack.close()
            raise
        quick = rows is not None and clock() - began < _QUICK_SECONDS
        kept.is_quick = quick and not kept.has_patterns
        self._keep(key, kept)
        return rows

    def _take(self, key: _Key, *, only_quick: bool = False) -> _Kept | None:
        self._database.check_usable()
        with self._lock:
            those = self._kept.get(key)
            if not those or (only_quick and not those[-1].is_quick):
                return None
            self._count -= 1
            kept = those.pop()
            if not those:
                del self._kept[key]
            return kept

    def _keep(self, key: _Key, kept: _Kept) -> None:
        leaving = [kept]
        with self._lock:
            if not self._closed:
                self._kept.setdefault(key, []).append(kept)
                self._kept.move_to_end(key)
                self._count += 1
                leaving = []
                while self._count > _KEPT:
                    oldest = next(iter(self._kept))
                    leaving.append(self._kept[oldest].pop())
                    self._count -= 1
                    if not self._kept[oldest]:
                        del self._kept[oldest]
        for each in leaving:
            each.stack.close()


class SqliteSelector:
    """SELECT on the database in a directory, beside the backend; see `ports.Selector`."""

    def __init__(self, location: str | Path, *, busy_timeout: float = BUSY_TIMEOUT_SECONDS) -> None:
        self._database = Database(
            Path(location) / FILE, busy_timeout=busy_timeout, migrations=migrations.MIGRATIONS
        )
        self._selects = PreparedSelects(self._database, VisibilityCache().of)

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
        """The rows of a SELECT over what the caller may see of the collections."""
        del declared, facts, cancelled  # for engines with types, sessions and processes
        return self._selects.select(sql, params, caller, timeout_ms, max_rows)

    def select_now(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
    ) -> SelectResult | None:
        """The same for who cannot wait: None when it might take more than a moment."""
        return self._selects.select_now(sql, params, caller, timeout_ms, max_rows)

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
        del declared, facts, cancelled
        return self._selects.describe(sql, caller, timeout_ms)

    def tables(self, caller: Caller) -> list[TableShape]:
        """What the caller can SELECT from, by name."""
        return self._selects.tables(caller)

    def version(self) -> int:
        """A number that changes with every write, of whichever process."""
        return self._database.version()

    def close(self) -> None:
        """Let go of the file."""
        self._selects.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
