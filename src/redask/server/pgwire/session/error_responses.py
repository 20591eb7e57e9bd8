"""Errors as ErrorResponse: `error_response`; where in a query of several statements they are."""

from redask.core.errors import AskError, BadStatement, SqlError
from redask.core.wire import outcomes
from redask.server.pgwire.protocol import backend_messages
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError


class MisplacedStatement(Exception):
    """A statement that does not parse, with the position in the query (from 1)."""

    def __init__(self, error: BadStatement, position: int) -> None:
        super().__init__(error.message)
        self.error = error
        self.position = position


def error_response(error: Exception, *, fatal: bool = False) -> bytes:
    """The ErrorResponse of an error: its own SQLSTATE, or that of its outcome."""
    if isinstance(error, SqlStateError):
        return backend_messages.error_response(
            error.sqlstate, error.message, fatal=fatal, hint=error.hint
        )
    if isinstance(error, SqlError):
        return backend_messages.error_response(
            error.sqlstate,
            error.message,
            fatal=fatal,
            hint=error.hint,
            position=error.position,
            kind=outcomes.of(error).kind,
        )
    position = error.position if isinstance(error, MisplacedStatement) else 0
    shown = error.error if isinstance(error, MisplacedStatement) else error
    outcome = outcomes.of(shown)
    return backend_messages.error_response(
        outcome.sqlstate,
        outcomes.message(shown),
        fatal=fatal,
        detail=shown.detail if isinstance(shown, AskError) else "",
        position=position,
        kind=outcome.kind,
    )


def position(error: BadStatement, sql: str, whole: str) -> int:
    """The position in `whole`, of which `sql` is a part."""
    rows = sql.split("\n")
    before = sum(len(row) + 1 for row in rows[: error.line - 1])
    return max(0, whole.find(sql)) + before + error.column


def moved(error: SqlError, sql: str, whole: str) -> SqlError:
    """The error with its position in `whole`, of which `sql` is a part."""
    place = max(0, whole.find(sql)) + error.position if error.position else 0
    return SqlError(error.sqlstate, error.message, position=place, hint=error.hint)
