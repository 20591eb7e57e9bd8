"""Casts as PostgreSQL makes them, and the common type of several expressions.

    coerce(value, type, context)      `implicit`, `assignment` or `explicit`, as in pg_cast
    common_type(values, what)         of CASE, COALESCE, UNION, VALUES, IN, ARRAY …
    unify(values, type)               all of them cast to it, kept alike in DuckDB

A cast that PostgreSQL does not have is 42846, one that needs to be written out is 42804 or 42883
at the caller's. Text becomes a value of another type by PostgreSQL's input rules, at run time by
our own functions (`pg_in_…`), so that no error shows DuckDB's words.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from redask.core.errors import SqlError
from redask.core.sql import literals
from redask.core.sql.array_input import split_array
from redask.core.sql.binder.bound import (
    MAX_DIGITS,
    TEXT,
    Bound,
    Parameters,
    fail,
    numeric_text,
    unsupported,
)
from redask.core.sql.casting.shown_constants import as_text, shown
from redask.core.sql.casting.single_casts import (
    CASTS,
    FLOATS,
    INTEGERS,
    READABLE,
    REGISTERED_NAMES,
    STRINGS,
    array_to_text,
)
from redask.core.sql.casting.zoned_casts import zoned_array_cast, zoned_cast
from redask.core.sql.catalogue.registered_types import RegisteredTypes
from redask.core.sql.catalogue.vectors import array_type, as_array, is_vector, vector_text
from redask.core.sql.functions.overloads import fits
from redask.core.sql.runtime.runtime_table import call_text
from redask.core.sql.shown_values import padded, read_shown
from redask.core.sql.types import SqlType
from redask.core.sql.written.written_types import MULTIRANGES, ZONED

CastContext = Literal["implicit", "assignment", "explicit"]
# assignment casts beyond the implicit ones, and those that must be written out
_ASSIGNED = {
    *((each, other) for each in INTEGERS for other in INTEGERS),
    *((each, other) for each in ("numeric", "float4", "float8") for other in INTEGERS),
    *((each, "numeric") for each in FLOATS),
    *(("float8", "float4"), ("timestamp", "date"), ("timestamp", "time"), ("timestamptz", "date")),
    *(("timestamptz", "time"), ("timestamptz", "timestamp"), ("json", "jsonb"), ("jsonb", "json")),
    *(("interval", "time"), ("oid", "int4"), ("oid", "int8"), ("regclass", "int4")),
    *(("text", "char"), ("varchar", "char"), ("bpchar", "char")),
}
_EXPLICIT = {
    *(("int4", "bool"), ("bool", "int4"), ("int4", "char"), ("char", "int4")),
    *(("jsonb", each) for each in ("bool", "numeric", "int2", "int4", "int8", "float4", "float8")),
}
# casts that PostgreSQL has and we have not
_LEFT_OUT = {
    *(("inet", "cidr"), ("time", "timetz"), ("timetz", "time"), ("timestamptz", "timetz")),
    *((each, several) for several, each in MULTIRANGES.items()),
}


def constant(value: object, type: SqlType, location: int = -1) -> Bound:
    """A value as a typed constant."""
    digits = None
    if type.name == "numeric" and not type.is_array:
        digits = type.modifier or _digits_of(str(value))
        type_kept = SqlType("numeric", digits) if digits else type
        return Bound(literals.duckdb_literal(value, type_kept), type, digits, location=location)  # type: ignore[arg-type]
    return Bound(literals.duckdb_literal(value, type), type, location=location)


def _digits_of(text: str) -> tuple[int, int] | None:
    """DECIMAL(p,s) of a number's notation; None when it does not fit."""
    if not set(text) <= set("-0123456789."):
        return None
    whole, _, fraction = text.lstrip("-").partition(".")
    # one digit before the point at least: DuckDB writes a DECIMAL(1,1) as `.5`
    places = max(len(whole.lstrip("0")), 1) + len(fraction)
    return (places, len(fraction)) if places <= MAX_DIGITS else None


