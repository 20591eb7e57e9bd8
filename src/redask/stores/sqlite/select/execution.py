"""One SELECT over collections as tables: `Selection(sql, params, …).run(connection, …)`.

`describe` says what `run` would give: names and types of the columns, types of the parameters.

    1  `naming` reads the statement and says which collections it means
    2  `tables` makes a temporary view of each that holds the caller's policy, on a connection of
       its own that cannot write, inside one snapshot of the store
    3  `guard` closes everything else; then SQLite runs the statement over the views

    goes wrong                                                   error
    the text is no SELECT, a name is unknown, SQLite objects     BadAsk, BadStatement with the place
    the collection is closed to the caller's role                Denied
    time, rows, bytes of the result, the length of a text        LimitExceeded, DeadlineExceeded

`red_ask_audit` is the audit log beside the store: the tenant's rows for an auditor or owner,
one's own for everybody else. Every other `red_` name is unknown.

Values are null, integers, floats and text. Bytes and infinite numbers have no JSON, and are
refused by name. Columns of the result that SQL would not tell apart are numbered, as in `tables`.
"""

import itertools
import math
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from redask.core.access.policy import AUDITORS
from redask.core.errors import BadAsk, BadStatement, DeadlineExceeded, LimitExceeded
from redask.core.model import Caller
from redask.core.ports import SelectResult, SelectShape, TableShape
from redask.core.rules.audit import KEYS
from redask.core.text import lower
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.select import table_names
from redask.stores.sqlite.select.authorizer import MAX_TEXT_BYTES, Guard, bounded_time
from redask.stores.sqlite.select.result_types import TypeInference
from redask.stores.sqlite.select.views import CollectionViews, named_apart
from redask.stores.sqlite.visibility_queries import policies
from redask.stores.visibility import StoreVisibility

AUDIT = "red_ask_audit"
MAX_RESULT_BYTES = 64 * 1024 * 1024
_LOOK = 100  # steps between two looks at the clock, for who cannot wait
_SHORT_BYTES = 16 * 1024
_LONE = re.compile("[\ud800-\udfff]")
_AUDIT_TYPES = {
    **dict.fromkeys(("seq", "ts", "prompt_tokens", "completion_tokens", "retry_count"), "integer"),
    **dict.fromkeys(("cost_usd", "temperature"), "real"),
    **dict.fromkeys(("cache_hit", "validation_ok"), "boolean"),
    **dict.fromkeys(("sources_urns", "citations", "errors"), "json"),
}
_AUDIT_COLUMNS = [(key, _AUDIT_TYPES.get(key, "text")) for key in ("seq", "hash", *KEYS)]
SQL_TYPES = {  # as the port has them
    "integer": "int8",
    "real": "float8",
    "boolean": "bool",
    "json": "jsonb",
    "text": "text",
    "null": "text",
}
_USERS_FAULT = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_MISMATCH)


@dataclass(frozen=True, slots=True)
class ReadySelect:
    """A statement with its views on a guarded connection."""

    connection: sqlite3.Connection
    guard: Guard
    rendered: table_names.Rendered
    names: list[str] = field(default_factory=list)  # of the result's columns, once it was run


