"""Values as clients send them: `decode` from text and binary, by OID.

It gives what a statement can be bound to: dates, times and UUIDs as ISO text, and a value of a
type that is not known (0: not declared) as the text that came. What does not fit is a `BadAsk` that
names the type. Text is in the client's encoding.
"""

import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from uuid import UUID

from redask.core.errors import BadAsk
from redask.core.sql.types import SqlType
from redask.core.sql.written.written_types import RANGES, bounds_of
from redask.server.pgwire.protocol.client_encodings import decoded
from redask.server.pgwire.types import datetimes, written
from redask.server.pgwire.types.arrays import array_items, unpack_array
from redask.server.pgwire.types.numeric import unpack_numeric
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
    XID,
)

_TRUE = frozenset("t tr tru true y ye yes on 1".split())
_FALSE = frozenset("f fa fal fals false n no of off 0".split())
_VECTORS = (INT2VECTOR, OIDVECTOR)
_INT_BITS = {INT2: 16, INT4: 32, INT8: 64}
_UNSIGNED = (OID, XID, CID, REGPROC, REGCLASS, REGTYPE, REGNAMESPACE)
_TEXTS = (CHAR, NAME, TEXT, UNKNOWN, BPCHAR, VARCHAR, JSON, 0)
Decoder = Callable[[bytes], object]


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
        raise unfit(oid, "a parameter is no {name}", data) from None


def unfit(oid: int, sentence: str, value: object) -> BadAsk:
    """What to say of a value that is none of its type."""
    known = TYPES.get(oid)
    name = known.name if known else f"value of type {oid}"
    return BadAsk(sentence.format(name=name), detail=ascii(value)[:100])


def _text_in(data: bytes) -> str:
    text = decoded(data)
    if "\0" in text:
        raise ValueError
    return text


def read_bool(text: str) -> bool:
    """PostgreSQL's words for true and false."""
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
    BOOL: lambda data: read_bool(data.decode("ascii")),
    **dict.fromkeys((*_INT_BITS, OID, XID, CID), _int_in),
    FLOAT4: _float_in,
    FLOAT8: _float_in,
    NUMERIC: _decimal_in,
}
_FROM_BINARY: dict[int, Decoder] = {
    BOOL: _one_byte,
    BYTEA: written.unpack_bytea,
    POINT: written.unpack_point,
    CIDR: written.unpack_network,
    INET: written.unpack_network,
    MACADDR: written.unpack_macaddr,
    TIMETZ: written.unpack_timetz,
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


for _name, _oid in RANGE_OIDS.items():
    _each = _FROM_BINARY[SqlType(bounds_of(_name)).oid]
    _make = written.unpack_range if _name in RANGES else written.unpack_multirange
    _FROM_BINARY[_oid] = _make(_each)


def _array_unpacker(each: Decoder, low: int) -> Decoder:
    return lambda data: unpack_array(data, each, low)


def _array_reader(each: Decoder) -> Decoder:
    return lambda data: array_items(data.decode(), each)


def _vector_reader(each: Decoder) -> Decoder:
    return lambda data: [each(part) for part in data.split()]


def _add_arrays() -> None:
    for row in TYPES.values():
        if row.items:
            from_text = _FROM_TEXT.get(row.items, _text_in)
            reader = _vector_reader if row.oid in _VECTORS else _array_reader
            _FROM_TEXT[row.oid] = reader(from_text)
            low = 0 if row.oid in _VECTORS else 1
            _FROM_BINARY[row.oid] = _array_unpacker(_FROM_BINARY[row.items], low)


_add_arrays()
