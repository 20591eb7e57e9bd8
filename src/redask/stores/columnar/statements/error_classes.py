"""DuckDB's errors in PostgreSQL's words: `sql_error(error)`. No word of DuckDB's gets through.

DuckDB has one class for many faults: which one it was is read from fixed parts of its message,
never from a value in it.
"""

import re

from redask.core.errors import AskError, LimitExceeded, SqlError, StoreFailed
from redask.stores.columnar.duckdb_connections import is_broken, is_damage

_OURS = re.compile(r"pg:([0-9A-Z]{5}):([a-z :]+(?:\(urn:[!-~]+\))?)")
# a part of DuckDB's message → SQLSTATE and message
_PARTS: tuple[tuple[str, str, str], ...] = (
    ("Division by zero", "22012", "division by zero"),
    ("More than one row returned by a subquery", "21000",
     "more than one row returned by a subquery used as an expression"),
    ("square root of a negative", "2201F", "cannot take square root of a negative number"),
    ("logarithm of zero", "2201E", "cannot take logarithm of zero"),
    ("logarithm of a negative", "2201E", "cannot take logarithm of a negative number"),
    ("zero raised to a negative power", "2201F", "zero raised to a negative power is undefined"),
    ("destination type INT16", "22003", "smallint out of range"),
    ("destination type INT32", "22003", "integer out of range"),
    ("destination type INT64", "22003", "bigint out of range"),
    ("of INT16", "22003", "smallint out of range"),
    ("of INT32", "22003", "integer out of range"),
    ("of INT64", "22003", "bigint out of range"),
    ("of DECIMAL", "22003", "numeric field overflow"),
    ("to type DECIMAL", "22003", "numeric field overflow"),
    ("imestamp", "22008", "timestamp out of range"),
    ("ate out of range", "22008", "date out of range"),
)  # fmt: skip


def sql_error(error: Exception) -> AskError:
    """What to tell the caller of an error that DuckDB raised while it ran a statement."""
    import duckdb

    said = str(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        return LimitExceeded("select.memory", "the SELECT needs too much memory", detail="memory")
    if is_damage(error) or is_broken(error):  # the projection then opens another generation
        return StoreFailed("the columnar projection failed: run the SELECT again", detail=said)
    ours = _OURS.search(said)
    if ours is not None:
        return SqlError(ours[1], ours[2])
    if isinstance(error, duckdb.Error):
        for part, state, message in _PARTS:
            if part in said:
                return SqlError(state, message)
        if isinstance(error, duckdb.OutOfRangeException | duckdb.ConversionException):
            return SqlError("22003", "value out of range")
    return SqlError("0A000", "the statement is not supported in this form")