class Selection:
    """A statement that was read, with its values and its limits."""

    def __init__(
        self, sql: str, params: Sequence[object] | None, timeout_ms: int, max_rows: int
    ) -> None:
        """Without values (None) it can be described, and not be run."""
        self._statement = table_names.read(sql)
        self._values = () if params is None else _bound(params, self._statement.parameters)
        self._timeout_ms = timeout_ms
        self._max_rows = max_rows

    def run(
        self,
        connection: sqlite3.Connection,
        caller: Caller,
        visibility_of: Callable[[sqlite3.Connection, Caller], StoreVisibility],
        directory: Path,
    ) -> SelectResult:
        """The rows, on a new connection that can only read."""
        with ExitStack() as stack:
            ready = self.ready(stack, connection, caller, visibility_of, directory)
            return self.fetch(ready, self._values)

    def ready(
        self,
        stack: ExitStack,
        connection: sqlite3.Connection,
        caller: Caller,
        visibility_of: Callable[[sqlite3.Connection, Caller], StoreVisibility],
        directory: Path,
    ) -> ReadySelect:
        """Everything but the run: the views, in one state of the store, and the guard."""
        connection.text_factory = lambda raw: raw.decode(errors="replace")
        with bounded_time(connection, self._timeout_ms):
            tables, views = self._prepare(
                connection, caller, visibility_of, directory, copied=self._statement.joins
            )
            guard = self._guard(tables, views)
            stack.enter_context(guard.watching(connection))
        return ReadySelect(connection, guard, self._statement.render(views))

    def fetch(self, ready: ReadySelect, values: Sequence[object]) -> SelectResult:
        """Run it."""
        with (
            bounded_time(ready.connection, self._timeout_ms),
            self._explained(ready.guard, ready.rendered),
        ):
            return self._fetch(ready, values)

    def fetch_within(
        self, ready: ReadySelect, values: Sequence[object], steps: int, seconds: float
    ) -> SelectResult | None:
        """Run it, if it takes few of SQLite's steps, little time and no long text; None: it does.

        Time is looked at between steps, and what one step takes is bounded by the texts' length.
        """
        connection, end, calls = ready.connection, time.perf_counter() + seconds, itertools.count()

        def enough() -> bool:
            # SQLite counts on from the statement's last run: the first call may come at any step
            return next(calls) * _LOOK > steps or time.perf_counter() > end

        longest = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _SHORT_BYTES)
        connection.set_progress_handler(enough, _LOOK)
        try:
            with self._explained(ready.guard, ready.rendered):
                return self._fetch(ready, values)
        except LimitExceeded as error:  # of which DeadlineExceeded is one
            if error.detail in ("text_bytes", "select.timeout_ms"):
                return None
            raise
        finally:
            connection.set_progress_handler(None, 0)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)

    def bound(self, params: Sequence[object]) -> tuple[object, ...]:
        """The values, if they fit."""
        return _bound(params, self._statement.parameters)

    @property
    def lasting(self) -> bool:
        """Whether what was made ready serves until the store changes: no copy, no audit log."""
        audited = any(lower(each.name) == AUDIT for each in self._statement.tables)
        return not self._statement.joins and not audited

    def describe(
        self,
        connection: sqlite3.Connection,
        caller: Caller,
        visibility_of: Callable[[sqlite3.Connection, Caller], StoreVisibility],
        directory: Path,
    ) -> SelectShape:
        """What the rows will be, without reading any: SQLite says the names, `shapes` the types.

        LIMIT 0 around LIMIT -1: SQLite then compiles the statement and never starts it.
        """
        with bounded_time(connection, self._timeout_ms):
            tables, views = self._prepare(
                connection, caller, visibility_of, directory, copied=False
            )
            guard = self._guard(tables, views)
            rendered = self._statement.render(views)
            inner = rendered.sql.rstrip().rstrip(";")
            nothing = f"SELECT * FROM (SELECT * FROM ({inner}\n) LIMIT -1) LIMIT 0"
            with guard.watching(connection), self._explained(guard, rendered):
                cursor = connection.execute(nothing, (None,) * self._statement.parameters)
                names = _unnumbered([rendered.spoken(each[0]) for each in cursor.description])
        shaper = TypeInference(tables.shapes)
        found = shaper.of(self._statement.tree)
        kinds = [kind for _, kind in found] if len(found) == len(names) else ["text"] * len(names)
        parameters = shaper.parameters(self._statement.tree, self._statement.parameters)
        return SelectShape(
            tuple(zip(named_apart(names), (SQL_TYPES[kind] for kind in kinds), strict=True)),
            tuple(SQL_TYPES[kind] for kind in parameters),
        )

    def _prepare(
        self,
        connection: sqlite3.Connection,
        caller: Caller,
        visibility_of: Callable[[sqlite3.Connection, Caller], StoreVisibility],
        directory: Path,
        copied: bool,
    ) -> tuple[CollectionViews, dict[str, str]]:
        """The views that the statement means, made in one state of the store."""
        with self._explained(None, None):
            log = self._attach(connection, directory)
            connection.execute("BEGIN")
            tables = CollectionViews(connection, caller, visibility_of(connection, caller), copied)
            views = {each.name: self._view(tables, each, log) for each in self._statement.tables}
        return tables, views

    def _guard(self, tables: CollectionViews, views: dict[str, str]) -> Guard:
        return Guard(
            named=frozenset(views.values()) | self._statement.with_names,
            trusted=frozenset(tables.trusted),
            rowids=frozenset(tables.rowids),
            copies=frozenset(tables.copies),
        )

    def _attach(self, connection: sqlite3.Connection, directory: Path) -> str | None:
        """The audit log's table, if the statement means it and there is one."""
        path = directory / CALLS_FILE
        if not any(lower(each.name) == AUDIT for each in self._statement.tables):
            return None
        if not path.exists():
            return None
        name = table_names.unguessable()
        connection.execute(f"ATTACH ? AS {name}", (f"{path.absolute().as_uri()}?mode=ro",))
        return f"{name}.{AUDIT}"

    def _view(
        self, tables: CollectionViews, mention: table_names.TableMention, log: str | None
    ) -> str:
        if lower(mention.name) == AUDIT:
            tables.shapes[mention.name] = _AUDIT_COLUMNS
            return tables.audit_view(log, KEYS, tables.caller.role in AUDITORS)
        view = None
        if not lower(mention.name).startswith("red_"):
            view = tables.view(mention.name, self._statement.mentions)
        if view is None:
            found = repr(mention.name[:300])
            expected = "a collection that holds something"
            raise BadStatement(mention.line, mention.column, found, expected)
        return view

    def _fetch(self, ready: ReadySelect, values: Sequence[object]) -> SelectResult:
        cursor = ready.connection.execute(ready.rendered.sql, values)
        names = ready.names
        if not names:
            names += named_apart([ready.rendered.spoken(each[0]) for each in cursor.description])
        rows: list[tuple[object, ...]] = []
        size = 0
        for row in cursor:
            size += sum(len(value) + 8 if isinstance(value, str) else 8 for value in row)
            if len(rows) == self._max_rows:
                message = f"the result has more than {self._max_rows} rows: add a LIMIT"
                raise LimitExceeded("select.max_rows", message, detail="select.max_rows")
            if size > MAX_RESULT_BYTES:
                message = f"the result is larger than {MAX_RESULT_BYTES >> 20} MiB"
                raise LimitExceeded("result_bytes", message, detail="result_bytes")
            rows.append(tuple(map(_plain, names, row)))
        return SelectResult(tuple(zip(names, _seen_types(len(names), rows), strict=True)), rows)

    @contextmanager
    def _explained(
        self, guard: Guard | None, rendered: table_names.Rendered | None
    ) -> Iterator[None]:
        """Say in our words what SQLite objects to; what is the store's fault goes on as it is."""
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code == sqlite3.SQLITE_INTERRUPT:
                limit = "select.timeout_ms"
                message = f"the SELECT took longer than {self._timeout_ms} ms"
                raise DeadlineExceeded(limit, message, detail=limit) from None
            if isinstance(error, MemoryError | OverflowError) or code in (
                sqlite3.SQLITE_TOOBIG,
                sqlite3.SQLITE_NOMEM,
            ):
                message = f"a value of the SELECT is longer than {MAX_TEXT_BYTES >> 20} MiB"
                raise LimitExceeded("text_bytes", message, detail="text_bytes") from None
            if rendered is None or (code not in _USERS_FAULT and code != sqlite3.SQLITE_AUTH):
                raise
            if guard is not None and guard.refused:
                raise BadAsk(guard.refused, detail="SELECT") from None
            said = rendered.spoken(str(error)).replace("\n", " ")[:500]
            raise BadAsk(f"the SELECT cannot be run: {said}", detail="SELECT") from None


