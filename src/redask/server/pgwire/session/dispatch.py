"""One caller's statements at the Postgres wire: `plan` reads one, and says what it will return.

begins with                                goes to
ASK, EXPLAIN ASK                           asks
SELECT, WITH on collections                selects, over the store, as the caller
SELECT, WITH, VALUES on anything else      catalogue
SET, SHOW, BEGIN, COMMIT, DISCARD …        commands
INSERT, UPDATE, CREATE, COPY …             refused: 25006, this transport only reads
EXPLAIN SELECT, DECLARE, PREPARE …         refused: 0A000
anything else                              refused: 42601, with the place
"""

import asyncio
from collections.abc import Mapping, Sequence

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadStatement
from redask.server.pgwire.catalog.queries import Catalogue
from redask.server.pgwire.session import splitting
from redask.server.pgwire.session.ask_statements import plan_ask
from redask.server.pgwire.session.commands import COMMANDS, command
from redask.server.pgwire.session.dialect import reads
from redask.server.pgwire.session.parameters import SessionSettings
from redask.server.pgwire.session.planned import PlannedStatement, WireFault
from redask.server.pgwire.session.select_statements import CollectionSelect, plan_select

_WRITES = frozenset(
    """INSERT UPDATE DELETE MERGE CREATE ALTER DROP TRUNCATE COPY GRANT REVOKE COMMENT REINDEX
    CLUSTER VACUUM ANALYZE REFRESH IMPORT SECURITY REASSIGN LOCK CALL DO LOAD""".split()
)
_UNSPOKEN = frozenset("EXPLAIN DECLARE FETCH MOVE PREPARE EXECUTE NOTIFY TABLE".split())
_MOST_PLANS, _LONGEST = 100, 4096
_EXPECTED = "ASK, EXPLAIN ASK, SELECT, WITH, SHOW, SET or BEGIN"


class StatementDispatcher:
    """The statements of one connection."""

    def __init__(
        self, session: AsyncDatabase, *, user: str, database: str, startup: Mapping[str, str]
    ) -> None:
        self._session = session
        self._settings = SessionSettings(startup)
        self._plans: dict[tuple[str, tuple[int, ...]], tuple[int, CollectionSelect]] = {}
        self._catalogue = Catalogue(session, self._settings, user=user, database=database)

    def split(self, text: str) -> list[str]:
        """The statements of a simple query."""
        return splitting.split(text)

    async def plan(self, sql: str, declared: Sequence[int]) -> PlannedStatement:
        """Read one statement; nothing of it is done."""
        begins = splitting.words(sql, 2)
        first = begins[0] if begins else ""
        if first == "ASK" or begins == ["EXPLAIN", "ASK"]:
            return plan_ask(self._session, splitting.unescaped(sql), declared)
        if first in COMMANDS:
            return command(sql, self._settings)
        if first in _WRITES:
            raise WireFault(
                "25006",
                f"{first} writes, and this transport only reads",
                hint="Data comes in with `redask ingest`, put() in Python or HTTP.",
            )
        if first in _UNSPOKEN:
            raise WireFault("0A000", f"{' '.join(begins)} is not spoken here: {_EXPECTED}")
        if not first and sql.lstrip()[:1] != "(":
            raise BadStatement(*_start(sql), repr(sql.strip()[:40]), _EXPECTED)
        if first not in ("SELECT", "WITH", "VALUES", ""):
            raise BadStatement(*_start(sql), repr(first[:40]), _EXPECTED)
        # a long statement takes the parser long: the others need the loop meanwhile
        about = reads(sql) if len(sql) <= _LONGEST else await asyncio.to_thread(reads, sql)
        if about == "catalogue":
            return await self._catalogue.plan(sql, declared)
        return await self._select(sql, tuple(declared))

    async def _select(self, sql: str, declared: tuple[int, ...]) -> CollectionSelect:
        """The plan of a SELECT, from the last time if nothing was written since."""
        version = self._session.version()
        known = self._plans.get((sql, declared))
        if known is not None and known[0] == version:
            return known[1]
        planned = await plan_select(self._session, sql, declared)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        if len(sql) <= _LONGEST:
            self._plans[sql, declared] = (version, planned)
        return planned

    def setting(self, name: str) -> str | None:
        """A setting of the connection; None when there is no such setting."""
        return self._settings.get(name)

    def timeout(self) -> float | None:
        """The seconds that a statement may take; None: as long as it does."""
        return self._settings.timeout()

    def reports(self) -> dict[str, str]:
        """Settings that changed since the last call and that clients are told of."""
        return self._settings.changes()


def _start(sql: str) -> tuple[int, int]:
    place = len(sql) - len(sql.lstrip())
    return sql.count("\n", 0, place) + 1, place - sql.rfind("\n", 0, place)
