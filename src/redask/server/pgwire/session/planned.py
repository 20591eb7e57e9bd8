"""What the protocol needs of a statement: parameters and columns before it runs, rows after.

`server` knows messages and no SQL; `dispatcher` knows SQL and no messages. Between them stands
a `PlannedStatement`: planning does none of the statement's work, running does all of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

# restore: ROLLBACK TO SAVEPOINT, after which a failed transaction goes on
TransactionStep = Literal["begin", "commit", "rollback", "restore"]


class WireFault(Exception):
    """What a client is told that no row of `wire.outcomes` says, such as 0A000 or 34000.

    Both sides raise it; like an `AskError`, it fails the statement and not the connection."""

    def __init__(self, sqlstate: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class WireColumn:
    """A column of a result, with the OID of its type."""

    name: str
    oid: int


@dataclass(frozen=True, slots=True)
class WireRows:
    """What a statement gave: `tag` is what CommandComplete says, such as `SELECT 3`.

    `tag` counts all rows; a portal that hands out some of them counts its own. `drops` are
    prepared statements that are forgotten with it (DEALLOCATE); None: all there are."""

    rows: Sequence[Sequence[object]]
    tag: str
    drops: tuple[str, ...] | None = ()


class PlannedStatement(Protocol):
    """A statement that was read and not yet run."""

    @property
    def columns(self) -> tuple[WireColumn, ...] | None:
        """None: it returns no rows at all, as SET or BEGIN."""

    @property
    def parameters(self) -> tuple[int, ...]:
        """The OID of each parameter, never 0."""

    @property
    def step(self) -> TransactionStep | None:
        """How it changes the transaction's state."""

    def run_now(self, parameters: Sequence[object]) -> WireRows | None:
        """Do it, if that takes no time worth mentioning; None: `run` it."""

    async def run(self, parameters: Sequence[object]) -> WireRows:
        """Do it. Raises `errors.AskError` and `WireFault`. Cancelling the task cancels the work."""


class TakesTime:
    """A statement that always takes time."""

    __slots__ = ()

    def run_now(self, parameters: Sequence[object]) -> None:
        """Never."""


class StatementSource(Protocol):
    """One connection's statements, with its settings (SET, SHOW)."""

    def split(self, text: str) -> list[str]:
        """The statements of a simple query, in order; quotes and comments in mind."""

    async def plan(self, sql: str, declared: Sequence[int]) -> PlannedStatement:
        """Read one statement; `declared` are the parameter OIDs that Parse named (0: not)."""

    def timeout(self) -> float | None:
        """How many seconds a statement may take (`statement_timeout`); None: as long as it does."""

    def setting(self, name: str) -> str | None:
        """A setting of the connection; None when there is none of that name."""

    def reports(self) -> dict[str, str]:
        """Settings that changed since the last call and that clients are told of."""
