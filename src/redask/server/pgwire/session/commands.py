"""Statements that concern the connection and no data: SET, SHOW, BEGIN, DISCARD and their like.

statement                                  does
SET [SESSION|LOCAL] name {TO|=} value      keeps the setting; SET TRANSACTION …: nothing
SHOW name | ALL, RESET name | ALL          as PostgreSQL
BEGIN, START TRANSACTION                   only the state of the transaction changes:
COMMIT, END, ROLLBACK, ABORT               there is nothing to write, and each SELECT reads
SAVEPOINT, RELEASE, ROLLBACK TO            one state of the store by itself
DISCARD, DEALLOCATE                        drops prepared statements
CLOSE, UNLISTEN                            nothing is kept that they could drop
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redask.core.errors import BadStatement
from redask.server.pgwire.session.parameters import SessionSettings
from redask.server.pgwire.session.planned import (
    TakesTime,
    TransactionStep,
    WireColumn,
    WireFault,
    WireRows,
)
from redask.server.pgwire.session.splitting import pieces, value, words
from redask.server.pgwire.types.oids import TEXT

_STEPS: dict[str, TransactionStep] = {
    "BEGIN": "begin",
    "START": "begin",
    "COMMIT": "commit",
    "END": "commit",
    "ROLLBACK": "rollback",
    "ABORT": "rollback",
}
_QUIET = (
    "SAVEPOINT",
    "RELEASE",
    "DISCARD",
    "DEALLOCATE",
    "CLOSE",
    "UNLISTEN",
    "LISTEN",
    "CHECKPOINT",
)
COMMANDS = frozenset({*_STEPS, *_QUIET, "SET", "SHOW", "RESET"})


@dataclass(frozen=True, slots=True)
class Command(TakesTime):
    """A planned statement that is done at once."""

    work: Callable[[], WireRows]
    columns: tuple[WireColumn, ...] | None = None
    step: TransactionStep | None = None
    parameters: tuple[int, ...] = ()

    async def run(self, parameters: Sequence[object]) -> WireRows:
        if parameters:
            raise WireFault("42P02", "there is no parameter in this statement")
        return self.work()


def command(sql: str, settings: SessionSettings) -> Command:
    """The statement, which begins with one of COMMANDS."""
    first, *rest = words(sql)
    if first == "SHOW":
        return _show(sql, settings)
    if first == "SET":
        return _set(sql, settings)
    if first == "RESET":
        name = _only_name(sql)
        return _after(lambda: settings.reset(name), "RESET")
    if first in _STEPS:
        if first == "ROLLBACK" and "TO" in rest:
            return Command(lambda: WireRows((), "ROLLBACK"), step="restore")
        if "PREPARED" in rest:
            raise WireFault("0A000", "two-phase commit is not spoken")
        tag = {"START": "START TRANSACTION", "END": "COMMIT", "ABORT": "ROLLBACK"}.get(first, first)
        return Command(lambda: WireRows((), tag), step=_STEPS[first])
    if first == "DISCARD":
        return _after(lambda: settings.reset(None), "DISCARD ALL", drops=None)
    if first == "DEALLOCATE":
        return _deallocate(sql)
    tag = "CLOSE CURSOR" if first == "CLOSE" else first
    return Command(lambda: WireRows((), tag))


def _deallocate(sql: str) -> Command:
    names = [value(each) if each[:1] == '"' else each.lower() for each in pieces(sql)[1:]]
    if names[:1] == ["prepare"]:
        names = names[1:]
    if names == ["all"]:
        return _after(lambda: None, "DEALLOCATE ALL", drops=None)
    return _after(lambda: None, "DEALLOCATE", drops=("".join(names),))


def _after(work: Callable[[], None], tag: str, *, drops: tuple[str, ...] | None = ()) -> Command:
    def done() -> WireRows:
        work()
        return WireRows((), tag, drops)

    return Command(done)


def _only_name(sql: str) -> str:
    names = [value(each) for each in pieces(sql)[1:]]
    spoken = " ".join(names).lower()
    known = {"time zone": "TimeZone", "transaction isolation level": "transaction_isolation"}
    return known.get(spoken, "".join(names))


def _show(sql: str, settings: SessionSettings) -> Command:
    name = _only_name(sql)
    if not name:
        raise BadStatement(1, len(sql) + 1, "the end", "the name of a setting")
    if name.lower() == "all":
        columns = tuple(WireColumn(each, TEXT) for each in ("name", "setting", "description"))
        rows = [(each, said, "") for each, said in settings.everything()]
        return Command(lambda: WireRows(rows, "SHOW"), columns)
    found = settings.get(name)
    if found is None:
        raise WireFault("42704", f'unrecognized configuration parameter "{name[:100]}"')
    return Command(lambda: WireRows([(settings.get(name),)], "SHOW"), (WireColumn(name, TEXT),))


def _set(sql: str, settings: SessionSettings) -> Command:
    parts = pieces(sql)[1:]
    while parts and parts[0].upper() in ("SESSION", "LOCAL"):
        parts = parts[1:]
    first = parts[0].upper() if parts else ""
    if first in ("TRANSACTION", "CHARACTERISTICS", "CONSTRAINTS"):
        return Command(lambda: WireRows((), "SET"))
    if first in ("ROLE", "AUTHORIZATION"):
        raise WireFault("42501", "another user signs in on a connection of their own")
    if [each.upper() for each in parts[:2]] == ["TIME", "ZONE"]:
        parts = ["TimeZone", "TO", *parts[2:]]
    if first == "NAMES":
        parts = ["client_encoding", "TO", *parts[1:]]
    place = next((at for at, each in enumerate(parts) if each == "=" or each.upper() == "TO"), 0)
    if not place or place + 1 >= len(parts):
        raise BadStatement(1, len(sql) + 1, "the end", "SET name TO value")
    name = "".join(map(value, parts[:place]))
    given = ", ".join(value(each) for each in parts[place + 1 :] if each != ",")
    if given.upper() == "DEFAULT":
        return _after(lambda: settings.reset(name), "SET")
    return _after(lambda: settings.set(name, given), "SET")
