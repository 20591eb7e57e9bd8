"""Text to a value and back to DuckDB's text: PostgreSQL's input functions.

    read("12", SqlType("int4"))                     12
    read("{1,NULL}", SqlType("int4", (), True))     [1, None]
    duckdb_literal(Decimal("1.50"), SqlType("numeric", (18, 2)))
                                                    CAST('1.50' AS DECIMAL(18,2))

Values: bool, int, float, Decimal, str, date, time, datetime (without tzinfo; timestamptz in UTC),
`Interval`, UUID and list; of a type of `written` its one spelling, a str. Errors are PostgreSQL's:
22P02 for invalid text, 22003 for a number out of range, 22007 and 22008 for dates, 22001 for text
that is too long. Text we are not sure to read as PostgreSQL does is refused (0A000).
"""

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

from redask.core.errors import SqlError
from redask.core.sql.array_input import split_array
from redask.core.sql.runtime import spelling
from redask.core.sql.runtime.dates.datetime_input import (
    read_date,
    read_time,
    read_timestamp,
    read_timestamptz,
)
from redask.core.sql.runtime.dates.interval_input import read_interval
from redask.core.sql.runtime.dates.intervals import Interval, carried
from redask.core.sql.runtime.documents.json_text import jsonb_text, parse_jsonb
from redask.core.sql.runtime.documents.pg_json import checked
from redask.core.sql.runtime.numbers.numerics import (
    MAX_SCALE,
    MAX_WEIGHT,
    as_float4,
    at_scale,
    nearest_float4,
    spell,
    with_modifier,
)
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.types import TYPE_ROWS, SqlType
from redask.core.sql.written.written_types import WRITTEN, read_written

_SPACE = " \t\n\r\v\f"  # C's isspace, which PostgreSQL trims by
_BITS = {"int2": 15, "int4": 31, "int8": 63}
_TRUE = {"t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"}
_FALSE = {"f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"}
_INTEGER = re.compile(r"([+-]?[0-9]+)(.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_ITEMS = {"int2vector": SqlType("int2"), "oidvector": SqlType("oid")}
_SPECIAL = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}
_UUID = re.compile(r"(?:[0-9a-fA-F]{4}-?){7}[0-9a-fA-F]{4}\Z")


def read(text: str, kind: SqlType, zone: str = "UTC") -> object:
    """The value that PostgreSQL reads from the text as this type, or SqlError.

    `zone` is the session's: a moment that names none is in it.
    """
    if "\0" in text:
        raise SqlError("22021", 'invalid byte sequence for encoding "UTF8": 0x00')
    if kind.is_array:
        element = kind.element
        return [None if each is None else read(each, element, zone) for each in split_array(text)]
    if kind.name == "timestamptz":
        return read_timestamptz(text, _digits(kind), zone)
    if kind.name in WRITTEN:
        return read_written(text, kind.name, zone, read)
    reader = _READERS.get(kind.name)
    if reader is None:
        raise unsupported(f"a literal of type {kind.sql_name}")
    return reader(text, kind)


def _invalid(text: str, kind: SqlType) -> SqlError:
    name = TYPE_ROWS[kind.name].sql_name
    return SqlError("22P02", f'invalid input syntax for type {name}: "{text}"')


def _bool(text: str, kind: SqlType) -> bool:
    word = text.strip(_SPACE).lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise _invalid(text, kind)


def _int(text: str, kind: SqlType) -> int:
    bound = 1 << _BITS[kind.name]
    return _integer(text, kind, -bound, bound)


def _integer(text: str, kind: SqlType, low: int, high: int) -> int:
    """Digits in [low, high). What follows them matters only when they are in range."""
    found = _INTEGER.match(text.strip(_SPACE))
    if found is None:
        raise _invalid(text, kind)
    value = _whole(found[1])
    if not low <= value < high:
        raise _too_large(text, kind)
    if found[2]:
        raise _invalid(text, kind)
    return value


def _whole(digits: str) -> int:
    """int() of at most 40 digits: more are out of any range, and Python bounds their number."""
    sign = -1 if digits.startswith("-") else 1
    return sign * int(digits.lstrip("+-").lstrip("0")[:40] or "0")


def _too_large(text: str, kind: SqlType) -> SqlError:
    name = TYPE_ROWS[kind.name].sql_name
    return SqlError("22003", f'value "{text}" is out of range for type {name}')


def _oid(text: str, kind: SqlType) -> int:
    value = _integer(text, kind, -(2**64), 2**64)
    if -(2**31) <= value < 0:
        return value + 2**32  # as PostgreSQL wraps it
    if not 0 <= value < 2**32:
        raise _too_large(text, kind)
    return value


def _numeric(text: str, kind: SqlType) -> Decimal:
    stripped = text.strip(_SPACE)
    if stripped.lstrip("+-").lower() in _SPECIAL:
        raise unsupported("numeric NaN or Infinity")
    if not _NUMBER.match(stripped):
        raise _invalid(text, kind)
    exponent = re.split("[eE]", stripped)[1:]
    if exponent and abs(_whole(exponent[0])) > 2**30:
        raise SqlError("22003", "value overflows numeric format")
    number = Decimal(stripped)
    power = int(number.as_tuple().exponent)
    if number.adjusted() >= MAX_WEIGHT or power < -MAX_SCALE:
        raise SqlError("22003", "value overflows numeric format")
    number = number if power <= 0 else at_scale(number, 0)
    if kind.modifier:
        return with_modifier(number, *kind.modifier)
    return number if number else abs(number)


