"""Numbers chosen among others or counted: GREATEST, factorial, shifts, series, mode's place."""

import math
from decimal import Context, Decimal

from redask.core.errors import SqlError
from redask.core.sql.runtime.numbers.numerics import sort_key
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name, nullable

_EXACT = Context(prec=2000)
_MOST_STEPS = 1_000_000


def greatest(values: list[str | None]) -> str | None:
    """The first of the largest; NULLs do not count."""
    return max((each for each in values if each is not None), key=sort_key, default=None)


def least(values: list[str | None]) -> str | None:
    return min((each for each in values if each is not None), key=sort_key, default=None)


def factorial(number: int) -> str:
    if number < 0:
        raise SqlError("22003", "factorial of a negative number is undefined")
    if number > 2000:
        raise unsupported("factorial of a number above 2000")
    return str(math.factorial(number))


def min_scale(text: str) -> int:
    """The fewest digits after the point that hold the value."""
    return len(text.partition(".")[2].rstrip("0"))


def _wrapped(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def shifted_left(value: int, count: int, bits: int) -> int:
    """As the processor shifts: the count modulo the width of the register."""
    return _wrapped(value << (count & (63 if bits == 64 else 31)), bits)


def shifted_right(value: int, count: int, bits: int) -> int:
    return value >> (count & (63 if bits == 64 else 31))


def series(first: str, last: str, step: str) -> list[str]:
    """generate_series of numerics: each has the scale of the sum."""
    value, end, by = Decimal(first), Decimal(last), Decimal(step)
    if not by:
        raise SqlError("22023", "step size cannot equal zero")
    found: list[str] = []
    while value <= end if by > 0 else value >= end:
        found.append(format(value, "f"))
        if len(found) > _MOST_STEPS:
            raise unsupported(f"generate_series of more than {_MOST_STEPS} numerics")
        value = _EXACT.add(value, by)
    return found


def mode_place(values: list[str]) -> int:
    """Where the longest run of equal values begins, of sorted values; from 1."""
    best = longest = start = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[start]:
            if place - start > longest:
                best, longest = start, place - start
            start = place
    return best + 1


_N, _I = "VARCHAR", "INTEGER"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_numeric_greatest", ("VARCHAR[]",), _N, nullable(greatest), True),
    RuntimeFunction("pg_numeric_least", ("VARCHAR[]",), _N, nullable(least), True),
    RuntimeFunction("pg_factorial", ("BIGINT",), _N, factorial),
    RuntimeFunction("pg_numeric_min_scale", (_N,), _I, min_scale),
    RuntimeFunction("pg_shift_left", ("BIGINT", _I, _I), "BIGINT", shifted_left),
    RuntimeFunction("pg_shift_right", ("BIGINT", _I, _I), "BIGINT", shifted_right),
    RuntimeFunction("pg_numeric_series", (_N, _N, _N), "VARCHAR[]", series),
    RuntimeFunction("pg_mode_place", ("VARCHAR[]",), "BIGINT", mode_place),
)
