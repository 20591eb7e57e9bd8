"""width_bucket(operand, low, high, count): which of `count` equal parts a number falls into."""

import math
from decimal import Decimal

from redask.core.errors import SqlError
from redask.core.sql.runtime.numbers.numerics import EXACT, integers
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name


def width_bucket(operand: str, low: str, high: str, count: int) -> int:
    """width_bucket(numeric, numeric, numeric, int)."""
    if count <= 0:
        raise SqlError("2201G", "count must be greater than zero")
    value, bottom, top = Decimal(operand), Decimal(low), Decimal(high)
    if bottom == top:
        raise SqlError("2201G", "lower bound cannot equal upper bound")
    if bottom > top:
        value, bottom, top = (each.copy_negate() for each in (value, bottom, top))
    if value < bottom:
        return 0
    if value >= top:
        if count == 2**31 - 1:
            raise SqlError("22003", "integer out of range")
        return count + 1
    part, whole = EXACT.subtract(value, bottom), EXACT.subtract(top, bottom)
    up, down = integers(part, whole)
    return up * count // down + 1


def float8_width_bucket(value: float, low: float, high: float, count: int) -> int:
    """width_bucket(float8, float8, float8, int)."""
    if count <= 0:
        raise SqlError("2201G", "count must be greater than zero")
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        raise SqlError("2201G", "operand, lower bound, and upper bound cannot be NaN")
    if math.isinf(low) or math.isinf(high):
        raise SqlError("2201G", "lower and upper bounds must be finite")
    if low == high:
        raise SqlError("2201G", "lower bound cannot equal upper bound")
    if math.isinf(high - low):
        raise unsupported("width_bucket over so wide a range")
    if (value < low) if low < high else (value > low):
        return 0
    if (value >= high) if low < high else (value <= high):
        return count + 1
    part = (value - low) / (high - low) if low < high else (low - value) / (low - high)
    return min(int(count * part), count - 1) + 1


_N = "VARCHAR"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_width_bucket", (_N, _N, _N, "INTEGER"), "INTEGER", width_bucket),
    RuntimeFunction(
        "pg_float8_width_bucket", ("DOUBLE",) * 3 + ("INTEGER",), "INTEGER", float8_width_bucket
    ),
)