class Coercion:
    """The casts of one statement; `zone` and `interval_style` are those of its session."""

    def __init__(
        self, parameters: Parameters, zone: str = "UTC", interval_style: str = "postgres"
    ) -> None:
        self.parameters = parameters
        self.zone = zone
        self.interval_style = interval_style
        self.registered: RegisteredTypes | None = None

    def can(self, given: SqlType, wanted: SqlType, context: CastContext) -> bool:
        """Whether there is such a cast."""
        if fits(given, wanted) or given.bare == wanted.bare:
            return True
        given = array_type(given)
        if given.is_array or wanted.is_array:
            if given.is_array and wanted.is_array:
                return self.can(given.element, wanted.element, context)
            texts = given.name in STRINGS or wanted.name in STRINGS
            return context == "explicit" and texts and not (given.is_array and wanted.is_array)
        pair = (given.name, wanted.name)
        if context == "implicit":
            return False
        if pair in _ASSIGNED or wanted.name in STRINGS:
            return True
        if context == "assignment":
            return False
        return pair in _EXPLICIT or (
            given.name in STRINGS and wanted.name in READABLE | REGISTERED_NAMES
        )

    def coerce(self, value: Bound, wanted: SqlType, context: CastContext = "implicit") -> Bound:
        """The value as one of that type."""
        if value.is_untyped:
            return self._typed(value, wanted, context)
        if value.is_shown and wanted.name in STRINGS and not wanted.is_array:
            text = as_text(value) if context == "explicit" else None
            if text is not None and value.type.bare != wanted.bare:
                return self.coerce(text, wanted, context)
        if not self.can(value.type, wanted, context):
            if (value.type.name, wanted.name) in _LEFT_OUT:
                unsupported(
                    f"the cast from {value.type.sql_name} to {wanted.sql_name}", value.location
                )
            fail(
                "42846",
                f"cannot cast type {value.type.bare.sql_name} to {wanted.bare.sql_name}",
                value.location,
            )
        if value.type.bare == wanted.bare:
            return self._modified(value, wanted)
        return self._modified(self._cast(value, wanted.bare), wanted)

    def _typed(self, value: Bound, wanted: SqlType, context: CastContext) -> Bound:
        if value.parameter:
            known = self.parameters.settle(value.parameter, wanted, value.location)
            return known if known.is_untyped else self.coerce(known, wanted, context)
        if value.is_null:
            digits = None
            if wanted.name == "numeric" and wanted.modifier:
                digits = (wanted.modifier[0], wanted.modifier[1])
            kept = wanted.duckdb_type if digits else wanted.bare.duckdb_type
            typed = Bound(f"CAST(NULL AS {kept})", wanted, digits, location=value.location)
            return replace(typed, is_null=True)
        if value.literal is None:  # an expression of unknown type: text
            return self.coerce(replace(value, type=TEXT), wanted, "explicit")
        if wanted.name in REGISTERED_NAMES and not wanted.is_array:
            if self.registered is None:
                unsupported(f"the type {wanted.name}", value.location)
            return self._read(value, wanted, self.registered.constant)
        if wanted.name in REGISTERED_NAMES and self.registered is not None:
            return self.registered.constants(split_array(value.literal), wanted, value.location)
        if wanted.name == "bpchar" and wanted.modifier and not wanted.is_array:
            return shown(padded(value.literal, wanted), wanted, value.location)
        if wanted.name == "bpchar" and wanted.modifier:
            found = read_shown(value.literal, wanted, self.zone)
            return shown(found, wanted, value.location)
        if wanted.name == "varchar" and wanted.modifier and context == "explicit":
            bare = constant(value.literal, TEXT, value.location)
            return self._modified(replace(bare, type=wanted.bare), wanted)
        return self._read(value, wanted, self._constant_of_text)

    def _constant_of_text(self, text: str, type: SqlType, location: int) -> Bound:
        try:
            return constant(literals.read(text, type, self.zone), type, location)
        except SqlError as error:
            found = read_shown(text, type, self.zone) if error.sqlstate == "0A000" else None
            if found is None:
                raise
            return shown(found, type, location)

    def _read(
        self, value: Bound, wanted: SqlType, read: Callable[[str, SqlType, int], Bound]
    ) -> Bound:
        try:
            return read(value.literal or "", wanted, value.location)
        except SqlError as error:
            error.position = error.position or value.location + 1
            raise

    @staticmethod
    def _modified(value: Bound, wanted: SqlType) -> Bound:
        """The value cut or rounded to the modifier of the type."""
        if not wanted.modifier or value.type.modifier == wanted.modifier:
            return value
        if wanted.name == "numeric":
            precision, scale = wanted.modifier[0], wanted.modifier[1]
            if precision > MAX_DIGITS:
                unsupported(f"numeric with more than {MAX_DIGITS} digits", value.location)
            text = f"CAST({value.sql} AS DECIMAL({precision},{scale}))"
            if value.digits is None:
                rounded = f"pg_numeric_round({value.sql}, {scale})"
                text = f"CAST({rounded} AS DECIMAL({precision},{scale}))"
            return value.like(text, type=wanted, digits=(precision, scale))
        if wanted.name in ("varchar", "bpchar") and not wanted.is_array:
            length = wanted.modifier[0]
            if wanted.name == "bpchar":
                unsupported("character(n)", value.location)
            return value.like(f"left({value.sql}, {length})", type=wanted)
        if wanted.name in ("timestamp", "timestamptz", "time", "interval"):
            unsupported(f"the precision of {wanted.bare.sql_name}", value.location)
        return replace(value, type=wanted)

    def _cast(self, value: Bound, wanted: SqlType) -> Bound:
        given = value.type
        if self.zone != "UTC" and (given.name in ZONED or wanted.name in (*ZONED, "timetz")):
            what = f"the cast from {given.sql_name} to {wanted.sql_name}"
            unsupported(f"{what} in a session whose time zone is not UTC", value.location)
        if is_vector(given) and wanted.name in STRINGS and not wanted.is_array:
            return vector_text(value, wanted)
        value, given = as_array(value), as_array(value).type
        if given == wanted:
            return value
        if given.is_array or wanted.is_array:
            return self._cast_array(value, wanted)
        named = self.registered
        if named is not None and given.name in STRINGS and wanted.name in REGISTERED_NAMES:
            return named.from_text(value, wanted)
        if named is not None and given.name in REGISTERED_NAMES and wanted.name in STRINGS:
            return named.to_text(value, wanted)
        zoned = None if self.zone == "UTC" else zoned_cast(value, wanted, self.zone)
        if zoned is not None:
            return zoned
        if given.name == "interval" and wanted.name in STRINGS:
            self._check_style(value)
        for applies, cast in CASTS:
            if applies(given.name, wanted.name):
                return cast(value, wanted)
        return unsupported(f"the cast from {given.sql_name} to {wanted.sql_name}", value.location)

    def _check_style(self, value: Bound) -> None:
        if self.interval_style != "postgres":
            unsupported(f"a text of intervals in {self.interval_style}", value.location)

    def _cast_array(self, value: Bound, wanted: SqlType) -> Bound:
        zoned = None if self.zone == "UTC" else zoned_array_cast(value, wanted, self.zone)
        if zoned is not None:
            return zoned
        if wanted.name in STRINGS and not wanted.is_array:
            if value.type.name == "interval":
                self._check_style(value)
            return array_to_text(value, wanted)
        if not value.type.is_array:
            texts = value.like(f"pg_text_elements({value.sql})", type=TEXT.array)
            return texts if wanted == TEXT.array else self._cast_array(texts, wanted)
        plain = INTEGERS | REGISTERED_NAMES | {"float8", "oid"}
        if value.type.name in plain and wanted.name in plain:
            return value.like(f"CAST({value.sql} AS {wanted.duckdb_type})", type=wanted)
        if value.type.name in STRINGS and wanted.name in STRINGS:
            return replace(value, type=wanted)
        if value.type.name in INTEGERS | {"oid"} and wanted.name in STRINGS:
            return value.like(f"CAST({value.sql} AS VARCHAR[])", type=wanted)
        if value.type.name in REGISTERED_NAMES - {"regclass"} and wanted.name in STRINGS:
            item = call_text(f"pg_{value.type.name}_out", "x")
            return value.like(f"list_transform({value.sql}, lambda x: {item})", type=wanted)
        if value.type.name in STRINGS and wanted.name in READABLE - {"numeric", "interval"}:
            item = call_text(f"pg_in_{wanted.name}", "x")
            return value.like(f"list_transform({value.sql}, lambda x: {item})", type=wanted)
        return unsupported(
            f"the cast from {value.type.sql_name} to {wanted.sql_name}", value.location
        )

    # --- several expressions ---------------------------------------------------------------

    def common_type(self, values: Sequence[Bound], what: str) -> SqlType:
        """PostgreSQL's select_common_type."""
        kinds = [each.type.bare for each in values]
        if all(each == kinds[0] for each in kinds) and kinds[0].name != "unknown":
            modifiers = {each.type.modifier for each in values}
            return values[0].type if len(modifiers) == 1 else kinds[0]
        chosen: SqlType | None = None
        for kind, value in zip(kinds, values, strict=True):
            if kind.name == "unknown" or kind == chosen:
                continue
            if chosen is None:
                chosen = kind
            elif kind.category != chosen.category:
                fail(
                    "42804",
                    f"{what} types {chosen.sql_name} and {kind.sql_name} cannot be matched",
                    value.location,
                )
            elif not chosen.preferred and fits(chosen, kind) and not fits(kind, chosen):
                chosen = kind
        chosen = chosen or TEXT
        for kind, value in zip(kinds, values, strict=True):
            if not fits(kind, chosen):
                fail(
                    "42846",
                    f"{what} could not convert type {kind.sql_name} to {chosen.sql_name}",
                    value.location,
                )
        return chosen

    def unify(self, values: Sequence[Bound], type: SqlType) -> list[Bound]:
        """All as that type, in one DuckDB type."""
        cast = [self.coerce(each, type) for each in values]
        cast = [each if each.type == type else replace(each, type=type) for each in cast]
        return alike(cast) if type.name == "numeric" and not type.is_array else cast


def alike(values: Sequence[Bound]) -> list[Bound]:
    """Numerics in one DuckDB type: DECIMAL if all have one scale, else PostgreSQL's spelling."""
    kept = [each.digits for each in values if not each.is_null]
    scales = {each[1] for each in kept if each is not None}
    if kept and None not in kept and len(scales) == 1:
        whole = max(each[0] for each in kept if each is not None)
        digits = (whole, scales.pop())
        return [
            replace(each, sql=f"CAST({each.sql} AS DECIMAL({whole},{digits[1]}))", digits=digits)
            for each in values
        ]
    known = {each.digits[1] if each.digits else each.scale for each in values if not each.is_null}
    scale = known.pop() if len(known) == 1 else None
    return [replace(each, sql=numeric_text(each), digits=None, scale=scale) for each in values]
