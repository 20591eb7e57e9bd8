"""Functions and operators that the session's time zone decides, where it is not UTC.

    zoned_call(…)        date_trunc, extract, date_part, to_char, age, to_timestamp of a timestamptz
    zoned_operator(…)    timestamptz ± interval, and comparisons with what has no zone

A function of a timestamptz that is neither here nor in `_ALIKE` is refused by name: it is not known
to mean the same in every zone.
"""

from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import TEXT, Bound, quoted, unsupported
from redask.core.sql.binder.coercion import constant
from redask.core.sql.casting.zoned_casts import STAMP, ZONED, to_local, to_utc
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.functions.runtime_calls import ours
from redask.core.sql.runtime.dates.time_zones import to_local as clock_of
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_SPAN = SqlType("interval")
# what reads or writes no clock, or leaves that to a cast
_ALIKE = frozenset(
    """timezone overlaps date_bin isfinite to_json to_jsonb json_build_object json_build_array
    jsonb_build_object jsonb_build_array concat concat_ws format pg_typeof quote_literal
    quote_nullable array_length array_lower array_upper cardinality array_append array_prepend
    array_cat array_position""".split()
)


def zoned_call(
    self: "Expressions", name: str, values: list[Bound], location: int
) -> tuple[list[Bound], Bound | None]:
    """The arguments that the function shall have instead, or its result."""
    zone = self.coercion.zone
    if name == "to_timestamp" and len(values) == 2:
        return values, _to_timestamp(self, values, location)
    if name == "date_trunc" and len(values) == 2:
        return values, _date_trunc(self, values)
    if name in ("extract", "date_part") and len(values) == 2:
        return _part(self, values, location), None
    if name == "to_char" and len(values) == 2 and values[0].type.name in ("timestamptz", "date"):
        if values[1].literal is None or _names_zone(values[1].literal):
            unsupported(f"to_char with this pattern in the time zone {zone}", location)
        return [self.coercion.coerce(values[0], STAMP, "explicit"), values[1]], None
    if name == "age" and any(_is_zoned(each) for each in values):
        return values, _age(self, values, location)
    if any(each.type.name == "timestamptz" for each in values) and name not in _ALIKE:
        unsupported(f"{name} of a timestamptz in the time zone {zone}", location)
    return values, None


def _is_zoned(value: Bound) -> bool:
    return value.type == ZONED


def _names_zone(pattern: str) -> bool:
    return any(each in pattern.upper() for each in ("TZ", "OF"))


def _date_trunc(self: "Expressions", values: list[Bound]) -> Bound | None:
    value = values[1]
    if value.is_untyped or value.type.name == "date":
        value = self.coercion.coerce(value, ZONED)
    if not _is_zoned(value):
        return None
    unit = self.coercion.coerce(values[0], TEXT)
    zone = constant(self.coercion.zone, TEXT)
    return ours("pg_zoned_trunc", ZONED)(unit, value, zone)


def _part(self: "Expressions", values: list[Bound], location: int) -> list[Bound]:
    """extract and date_part: by the zone's clock, but the seconds since 1970."""
    value = values[1]
    if value.is_untyped:
        value = self.coercion.coerce(value, ZONED)
    field = (values[0].literal or "").lower()
    if not _is_zoned(value) or field == "epoch":
        return [values[0], value]
    if not field or field.startswith("timezone"):
        unsupported(f"this part of a timestamptz in the time zone {self.coercion.zone}", location)
    return [values[0], to_local(value, self.coercion.zone)]


def _age(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) == 1:
        now = self.context.facts.now.astimezone(UTC).replace(tzinfo=None)
        day = clock_of(now, self.coercion.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        values = [constant(day, STAMP, location), *values]
    if len(values) != 2:
        return None
    clocks = [self.coercion.coerce(each, STAMP, "explicit") for each in values]
    return ours("pg_age", _SPAN)(*clocks)


def _to_timestamp(self: "Expressions", values: list[Bound], location: int) -> Bound:
    if values[1].literal is None or _names_zone(values[1].literal):
        unsupported(
            f"to_timestamp with this pattern in the time zone {self.coercion.zone}", location
        )
    text, pattern = (self.coercion.coerce(each, TEXT) for each in values)
    clock = ours("pg_to_timestamp", STAMP)(text, pattern)
    return to_utc(clock, self.coercion.zone)


def zoned_operator(
    self: "Expressions",
    name: str,
    found: tuple[Overload, tuple[SqlType, ...]],
    values: list[Bound],
    location: int,
) -> Bound | None:
    """The operator, where the zone decides what it gives; None where it does not."""
    row, takes = found
    if ZONED not in takes:
        return None
    if _SPAN in takes:
        function = "pg_zoned_add" if name == "+" else "pg_zoned_minus"
        cast = [self.coercion.coerce(each, want) for each, want in zip(values, takes, strict=True)]
        moment, span = cast if takes[0] == ZONED else reversed(cast)
        zone = Bound(quoted(self.coercion.zone), TEXT)
        return replace(ours(function, ZONED)(moment, span, zone), location=location)
    if set(takes) != {ZONED}:
        return self.emit(row, (ZONED, ZONED), values, location)
    return None
