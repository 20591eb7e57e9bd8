"""Catalogue queries of clients: `pg_catalog`, `information_schema`, functions, `SELECT 1`.

One small SQLite database in memory for each connection, with tables under PostgreSQL's names
that hold what this caller can SELECT from and nothing else; it is filled anew whenever that
changed. It has no file, cannot attach one, and cannot be written: SQLite's authorizer lets a
statement read and call the functions of `catalogue_functions` and a few of its own.

    time      `SECONDS`, then 57014         rows      `MAX_ROWS`, then 54000
    memory    texts of `MAX_BYTES`          no statement waits for another connection's
"""

import asyncio
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadAsk, DeadlineExceeded, LimitExceeded
from redask.core.ports import TableShape
from redask.server.pgwire.catalog.functions import CatalogueFacts, install
from redask.server.pgwire.catalog.relations import content, layout, numbered
from redask.server.pgwire.catalog.translation import CatalogueQuery, translated
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import (
    NeverImmediate,
    StatementResult,
    TransactionStep,
)
from redask.server.pgwire.session.runtime_parameters import RuntimeParameters
from redask.server.pgwire.types.oids import TEXT, TYPES, UNKNOWN

_T = TypeVar("_T")
_P = ParamSpec("_P")
SECONDS = 5.0
MAX_ROWS = 10_000
MAX_BYTES = 1_000_000
_STEPS = 10_000
_FORBIDDEN = frozenset(
    """load_extension randomblob zeroblob fts3_tokenizer readfile writefile edit
    sqlite_compileoption_get sqlite_compileoption_used""".split()
)
_OTHERS = re.compile("sqlite_|pragma_")  # SQLite's own tables
_AFFINITY = {"bool": "INTEGER", "oid": "INTEGER", "int2": "INTEGER", "int4": "INTEGER",
             "int8": "INTEGER", "xid": "INTEGER", "float4": "REAL", "float8": "REAL"}  # fmt: skip
_DEFAULTS: dict[str, object] = {"bool": 0, "oid": 0, "int2": 0, "int4": 0, "int8": 0, "char": "",
                                "xid": 0, "float4": 0.0}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlannedQuery(NeverImmediate):
    """A catalogue query that was read."""

    catalogue: "Catalogue"
    query: CatalogueQuery
    columns: tuple[ResultColumn, ...]
    parameters: tuple[int, ...]
    step: TransactionStep | None = None

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        rows = await self.catalogue.rows(self.query, parameters, self.columns)
        return StatementResult(rows, f"SELECT {len(rows)}")


