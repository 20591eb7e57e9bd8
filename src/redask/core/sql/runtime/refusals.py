"""What is refused: because we cannot give exactly PostgreSQL's value, or because it is too much."""

from redask.core.errors import SqlError

MAX_PATTERN = 1000


def unsupported(what: str) -> SqlError:
    """0A000, by name."""
    return SqlError("0A000", f"{what} is not supported")


def check_pattern(pattern: str) -> None:
    """54000 for a pattern of to_char or to_date that would be long work for one value."""
    if len(pattern) > MAX_PATTERN:
        raise SqlError("54000", f"format pattern is longer than {MAX_PATTERN} characters")
