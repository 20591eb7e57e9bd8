"""Functions of json and jsonb, and values as JSON: to_json(x), json_build_object(…)."""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import (
    BOOL,
    INT4,
    TEXT,
    Bound,
    fail,
    made,
    numeric_text,
    quoted,
    unsupported,
)
from redask.core.sql.casting import written_rules
from redask.core.sql.functions.aggregate_rows import AggregateCall
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.functions.runtime_calls import ours
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.runtime.runtime_table import call_text
from redask.core.sql.types import SqlType
from redask.core.sql.written.written_types import WRITTEN

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_JSON, _JSONB, _TEXTS = SqlType("json"), SqlType("jsonb"), SqlType("text", (), True)


def _both(name: str, gives: SqlType | None = None) -> dict[str, list[Overload]]:
    """A function of json and its twin of jsonb; `gives` None: the same type."""
    return {
        f"{kind.name}_{name}": [
            Overload((kind,), gives or kind, ours(f"pg_{kind.name}_{name}", gives or kind))
        ]
        for kind in (_JSON, _JSONB)
    }


FUNCTIONS: dict[str, list[Overload]] = {
    **_both("typeof", TEXT),
    **_both("array_length", INT4),
    **_both("strip_nulls"),
    "jsonb_pretty": [Overload((_JSONB,), TEXT, ours("pg_jsonb_pretty", TEXT))],
    "jsonb_set": [
        Overload((_JSONB, _TEXTS, _JSONB), _JSONB, "pg_jsonb_set({0}, {1}, {2}, true)"),
        Overload((_JSONB, _TEXTS, _JSONB, BOOL), _JSONB, ours("pg_jsonb_set", _JSONB)),
    ],
}


def json_text(self: "Expressions", value: Bound) -> str:
    """A value as JSON, as to_json() writes it; NULL stays NULL."""
    if value.is_untyped:
        value = self.coercion.coerce(value, TEXT)
    name = value.type.name
    if value.type.is_array:
        if name not in ("text", "int2", "int4", "int8"):
            unsupported(f"JSON of {value.type.sql_name}", value.location)
        item = "pg_json_string(x)" if name == "text" else "CAST(x AS VARCHAR)"
        listed = f"list_transform({value.sql}, lambda x: coalesce({item}, 'null'))"
        return f"pg_json_plain_array({listed})"
    if name in ("json", "jsonb"):
        return value.sql
    if name in ("bool", "int2", "int4", "int8"):
        return f"CAST({value.sql} AS VARCHAR)"
    if name == "numeric":
        return numeric_text(value)
    if name in ("float4", "float8"):
        return f"pg_json_number({call_text(f'pg_{name}_text', value.sql)})"
    if name == "timestamptz" and self.coercion.zone != "UTC":
        return f"('\"' || pg_zoned_json({value.sql}, {quoted(self.coercion.zone)}) || '\"')"
    if name in ("timestamp", "timestamptz"):
        zone = "+00:00" if name == "timestamptz" else ""
        return f"('\"' || replace(CAST({value.sql} AS VARCHAR), ' ', 'T') || '{zone}\"')"
    if name in WRITTEN:
        written_rules.check_zone(value.type, self.coercion.zone, value.location)
        return f"pg_json_string({value.sql})"
    return f"pg_json_string({self.coercion.coerce(value, TEXT, 'explicit').sql})"


def _json_or_null(self: "Expressions", value: Bound) -> str:
    return "'null'" if value.is_null else f"coalesce({json_text(self, value)}, 'null')"


def _to(kind: SqlType) -> "Special":
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if len(values) != 1:
            return None
        if values[0].is_untyped and not values[0].is_null:
            fail("42804", "could not determine polymorphic type because input has type unknown",
                 location)  # fmt: skip
        text = json_text(self, values[0])
        if kind == _JSONB and values[0].type != _JSONB:
            text = f"pg_jsonb_in({text})"
        return made(text, kind, values[0])

    return call


def _build_object(kind: SqlType) -> "Special":
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if len(values) % 2:
            fail("22023", "argument list must have even number of elements", location)
        keys = [
            self.coercion.coerce(each, TEXT, "implicit" if each.is_untyped else "explicit").sql
            for each in values[::2]
        ]
        texts = [_json_or_null(self, each) for each in values[1::2]]
        lists = ", ".join(f"CAST([{', '.join(each)}] AS VARCHAR[])" for each in (keys, texts))
        return made(f"pg_{kind.name}_build_object({lists})", kind, *values)

    return call


def _build_array(kind: SqlType) -> "Special":
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        texts = ", ".join(_json_or_null(self, each) for each in values)
        return made(f"pg_{kind.name}_build_array(CAST([{texts}] AS VARCHAR[]))", kind, *values)

    return call


def _extract_path(kind: SqlType, gives: SqlType) -> "Special":
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if not values:
            return None
        document = self.coercion.coerce(values[0], kind)
        steps = [self.coercion.coerce(each, TEXT) for each in values[1:]]
        listed = f"CAST([{', '.join(each.sql for each in steps)}] AS VARCHAR[])"
        suffix = "_text" if gives == TEXT else ""
        text = f"pg_{kind.name}_get_path{suffix}({document.sql}, {listed})"
        return made(text, gives, document, *steps)

    return call


def aggregate(
    self: "Expressions", name: str, call: AggregateCall, values: list[Bound], location: int
) -> Bound | None:
    """json_agg(x), json_object_agg(k, v) and their twins; None: not with these arguments."""
    kind = _JSONB if name.startswith("jsonb") else _JSON
    if len(values) != (2 if "object" in name else 1):
        return None
    if call.distinct:
        unsupported(f"{name} with DISTINCT", location)
    text = json_text(self, values[-1])
    if "object" not in name:
        is_lined = values[0].type.is_array and kind == _JSON
        function = "pg_json_agg_lines" if is_lined else f"pg_{kind.name}_build_array"
        listed = call.text("list", text, ordered=True)
        return made(f"{function}({listed})", kind, *values)
    key = self.coercion.coerce(values[0], TEXT, "implicit" if values[0].is_untyped else "explicit")
    listed = call.text("list", f"struct_pack(k := {key.sql}, v := {text})", ordered=True)
    keys, texts = (
        f"list_transform(pg_l, lambda x: struct_extract(x, '{each}'))" for each in ("k", "v")
    )
    body = f"pg_{kind.name}_object_agg({keys}, {texts})"
    found = f"list_extract(list_transform([{listed}], lambda pg_l: {body}), 1)"
    return made(found, kind, *values)


SPECIAL: "dict[str, Special]" = {
    "to_json": _to(_JSON),
    "to_jsonb": _to(_JSONB),
    "json_build_object": _build_object(_JSON),
    "jsonb_build_object": _build_object(_JSONB),
    "json_build_array": _build_array(_JSON),
    "jsonb_build_array": _build_array(_JSONB),
    "json_extract_path": _extract_path(_JSON, _JSON),
    "json_extract_path_text": _extract_path(_JSON, TEXT),
    "jsonb_extract_path": _extract_path(_JSONB, _JSONB),
    "jsonb_extract_path_text": _extract_path(_JSONB, TEXT),
}
