"""Values as PostgreSQL writes them: `encode` to text and binary, by OID.

    value            types                          as text          as binary
    bool, 1 and 0    bool                           t f              one byte
    int              int2 int4 int8 oid xid regclass 42              2, 4, 8 or 4 bytes
    float, int       float4 float8                  0.5 1e+30        IEEE
    Decimal, int     numeric                        0.000321         base 10,000
    date, time …     date time timestamp(tz) uuid   2026-05-04       days or microseconds; 16 bytes
    interval text    interval                       1 mon 2 days     microseconds, days, months
    str              text varchar name "char" …     as it is         the same
    JSON text        json jsonb                     as it is         jsonb: 1 and the text
    list             arrays, int2vector, oidvector  {1,NULL,"a b"}   dimensions and items

None is NULL everywhere. A number where text is announced is written out; a text where a number
is announced is read, if it is one. What does not fit is a `BadAsk` that names the type.

"""

import struct
from collections.abc import Callable
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from redask.core.sql.catalogue.object_ids import type_number
from redask.core.sql.runtime import spelling
from redask.core.sql.runtime.dates.interval_input import read_interval
from redask.core.sql.runtime.dates.interval_styles import styled_interval
from redask.core.sql.runtime.numbers.numerics import as_float4
from redask.core.sql.types import SqlType
from redask.core.sql.written.written_types import RANGES, ZONED, bounds_of
from redask.server.pgwire.protocol.client_encodings import UTF8
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.types import datetimes, written
from redask.server.pgwire.types.arrays import array_text, pack_array
from redask.server.pgwire.types.decoding import read_bool, unfit
from redask.server.pgwire.types.numeric import numeric_digits, pack_numeric
from redask.server.pgwire.types.oids import (
    BOOL,
    BPCHAR,
    BYTEA,
    CHAR,
    CID,
    CIDR,
    DATE,
    FLOAT4,
    FLOAT8,
    INET,
    INT2,
    INT2VECTOR,
    INT4,
    INT8,
    INTERVAL,
    JSON,
    JSONB,
    MACADDR,
    NAME,
    NUMERIC,
    OID,
    OIDVECTOR,
    POINT,
    RANGE_OIDS,
    REGCLASS,
    REGNAMESPACE,
    REGPROC,
    REGTYPE,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    TYPES,
    UNKNOWN,
    UUID_OID,
    VARCHAR,
    VOID,
    XID,
)

_VECTORS = (INT2VECTOR, OIDVECTOR)  # arrays that count from 0 and have a text of their own
Encoder = Callable[[object], bytes]


def encode(oid: int, value: object, binary: bool) -> bytes | None:
    """The value as the type is written; None is NULL."""
    return None if value is None else encoder(oid, binary)(value)


class ResultStyle(NamedTuple):
    """How a session wants its values: the zone of moments, the style of intervals, the codec."""

    zone: str = "UTC"
    intervals: str = "postgres"
    codec: str = UTF8


PLAIN = ResultStyle()


def encoder(oid: int, binary: bool, style: ResultStyle = PLAIN) -> Encoder:
    """What encodes values of a type that are not NULL; made once for a column of many."""
    table = _TO_BINARY if binary else _TO_TEXT
    found = table.get(oid) or table[TEXT]
    if style != PLAIN:
        found = _styled(oid, binary, style, found)

    def encoded(value: object) -> bytes:
        try:
            return found(value)
        except (ValueError, TypeError, ArithmeticError, struct.error, AttributeError):
            raise unfit(oid, "a value of the result is no {name}", value) from None

    return encoded


def _integer(value: object) -> int:
    if isinstance(value, int):
        return value
    if isinstance(value, float | Decimal) and value == int(value):
        return int(value)
    if isinstance(value, str):
        return int(value)
    raise ValueError


def _ranged(bits: int, unsigned: bool = False) -> Encoder:
    low, high = (0, 1 << bits) if unsigned else (-(1 << bits - 1), 1 << bits - 1)

    def encoded(value: object) -> bytes:
        number = _integer(value)
        if not low <= number < high:
            raise ValueError
        return b"%d" % number

    return encoded


def _packed(form: str, read: Callable[[object], object]) -> Encoder:
    pack = struct.Struct(form).pack
    return lambda value: pack(read(value))


def _truth(value: object) -> bool:
    if isinstance(value, str):
        return read_bool(value)
    if value in (0, 1):
        return bool(value)
    raise ValueError


def _float(value: object) -> float:
    if isinstance(value, int | float | str | Decimal):
        return float(value)
    raise ValueError


def _float_out(value: object) -> bytes:
    number = _float(value)
    if 1e-4 <= abs(number) < 1e15:  # where PostgreSQL writes it as Python does
        return repr(number).removesuffix(".0").encode()
    return spelling.float8_text(number).encode()


def _decimal(value: object) -> Decimal:
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, int | str | Decimal):
        return Decimal(value)
    raise ValueError


def _text_out(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, float):
        return _float_out(value)
    if isinstance(value, Decimal):
        return numeric_digits(value).encode()
    return _moment_out(value)


def _moment_out(value: object) -> bytes:
    if isinstance(value, datetime):
        write = spelling.timestamp_text if value.tzinfo is None else spelling.timestamptz_text
        return write(value).encode()
    if isinstance(value, date):
        return spelling.date_text(value).encode()
    if isinstance(value, clock_time):
        return spelling.time_text(value).encode()
    if isinstance(value, UUID):
        return str(value).encode()
    raise ValueError


