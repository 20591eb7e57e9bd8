"""Statements about the session and no data: SET, SHOW, BEGIN, DISCARD and the like.

statement                                  does
SET [SESSION|LOCAL] name {TO|=} value      sets the parameter
SET TRANSACTION …, SESSION CHARACTERISTICS the isolation and whether deferrable: only told
SHOW name | ALL, RESET name | ALL          as PostgreSQL
BEGIN, START TRANSACTION                   only the transaction status changes:
COMMIT, END, ROLLBACK, ABORT               there is nothing to write, and each SELECT reads
SAVEPOINT, RELEASE, ROLLBACK TO            one state of the store by itself; cursors end with them
DISCARD, DEALLOCATE                        drops prepared statements; DISCARD ALL cursors, too
LISTEN, UNLISTEN                           nothing: there are no channels
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from redask.core.errors import BadStatement
from redask.core.sql.runtime.dates.interval_input import read_interval
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import (
    NeverImmediate,
    StatementResult,
    TransactionStep,
)
from redask.server.pgwire.session.runtime_parameters import RuntimeParameters
from redask.server.pgwire.session.session_state import SessionState
from redask.server.pgwire.session.splitting import pieces, value, words
from redask.server.pgwire.session.token_reader import TokenReader
from redask.server.pgwire.types.oids import TEXT

_STEPS: dict[str, TransactionStep] = {
    "BEGIN": "begin",
    "START": "begin",
    "COMMIT": "commit",
    "END": "commit",
    "ROLLBACK": "rollback",
    "ABORT": "rollback",
}
_NO_EFFECT = (
    "SAVEPOINT",
    "RELEASE",
    "DISCARD",
    "DEALLOCATE",
    "UNLISTEN",
    "LISTEN",
    "CHECKPOINT",
)
_LEVEL = re.compile(
    r"\bISOLATION LEVEL (SERIALIZABLE|REPEATABLE READ|READ COMMITTED|READ UNCOMMITTED)\b"
)
_DEFERRABLE = re.compile(r"(\bNOT )?\bDEFERRABLE\b")
COMMANDS = frozenset({*_STEPS, *_NO_EFFECT, "SET", "SHOW", "RESET"})


@dataclass(frozen=True, slots=True)
class Command(NeverImmediate):
    """A planned statement of the session."""

    work: Callable[[], StatementResult]
    columns: tuple[ResultColumn, ...] | None = None
    step: TransactionStep | None = None
    parameters: tuple[int, ...] = ()

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        if parameters:
            raise SqlStateError("42P02", "there is no parameter in this statement")
        return self.work()


def command(sql: str, parameters: RuntimeParameters, state: SessionState) -> Command:
    """The statement, which begins with one of COMMANDS."""
    first, *rest = words(sql)
    if first == "SHOW":
        return _show(sql, parameters)
    if first == "SET":
        return _set(sql, parameters, state)
    if first == "RESET":
        name = _only_name(sql)
        return _after(lambda: parameters.reset(name), "RESET")
    if first in _STEPS:
        if first == "ROLLBACK" and "TO" in rest:
            return _roll_back_to(sql, state)
        if "PREPARED" in rest:
            raise SqlStateError("0A000", "two-phase commit is not spoken")
        tag = {"START": "START TRANSACTION", "END": "COMMIT", "ABORT": "ROLLBACK"}.get(first, first)
        modes = _modes(sql) if _STEPS[first] == "begin" else {}
        return replace(_after(lambda: _set_modes(parameters, modes), tag), step=_STEPS[first])
    if first == "DISCARD":
        return _discard(sql, parameters, state)
    if first == "DEALLOCATE":
        return _deallocate(sql)
    if first in ("SAVEPOINT", "RELEASE"):
        return _savepoint(sql, first, state)
    return Command(lambda: StatementResult((), first))


def _savepoint(sql: str, first: str, state: SessionState) -> Command:
    reader = TokenReader(sql)
    reader.need(first)
    if first == "RELEASE":
        reader.take("SAVEPOINT")
    name = reader.name()
    reader.end()
    work = state.savepoint if first == "SAVEPOINT" else state.release
    return _after(lambda: work(name), first)


def _roll_back_to(sql: str, state: SessionState) -> Command:
    reader = TokenReader(sql)
    reader.need("ROLLBACK")
    if not reader.take("WORK"):
        reader.take("TRANSACTION")
    reader.need("TO")
    reader.take("SAVEPOINT")
    name = reader.name()
    reader.end()

    def work() -> StatementResult:
        state.roll_back_to(name)
        return StatementResult((), "ROLLBACK")

    return Command(work, step="restore")


def _discard(sql: str, parameters: RuntimeParameters, state: SessionState) -> Command:
    what = [*words(sql, 2), ""][1]
    if what != "ALL":  # plans and sequences: there are none to drop
        return Command(lambda: StatementResult((), f"DISCARD {what}".strip()))

    def work() -> None:
        parameters.reset(None)
        state.prepared.close_portals()

    return _after(work, "DISCARD ALL", deallocates=None)


def _deallocate(sql: str) -> Command:
    names = [value(each) if each[:1] == '"' else each.lower() for each in pieces(sql)[1:]]
    if names[:1] == ["prepare"]:
        names = names[1:]
    if names == ["all"]:
        return _after(lambda: None, "DEALLOCATE ALL", deallocates=None)
    return _after(lambda: None, "DEALLOCATE", deallocates=("".join(names),))


def _after(
    work: Callable[[], None], tag: str, *, deallocates: tuple[str, ...] | None = ()
) -> Command:
    def done() -> StatementResult:
        work()
        return StatementResult((), tag, deallocates)

    return Command(done)


def _only_name(sql: str) -> str:
    names = [value(each) for each in pieces(sql)[1:]]
    phrase = " ".join(names).lower()
    known = {"time zone": "TimeZone", "transaction isolation level": "transaction_isolation"}
    return known.get(phrase, "".join(names))


def _show(sql: str, parameters: RuntimeParameters) -> Command:
    name = _only_name(sql)
    if not name:
        raise BadStatement(1, len(sql) + 1, "the end", "the name of a setting")
    if name.lower() == "all":
        columns = tuple(ResultColumn(each, TEXT) for each in ("name", "setting", "description"))
        rows = [(each, setting, "") for each, setting in parameters.all()]
        return Command(lambda: StatementResult(rows, "SHOW"), columns)
    found = parameters.get(name)
    if found is None:
        raise SqlStateError("42704", f'unrecognized configuration parameter "{name[:100]}"')
    return Command(
        lambda: StatementResult([(parameters.get(name),)], "SHOW"), (ResultColumn(name, TEXT),)
    )


def _modes(sql: str) -> dict[str, str]:
    """What BEGIN and SET TRANSACTION say of a transaction, as parameters."""
    text = " ".join(pieces(sql)).upper()
    found = {}
    level = _LEVEL.search(text)
    if level is not None:
        found["transaction_isolation"] = level[1].lower()
    deferrable = _DEFERRABLE.search(text)
    if deferrable is not None:
        found["transaction_deferrable"] = "off" if deferrable[1] else "on"
    return found


def _set_modes(parameters: RuntimeParameters, modes: dict[str, str]) -> None:
    for name, mode in modes.items():
        parameters.set(name, mode, is_local=True)


def _set_characteristics(parameters: RuntimeParameters, modes: dict[str, str]) -> None:
    for name, mode in modes.items():
        parameters.set(f"default_{name}", mode)


def _set(sql: str, parameters: RuntimeParameters, state: SessionState) -> Command:
    parts = pieces(sql)[1:]
    is_local = bool(parts) and parts[0].upper() == "LOCAL"
    while parts and parts[0].upper() in ("SESSION", "LOCAL"):
        parts = parts[1:]
    first = parts[0].upper() if parts else ""
    if first in ("TRANSACTION", "CHARACTERISTICS"):
        apply = _set_modes if first == "TRANSACTION" else _set_characteristics
        modes = _modes(sql)
        return _after(lambda: apply(parameters, modes), "SET")
    if first == "CONSTRAINTS":
        return Command(lambda: StatementResult((), "SET CONSTRAINTS"))
    if first in ("ROLE", "AUTHORIZATION"):
        raise SqlStateError("42501", "another user signs in on a connection of their own")
    if [each.upper() for each in parts[:2]] == ["TIME", "ZONE"]:
        parts = ["TimeZone", "TO", *_zone_value(parts[2:])]
    if first == "NAMES":
        parts = ["client_encoding", "TO", *parts[1:]]
    place = next((at for at, each in enumerate(parts) if each == "=" or each.upper() == "TO"), 0)
    if not place or place + 1 >= len(parts):
        raise BadStatement(1, len(sql) + 1, "the end", "SET name TO value")
    name = "".join(map(value, parts[:place]))
    given = ", ".join(value(each) for each in parts[place + 1 :] if each != ",")
    if given.upper() == "DEFAULT":
        return _after(lambda: parameters.reset(name), "SET")

    def work() -> None:
        if is_local and state.status == "I" and not state.in_batch:
            return  # PostgreSQL only warns
        parameters.set(name, given, is_local=is_local)

    return _after(work, "SET")


def _zone_value(parts: list[str]) -> list[str]:
    """The value of SET TIME ZONE; an interval is hours to the east."""
    if len(parts) < 2 or parts[0].upper() != "INTERVAL":
        return parts
    found = read_interval(value(parts[1]))
    return [str(found.microseconds / 3_600_000_000)]
