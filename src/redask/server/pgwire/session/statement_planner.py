"""The statements of one session: `StatementPlanner.plan` parses one, and knows what it will return.

begins with                                planned by
ASK, EXPLAIN ASK                           ask_statements
SELECT, WITH on collections                select_statements, as the caller
SELECT, WITH, VALUES on anything else      catalog.queries
SET, SHOW, BEGIN, COMMIT, DISCARD …        commands
INSERT, UPDATE, CREATE, COPY …             refused: 25006, read-only transaction
EXPLAIN SELECT, DECLARE, PREPARE …         refused: 0A000
anything else                              refused: 42601, with the position
"""

import asyncio
from collections.abc import Mapping, Sequence

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadStatement
from redask.server.pgwire.catalog.queries import Catalogue
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session import splitting
from redask.server.pgwire.session.ask_statements import plan_ask
from redask.server.pgwire.session.commands import COMMANDS, command
from redask.server.pgwire.session.dialect import Subject, reads
from redask.server.pgwire.session.planned_statement import PlannedStatement
from redask.server.pgwire.session.runtime_parameters import RuntimeParameters
from redask.server.pgwire.session.select_statements import plan_select

_WRITES = frozenset(
    """INSERT UPDATE DELETE MERGE CREATE ALTER DROP TRUNCATE COPY GRANT REVOKE COMMENT REINDEX
    CLUSTER VACUUM ANALYZE REFRESH IMPORT SECURITY REASSIGN LOCK CALL DO LOAD""".split()
)
_UNSUPPORTED = frozenset("EXPLAIN DECLARE FETCH MOVE PREPARE EXECUTE NOTIFY TABLE".split())
_MOST_SUBJECTS, _LONGEST = 100, 4096
_EXPECTED = "ASK, EXPLAIN ASK, SELECT, WITH, SHOW, SET or BEGIN"


class StatementPlanner:
    """The statements of one session."""

    def __init__(
        self, session: AsyncDatabase, *, user: str, database: str, startup: Mapping[str, str]
    ) -> None:
        self._session = session
        self._parameters = RuntimeParameters(startup)
        self._subjects: dict[str, Subject] = {}
        self._catalogue = Catalogue(session, self._parameters, user=user, database=database)

    def split(self, text: str) -> list[str]:
        """The statements of a simple query."""
        return splitting.split(text)

    async def plan(self, sql: str, declared: Sequence[int]) -> PlannedStatement:
        """Parse one statement; nothing of it is run."""
        is_long = len(sql) > _LONGEST
        begins = (
            await asyncio.to_thread(splitting.words, sql, 2) if is_long else splitting.words(sql, 2)
        )
        first = begins[0] if begins else ""
        if first == "ASK" or begins == ["EXPLAIN", "ASK"]:
            if is_long:
                return await asyncio.to_thread(_planned_ask, self._session, sql, declared)
            return _planned_ask(self._session, sql, declared)
        if first in COMMANDS:
            return command(sql, self._parameters)
        if first in _WRITES:
            raise SqlStateError(
                "25006",
                f"cannot execute {first} in a read-only transaction",
                hint="Data comes in with `redask ingest`, put() in Python or HTTP.",
            )
        if first in _UNSUPPORTED:
            raise SqlStateError("0A000", f"{' '.join(begins)} is not spoken here: {_EXPECTED}")
        if not first and sql.lstrip()[:1] != "(":
            raise BadStatement(*_start(sql), repr(sql.strip()[:40]), _EXPECTED)
        if first not in ("SELECT", "WITH", "VALUES", ""):
            raise BadStatement(*_start(sql), repr(first[:40]), _EXPECTED)
        if await self._subject(sql) == "catalogue":
            return await self._catalogue.plan(sql, declared)
        return await plan_select(self._session, sql, declared)

    async def _subject(self, sql: str) -> Subject:
        """What a SELECT is about. Parsing it may take long: other sessions need the loop."""
        known = self._subjects.get(sql)
        if known is not None:
            return known
        found = await asyncio.to_thread(reads, sql)
        if len(self._subjects) >= _MOST_SUBJECTS:
            self._subjects.clear()
        if len(sql) <= _LONGEST:
            self._subjects[sql] = found
        return found

    def parameter(self, name: str) -> str | None:
        """The value of a run-time parameter; None when there is none of that name."""
        return self._parameters.get(name)

    def timeout(self) -> float | None:
        """The seconds that a statement may take; None: as long as it does."""
        return self._parameters.timeout()

    def changed_parameters(self) -> dict[str, str]:
        """The reported run-time parameters that changed since the last call."""
        return self._parameters.changes()


def _planned_ask(session: AsyncDatabase, sql: str, declared: Sequence[int]) -> PlannedStatement:
    return plan_ask(session, splitting.unescaped(sql), declared)


def _start(sql: str) -> tuple[int, int]:
    place = len(sql) - len(sql.lstrip())
    return sql.count("\n", 0, place) + 1, place - sql.rfind("\n", 0, place)
