"""Functions of arrays, and what stands behind a value in brackets or after a point."""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import (
    INT4,
    TEXT,
    Bound,
    TreeNode,
    fail,
    held,
    made,
    once,
    unsupported,
)
from redask.core.sql.catalogue.catalogue_sets import RECORD, record_field
from redask.core.sql.catalogue.vectors import as_array, is_vector, one_more
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions


def _array(values: list[Bound], count: int) -> bool:
    return len(values) == count and values[0].type.is_array


def _array_length(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """array_length(a, 1); NULL for an empty array, as in PostgreSQL."""
    if not _array(values, 2):
        return None
    if values[1].integer != 1:
        unsupported("a dimension other than 1", location)
    text = f"CAST(nullif(len({values[0].sql}), 0) AS INTEGER)"
    return made(text, INT4, values[0])


def _array_lower(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not _array(values, 2) or values[1].integer != 1:
        return None
    text = f"(CASE WHEN len({values[0].sql}) > 0 THEN CAST(1 AS INTEGER) END)"
    return made(text, INT4, values[0])


def _cardinality(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not _array(values, 1):
        return None
    return made(f"CAST(len({values[0].sql}) AS INTEGER)", INT4, values[0])


def _with_element(template: str) -> "Special":
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if not _array(values, 2):
            return None
        element = self.coercion.coerce(values[1], values[0].type.element)
        text = template.format(values[0].sql, element.sql)
        gives = INT4 if "position" in template else values[0].type
        return made(text, gives, values[0], element)

    return call


def _append(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not _array(values, 2):
        return None
    element = self.coercion.coerce(values[1], values[0].type.element)
    return self.operator("||", values[0], element, location)


def _array_prepend(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 2 or not values[1].type.is_array:
        return None
    element = self.coercion.coerce(values[0], values[1].type.element)
    return self.operator("||", element, values[1], location)


def _array_cat(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not _array(values, 2):
        return None
    return self.operator("||", values[0], values[1], location)


def _array_to_string(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not 2 <= len(values) <= 3 or not values[0].type.is_array:
        return None
    array = self.coercion.coerce(values[0], SqlType("text", (), True), "explicit")
    rest = [self.coercion.coerce(each, TEXT) for each in values[1:]]
    last = rest[1].sql if len(rest) > 1 else "CAST(NULL AS VARCHAR)"
    text = f"pg_array_to_string({array.sql}, {rest[0].sql}, {last})"
    return made(text, TEXT, array, *rest)


def _with_elements(template: str, count: int, gives: SqlType | None = None) -> "Special":
    """A function of an array and of elements, which its lambda reads."""

    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if not _array(values, count + 1):
            return None
        array = values[0]
        if array.type.name in ("numeric", "json", "jsonb", "interval", "float4", "float8"):
            unsupported(f"this function of {array.type.sql_name}", location)
        rest = [self.coercion.coerce(each, array.type.element) for each in values[1:]]
        return made(held(template.format, array, *rest), gives or array.type, array, *rest)

    return call


def _array_ndims(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not _array(values, 1):
        return None
    text = f"(CASE WHEN len({values[0].sql}) > 0 THEN CAST(1 AS INTEGER) END)"
    return made(text, INT4, values[0])


def _array_dims(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not _array(values, 1):
        return None
    text = f"('[1:' || CAST(nullif(len({values[0].sql}), 0) AS VARCHAR) || ']')"
    return made(text, TEXT, values[0])


def _trim_array(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not _array(values, 2):
        return None
    count = self.coercion.coerce(values[1], INT4)
    left = "pg_trimmed_length(CAST(len({0}) AS INTEGER), {1})"
    text = once(f"list_filter({{0}}, lambda x, i: i <= {left})".format, values[0].sql, count.sql)
    return made(text, values[0].type, values[0], count)


def sliced(array: Bound, low: Bound | None, high: Bound | None) -> Bound:
    """a[low:high]; without a bound, from the first or to the last."""
    tests, nulls = [], []
    values = [each for each in (low, high) if each is not None]
    for sign, bound in ((">=", low), ("<=", high)):
        if bound is not None:
            place = f"{{{values.index(bound) + 1}}}"
            tests.append(f"i {sign} {place}")
            nulls.append(f"{place} IS NULL")
    if not tests:
        return array
    text = (
        f"(CASE WHEN {' OR '.join(nulls)} THEN NULL"
        f" ELSE list_filter({{0}}, lambda x, i: {' AND '.join(tests)}) END)"
    )
    return made(held(text.format, array, *values), array.type, array, *values)


def indirection(self: "Expressions", node: TreeNode) -> Bound:
    """a[1], a[1:2], doc['key'], (record).field."""
    value = self.bind(node["arg"])
    for each in node["indirection"]:
        if "String" in each and value.type == RECORD:
            value = record_field(value, each["String"]["sval"])
            continue
        subscript = each.get("A_Indices")
        counts_from_0 = is_vector(value.type)
        value = as_array(value)
        if subscript is not None and not value.type.is_array and value.type.name != "jsonb":
            fail("42804", f"cannot subscript type {value.type.sql_name} because it does not"
                 " support subscripting", value.location)  # fmt: skip
        if subscript is not None and value.type.name == "jsonb" and not value.type.is_array:
            return _within_document(self, value, node["indirection"])
        if subscript is not None and subscript.get("is_slice") and value.type.is_array:
            if len(node["indirection"]) > 1 or counts_from_0:
                unsupported("several subscripts with a slice", value.location)
            low, high = (
                self.coercion.coerce(self.bind(subscript[key]), INT4, "assignment")
                if key in subscript
                else None
                for key in ("lidx", "uidx")
            )
            return sliced(value, low, high)
        if subscript is None or subscript.get("is_slice") or not value.type.is_array:
            unsupported("a field or slice of a value", value.location)
        place = self.coercion.coerce(self.bind(subscript["uidx"]), INT4, "assignment")
        place = one_more(place) if counts_from_0 else place
        text = once(
            "(CASE WHEN {1} >= 1 THEN list_extract({0}, {1}) END)".format, value.sql, place.sql
        )
        value = made(text, value.type.element, value, place, location=value.location)
    return value


def _within_document(self: "Expressions", value: Bound, subscripts: list[TreeNode]) -> Bound:
    """doc['a'][0] of a jsonb."""
    steps = []
    for each in subscripts:
        subscript = each.get("A_Indices")
        if subscript is None:
            unsupported("a field of a value", value.location)
        if subscript.get("is_slice"):
            fail("42804", "jsonb subscript does not support slices", value.location)
        step = self.bind(subscript["uidx"])
        if step.type.name in ("int2", "int4", "int8"):
            step = self.coercion.coerce(step, INT4, "assignment")
        steps.append(self.coercion.coerce(step, TEXT, "explicit"))
    path = f"CAST([{', '.join(each.sql for each in steps)}] AS VARCHAR[])"
    text = f"pg_jsonb_get_path({value.sql}, {path})"
    return made(text, value.type, value, *steps, location=value.location)


def _counted(word: str) -> "Special":
    """num_nulls and num_nonnulls."""

    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if not values:
            return None
        terms = [f"CAST(({each.sql} {word}) AS INTEGER)" for each in values]
        return made(f"CAST(({' + '.join(terms)}) AS INTEGER)", INT4, *values)

    return call


SPECIAL: "dict[str, Special]" = {
    "num_nulls": _counted("IS NULL"),
    "num_nonnulls": _counted("IS NOT NULL"),
    "array_length": _array_length,
    "array_upper": _array_length,
    "array_lower": _array_lower,
    "cardinality": _cardinality,
    "array_append": _append,
    "array_position": _with_element("CAST(list_position({0}, {1}) AS INTEGER)"),
    "array_remove": _with_elements("list_filter({0}, lambda x: x IS DISTINCT FROM {1})", 1),
    "array_replace": _with_elements(
        "list_transform({0}, lambda x: CASE WHEN x IS NOT DISTINCT FROM {1} THEN {2} ELSE x END)", 2
    ),
    "array_positions": _with_elements(
        "CAST(list_filter(list_transform({0}, lambda x, i:"
        " CASE WHEN x IS NOT DISTINCT FROM {1} THEN i END), lambda p: p IS NOT NULL) AS INTEGER[])",
        1,
        INT4.array,
    ),
    "array_ndims": _array_ndims,
    "array_dims": _array_dims,
    "trim_array": _trim_array,
    "array_prepend": _array_prepend,
    "array_cat": _array_cat,
    "array_to_string": _array_to_string,
}
