"""`unsupported`: the error for what we refuse because we cannot give exactly PostgreSQL's value."""

from redask.core.errors import SqlError


def unsupported(what: str) -> SqlError:
    """0A000, by name."""
    return SqlError("0A000", f"{what} is not supported")
