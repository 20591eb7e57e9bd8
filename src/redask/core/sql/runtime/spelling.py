"""Values as PostgreSQL's `::text` writes them.

float8_text(1e20)                 "1e+20"        shortest text that reads back equal
timestamp_text(moment)            "2024-01-05 10:00:00.5"
array_text(["a b", None])         '{"a b",NULL}'
value_text(value, type)           any value of `literals.read`
"""

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from redask.core.sql.runtime.dates.intervals import (
    Interval,
    clock_text,
    from_carried,
    interval_text,
    microseconds_of,
)
from redask.core.sql.runtime.dates.time_zones import offset_text, to_local
from redask.core.sql.runtime.numbers.numerics import EXACT, as_float4, spell
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name
from redask.core.sql.types import SqlType


def bool_text(value: bool) -> str:
    return "true" if value else "false"


def float8_text(value: float) -> str:
    text = repr(value)
    if abs(value) < 1e15 and "e" not in text:
        return text.removesuffix(".0")
    special = _special(value)
    if special:
        return special
    if 2.0**53 <= abs(value) < 1e45 and _is_midpoint(text, math.nextafter, value):
        # Python takes a text halfway to the next number, PostgreSQL more digits
        longer = (f"{value:.{digits}e}" for digits in range(len(_digits(text)), 17))
        text = next(each for each in longer if not _is_midpoint(each, math.nextafter, value))
    return _shortest(text, 15)


def _digits(text: str) -> str:
    return "".join(map(str, Decimal(text).as_tuple().digits)).strip("0")


def float4_text(value: float) -> str:
    special = _special(value)
    if special:
        return special
    if value < 0:
        return f"-{float4_text(-value)}"
    for digits in range(9):
        text = f"{value:.{digits}e}"
        # below a power of two the numbers lie closer: the nearest text may be another number's,
        # and the one above it ours
        above = str(EXACT.add(Decimal(text), Decimal(1).scaleb(Decimal(text).adjusted() - digits)))
        for each in (text, above):
            if as_float4(float(each)) == value and not _is_midpoint(each, _next_float4, value):
                return _shortest(each, 6)
    raise unsupported("this real")


def _is_midpoint(text: str, following: Callable[[float, float], float], value: float) -> bool:
    """Whether the text lies exactly between the value and one of its neighbours."""
    twice = EXACT.subtract(EXACT.multiply(Decimal(text), Decimal(2)), Decimal(value))
    near = (following(value, math.inf), following(value, -math.inf))
    return any(math.isfinite(each) and Decimal(each) == twice for each in near)


def _next_float4(value: float, toward: float) -> float:
    step = 2.0 ** max(-149, math.frexp(value)[1] - 24)
    below = step / 2 if math.frexp(value)[0] in (0.5, -0.5) and abs(value) > 2.0**-126 else step
    away = (toward > 0) == (value > 0)
    moved = step if away else below
    return as_float4(value + (moved if toward > 0 else -moved))


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return ""


def _shortest(text: str, fixed_below: int) -> str:
    """PostgreSQL's layout: plain for exponents from -4 to below 15 (float4: 6), else 1.5e+20."""
    sign, digits, exponent = Decimal(text).as_tuple()
    written = "".join(map(str, digits)).lstrip("0").rstrip("0")
    if not written:
        return "-0" if sign else "0"
    power = int(exponent) + len("".join(map(str, digits)).lstrip("0")) - 1
    minus = "-" if sign else ""
    if not -4 <= power < fixed_below:
        rest = f".{written[1:]}" if len(written) > 1 else ""
        return f"{minus}{written[0]}{rest}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{written}"
    whole = written[: power + 1].ljust(power + 1, "0")
    rest = written[power + 1 :]
    return f"{minus}{whole}.{rest}" if rest else f"{minus}{whole}"


def date_text(value: date) -> str:
    return f"{value.year:04d}-{value.month:02d}-{value.day:02d}"


def time_text(value: time) -> str:
    return clock_text(microseconds_of(datetime.combine(date.min, value)))


def timestamp_text(value: datetime) -> str:
    return f"{date_text(value)} {clock_text(microseconds_of(value))}"


def timestamptz_text(value: datetime, zone: str = "UTC") -> str:
    """A moment in UTC as a zone's clock shows it, with the offset."""
    if zone == "UTC":
        return f"{timestamp_text(value)}+00"
    moment = value.replace(tzinfo=None)
    local = to_local(moment, zone)
    return timestamp_text(local) + offset_text(local - moment)


def element_text(text: str | None) -> str:
    """One element of an array's text, quoted where PostgreSQL quotes it."""
    if text is None:
        return "NULL"
    if text and text.upper() != "NULL" and not any(each in _QUOTED for each in text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_QUOTED = frozenset('{},"\\ \t\n\r\v\f')


def array_text(texts: Sequence[str | None]) -> str:
    """An array's text from its elements' texts."""
    return "{" + ",".join(map(element_text, texts)) + "}"


def value_text(value: object, kind: SqlType) -> str:
    """The text of any value that `literals.read` gives for the type."""
    if isinstance(value, list):
        one = kind.element
        return array_text([None if each is None else _element(each, one) for each in value])
    return _WRITE.get(kind.name, str)(value)


def _element(value: object, kind: SqlType) -> str:
    # in an array, bool is written by its output function: t and f
    return ("t" if value else "f") if kind.name == "bool" else value_text(value, kind)


_WRITE: dict[str, Callable[[Any], str]] = {
    "bool": bool_text,
    "float4": float4_text,
    "float8": float8_text,
    "numeric": lambda value: spell(value) if isinstance(value, Decimal) else str(value),
    "date": date_text,
    "time": time_text,
    "timestamp": timestamp_text,
    "timestamptz": timestamptz_text,
    "interval": lambda value: interval_text(
        value if isinstance(value, Interval) else from_carried(value)
    ),
}


def _array_row(name: str, duckdb: str) -> RuntimeFunction:
    kind = SqlType(name, (), True)

    def write(values: list[object]) -> str:
        return value_text(values, kind)

    return RuntimeFunction(f"pg_{name}_array_text", (f"{duckdb}[]",), "VARCHAR", write)


FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_float8_text", ("DOUBLE",), "VARCHAR", float8_text),
    RuntimeFunction("pg_float4_text", ("FLOAT",), "VARCHAR", float4_text),
    RuntimeFunction(
        "pg_interval_text",
        ("INTERVAL",),
        "VARCHAR",
        lambda text: interval_text(from_carried(text)),
    ),
    _array_row("bool", "BOOLEAN"),
    _array_row("int8", "BIGINT"),  # int2 and int4 too
    _array_row("float8", "DOUBLE"),
    _array_row("float4", "FLOAT"),
    _array_row("text", "VARCHAR"),  # varchar, numeric, json and jsonb too
    _array_row("date", "DATE"),
    _array_row("time", "TIME"),
    _array_row("timestamp", "TIMESTAMP"),
    _array_row("timestamptz", "TIMESTAMP"),
    _array_row("interval", "INTERVAL"),
    _array_row("uuid", "UUID"),
)
