"""Casts of one value: `CASTS`, a row for each pair of types that PostgreSQL casts between.

What the time zone of the session decides is in `zoned_casts`.
"""

from collections.abc import Callable
from dataclasses import replace

from redask.core.sql.binder.bound import (
    INTEGER_DIGITS,
    Bound,
    numeric_text,
    unsupported,
)
from redask.core.sql.catalogue.object_ids import NOTHING_NAMED
from redask.core.sql.runtime.runtime_table import RUNTIME, call_text
from redask.core.sql.types import REGISTERED, SqlType
from redask.core.sql.written.written_types import WRITTEN

STRINGS = frozenset(("text", "varchar", "bpchar", "name", "char"))
INTEGERS = frozenset(("int2", "int4", "int8"))
FLOATS = frozenset(("float4", "float8"))
REGISTERED_NAMES = frozenset(REGISTERED)
READABLE = WRITTEN | frozenset(
    """bool int2 int4 int8 oid float4 float8 numeric date time timestamp timestamptz interval uuid
    json jsonb xid""".split()
)


def _plain(value: Bound, wanted: SqlType) -> Bound:
    return value.like(f"CAST({value.sql} AS {wanted.duckdb_type})", type=wanted)


def _same(value: Bound, wanted: SqlType) -> Bound:
    return replace(value, type=wanted, digits=None, scale=None, integer=None)


def _integer_to_numeric(value: Bound, wanted: SqlType) -> Bound:
    places = INTEGER_DIGITS[value.type.name]
    if value.integer is not None:
        places = max(len(str(abs(value.integer))), 1)
    text = f"CAST({value.sql} AS DECIMAL({places},0))"
    return value.like(text, type=wanted, digits=(places, 0))


def _numeric_to_integer(value: Bound, wanted: SqlType) -> Bound:
    if value.digits is None:
        return value.like(f"pg_numeric_{wanted.name}({value.sql})", type=wanted)
    rounded = f"round({value.sql}, 0)" if value.digits[1] else value.sql
    return value.like(f"CAST({rounded} AS {wanted.duckdb_type})", type=wanted)


def _numeric_to_float(value: Bound, wanted: SqlType) -> Bound:
    # by its text: DuckDB divides by a power of ten, which rounds twice for long numbers
    if value.digits is None and f"pg_numeric_{wanted.name}" in RUNTIME:
        return value.like(f"pg_numeric_{wanted.name}({value.sql})", type=wanted)
    return value.like(f"CAST({numeric_text(value)} AS {wanted.duckdb_type})", type=wanted)


def _float_to_numeric(value: Bound, wanted: SqlType) -> Bound:
    return value.like(f"pg_{value.type.name}_numeric({value.sql})", type=wanted)


def _float_to_integer(value: Bound, wanted: SqlType) -> Bound:
    return value.like(f"CAST(round_even({value.sql}, 0) AS {wanted.duckdb_type})", type=wanted)


def _from_text(value: Bound, wanted: SqlType) -> Bound:
    return value.like(call_text(f"pg_in_{wanted.name}", value.sql), type=wanted)


def array_to_text(value: Bound, wanted: SqlType) -> Bound:
    """An array as text."""
    name = value.type.name
    item = {"int2": "int8", "int4": "int8", "oid": "int8", "varchar": "text", "name": "text"}
    item |= dict.fromkeys(NOTHING_NAMED, "int8")
    item |= dict.fromkeys(("json", "jsonb", *WRITTEN), "text")
    function = f"pg_{item.get(name, name)}_array_text"
    if function not in RUNTIME:
        unsupported(f"the cast from {value.type.sql_name} to text", value.location)
    return value.like(call_text(function, value.sql), type=wanted)


def _to_text(value: Bound, wanted: SqlType) -> Bound:
    name = value.type.name
    if name in ("float4", "float8", "interval"):
        return value.like(call_text(f"pg_{name}_text", value.sql), type=wanted)
    if name == "timestamptz":
        return value.like(f"(CAST({value.sql} AS VARCHAR) || '+00')", type=wanted)
    if name == "numeric":
        return value.like(numeric_text(value), type=wanted)
    if name == "inet":  # with the length, which its output leaves out where it is the whole
        return value.like(f"pg_inet_text({value.sql})", type=wanted)
    if name in ("json", "jsonb") or name in WRITTEN:
        return _same(value, wanted)
    return _plain(value, wanted)


def _jsonb_to(value: Bound, wanted: SqlType) -> Bound:
    is_number = "false" if wanted.name == "bool" else "true"
    text = f"pg_jsonb_scalar({value.sql}, {is_number}, '{wanted.sql_name}')"
    if wanted.name == "bool":
        return value.like(f"({text} = 'true')", type=wanted)
    number = value.like(text, type=SqlType("numeric"))
    if wanted.name == "numeric":
        return number
    cast = _numeric_to_integer if wanted.name in INTEGERS else _numeric_to_float
    return cast(number, wanted)


def _among(given: frozenset[str], wanted: frozenset[str]) -> Callable[[str, str], bool]:
    return lambda one, other: one in given and other in wanted


_INTS = INTEGERS | {"oid"}
_MOMENTS = frozenset(("timestamp", "timestamptz"))
CASTS: list[tuple[Callable[[str, str], bool], Callable[[Bound, SqlType], Bound]]] = [
    (_among(STRINGS, STRINGS), _same),
    (_among(STRINGS, READABLE), _from_text),
    (lambda _, other: other in STRINGS, _to_text),
    (
        _among(frozenset(("cidr",)), frozenset(("inet",))),
        lambda value, wanted: value.like(f"pg_cidr_inet({value.sql})", type=wanted),
    ),
    (_among(_INTS, frozenset(("numeric",))), _integer_to_numeric),
    (_among(_INTS | REGISTERED_NAMES, _INTS | FLOATS | REGISTERED_NAMES), _plain),
    (_among(frozenset(("numeric",)), INTEGERS), _numeric_to_integer),
    (_among(frozenset(("numeric",)), FLOATS), _numeric_to_float),
    (_among(FLOATS, frozenset(("numeric",))), _float_to_numeric),
    (_among(FLOATS, INTEGERS), _float_to_integer),
    (_among(FLOATS, FLOATS), _plain),
    (_among(_MOMENTS, _MOMENTS), _same),
    (_among(frozenset(("date",)), _MOMENTS), _plain),
    (_among(_MOMENTS, frozenset(("date", "time"))), _plain),
    (
        _among(frozenset(("int4",)), frozenset(("bool",))),
        lambda value, wanted: value.like(f"({value.sql} <> 0)", type=wanted),
    ),
    (_among(frozenset(("bool",)), frozenset(("int4",))), _plain),
    (
        _among(frozenset(("json",)), frozenset(("jsonb",))),
        lambda value, wanted: value.like(f"pg_in_jsonb({value.sql})", type=wanted),
    ),
    (_among(frozenset(("jsonb",)), frozenset(("json",))), _same),
    (_among(frozenset(("jsonb",)), INTEGERS | FLOATS | {"bool", "numeric"}), _jsonb_to),
    (
        _among(frozenset(("time",)), frozenset(("interval",))),
        lambda value, wanted: value.like(f"to_microseconds(epoch_us({value.sql}))", type=wanted),
    ),
]
