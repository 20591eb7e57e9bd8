"""Functions of the types of `written` at run time."""

from redask.core.errors import SqlError
from redask.core.sql import literals
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name
from redask.core.sql.written import written_types
from redask.core.sql.written.byte_strings import with_byte
from redask.core.sql.written.networks import address_and_length, as_inet, cidr_text


def _make_range(name: str, lower: str | None, upper: str | None, flags: str | None) -> str:
    return written_types.constructed_range(name, lower, upper, flags, literals.read)


def _make_multirange(name: str, ranges: list[str | None]) -> str | None:
    """NULL of one range that is NULL; one among several is 22004."""
    given = [each for each in ranges if each is not None]
    if len(given) < len(ranges):
        if len(ranges) == 1:
            return None
        raise SqlError("22004", "multirange values cannot contain null members")
    return written_types.constructed_multirange(name, given, literals.read)


def _range_key(written: str, name: str) -> str:
    return written_types.value_key(written, name, literals.read)


_V = "VARCHAR"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_make_range", (_V, _V, _V, _V), _V, _make_range, null_handling=True),
    RuntimeFunction("pg_make_multirange", (_V, f"{_V}[]"), _V, _make_multirange, True),
    RuntimeFunction("pg_range_key", (_V, _V), _V, _range_key),
    RuntimeFunction("pg_cidr_inet", (_V,), _V, as_inet),
    RuntimeFunction(
        "pg_inet_text", (_V,), _V, lambda written: cidr_text(*address_and_length(written))
    ),
    RuntimeFunction("pg_set_byte", (_V, "INTEGER", "INTEGER"), _V, with_byte),
)