class Catalogue:
    """The catalogue as one caller sees it."""

    def __init__(
        self, session: AsyncDatabase, parameters: RuntimeParameters, *, user: str, database: str
    ) -> None:
        self._session = session
        self._facts = CatalogueFacts(user, database, parameters)
        self._connection: sqlite3.Connection | None = None
        self._known: Sequence[TableShape] | None = None
        self._end = 0.0

    async def plan(self, sql: str, declared: Sequence[int]) -> PlannedQuery:
        """Read a query, and find out what it gives."""
        query = await asyncio.to_thread(translated, sql)
        await self._refresh(query)
        described = await self._in_thread(self._describe, query)
        named = query.named
        if named is None or len(named) != len(described):
            kinds = {name: kind for table in layout().values() for name, kind in table.items()}
            named = tuple((name, _oid(kinds.get(name, "text"))) for name in described)
        given = [*declared, *[0] * len(query.parameters)]
        parameters = tuple(
            own if own in TYPES and own != UNKNOWN else kind
            for own, kind in zip(given, query.parameters, strict=False)
        )
        return PlannedQuery(
            self, query, tuple(ResultColumn(name, oid) for name, oid in named), parameters
        )

    async def rows(
        self, query: CatalogueQuery, values: Sequence[object], columns: Sequence[ResultColumn]
    ) -> list[tuple[object, ...]]:
        """Run a query."""
        await self._refresh(query)
        bound = tuple(_plain(value) for value in values)
        found = await self._in_thread(self._fetch, query.sql, bound)
        arrays = [bool(TYPES[column.oid].items) for column in columns]
        return [
            tuple(
                _listed(value) if array else value for array, value in zip(arrays, row, strict=True)
            )
            for row in found
        ]

    async def _refresh(self, query: CatalogueQuery) -> None:
        """Fill the tables anew, if the caller can see others than last time."""
        if self._connection is None:
            self._connection = await asyncio.to_thread(_empty, self._facts)
            self._connection.set_progress_handler(self._late, _STEPS)
        if not query.tables:
            return
        tables = await self._session.tables()
        if tables != self._known or "pg_settings" in query.sql:
            await asyncio.to_thread(self._fill, tables)
            self._known = tables

    def _fill(self, tables: Sequence[TableShape]) -> None:
        connection = self._opened()
        facts = self._facts
        facts.tables = {oid: name for name, oid in numbered([t.name for t in tables]).items()}
        connection.set_authorizer(None)
        filled = content(tables, facts.user, facts.database, facts.parameters.all())
        for table, rows in filled.items():
            columns = layout()[table]
            connection.execute(f"DELETE FROM {table}")
            marks = ", ".join("?" * len(columns))
            connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})",
                [
                    [row.get(name, _DEFAULTS.get(kind)) for name, kind in columns.items()]
                    for row in rows
                ],
            )
        connection.set_authorizer(_judge)

    async def _in_thread(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Do it in a thread; cancelling this interrupts SQLite."""
        task = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._end = 0.0
            await asyncio.wait([task])
            task.exception()  # seen: it is the interrupt
            raise

    def _late(self) -> int:
        return int(time.monotonic() > self._end)

    def _describe(self, query: CatalogueQuery) -> list[str]:
        text = f"SELECT * FROM (SELECT * FROM ({query.sql}\n) LIMIT -1) LIMIT 0"
        values = (None,) * len(query.parameters)
        with self._bounded() as connection:
            return [each[0] for each in connection.execute(text, values).description]

    def _fetch(self, sql: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        with self._bounded() as connection:
            found = connection.execute(sql, values).fetchmany(MAX_ROWS + 1)
        if len(found) > MAX_ROWS:
            message = f"the result has more than {MAX_ROWS} rows: add a LIMIT"
            raise LimitExceeded("rows", message, detail="rows")
        return found

    def _opened(self) -> sqlite3.Connection:
        assert self._connection is not None
        return self._connection

    @contextmanager
    def _bounded(self) -> Iterator[sqlite3.Connection]:
        """The connection for one statement, and SQLite's objections in our words."""
        connection = self._opened()
        self._end = time.monotonic() + SECONDS
        try:
            yield connection
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code == sqlite3.SQLITE_INTERRUPT:
                message = f"the query took longer than {SECONDS:.0f} s"
                raise DeadlineExceeded("catalogue", message) from None
            if "no such table" in str(error):
                name = str(error).rpartition(" ")[2]
                raise SqlStateError("42P01", f'relation "{name}" does not exist') from None
            if "no such function" in str(error):
                name = str(error).rpartition(" ")[2]
                raise SqlStateError("42883", f"function {name.lower()}() does not exist") from None
            if "no such column" in str(error):
                name = str(error).rpartition(" ")[2]
                raise SqlStateError("42703", f'column "{name}" does not exist') from None
            raise BadAsk(f"the query cannot be run: {str(error)[:200]}", detail="SELECT") from None


def _empty(facts: CatalogueFacts) -> sqlite3.Connection:
    """A database with all tables and no rows."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    for table, columns in layout().items():
        declared = ", ".join(
            f'"{name}" {_AFFINITY.get(kind, "TEXT")}' for name, kind in columns.items()
        )
        connection.execute(f"CREATE TABLE {table} ({declared})")
    install(connection, facts)
    connection.execute("SELECT 1 FROM json_each('[]')").fetchall()  # SQLite sets it up when met
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500)
    connection.set_authorizer(_judge)
    return connection


def _judge(action: int, one: str | None, two: str | None, *_rest: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if two in _FORBIDDEN else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        return sqlite3.SQLITE_DENY if one and _OTHERS.match(one) else sqlite3.SQLITE_OK
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def _oid(kind: str) -> int:
    return next((oid for oid, known in TYPES.items() if known.name == kind), TEXT)


def _plain(value: object) -> object:
    if isinstance(value, list):
        return json.dumps(value, default=str)
    return value if value is None or isinstance(value, int | float | str) else str(value)


def _listed(value: object) -> object:
    """An array that SQLite had as JSON."""
    if isinstance(value, str) and value.startswith("["):
        return json.loads(value)
    return [] if value == "{}" else value
