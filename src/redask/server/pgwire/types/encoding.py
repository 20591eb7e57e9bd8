"""Values as PostgreSQL writes them: `encode` to and `decode` from text and binary, by OID.

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

`decode` gives what a statement can be bound to: dates, times and UUIDs as ISO text, and a value
of a type that is not known (0: not declared) as the text that came.
"""

import struct
from collections.abc import Callable
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal, InvalidOperation
from uuid import UUID

from redask.core.errors import BadAsk
from redask.core.sql.catalogue.object_ids import type_number
from redask.core.sql.runtime import spelling
from redask.core.sql.runtime.numbers.numerics import as_float4
from redask.server.pgwire.types import datetimes
from redask.server.pgwire.types.arrays import array_items, array_text, pack_array, unpack_array
from redask.server.pgwire.types.numeric import pack_numeric, unpack_numeric, written
from redask.server.pgwire.types.oids import (
    BOOL,
    BPCHAR,
    BYTEA,
    CHAR,
    CID,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT2VECTOR,
    INT4,
    INT8,
    INTERVAL,
    JSON,
    JSONB,
    NAME,
    NUMERIC,
    OID,
    OIDVECTOR,
    REGCLASS,
    REGNAMESPACE,
    REGPROC,
    REGTYPE,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TYPES,
    UNKNOWN,
    UUID_OID,
    VARCHAR,
    VOID,
    XID,
)

_TRUE = frozenset("t tr tru true y ye yes on 1".split())
_FALSE = frozenset("f fa fal fals false n no of off 0".split())


_ZONED = (TIMESTAMPTZ, TYPES[TIMESTAMPTZ].array)
_VECTORS = (INT2VECTOR, OIDVECTOR)  # arrays that count from 0 and have a text of their own
Encoder = Callable[[object], bytes]
Decoder = Callable[[bytes], object]


def encode(oid: int, value: object, binary: bool) -> bytes | None:
    """The value as the type is written; None is NULL."""
    return None if value is None else encoder(oid, binary)(value)


def encoder(oid: int, binary: bool, zone: str = "UTC") -> Encoder:
    """What encodes values of a type that are not NULL; made once for a column of many.

    `zone` is the session's: moments are written in it."""
    table = _TO_BINARY if binary else _TO_TEXT
    found = table.get(oid) or table[TEXT]
    if zone != "UTC" and not binary and oid in _ZONED:
        found = _in_zone(zone) if oid == TIMESTAMPTZ else _array_writer(_in_zone(zone))

    def encoded(value: object) -> bytes:
        try:
            return found(value)
        except (ValueError, TypeError, ArithmeticError, struct.error, AttributeError):
            raise _unfit(oid, "a value of the result is no {name}", value) from None

    return encoded


def decode(oid: int, data: bytes | None, binary: bool) -> object:
    """What a statement can be bound to; None is NULL."""
    if data is None:
        return None
    table = _FROM_BINARY if binary else _FROM_TEXT
    found = table.get(oid)
    if found is None and binary and oid not in (0, *TYPES):
        raise BadAsk(f"a parameter has the type {oid}, which is not known here: send it as text")
    try:
        return (found or _text_in)(data)
    except (ValueError, TypeError, ArithmeticError, struct.error, IndexError):
        raise _unfit(oid, "a parameter is no {name}", data) from None


def _unfit(oid: int, sentence: str, value: object) -> BadAsk:
    known = TYPES.get(oid)
    name = known.name if known else f"value of type {oid}"
    return BadAsk(sentence.format(name=name), detail=ascii(value)[:100])


# --- values to bytes -------------------------------------------------------------------------


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
        return _read_bool(value)
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
        return written(value).encode()
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


def _in_zone(zone: str) -> Encoder:
    def written_out(value: object) -> bytes:
        if isinstance(value, datetime) and value.tzinfo is not None:
            return spelling.timestamptz_text(value, zone).encode()
        return _text_out(value)

    return written_out


def _bytea_out(value: object) -> bytes:
    return b"\\x" + _bytes(value).hex().encode()


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    raise ValueError