def tables_of(
    connection: sqlite3.Connection,
    caller: Caller,
    visibility_of: Callable[[sqlite3.Connection, Caller], StoreVisibility],
) -> list[TableShape]:
    """Everything that the caller can name in FROM, by name."""
    connection.execute("BEGIN")
    visibility = visibility_of(connection, caller)
    tables = CollectionViews(connection, caller, visibility)
    held = connection.execute(
        "SELECT collections.name FROM collections JOIN tenants ON tenants.id = tenant"
        " WHERE tenants.name = ?",
        (caller.tenant,),
    ).fetchall()
    names = {name for (name,) in held} | policies(connection, caller.tenant).keys()
    for name in sorted(names - visibility.denied):
        if not lower(name).startswith("red_"):
            tables.view(name, None)
    tables.shapes[AUDIT] = _AUDIT_COLUMNS
    return [
        TableShape(name, tuple((column, SQL_TYPES[kind]) for column, kind in shape))
        for name, shape in sorted(tables.shapes.items())
    ]


def _seen_types(width: int, rows: Sequence[Sequence[object]]) -> list[str]:
    """The types of the columns, as far as the values tell: SQLite has no others."""
    types: list[str] = []
    for place in range(width):
        seen = {type(row[place]) for row in rows} - {type(None)}
        if seen == {int}:
            types.append("int8")
        else:
            types.append("float8" if seen and seen <= {int, float} else "text")
    return types


def _unnumbered(names: list[str]) -> list[str]:
    """The names without the `:1` that SQLite gives to the second of a name in a subquery."""
    plain: list[str] = []
    for name in names:
        base, mark, number = name.rpartition(":")
        known = {lower(each) for each in plain}
        plain.append(base if mark and number.isdecimal() and lower(base) in known else name)
    return plain


def _bound(params: Sequence[object], needed: int) -> tuple[object, ...]:
    if not isinstance(params, list | tuple):
        raise BadAsk("the parameters of a SELECT are a list", detail="params")
    if len(params) != needed:
        raise BadAsk(
            f"the SELECT has {needed} parameters, and {len(params)} values came", detail="params"
        )
    for number, value in enumerate(params, start=1):
        fault = _value_fault(value)
        if fault:
            raise BadAsk(f"parameter {number} of the SELECT {fault}", detail=f"${number}")
    return tuple(params)


def _value_fault(value: object) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if -(1 << 63) <= value < 1 << 63 else "is beyond 64 bits: give it as text"
    if isinstance(value, float):
        return None if math.isfinite(value) else "is no finite number"
    if not isinstance(value, str):
        return f"is {type(value).__name__}, not null, a boolean, a number or text"
    if len(value) > MAX_TEXT_BYTES // 4:
        return "is too long"
    return "holds a lone surrogate, which has no UTF-8" if _LONE.search(value) else None


def _plain(name: str, value: object) -> object:
    """The value, if JSON can carry it."""
    if isinstance(value, bytes):
        raise BadAsk(f"the column {name[:100]!a} is binary: hex() shows it", detail=name[:100])
    if isinstance(value, float) and not math.isfinite(value):
        raise BadAsk(f"the column {name[:100]!a} has an infinite number", detail=name[:100])
    return value
