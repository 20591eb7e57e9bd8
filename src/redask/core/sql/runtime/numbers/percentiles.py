"""percentile_cont and percentile_disc over sorted values, with PostgreSQL's arithmetic."""

import math

from redask.core.errors import SqlError
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name, nullable


def _checked(fraction: float) -> float:
    if not 0 <= fraction <= 1:
        raise SqlError("22003", f"percentile value {fraction:g} is not between 0 and 1")
    return fraction


def percentile_cont(values: list[float], fraction: float) -> float | None:
    """The value at that part of the way through, between two neighbours where it falls."""
    place = _checked(fraction) * (len(values) - 1)
    if not values:
        return None
    low, high = math.floor(place), math.ceil(place)
    if low == high:
        return values[low]
    return values[low] + (place - low) * (values[high] - values[low])


def percentile_place(count: int, fraction: float) -> int:
    """The place, from 1, of the first value at or after that part of the way through."""
    return max(math.ceil(_checked(fraction) * count), 1)


FUNCTIONS = functions_by_name(
    RuntimeFunction(
        "pg_percentile_cont", ("DOUBLE[]", "DOUBLE"), "DOUBLE", nullable(percentile_cont), True
    ),
    RuntimeFunction("pg_percentile_place", ("BIGINT", "DOUBLE"), "BIGINT", percentile_place),
)