def _styled(oid: int, binary: bool, style: ResultStyle, found: Encoder) -> Encoder:
    """The encoder of a type for a session that wants its values otherwise."""
    items = TYPES[oid].items if oid in TYPES else 0
    one = items or oid
    if not binary and one == TIMESTAMPTZ and style.zone != "UTC":
        found = _array_writer(_in_zone(style.zone)) if items else _in_zone(style.zone)
    if not binary and one in _ZONED and style.zone != "UTC":
        each = written.range_in_zone(_ZONED[one], style.zone)
        found = _array_writer(each) if items else each
    if not binary and one == INTERVAL and style.intervals != "postgres":
        found = _array_writer(_span(style.intervals)) if items else _span(style.intervals)
    if style.codec == UTF8 or (binary and one not in (*_TEXTS, JSONB)):
        return found
    if binary and items:
        return _array_packer(items, 1, _recoded(_TO_BINARY[items], style.codec))
    return _recoded(found, style.codec)


def _recoded(found: Encoder, codec: str) -> Encoder:
    return lambda value: recoded(found(value), codec)


def recoded(cell: bytes, codec: str) -> bytes:
    """A text in UTF-8 in another encoding; 22P05 for what that lacks."""
    try:
        return cell if cell.isascii() else cell.decode().encode(codec)
    except UnicodeEncodeError as error:
        name = error.object[error.start].encode().hex(" ")
        message = f'character with bytes {name} in "UTF8" has no equivalent in client_encoding'
        raise SqlStateError("22P05", message) from None


def _span(style: str) -> Encoder:
    return lambda value: styled_interval(read_interval(str(value)), style).encode()


def _in_zone(zone: str) -> Encoder:
    def written_out(value: object) -> bytes:
        if isinstance(value, datetime) and value.tzinfo is not None:
            return spelling.timestamptz_text(value, zone).encode()
        return _text_out(value)

    return written_out


def _list(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return list(value)
    raise ValueError


_INT_BITS = {INT2: 16, INT4: 32, INT8: 64}
_UNSIGNED = (OID, XID, CID, REGPROC, REGCLASS, REGTYPE, REGNAMESPACE)
_TEXTS = (CHAR, NAME, TEXT, UNKNOWN, BPCHAR, VARCHAR, JSON, 0)

_TO_TEXT: dict[int, Encoder] = {
    BOOL: lambda value: b"t" if _truth(value) else b"f",
    BYTEA: written.bytea_text,
    **{oid: _ranged(bits) for oid, bits in _INT_BITS.items()},
    **{oid: _ranged(32, unsigned=True) for oid in (OID, XID, CID)},
    FLOAT4: lambda value: spelling.float4_text(as_float4(_float(value))).encode(),
    FLOAT8: _float_out,
    NUMERIC: lambda value: numeric_digits(_decimal(value)).encode(),
    VOID: lambda _: b"",
    **dict.fromkeys((*_TEXTS, JSONB, REGPROC, REGCLASS, REGTYPE, REGNAMESPACE), _text_out),
    **dict.fromkeys((DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, UUID_OID), _text_out),
}
_TO_BINARY: dict[int, Encoder] = {
    BOOL: lambda value: b"\1" if _truth(value) else b"\0",
    BYTEA: written.pack_bytea,
    POINT: written.pack_point,
    CIDR: written.pack_network(True),
    INET: written.pack_network(False),
    MACADDR: written.pack_macaddr,
    TIMETZ: written.pack_timetz,
    INT2: _packed("!h", _integer),
    INT4: _packed("!i", _integer),
    INT8: _packed("!q", _integer),
    **{oid: _packed("!I", _integer) for oid in _UNSIGNED},
    REGTYPE: lambda value: struct.pack("!I", type_number(str(value))),
    FLOAT4: _packed("!f", _float),
    FLOAT8: _packed("!d", _float),
    NUMERIC: lambda value: pack_numeric(_decimal(value)),
    VOID: lambda _: b"",
    **dict.fromkeys(_TEXTS, _text_out),
    JSONB: lambda value: b"\1" + _text_out(value),
    DATE: datetimes.pack_date,
    TIME: datetimes.pack_time,
    TIMESTAMP: datetimes.pack_moment,
    TIMESTAMPTZ: datetimes.pack_moment,
    INTERVAL: datetimes.pack_interval,
    UUID_OID: lambda value: UUID(str(value)).bytes,
}


for _name, _oid in RANGE_OIDS.items():
    _each = _TO_BINARY[SqlType(bounds_of(_name)).oid]
    _make = written.pack_range if _name in RANGES else written.pack_multirange
    _TO_BINARY[_oid] = _make(_name, _each)
_TO_TEXT |= dict.fromkeys((POINT, CIDR, INET, MACADDR, TIMETZ, *RANGE_OIDS.values()), _text_out)
_ZONED = {RANGE_OIDS[name]: name for name in ZONED}


def _add_arrays() -> None:
    for row in TYPES.values():
        if not row.items:
            continue
        low = 0 if row.oid in _VECTORS else 1
        writer = _vector_writer if row.oid in _VECTORS else _array_writer
        _TO_TEXT[row.oid] = writer(_TO_TEXT[row.items])
        _TO_BINARY[row.oid] = _array_packer(row.items, low, _TO_BINARY[row.items])


def _array_packer(items: int, low: int, each: Encoder) -> Encoder:
    return lambda value: pack_array(items, low, _list(value), each)


def _array_writer(each: Encoder) -> Encoder:
    return lambda value: array_text(_list(value), each)


def _vector_writer(each: Encoder) -> Encoder:
    return lambda value: b" ".join(map(each, _list(value)))


_add_arrays()
