"""Dates and times: ISO text or Python's ↔ the binary form, days or microseconds since 2000.

A `timestamptz` travels in UTC; without a zone, a moment is taken as it is. An interval is text as
PostgreSQL writes it ↔ microseconds, days and months.
"""

import struct
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates.interval_input import read_interval
from redask.core.sql.runtime.dates.intervals import Interval, interval_text
from redask.core.sql.runtime.dates.wide_dates import wide_number, wide_text

_EPOCH_DAY = date(2000, 1, 1)
_EPOCH = datetime(2000, 1, 1)
_DAYS = struct.Struct("!i")
_MICROSECONDS = struct.Struct("!q")
_INTERVAL = struct.Struct("!qii")


def pack_date(value: object) -> bytes:
    if isinstance(value, str) and _is_wide(value):
        return _DAYS.pack(wide_number(value, "date"))
    return _DAYS.pack((date.fromisoformat(str(value)) - _EPOCH_DAY).days)


def _is_wide(text: str) -> bool:
    """Whether it is a spelling of `wide_dates`."""
    return text.endswith(("BC", "infinity")) or text.find("-") > 4


def pack_moment(value: object) -> bytes:
    if isinstance(value, str) and _is_wide(value):
        return _MICROSECONDS.pack(wide_number(value, "timestamptz"))
    moment = datetime.fromisoformat(str(value))
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return _MICROSECONDS.pack((moment - _EPOCH) // timedelta(microseconds=1))


def pack_time(value: object) -> bytes:
    at = clock_time.fromisoformat(str(value))
    seconds = (at.hour * 60 + at.minute) * 60 + at.second
    return _MICROSECONDS.pack(seconds * 1_000_000 + at.microsecond)


def pack_interval(value: object) -> bytes:
    try:
        found = read_interval(str(value))
    except SqlError:
        raise ValueError from None
    return _INTERVAL.pack(found.microseconds, found.days, found.months)


def unpack_interval(data: bytes) -> str:
    microseconds, days, months = _INTERVAL.unpack(data)
    return interval_text(Interval(months, days, microseconds))


def unpack_date(data: bytes) -> str:
    return wide_text(_DAYS.unpack(data)[0], "date")


def unpack_moment(data: bytes) -> str:
    return wide_text(_MICROSECONDS.unpack(data)[0], "timestamp")


def unpack_zoned(data: bytes) -> str:
    return wide_text(_MICROSECONDS.unpack(data)[0], "timestamptz").replace("+00", "+00:00")


def unpack_time(data: bytes) -> str:
    return (datetime.min + timedelta(microseconds=_MICROSECONDS.unpack(data)[0])).time().isoformat()
