"""Computed questions over attached tables, in the source itself: `SourceStatements(…).select`.

A statement that names an attached table is run there, as the role that its attachment reads as, in
a read-only transaction with a time-out, under that role's row level security. What the statement
calls a table is put before it (WITH) as the caller may read it here: columns that a policy hides
are not in it, masked ones are masked, rows are those of the policy's condition. So both hold.
Refused:

    tables of several databases         one statement runs in one
    a condition that cannot be told     `core.access.condition_sql`
    a policy that is being applied      until every row is classified, two are in force
    a function that is not on the list  what runs in the source must not reach outside the tables
    `urn`, and `id` without a column    addresses are redask's own

Every statement was bound to the caller's own tables first (`describe`): who may not read a table
here does not reach it there.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg

from redask.core.access.condition_sql import Inexpressible, condition_sql, text_literal
from redask.core.access.policy import ANY_ROLE, MASK, OWNER, Grant, Principal, grant, read_policy
from redask.core.errors import (
    AskError,
    Cancelled,
    DeadlineExceeded,
    LimitExceeded,
    SqlError,
    StoreFailed,
)
from redask.core.model import Caller
from redask.core.ports import SELECT_MS, SELECT_ROWS, Selector, SelectResult
from redask.core.ports.selecting import Cancellation, Columns
from redask.core.sql.column_names import sql_names
from redask.core.sql.types import SqlType
from redask.stores.attached.attachment import AttachedTable, Attachment
from redask.stores.attached.attachments import Attachments
from redask.stores.attached.source_connection import NOT_ALLOWED, Connection, keep_json_text
from redask.stores.attached.source_rows import table_sql_name
from redask.stores.attached.source_types import condition_column, quoted, table_sql
from redask.stores.attached.statement_check import ShownTable, fault, with_tables
from redask.stores.backend import EntityStore

Attributes = Callable[[Caller], Mapping[str, object]]
_PAGE = 1000
_LOOK_SECONDS, _CANCEL_SECONDS = 0.05, 2.0
_MOST_BYTES = 64 * 1024 * 1024
_REFUSED = "0A000"


@dataclass(frozen=True, slots=True)
class SourceStatements:
    """See the module; `attributes` are those of a caller's user."""

    selector: Selector
    attachments: Attachments
    store: EntityStore
    attributes: Attributes

    def run(
        self,
        sql: str,
        caller: Caller,
        *,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> SelectResult | None:
        """The rows of a statement over attached tables; None for any other statement."""
        known = [each.attachment for each in self.attachments.listed(caller)]
        names = [name for _, name in self.selector.describe(sql, caller).tables] if known else []
        found = [(at, table) for name in names for at, table in _attached(known, name)]
        if not found:
            return None
        if len(found) < len(names) or len({at.name for at, _ in found}) > 1:
            raise _refused(
                "its tables are in different databases: what is attached is computed where it is"
            )
        at = found[0][0]
        text = self.written(sql, {table.collection: table for _, table in found}, at, caller)
        return self._run(text, at, caller, _Limits(timeout_ms, max_rows, cancelled))

    def written(
        self, sql: str, tables: Mapping[str, AttachedTable], at: Attachment, caller: Caller
    ) -> str:
        """The statement as it is run in the source; `SqlError` for one that is not."""
        if not {caller.role, ANY_ROLE} & {OWNER, *at.readers}:
            raise _refused(f"the role {caller.role!a} reads as nobody in the attached database")
        wrong = fault(sql, tables)
        if wrong:
            raise _refused(wrong)
        moving = {(each.tenant, each.collection) for each in self.store.relabelling()}
        principal = Principal(caller, self.attributes(caller))
        ruled = self.store.policies(Caller(caller.tenant, "", OWNER))
        shown = {}
        for name, table in tables.items():
            if (caller.tenant, name) in moving:
                raise _refused(f"the policy of {name!a} is being applied: ask again in a while")
            policy = read_policy(name, ruled[name]) if name in ruled else None
            given = grant(policy, principal)
            if given is None:
                raise _refused(f"the caller may not read {name!a}")
            shown[name] = _as_read(table, given)
        return with_tables(sql, shown)

    def _run(self, text: str, at: Attachment, caller: Caller, limits: "_Limits") -> SelectResult:
        source = self.attachments.source(at)
        try:
            with source.reading(at.role, timeout_ms=limits.timeout_ms, caller=caller) as connection:
                keep_json_text(connection)
                try:
                    with limits.watching(connection):
                        return _fetched(connection, text, limits)
                except psycopg.Error as error:
                    raise limits.told(error) from None
        except StoreFailed as error:
            if error.detail == NOT_ALLOWED:
                said = "the role may not read this in the attached database"
                raise SqlError(NOT_ALLOWED, said) from None
            message = f"the attached database {at.name!a} cannot be reached, or failed"
            raise StoreFailed(message, detail=error.detail) from None


def _attached(known: Sequence[Attachment], name: str) -> list[tuple[Attachment, AttachedTable]]:
    found = ((each, each.of_collection(name)) for each in known)
    return [(each, table) for each, table in found if table is not None]


def _as_read(table: AttachedTable, given: Grant) -> ShownTable:
    """A table as a query that gives what the caller may read of it, in the caller's names."""
    projection = given.projection
    names = sql_names({each.name for each in table.columns} - {"id"}, taken=("id", "urn"))
    columns = []
    for each in table.columns:
        own = quoted("id" if each.name == "id" else names[each.name])
        if each.name in projection.mask:
            columns.append(f"{text_literal(MASK)}::text AS {own}")
        elif not projection.hides(each.name):
            columns.append(f"{table_sql(each)} AS {own}")
    query = f"SELECT {', '.join(columns)} FROM {table_sql_name(table)}"
    if given.rows is None:
        return ShownTable(query)
    try:
        compared = {each.name: condition_column(each) for each in table.columns}
        where = condition_sql(given.rows, compared, given.user)
    except Inexpressible as error:
        raise _refused(
            f"the policy of {table.collection!a} asks for the column {str(error)!a}, which cannot"
            " be compared in the attached database as it is here"
        ) from None
    return ShownTable(f"{query} WHERE {where}", is_filtered=True)


@dataclass(frozen=True, slots=True)
class _Limits:
    """What a statement may take, and whether somebody waits for it."""

    timeout_ms: int
    max_rows: int
    cancelled: Cancellation | None

    @contextmanager
    def watching(self, connection: Connection) -> Iterator[None]:
        """Cancel the statement that runs inside once nobody waits for it any more."""
        done = threading.Event()

        def look() -> None:
            while not done.wait(_LOOK_SECONDS):
                if self.is_cancelled:
                    with suppress(psycopg.Error):
                        connection.cancel_safe(timeout=_CANCEL_SECONDS)

        if self.cancelled is None:
            yield
            return
        thread = threading.Thread(target=look, name="redask-attached", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits."""
        return self.cancelled is not None and self.cancelled.is_set()

    def told(self, error: psycopg.Error) -> AskError:
        """What went wrong, in our words; messages about values can hold them."""
        state = error.sqlstate or ""
        if self.is_cancelled:
            return Cancelled("the statement was cancelled")
        if state == "57014":
            limit = "select.timeout_ms"
            took = f"the statement took longer than {self.timeout_ms} ms in the attached database"
            return DeadlineExceeded(limit, took, detail=limit)
        if state.startswith("42"):
            told = error.diag.message_primary or "the statement failed"
            return SqlError(state, f"the attached database refuses it: {told}")
        if not state or state[:2] in ("08", "57"):
            return StoreFailed("the attached database", detail=state)
        failed = "the statement failed in the attached database"
        return SqlError(state, _SENTENCES.get(state, failed))


def _fetched(connection: Connection, text: str, limits: _Limits) -> SelectResult:
    rows: list[tuple[object, ...]] = []
    size, max_rows = 0, limits.max_rows
    with connection.cursor(name="redask_result") as cursor:
        cursor.execute(text)
        columns = _columns(connection, cursor)
        while page := cursor.fetchmany(_PAGE):
            rows += page
            size += sum(len(value) for row in page for value in row if isinstance(value, str))
            if len(rows) > max_rows:
                message = f"the result has more than {max_rows} rows: add a LIMIT"
                raise LimitExceeded("select.max_rows", message, detail="select.max_rows")
            if size + 8 * len(rows) * len(columns) > _MOST_BYTES:
                message = f"the result is larger than {_MOST_BYTES >> 20} MiB"
                raise LimitExceeded("result_bytes", message, detail="result_bytes")
    return SelectResult(columns, rows)


def _columns(connection: Connection, cursor: Any) -> Columns:
    return tuple((each.name, _type(connection, each)) for each in cursor.description or ())


def _type(connection: Connection, column: Any) -> str:
    known = connection.adapters.types.get(column.type_code)
    if known is None:
        return "text"
    name = known.name
    if name == "numeric" and column.precision:
        name = f"numeric({column.precision},{column.scale})"
    if column.type_code == known.array_oid:
        name = f"{name}[]"
    try:
        return str(SqlType.parse(name))
    except ValueError:
        return "text"


_SENTENCES = {
    "22012": "division by zero",
    "22003": "a number is out of range",
    "22008": "a time is out of range",
}


def _refused(why: str) -> SqlError:
    return SqlError(_REFUSED, why)