def _list(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return list(value)
    raise ValueError


_INT_BITS = {INT2: 16, INT4: 32, INT8: 64}
_UNSIGNED = (OID, XID, CID, REGPROC, REGCLASS, REGTYPE, REGNAMESPACE)
_TEXTS = (CHAR, NAME, TEXT, UNKNOWN, BPCHAR, VARCHAR, JSON, 0)

_TO_TEXT: dict[int, Encoder] = {
    BOOL: lambda value: b"t" if _truth(value) else b"f",
    BYTEA: _bytea_out,
    **{oid: _ranged(bits) for oid, bits in _INT_BITS.items()},
    **{oid: _ranged(32, unsigned=True) for oid in (OID, XID, CID)},
    FLOAT4: lambda value: spelling.float4_text(as_float4(_float(value))).encode(),
    FLOAT8: _float_out,
    NUMERIC: lambda value: written(_decimal(value)).encode(),
    VOID: lambda _: b"",
    **dict.fromkeys((*_TEXTS, JSONB, REGPROC, REGCLASS, REGTYPE, REGNAMESPACE), _text_out),
    **dict.fromkeys((DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, UUID_OID), _text_out),
}
_TO_BINARY: dict[int, Encoder] = {
    BOOL: lambda value: b"\1" if _truth(value) else b"\0",
    BYTEA: _bytes,
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


# --- bytes to values -------------------------------------------------------------------------


def _text_in(data: bytes) -> str:
    text = data.decode()
    if "\0" in text:
        raise ValueError
    return text


def _read_bool(text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError


def _int_in(data: bytes) -> int:
    return int(data.decode("ascii"))


def _decimal_in(data: bytes) -> Decimal:
    try:
        return Decimal(data.decode("ascii").strip())
    except InvalidOperation:
        raise ValueError from None


def _float_in(data: bytes) -> float:
    return float(data.decode("ascii"))


def _bytea_in(data: bytes) -> bytes:
    if not data.startswith(b"\\x"):
        raise ValueError
    return bytes.fromhex(data[2:].decode("ascii"))


def _jsonb_in(data: bytes) -> str:
    if data[:1] != b"\1":
        raise ValueError
    return _text_in(data[1:])


def _one_byte(data: bytes) -> bool:
    if data not in (b"\0", b"\1"):
        raise ValueError
    return data == b"\1"


def _unpacked(form: str) -> Decoder:
    unpack = struct.Struct(form).unpack
    return lambda data: unpack(data)[0]


_FROM_TEXT: dict[int, Decoder] = {
    BOOL: lambda data: _read_bool(data.decode("ascii")),
    BYTEA: _bytea_in,
    **dict.fromkeys((*_INT_BITS, OID, XID, CID), _int_in),
    FLOAT4: _float_in,
    FLOAT8: _float_in,
    NUMERIC: _decimal_in,
}
_FROM_BINARY: dict[int, Decoder] = {
    BOOL: _one_byte,
    BYTEA: bytes,
    INT2: _unpacked("!h"),
    INT4: _unpacked("!i"),
    INT8: _unpacked("!q"),
    **{oid: _unpacked("!I") for oid in _UNSIGNED},
    FLOAT4: _unpacked("!f"),
    FLOAT8: _unpacked("!d"),
    NUMERIC: unpack_numeric,
    **dict.fromkeys(_TEXTS, _text_in),
    JSONB: _jsonb_in,
    DATE: datetimes.unpack_date,
    TIME: datetimes.unpack_time,
    TIMESTAMP: datetimes.unpack_moment,
    TIMESTAMPTZ: datetimes.unpack_zoned,
    INTERVAL: datetimes.unpack_interval,
    UUID_OID: lambda data: str(UUID(bytes=data)),
}


def _add_arrays() -> None:
    for row in TYPES.values():
        if not row.items:
            continue
        low = 0 if row.oid in _VECTORS else 1
        to_text, from_text = _TO_TEXT[row.items], _FROM_TEXT.get(row.items, _text_in)
        to_binary, from_binary = _TO_BINARY[row.items], _FROM_BINARY[row.items]
        _TO_BINARY[row.oid] = _array_packer(row.items, low, to_binary)
        _FROM_BINARY[row.oid] = _array_unpacker(from_binary)
        if row.oid in _VECTORS:
            _TO_TEXT[row.oid] = _vector_writer(to_text)
            _FROM_TEXT[row.oid] = _vector_reader(from_text)
        else:
            _TO_TEXT[row.oid] = _array_writer(to_text)
            _FROM_TEXT[row.oid] = _array_reader(from_text)


def _array_packer(items: int, low: int, each: Encoder) -> Encoder:
    return lambda value: pack_array(items, low, _list(value), each)


def _array_unpacker(each: Decoder) -> Decoder:
    return lambda data: unpack_array(data, each)


def _array_writer(each: Encoder) -> Encoder:
    return lambda value: array_text(_list(value), each)


def _array_reader(each: Decoder) -> Decoder:
    return lambda data: array_items(data.decode(), each)


def _vector_writer(each: Encoder) -> Encoder:
    return lambda value: b" ".join(map(each, _list(value)))


def _vector_reader(each: Decoder) -> Decoder:
    return lambda data: [each(part) for part in data.split()]


_add_arrays()
