"""`SELECT pg_cancel_backend(…)` and `pg_terminate_backend(…)`: they act on sessions, not on data.

The argument is a number, `$1` or `pg_backend_pid()`. Such a statement runs at once, without
admission: ending a statement must not wait for one. Called in any other way, the functions
are those of the binder, which reach no session and say false.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from redask.server.pgwire.own_sessions.open_sessions import OwnSessions
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.client_connection import Terminated
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session import splitting
from redask.server.pgwire.session.planned_statement import StatementResult, TransactionStep
from redask.server.pgwire.types.oids import BOOL, INT4, UNKNOWN

_CALL = re.compile(
    r"select (?:pg_catalog \. )?(?P<name>pg_(?:cancel|terminate)_backend) \( (?:(?P<number>\d{1,9})"
    r"|(?P<parameter>\$1)(?: : : \w+)?|(?P<own>(?:pg_catalog \. )?pg_backend_pid \( \))) \)"
    r"(?: (?:as )?(?P<shown>[a-z_]\w*))?"
)
_NAMES = ("pg_cancel_backend", "pg_terminate_backend")


@dataclass(frozen=True, slots=True)
class SignalStatement:
    """A planned call; `process` is None where it is the parameter."""

    own: OwnSessions
    ends: bool
    process: int | None
    columns: tuple[ResultColumn, ...]
    parameters: tuple[int, ...]
    step: TransactionStep | None = None

    def run_now(self, parameters: Sequence[object]) -> StatementResult | None:
        """Whether there was such a session of the user; NULL of NULL.

        None: another process knows.
        """
        given = self._given(parameters)
        if given is None:
            return _result(None)
        done = self.own.signal_here(given, ends=self.ends)
        return None if done is None else _result(done)

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        given = self._given(parameters)
        return _result(None if given is None else await self.own.signal(given, ends=self.ends))

    def _given(self, parameters: Sequence[object]) -> int | None:
        """The number; of the session itself it is done at once, by raising."""
        given = parameters[0] if self.process is None else self.process
        process = None if given is None else int(str(given))
        if process == self.own.process:
            if self.ends:
                raise Terminated
            raise SqlStateError("57014", "canceling statement due to user request")
        return process


def _result(done: bool | None) -> StatementResult:
    return StatementResult([(done,)], "SELECT 1")


def calls_signal(sql: str) -> bool:
    """Whether a text is worth reading for such a call."""
    return any(name in sql.lower() for name in _NAMES)


def plan_signal(
    sql: str, own: OwnSessions | None, declared: Sequence[int] | None
) -> SignalStatement | None:
    """The call, if the statement is one and nothing else."""
    found = _CALL.fullmatch(" ".join(splitting.pieces(sql)).lower())
    if found is None or own is None or (declared is None and found["parameter"]):
        return None
    process = own.process if found["own"] else int(found["number"]) if found["number"] else None
    types = [INT4 if each in (0, UNKNOWN) else each for each in declared or ()]
    parameters = tuple(types[:1] or [INT4]) if process is None else ()
    column = ResultColumn(found["shown"] or found["name"], BOOL)
    ends = found["name"] == "pg_terminate_backend"
    return SignalStatement(own, ends, process, (column,), parameters)
