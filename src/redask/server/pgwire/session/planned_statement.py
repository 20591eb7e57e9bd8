"""Between protocol and SQL: `PlannedStatement`, its `StatementResult`, and a `Planner` of them.

The message loop knows messages and no SQL; the planner knows SQL and no messages. Planning a
statement does none of its work (that is what Parse and Describe need), running does all of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from redask.core.ports.selecting import KeptRows
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.types.encoding import ResultStyle

if TYPE_CHECKING:
    from redask.server.pgwire.session.session_state import SessionState

# restore: ROLLBACK TO SAVEPOINT, after which a failed transaction goes on
TransactionStep = Literal["begin", "commit", "rollback", "restore"]


@dataclass(frozen=True, slots=True)
class StatementResult:
    """The rows of a statement, and its command `tag`, such as `SELECT 3`.

    `tag` counts all rows; a portal that returned some of them counts its own. `deallocates` are
    the prepared statements to drop (DEALLOCATE); None: all there are. `columns` are there when the
    statement did not know them before it ran. `kept` are rows that are not in `rows`: they may be
    many, and whoever has the result closes it. `copy` writes rows as COPY does. `is_binary`: a
    simple query sends them in binary."""

    rows: Sequence[Sequence[object]]
    tag: str
    deallocates: tuple[str, ...] | None = ()
    columns: tuple[ResultColumn, ...] | None = None
    kept: KeptRows | None = None
    copy: "CopyWriter | None" = None
    is_binary: bool = False

    def __len__(self) -> int:
        return len(self.rows if self.kept is None else self.kept)

    @property
    def in_memory(self) -> bool:
        """Whether `read` waits for nothing."""
        return self.kept is None or self.kept.in_memory

    def read(self, start: int, stop: int) -> Sequence[Sequence[object]]:
        """The first of the rows from `start` to `stop`."""
        return self.rows[start:stop] if self.kept is None else self.kept.read(start, stop)

    def close(self) -> None:
        """Let go of the rows."""
        if self.kept is not None:
            self.kept.close()


class CopyWriter(Protocol):
    """Writes rows in a format of COPY, as the bytes of CopyData messages."""

    @property
    def width(self) -> int:
        """How many columns there are."""

    def response(self) -> bytes:
        """CopyOutResponse."""

    def rows(self, rows: Sequence[Sequence[object]]) -> bytes:
        """CopyData messages, one a row; the first call puts what comes before the first row."""

    def end(self) -> bytes:
        """What comes after the last row."""


class PlannedStatement(Protocol):
    """A statement that was parsed and not yet run."""

    @property
    def columns(self) -> tuple[ResultColumn, ...] | None:
        """None: it returns no rows at all, as SET or BEGIN."""

    @property
    def parameters(self) -> tuple[int, ...]:
        """The OID of each parameter, never 0."""

    @property
    def step(self) -> TransactionStep | None:
        """How it changes the transaction status."""

    def run_now(self, parameters: Sequence[object]) -> StatementResult | None:
        """The result, if it takes no time worth mentioning; None: `run` it."""

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        """The result. Raises `AskError` and `SqlStateError`; cancelling the task cancels it."""


class NeverImmediate:
    """A statement that is never run at once."""

    __slots__ = ()

    def run_now(self, parameters: Sequence[object]) -> None:
        """Never."""


class Planner(Protocol):
    """The statements of one session, with its run-time parameters (SET, SHOW)."""

    @property
    def state(self) -> "SessionState":
        """What the session keeps between its statements."""

    def split(self, text: str) -> list[str]:
        """The statements of a simple query, in order."""

    async def plan(self, sql: str, declared: Sequence[int] | None) -> PlannedStatement:
        """Plan one statement; `declared` are the parameter types of Parse (0: unspecified).

        None: of a simple query, which has no parameters and is not described before it runs.
        """

    def timeout(self) -> float | None:
        """How many seconds a statement may take (`statement_timeout`); None: as long as it does."""

    def style(self) -> ResultStyle:
        """How the session wants its values, by now."""

    def parameter(self, name: str) -> str | None:
        """The value of a run-time parameter; None when there is none of that name."""

    def changed_parameters(self) -> dict[str, str]:
        """The reported run-time parameters that changed since the last call."""
