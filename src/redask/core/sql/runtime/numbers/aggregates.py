"""Aggregates over the list of a group's values, to PostgreSQL's last digit.

    average(["1", "2"])         numeric: exact sums, then one division
    variance, deviation         numeric, of the sample or the population
    float8_*                    the Youngs-Cramer recurrence, value by value in the list's order

A list has no NULLs: the binder filters them. None is SQL's NULL.
"""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates import intervals
from redask.core.sql.runtime.numbers.numerics import (
    EXACT,
    as_float4,
    div_scale,
    quotient_of,
    ratio,
    spell,
)
from redask.core.sql.runtime.numbers.transcendentals import root_at
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name


def total(values: Sequence[str]) -> str | None:
    """sum(numeric)."""
    return spell(_sum([Decimal(each) for each in values])) if values else None


def average(values: Sequence[str]) -> str | None:
    """avg(numeric), and avg of integers."""
    return average_of(total(values) or "0", len(values)) if values else None


def average_of(sum_text: str, count: int) -> str:
    """avg from a sum and a count that DuckDB has computed exactly."""
    return spell(quotient_of(Decimal(sum_text), Decimal(count)))


def spread(values: Sequence[str], sample: bool, root: bool) -> str | None:
    """var_samp, var_pop, stddev_samp and stddev_pop of numeric."""
    numbers = [Decimal(each) for each in values]
    squares = _sum([EXACT.multiply(each, each) for each in numbers])
    return spread_of(spell(_sum(numbers)), spell(squares), len(numbers), sample, root)


def spread_of(sum_text: str, squares_text: str, count: int, sample: bool, root: bool) -> str | None:
    """The same from the sum, the sum of squares and the count."""
    if count <= (1 if sample else 0):
        return None
    sums, squares = Decimal(sum_text), Decimal(squares_text)
    above = EXACT.subtract(EXACT.multiply(Decimal(count), squares), EXACT.multiply(sums, sums))
    if above <= 0:
        return "0"
    below = Decimal(count * (count - 1) if sample else count * count)
    scale = div_scale(above, below)
    found = ratio(above, below, scale)
    return spell(root_at(found, scale) if root else found)


def _sum(numbers: Sequence[Decimal]) -> Decimal:
    found = Decimal(0)
    for each in numbers:
        found = EXACT.add(found, each)
    return found


class _Moments(NamedTuple):
    """Count, sum and sum of squared differences, of X; and of Y and X with Y for pairs."""

    seen: float
    x: float
    xx: float
    y: float = 0.0
    yy: float = 0.0
    xy: float = 0.0


def _overflow() -> SqlError:
    return SqlError("22003", "value out of range: overflow")


def _moments(values: Sequence[float]) -> _Moments:
    count = x = xx = 0.0
    for value in values:
        before, count = x, count + 1.0
        x += value
        if count > 1.0:
            off = value * count - x
            xx += off * off / (count * (count - 1.0))
            if math.isinf(x) or math.isinf(xx):
                if not math.isinf(before) and not math.isinf(value):
                    raise _overflow()
                xx = math.nan
        elif not math.isfinite(value):
            xx = math.nan
    return _Moments(count, x, xx)


def _pair_moments(ys: Sequence[float], xs: Sequence[float]) -> _Moments:
    count = x = xx = y = yy = xy = 0.0
    for value_y, value_x in zip(ys, xs, strict=True):
        before_x, before_y, count = x, y, count + 1.0
        x, y = x + value_x, y + value_y
        if count > 1.0:
            off_x, off_y = value_x * count - x, value_y * count - y
            scale = 1.0 / (count * (count - 1.0))
            xx += off_x * off_x * scale
            yy += off_y * off_y * scale
            xy += off_x * off_y * scale
            if any(map(math.isinf, (x, xx, y, yy, xy))):
                sides = ((x, xx, before_x, value_x), (y, yy, before_y, value_y))
                for now, squares, before, value in sides:
                    over = math.isinf(now) or math.isinf(squares)
                    if over and not math.isinf(before) and not math.isinf(value):
                        raise _overflow()
                given = (before_x, value_x, before_y, value_y)
                if math.isinf(xy) and not any(map(math.isinf, given)):
                    raise _overflow()
                xx, yy, xy = (math.nan if math.isinf(each) else each for each in (xx, yy, xy))
        else:
            bad_x, bad_y = not math.isfinite(value_x), not math.isfinite(value_y)
            xx, yy = math.nan if bad_x else xx, math.nan if bad_y else yy
            xy = math.nan if bad_x or bad_y else xy
    return _Moments(count, x, xx, y, yy, xy)


def float8_sum(values: Sequence[float]) -> float | None:
    return _float_sum(values, lambda value: value)


def float4_sum(values: Sequence[float]) -> float | None:
    """sum(float4) adds in float4."""
    return _float_sum(values, as_float4)


