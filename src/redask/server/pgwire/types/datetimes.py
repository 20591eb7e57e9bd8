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

_EPOCH_DAY = date(2000, 1, 1)
_EPOCH = datetime(2000, 1, 1)
_DAYS = struct.Struct("!i")
_MICROSECONDS = struct.Struct("!q")
_INTERVAL = struct.Struct("!qii")


def pack_date(value: object) -> bytes:
    return _DAYS.pack((date.fromisoformat(str(value)) - _EPOCH_DAY).days)


def pack_moment(value: object) -> bytes:
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
    return (_EPOCH_DAY + timedelta(days=_DAYS.unpack(data)[0])).isoformat()


def unpack_moment(data: bytes) -> str:
    return _moment(data).isoformat(" ")


def unpack_zoned(data: bytes) -> str:
    return _moment(data).replace(tzinfo=UTC).isoformat(" ")


def unpack_time(data: bytes) -> str:
    return (datetime.min + timedelta(microseconds=_MICROSECONDS.unpack(data)[0])).time().isoformat()


def _moment(data: bytes) -> datetime:
    return _EPOCH + timedelta(microseconds=_MICROSECONDS.unpack(data)[0])
