"""The statements of one session: `StatementPlanner.plan` parses one, and knows what it will return.

begins with                                planned by
ASK, EXPLAIN ASK                           ask_statements
SELECT, WITH, VALUES, TABLE, EXPLAIN       select_statements, as the caller
SELECT pg_terminate_backend(…)             own_sessions.signal_statements
SET, SHOW, BEGIN, COMMIT, DISCARD …        commands
COPY … TO STDOUT                           copying.copy_statements
DECLARE, FETCH, MOVE, CLOSE                cursors.cursor_statements
INSERT, UPDATE, CREATE …                   refused: 25006, read-only transaction
PREPARE, EXECUTE …                         refused: 0A000
anything else                              refused: 42601, with the position

A SELECT is parsed by the selector, which is not in the event loop.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadStatement
from redask.core.sql.text_limits import check_text
from redask.server.pgwire.copying.copy_statements import plan_copy
from redask.server.pgwire.cursors import cursor_syntax
from redask.server.pgwire.cursors.cursor_statements import (
    DeclareStatement,
    plan_close,
    plan_fetch,
)
from redask.server.pgwire.own_sessions.session_facts import session_facts
from redask.server.pgwire.own_sessions.set_config_calls import SetConfig, set_calls
from redask.server.pgwire.own_sessions.signal_statements import calls_signal, plan_signal
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session import splitting
from redask.server.pgwire.session.ask_statements import plan_ask
from redask.server.pgwire.session.commands import COMMANDS, command
from redask.server.pgwire.session.planned_statement import PlannedStatement
from redask.server.pgwire.session.runtime_parameters import SERVER_VERSION, RuntimeParameters
from redask.server.pgwire.session.select_statements import (
    SelectStatement,
    SimpleSelect,
    plan_select,
)
from redask.server.pgwire.session.session_state import SessionState
from redask.server.pgwire.session.text_reading import read_text
from redask.server.pgwire.types.encoding import ResultStyle

VERSION = f"PostgreSQL {SERVER_VERSION} (redask)"
_WRITES = frozenset(
    """INSERT UPDATE DELETE MERGE CREATE ALTER DROP TRUNCATE GRANT REVOKE COMMENT REINDEX
    CLUSTER VACUUM ANALYZE REFRESH IMPORT SECURITY REASSIGN LOCK CALL DO LOAD""".split()
)
_UNSUPPORTED = frozenset("PREPARE EXECUTE NOTIFY".split())
_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "")
_EXPECTED = "ASK, EXPLAIN ASK, SELECT, WITH, COPY, DECLARE, SHOW, SET or BEGIN"


class StatementPlanner:
    """The statements of one session."""

    def __init__(
        self, session: AsyncDatabase, *, user: str, database: str, startup: Mapping[str, str]
    ) -> None:
        self._session = session
        self._parameters = RuntimeParameters(startup)
        self.state = SessionState(parameters=self._parameters)
        self._known = {
            "session:user": user,
            "session:database": database,
            "session:version": VERSION,
        }

    def split(self, text: str) -> list[str]:
        """The statements of a simple query."""
        return splitting.split(text)

    async def plan(self, sql: str, declared: Sequence[int] | None) -> PlannedStatement:
        """Parse one statement; nothing of it is run."""
        begins = await read_text(splitting.words, sql, 2)
        first = begins[0] if begins else ""
        if first == "ASK" or begins == ["EXPLAIN", "ASK"]:
            return await read_text(_planned_ask, sql, self._session, declared or ())
        if first in ("FETCH", "MOVE"):
            return await read_text(plan_fetch, sql, self.state)
        if first == "CLOSE":
            return await read_text(plan_close, sql, self.state)
        if first in ("COPY", "DECLARE"):
            return await self._wrapped(sql, first, declared)
        if first in COMMANDS:
            return await read_text(command, sql, self._parameters, self.state)
        if first in _WRITES:
            raise SqlStateError(
                "25006",
                f"cannot execute {first} in a read-only transaction",
                hint="Data comes in with `redask ingest`, put() in Python or HTTP.",
            )
        if first in _UNSUPPORTED:
            raise SqlStateError("0A000", f"{' '.join(begins)} is not supported: {_EXPECTED}")
        if not first and sql.lstrip()[:1] != "(":
            raise BadStatement(*_start(sql), repr(sql.strip()[:40]), _EXPECTED)
        if first not in _QUERIES:
            raise BadStatement(*_start(sql), repr(first[:40]), _EXPECTED)
        if calls_signal(sql):
            signal = await read_text(plan_signal, sql, self.state.own, declared)
            if signal is not None:
                return signal
        return await self._select(sql, declared, first or "SELECT")

    async def _wrapped(
        self, sql: str, first: str, declared: Sequence[int] | None
    ) -> PlannedStatement:
        """A statement around a SELECT, which is described also for a simple query."""
        await asyncio.to_thread(check_text, sql)

        async def plan_query(query: str, word: str) -> PlannedStatement:
            return await self._select(query, declared or (), word)

        if first == "COPY":
            return await plan_copy(sql, plan_query, self.style)
        opened = await read_text(cursor_syntax.declare, sql)
        return DeclareStatement(self.state, opened, await plan_query(opened.query, opened.word))

    async def _select(
        self, sql: str, declared: Sequence[int] | None, word: str
    ) -> SelectStatement | SimpleSelect:
        """The plan of a SELECT."""
        calls = await self._set_by(sql)

        def apply(values: Sequence[object]) -> None:
            for call in calls:
                call.apply(self._parameters, values)

        facts = partial(self._facts, sql)
        if declared is None:
            return SimpleSelect(self._session, sql, facts, apply, word)
        return await plan_select(self._session, sql, declared, facts=facts, apply=apply, word=word)

    async def _set_by(self, sql: str) -> list[SetConfig]:
        """What the calls of set_config() in a statement set."""
        if "set_config" not in sql.lower():
            return []
        return await read_text(set_calls, sql)

    async def _facts(self, sql: str) -> dict[str, str]:
        """What the functions of the session tell, and the catalogue to this statement."""
        return {
            **dict(self._parameters.all()),
            **self._known,
            **(await session_facts(sql, self.state)),
        }

    def style(self) -> ResultStyle:
        """How the session wants its values, by now."""
        return self._parameters.style()

    def parameter(self, name: str) -> str | None:
        """The value of a run-time parameter; None when there is none of that name."""
        return self._parameters.get(name)

    def timeout(self) -> float | None:
        """The seconds that a statement may take; None: as long as it does."""
        return self._parameters.timeout()

    def changed_parameters(self) -> dict[str, str]:
        """The reported run-time parameters that changed since the last call."""
        return self._parameters.changes()


def _planned_ask(sql: str, session: AsyncDatabase, declared: Sequence[int]) -> PlannedStatement:
    return plan_ask(session, splitting.unescaped(sql), declared)


def _start(sql: str) -> tuple[int, int]:
    place = len(sql) - len(sql.lstrip())
    return sql.count("\n", 0, place) + 1, place - sql.rfind("\n", 0, place)
