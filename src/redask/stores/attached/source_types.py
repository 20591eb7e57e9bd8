"""Types of a source's columns: how each is read here, and what it is in a statement there.

    column of the source                      payload                       type here
    boolean; smallint, integer, bigint        the same                      bool; int4, int8
    numeric, numeric(p,s)                     a number if JSON has the      numeric(p,s); of no p:
                                              very same; else text          as its values are
    real, double precision                    a number; NaN, ∞ as text      float8
    text, varchar, char                       text                          text
    date, time, timestamp(tz), uuid           ISO 8601, UTC                 the same
    json, jsonb                               the value                     jsonb
    bytea                                     size and digest               text
    arrays of text, integers, booleans        a list                        an array
    all else: enums, ranges, addresses, …     as PostgreSQL writes it       text

`payload_sql` and `payload_value` make the payload, `table_sql` the column of a computed statement,
`condition_column` what a policy's condition compares: the same value as in the payload.
"""

import math
import re
from decimal import Decimal

from redask.core.access.condition_sql import ConditionColumn
from redask.stores.attached.attachment import SourceColumn

_WHOLE = {"smallint": "int4", "integer": "int4", "bigint": "int8"}
_FLOATS = ("real", "double precision")
_MOMENTS = {
    "date": "date",
    "time without time zone": "time",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
    "uuid": "uuid",
}
_JSON = ("json", "jsonb")
_LISTS = {
    "text[]": "text[]",
    "character varying[]": "text[]",
    "integer[]": "int4[]",
    "bigint[]": "int8[]",
    "boolean[]": "bool[]",
}
_SIZED = re.compile(r"numeric\((\d+),(\d+)\)")
_ODD_NUMBERS = "('NaN', 'Infinity', '-Infinity')"
_MOST_DIGITS, _MOST_SCALE, _LEAST = 15, 10, Decimal("0.0001")


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def fixed_type(column: SourceColumn) -> str | None:
    """The type that the column has here whatever it holds; None: as its values are."""
    kind = _plain(column.type)
    if kind in _WHOLE:
        return _WHOLE[kind]
    if kind == "numeric":
        found = _SIZED.fullmatch(column.type)
        sized = found is not None and 0 <= int(found[2]) < int(found[1]) <= 38
        return column.type if sized else None
    if kind in _FLOATS:
        return "float8"
    return {"boolean": "bool", **_MOMENTS, **_LISTS, **dict.fromkeys(_JSON, "jsonb")}.get(
        kind, "text"
    )


def payload_sql(column: SourceColumn) -> str:
    """What is selected of the column for its payload."""
    name, kind = quoted(column.name), _plain(column.type)
    if kind in _MOMENTS:
        return address_sql(column.name)
    if kind == "bytea":
        digest = f"left(encode(sha256({name}), 'hex'), 16)"
        return f"'<' || octet_length({name}) || ' bytes, sha256 ' || {digest} || '>'"
    native = (*_WHOLE, *_LISTS, *_JSON, "numeric", "boolean")
    return name if kind in native else f"{name}::text"


def address_sql(column: str, table: str = "") -> str:
    """A column of a key as a text that is the same in every session."""
    return f"to_jsonb({table}{quoted(column)}) #>> '{{}}'"


def payload_value(column: SourceColumn, value: object) -> object:
    """What was selected as a JSON value."""
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, str) and _plain(column.type) in _FLOATS:
        number = float(value)
        return number if math.isfinite(number) else value
    return value


def table_sql(column: SourceColumn) -> str:
    """The column in a statement that is computed in the source: typed as it is here."""
    name, kind = quoted(column.name), _plain(column.type)
    if kind in ("boolean", "numeric", *_MOMENTS, *_LISTS):
        return name
    if kind in _WHOLE:
        return f"{name}::{_WHOLE[kind]}"
    if kind in _FLOATS:
        return f"{name}::text::float8"
    if kind in _JSON:
        return f"{name}::jsonb"
    return payload_sql(column)


def condition_column(column: SourceColumn) -> ConditionColumn | None:
    """What a condition compares of the column; None for what it cannot be compared with there."""
    name, kind = quoted(column.name), _plain(column.type)
    if kind == "boolean":
        return ConditionColumn("boolean", name)
    if kind in _WHOLE:
        return ConditionColumn("number", f"{name}::numeric")
    if kind == "numeric":
        digits = f"length(replace(ltrim(trim_scale(abs({name}))::text, '0.'), '.', ''))"
        fraction = (
            f"scale(trim_scale({name})) <= {_MOST_SCALE} AND abs({name}) >= {_LEAST}"
            f" AND {digits} <= {_MOST_DIGITS}"
        )
        is_number = (
            f"({name}::text NOT IN {_ODD_NUMBERS} AND ({name} = trunc({name}) OR {fraction}))"
        )
        shown = f"CASE WHEN {is_number} THEN {name} END"
        return ConditionColumn(
            "number", shown, name, f"(CASE WHEN NOT {is_number} THEN {name}::text END)"
        )
    if kind in (*_FLOATS, *_JSON) or column.type.endswith("[]"):
        return None
    return ConditionColumn("text", f"({payload_sql(column)})::text")


def _plain(kind: str) -> str:
    """A type without its modifier: `numeric(10,2)` is numeric, `timestamp(3) …` a timestamp."""
    return re.sub(r"\(\d+(?:,-?\d+)?\)", "", kind)


def _number(value: Decimal) -> object:
    """A number of the same value, if a column of such is numeric again; else text."""
    if not value.is_finite():
        return format(value, "f")
    if value == value.to_integral_value():
        return int(value)
    _, digits, exponent = value.normalize().as_tuple()
    exact = len(digits) <= _MOST_DIGITS and -int(exponent) <= _MOST_SCALE and abs(value) >= _LEAST
    return float(value) if exact else format(value, "f")  # as PostgreSQL writes it