def _float(text: str, kind: SqlType) -> float:
    stripped = text.strip(_SPACE)
    special = _SPECIAL.get(stripped.lstrip("+-").lower())
    if special is not None and len(stripped) - len(stripped.lstrip("+-")) <= 1:
        return -special if stripped.startswith("-") else special
    if re.match(r"[+-]?0[xX]", stripped):
        raise unsupported("a hexadecimal number")
    if not _NUMBER.match(stripped):
        raise _invalid(text, kind)
    value = float(stripped) if kind.name == "float8" else nearest_float4(stripped)
    if math.isinf(value) or (value == 0 and re.search("[1-9]", re.split("[eE]", stripped)[0])):
        name = TYPE_ROWS[kind.name].sql_name
        raise SqlError("22003", f'"{text}" is out of range for type {name}')
    return value


def _text(text: str, _kind: SqlType) -> str:
    return text


def _varchar(text: str, kind: SqlType) -> str:
    if not kind.modifier or len(text) <= kind.modifier[0]:
        return text
    length = kind.modifier[0]
    if text[length:].strip(" "):
        raise SqlError("22001", f"value too long for type {kind.sql_name}")
    return text[:length]


def _bpchar(text: str, kind: SqlType) -> str:
    """Padded with spaces to its length, as PostgreSQL keeps it."""
    cut = _varchar(text, kind)
    return cut.ljust(kind.modifier[0]) if kind.modifier else cut


def _name(text: str, _kind: SqlType) -> str:
    return text.encode()[:63].decode(errors="ignore")


def _digits(kind: SqlType) -> int:
    return kind.modifier[0] if kind.modifier else 6


def _uuid(text: str, kind: SqlType) -> UUID:
    inner = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    if not _UUID.match(inner):
        raise _invalid(text, kind)
    return UUID(hex=inner.replace("-", ""))


def _xid(text: str, _kind: SqlType) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):  # PostgreSQL reads anything as some number
        raise unsupported(f'the xid "{text}"')
    return int(text)


def _vector(text: str, item: SqlType) -> list[object]:
    """int2vector and oidvector: items with white space between them."""
    return [read(each, item) for each in text.split()]


_READERS: dict[str, Callable[[str, SqlType], object]] = {
    "bool": _bool,
    "int2": _int,
    "int4": _int,
    "int8": _int,
    "oid": _oid,
    "xid": _xid,
    "numeric": _numeric,
    "float4": _float,
    "float8": _float,
    "text": _text,
    "unknown": _text,
    "varchar": _varchar,
    "bpchar": _bpchar,
    "name": _name,
    "char": lambda text, _kind: text.encode()[:1].decode(errors="ignore"),
    "date": lambda text, _kind: read_date(text),
    "time": lambda text, kind: read_time(text, _digits(kind)),
    "timestamp": lambda text, kind: read_timestamp(text, _digits(kind)),
    "interval": lambda text, _kind: read_interval(text),
    "uuid": _uuid,
    "int2vector": lambda text, _kind: _vector(text, SqlType("int2")),
    "oidvector": lambda text, _kind: _vector(text, SqlType("oid")),
    "json": lambda text, _kind: checked(text),
    "jsonb": lambda text, _kind: jsonb_text(parse_jsonb(text)),
}


def duckdb_literal(value: object, kind: SqlType) -> str:
    """DuckDB's text of a value of the type, with its type written out; None is a typed NULL."""
    if value is None:
        return f"CAST(NULL AS {kind.duckdb_type})"
    if isinstance(value, list):
        item = _ITEMS.get(kind.name, kind.element)
        inner = ", ".join("NULL" if each is None else duckdb_literal(each, item) for each in value)
        return f"CAST([{inner}] AS {kind.duckdb_type})"
    return f"CAST({quoted(_plain(value, kind))} AS {kind.duckdb_type})"


def quoted(text: str) -> str:
    """A text as DuckDB's string literal."""
    if "\0" in text:
        raise SqlError("22021", 'invalid byte sequence for encoding "UTF8": 0x00')
    return "'" + text.replace("'", "''") + "'"


def _plain(value: object, kind: SqlType) -> str:
    """What DuckDB's cast from VARCHAR reads as exactly this value."""
    if isinstance(value, bool):
        return spelling.bool_text(value)
    if isinstance(value, Decimal):
        return spell(value)
    if isinstance(value, float):
        if kind.name == "float4":
            value = as_float4(value)
        return repr(value)
    if isinstance(value, Interval):
        return carried(value)
    if isinstance(value, datetime):
        return spelling.timestamp_text(value.replace(tzinfo=None))
    if isinstance(value, date):
        return spelling.date_text(value)
    if isinstance(value, time):
        return spelling.time_text(value)
    return str(value)
