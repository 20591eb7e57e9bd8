"""Functions of arrays."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import INT4, TEXT, Bound, made, unsupported
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

    Special = Callable[[Expressions, list[Bound], int], Bound | None]


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


SPECIAL: "dict[str, Special]" = {
    "array_length": _array_length,
    "array_upper": _array_length,
    "array_lower": _array_lower,
    "cardinality": _cardinality,
    "array_append": _append,
    "array_position": _with_element("CAST(list_position({0}, {1}) AS INTEGER)"),
    "array_prepend": _array_prepend,
    "array_cat": _array_cat,
    "array_to_string": _array_to_string,
}
