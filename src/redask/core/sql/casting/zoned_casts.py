"""Casts that the time zone of the session decides, where it is not UTC: `zoned_cast`.

A `timestamptz` is kept in UTC. What has no zone (a timestamp, a date, a text) is in the session's.
"""

from redask.core.sql.binder.bound import TEXT, Bound, quoted
from redask.core.sql.casting.single_casts import STRINGS
from redask.core.sql.types import SqlType

STAMP, ZONED = SqlType("timestamp"), SqlType("timestamptz")


def zoned_cast(value: Bound, wanted: SqlType, zone: str) -> Bound | None:
    """The cast; None where the zone decides nothing."""
    given = value.type.name
    if wanted.name == "timestamptz":
        if given == "timestamp":
            return to_utc(value, zone)
        if given == "date":
            return to_utc(value.like(f"CAST({value.sql} AS TIMESTAMP)", type=STAMP), zone)
        if given in STRINGS:
            return value.like(f"pg_zoned_in({value.sql}, {quoted(zone)})", type=wanted)
    if given == "timestamptz":
        if wanted.name in STRINGS:
            return value.like(f"pg_zoned_text({value.sql}, {quoted(zone)})", type=wanted)
        if wanted.name == "timestamp":
            return to_local(value, zone)
        if wanted.name in ("date", "time"):
            local = to_local(value, zone).sql
            return value.like(f"CAST({local} AS {wanted.duckdb_type})", type=wanted)
    return None


def zoned_array_cast(value: Bound, wanted: SqlType, zone: str) -> Bound | None:
    """The cast of an array, each of its items for itself; None as above."""
    if "timestamptz" not in (value.type.name, wanted.name) or not value.type.is_array:
        return None
    items = TEXT if wanted.name in STRINGS and not wanted.is_array else wanted.element
    cast = zoned_cast(Bound("x", value.type.element), items, zone)
    if cast is None:
        return None
    text = f"list_transform({value.sql}, lambda x: {cast.sql})"
    if not wanted.is_array:
        return value.like(f"pg_text_array_text({text})", type=wanted)
    return value.like(text, type=wanted)


def to_utc(value: Bound, zone: str) -> Bound:
    """The moment of a timestamp in the zone."""
    return value.like(f"pg_to_utc({value.sql}, {quoted(zone)})", type=ZONED)


def to_local(value: Bound, zone: str) -> Bound:
    """The zone's clock at a moment."""
    return value.like(f"pg_to_local({value.sql}, {quoted(zone)})", type=STAMP)
