"""An error with a SQLSTATE of its own: `SqlStateError`."""


class SqlStateError(Exception):
    """An ErrorResponse that no row of `wire.outcomes` gives, such as 0A000 or 34000.

    Like an `AskError`, it fails the statement and not the connection."""

    def __init__(self, sqlstate: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.message = message
        self.hint = hint