def _float_sum(values: Sequence[float], fit: Callable[[float], float]) -> float | None:
    found: float | None = None
    for value in values:
        after = value if found is None else fit(found + value)
        if math.isinf(after) and math.isfinite(value) and math.isfinite(found or 0.0):
            raise _overflow()
        found = after
    return found


def float8_average(values: Sequence[float]) -> float | None:
    found = _moments(values)
    return found.x / found.seen if found.seen else None


def float8_spread(values: Sequence[float], sample: bool, root: bool) -> float | None:
    found = _moments(values)
    if found.seen <= (1.0 if sample else 0.0):
        return None
    value = found.xx / (found.seen - (1.0 if sample else 0.0))
    return math.sqrt(value) if root else value


def _correlation(found: _Moments) -> float | None:
    if found.xx == 0 or found.yy == 0:
        return None
    return found.xy / math.sqrt(found.xx * found.yy)


def _determination(found: _Moments) -> float | None:
    if found.xx == 0:
        return None
    return 1.0 if found.yy == 0 else (found.xy * found.xy) / (found.xx * found.yy)


_OF_PAIRS: dict[str, Callable[[_Moments], float | None]] = {
    "corr": _correlation,
    "covar_pop": lambda found: found.xy / found.seen,
    "covar_samp": lambda found: found.xy / (found.seen - 1.0) if found.seen >= 2 else None,
    "regr_avgx": lambda found: found.x / found.seen,
    "regr_avgy": lambda found: found.y / found.seen,
    "regr_intercept": lambda found: (
        None if found.xx == 0 else (found.y - found.x * found.xy / found.xx) / found.seen
    ),
    "regr_r2": _determination,
    "regr_slope": lambda found: None if found.xx == 0 else found.xy / found.xx,
    "regr_sxx": lambda found: found.xx,
    "regr_sxy": lambda found: found.xy,
    "regr_syy": lambda found: found.yy,
}


def of_pairs(name: str, ys: Sequence[float], xs: Sequence[float]) -> float | None:
    """corr, covar_* and regr_*(y, x); the two lists hold the pairs without NULL."""
    return _OF_PAIRS[name](_pair_moments(ys, xs)) if ys else None


def interval_sum(values: Sequence[str]) -> str | None:
    found: intervals.Interval | None = None
    for text in values:
        one = intervals.from_carried(text)
        found = one if found is None else intervals.plus(found, one)
    return None if found is None else intervals.carried(found)


def interval_average(values: Sequence[str]) -> str | None:
    sum_text = interval_sum(values)
    if sum_text is None:
        return None
    whole = intervals.Interval(*(int(each) for each in sum_text.split()[::2]))
    return intervals.carried(intervals.divided(whole, float(len(values))))


_SPREADS = {
    "var_samp": (True, False),
    "var_pop": (False, False),
    "stddev_samp": (True, True),
    "stddev_pop": (False, True),
}


def _listed(name: str, kind: str, result: str, call: Callable[..., object]) -> RuntimeFunction:
    def guarded(values: list[object] | None) -> object:
        return None if values is None else call(values)

    return RuntimeFunction(name, (f"{kind}[]",), result, guarded, True)


def _spread_row(name: str) -> RuntimeFunction:
    return _listed(
        f"pg_numeric_{name}", "VARCHAR", "VARCHAR", lambda values: spread(values, *_SPREADS[name])
    )


def _spread_of_row(name: str) -> RuntimeFunction:
    def call(sums: str | None, squares: str | None, count: int | None) -> str | None:
        if sums is None or squares is None or count is None:
            return None
        return spread_of(sums, squares, count, *_SPREADS[name])

    arguments = ("VARCHAR", "VARCHAR", "BIGINT")
    return RuntimeFunction(f"pg_numeric_{name}_of", arguments, "VARCHAR", call, True)


def _float_row(name: str) -> RuntimeFunction:
    return _listed(
        f"pg_float8_{name}",
        "DOUBLE",
        "DOUBLE",
        lambda values: float8_spread(values, *_SPREADS[name]),
    )


def _pair_row(name: str) -> RuntimeFunction:
    def call(ys: list[float] | None, xs: list[float] | None) -> float | None:
        return None if ys is None or xs is None else of_pairs(name, ys, xs)

    return RuntimeFunction(f"pg_{name}", ("DOUBLE[]", "DOUBLE[]"), "DOUBLE", call, True)


FUNCTIONS = functions_by_name(
    _listed("pg_numeric_sum", "VARCHAR", "VARCHAR", total),
    _listed("pg_numeric_avg", "VARCHAR", "VARCHAR", average),
    *map(_spread_row, _SPREADS),
    *map(_spread_of_row, _SPREADS),
    *map(_float_row, _SPREADS),
    *map(_pair_row, _OF_PAIRS),
    _listed("pg_float4_sum", "FLOAT", "FLOAT", float4_sum),
    _listed("pg_float8_avg", "DOUBLE", "DOUBLE", float8_average),
    _listed("pg_interval_sum", "INTERVAL", "INTERVAL", interval_sum),
    _listed("pg_interval_avg", "INTERVAL", "INTERVAL", interval_average),
)
