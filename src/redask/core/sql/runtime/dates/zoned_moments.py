"""What a moment means in a session whose time zone is not UTC.

in_zone("2024-07-01 10:00", "Europe/Berlin")    08:00 UTC: the text names no zone
add_in_zone(moment, one_day, "Europe/Berlin")   the same time of the clock a day later
trunc_to(unit, moment, "Europe/Berlin")         midnight of the zone's day, in UTC
"""

from datetime import datetime

from redask.core.sql.runtime.dates.date_parts import unit_of
from redask.core.sql.runtime.dates.date_rounding import CLOCK_UNITS, trunc_timestamptz
from redask.core.sql.runtime.dates.datetime_input import read_timestamptz
from redask.core.sql.runtime.dates.intervals import Interval, add_to, from_carried, negated
from redask.core.sql.runtime.dates.time_zones import offset_text, to_local, to_utc
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name
from redask.core.sql.runtime.spelling import timestamp_text, timestamptz_text


def in_zone(text: str, zone: str) -> datetime:
    """The moment that a text means."""
    return read_timestamptz(text, zone=zone)


def add_in_zone(moment: datetime, by: Interval, zone: str) -> datetime:
    """timestamptz + interval: months, then days by the zone's clock, then the time."""
    if by.months:
        moment = to_utc(add_to(to_local(moment, zone), Interval(by.months, 0, 0)), zone)
    if by.days:
        moment = to_utc(add_to(to_local(moment, zone), Interval(0, by.days, 0)), zone)
    return add_to(moment, Interval(0, 0, by.microseconds))


def trunc_to(unit: str, moment: datetime, zone: str) -> datetime:
    """date_trunc(unit, timestamptz): hours and less keep the offset they have."""
    local = to_local(moment, zone)
    cut = trunc_timestamptz(unit, local)
    if unit_of(unit, "timestamp with time zone") in CLOCK_UNITS:
        return moment - (local - cut)
    return to_utc(cut, zone)


def json_moment(moment: datetime, zone: str) -> str:
    """The text of a moment in JSON: `2024-07-01T10:00:00+02:00`."""
    local = to_local(moment, zone)
    offset = offset_text(local - moment)
    minutes = "" if ":" in offset else ":00"
    return timestamp_text(local).replace(" ", "T") + offset + minutes


_T, _V = "TIMESTAMP", "VARCHAR"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_zoned_in", (_V, _V), _T, in_zone),
    RuntimeFunction("pg_zoned_text", (_T, _V), _V, timestamptz_text),
    RuntimeFunction("pg_zoned_json", (_T, _V), _V, json_moment),
    RuntimeFunction("pg_zoned_trunc", (_V, _T, _V), _T, trunc_to),
    RuntimeFunction(
        "pg_zoned_add",
        (_T, "INTERVAL", _V),
        _T,
        lambda moment, by, zone: add_in_zone(moment, from_carried(by), zone),
    ),
    RuntimeFunction(
        "pg_zoned_minus",
        (_T, "INTERVAL", _V),
        _T,
        lambda moment, by, zone: add_in_zone(moment, negated(from_carried(by)), zone),
    ),
)
