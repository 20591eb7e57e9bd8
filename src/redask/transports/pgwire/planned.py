"""What the protocol needs of a statement: parameters and columns before it runs, rows after.

`server` knows messages and no SQL; `conversation` knows SQL and no messages. Between them stands
a `PlannedStatement`: planning does none of the statement's work, running does all of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

TransactionStep = Literal["begin", "commit", "rollback"]


@dataclass(frozen=True, slots=True)
class WireColumn:
    """A column of a result, with the OID of its type."""

    name: str
    oid: int


@dataclass(frozen=True, slots=True)
class WireRows:
    """What a statement gave: `tag` is what CommandComplete says, such as `SELECT 3`.

    `tag` counts all rows; a portal that hands out some of them counts its own."""

    rows: Sequence[Sequence[object]]
    tag: str


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

    async def run(self, parameters: Sequence[object]) -> WireRows:
        """Do it. Raises `errors.AskError`. Cancelling the task cancels the work."""


class ConversationPort(Protocol):
    """One connection's statements, with its settings (SET, SHOW)."""

    def split(self, text: str) -> list[str]:
        """The statements of a simple query, in order; quotes and comments in mind."""

    async def plan(self, sql: str, declared: Sequence[int]) -> PlannedStatement:
        """Read one statement; `declared` are the parameter OIDs that Parse named (0: not)."""

    def reports(self) -> dict[str, str]:
        """Settings that changed since the last call and that clients are told of."""
