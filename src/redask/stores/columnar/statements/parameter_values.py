"""Values of parameters as the types that a statement wants: `parameter(value, type, number)`.

Text is read by PostgreSQL's input rules; a number for a text parameter is written out.
"""

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

from redask.core.errors import BadAsk, SqlError
from redask.core.sql import literals
from redask.core.sql.catalogue.registered_types import Find, number_of
from redask.core.sql.runtime.dates.intervals import Interval, carried
from redask.core.sql.runtime.numbers.numerics import spell
from redask.core.sql.shown_values import is_nested, read_shown
from redask.core.sql.types import REGISTERED, SqlType
from redask.core.sql.written.byte_strings import hexadecimal

_LONE = re.compile("[\ud800-\udfff]")
_INTEGERS = {"int2": 15, "int4": 31, "int8": 63, "oid": 32, "xid": 32}
_WORDS = {"int2": "smallint", "int4": "integer", "int8": "bigint", "oid": "OID", "xid": "xid"}
MAX_TEXT = 4 * 1024 * 1024


def checked(params: object, needed: int) -> tuple[object, ...]:
    """The values, if there are as many as the statement has parameters."""
    if not isinstance(params, list | tuple):
        raise BadAsk("the parameters of a SELECT are a list", detail="params")
    if len(params) != needed:
        raise BadAsk(
            f"the SELECT has {needed} parameters, and {len(params)} values came", detail="params"
        )
    return tuple(params)


def numeric_scales(
    params: Sequence[object], types: Sequence[SqlType]
) -> dict[int, tuple[int, int]]:
    """DECIMAL(p,s) of the values of numeric parameters, where they fit one."""
    scales = {}
    for number, (value, type) in enumerate(zip(params, types, strict=True), 1):
        if type.name == "numeric" and not type.is_array and value is not None:
            text = str(parameter(value, type, number))
            whole, _, fraction = text.lstrip("-").partition(".")
            places = max(len(whole.lstrip("0")), 1) + len(fraction)
            if places <= 38 and text.strip("-0123456789.") == "":
                scales[number] = (places, len(fraction))
    return scales


def shown_values(
    params: Sequence[object], types: Sequence[SqlType], zone: str
) -> dict[int, object]:
    """The values that DuckDB has none for and that can be shown, by the parameter's number."""
    found = {}
    for number, (value, type) in enumerate(zip(params, types, strict=True), 1):
        shown = _shown(value, type, zone)
        if shown is not None:
            found[number] = shown
    return found


def _shown(value: object, type: SqlType, zone: str) -> object:
    if isinstance(value, list | tuple) and type.is_array:
        return _shown_list(list(value), type, zone)
    if isinstance(value, Decimal) and type.name == "numeric" and not value.is_finite():
        return value
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        return None
    is_wide = type.name in ("date", "timestamp", "timestamptz", "numeric")
    if not is_wide and not (type.is_array and value.count("{") > 1):
        return None
    try:
        literals.read(value, type, zone)
    except SqlError as error:
        return read_shown(value, type, zone) if error.sqlstate == "0A000" else None
    return None


def _shown_list(value: list[object], type: SqlType, zone: str) -> object:
    """An array that holds arrays, or what can only be shown; None for any other."""
    if is_nested(value):
        return [_element(each, type, zone) for each in value]
    found = [_shown(each, type.element, zone) for each in value]
    if all(each is None for each in found):
        return None
    return [_element(each, type, zone) for each in value]


def _element(value: object, type: SqlType, zone: str) -> object:
    if isinstance(value, list | tuple):
        return [_element(each, type, zone) for each in value]
    shown = _shown(value, type.element, zone)
    return shown if shown is not None else _as_read(value, type.element, zone)


def _as_read(value: object, type: SqlType, zone: str) -> object:
    """An element as a result has it."""
    found = parameter(value, type, 0, zone=zone)
    return Decimal(str(found)) if type.name == "numeric" and found is not None else found


def parameter(
    value: object,
    type: SqlType,
    number: int,
    find: Find = lambda _schema, _name: None,
    zone: str = "UTC",
) -> object:
    """The value as DuckDB takes it; `BadAsk` or `SqlError` when it is none of the type.

    `find` gives the OID of a table by its name, `zone` is the session's time zone.
    """
    if value is None or type.name == "void":  # void has no values, and no function gets one
        return None
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise BadAsk(f"parameter {number} of the SELECT is too long", detail=f"${number}")
        if _LONE.search(value):
            raise BadAsk(
                f"parameter {number} of the SELECT holds a lone surrogate, which has no UTF-8",
                detail=f"${number}",
            )
    if type.is_array:
        if isinstance(value, str):
            value = literals.read(value, type, zone)
        if not isinstance(value, list | tuple):
            raise _wrong(value, type, number)
        return [parameter(each, type.element, number, find, zone) for each in value]
    if type.name in REGISTERED:
        if isinstance(value, str):
            return number_of(type.name, value, find)
        type = SqlType("oid")
    found = _converted(value, type, zone)
    if found is None:
        raise _wrong(value, type, number)
    return found


def _converted(value: object, type: SqlType, zone: str) -> object:
    """None when the value is none of the type."""
    name = type.name
    if isinstance(value, str):
        return _kept(literals.read(value, type, zone), name)
    if name in _INTEGERS:
        return _integer(value, name)
    if name in ("float4", "float8"):
        number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return float(value) if number else None  # type: ignore[arg-type]
    if name == "numeric":
        return _numeric(value)
    if name == "bool":
        return value if isinstance(value, bool) else None
    if name in ("text", "varchar", "bpchar", "name", "unknown", "char"):
        return _text(value)
    if name == "date":
        return value if type_of(value) is date else None
    if name in ("timestamp", "timestamptz"):
        return _moment(value)
    if name == "time":
        return value if isinstance(value, time) else None
    if name == "bytea":
        return hexadecimal(value) if isinstance(value, bytes) else None
    if name == "uuid":
        return value if isinstance(value, UUID) else None
    if name == "interval":
        return carried(value) if isinstance(value, Interval) else None
    return None


def type_of(value: object) -> type:
    return type(value)


def _kept(value: object, name: str) -> object:
    if name == "numeric":
        return spell(value)  # type: ignore[arg-type]
    return carried(value) if name == "interval" else value  # type: ignore[arg-type]


def _integer(value: object, name: str) -> int | None:
    if isinstance(value, Decimal | float) and value == int(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    low = 0 if name in ("oid", "xid") else -(1 << _INTEGERS[name])
    if not low <= value < 1 << _INTEGERS[name]:
        raise SqlError("22003", f'value "{value}" is out of range for type {_WORDS[name]}')
    return value


def _numeric(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return format(Decimal(repr(value) if isinstance(value, float) else value), "f")


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal | date | time | datetime | UUID):
        return str(value)
    return None


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    return datetime(value.year, value.month, value.day) if isinstance(value, date) else None


def _wrong(value: object, type: SqlType, number: int) -> BadAsk:
    message = f"parameter {number} of the SELECT is {_name(value)}, not {type.sql_name}"
    return BadAsk(message, detail=f"${number}")


def _name(value: object) -> str:
    return value.__class__.__name__
