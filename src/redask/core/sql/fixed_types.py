"""Types that an owner fixed for a column: `read_type`, and which values `fits` lets in.

    type                          values
    text, jsonb                   all
    bool, date, time, uuid        those of which the column would get this type
    timestamp                     the same, and dates
    timestamptz                   the same: with `Z` or an offset
    int4, int8, numeric(p,s)      integers and decimals that it holds exactly, canonical texts too
    float8                        JSON numbers, of integers only those that are doubles
    an array of one of these      arrays whose elements fit

Null always fits. A value that does not fit makes a SELECT of its column fail, and no other.
"""

from redask.core.errors import BadAsk
from redask.core.sql.column_typing import NULL, value_classes
from redask.core.sql.types import SqlType

NAMES = tuple(
    "text jsonb bool int4 int8 numeric float8 date time timestamp timestamptz uuid".split()
)
_SQL_NAMES = {
    "boolean": "bool",
    "integer": "int4",
    "int": "int4",
    "bigint": "int8",
    "double precision": "float8",
}
_SAME = {
    "bool": {"bool"},
    "date": {"t-date"},
    "time": {"t-time"},
    "uuid": {"t-uuid"},
    "timestamp": {"t-date", "t-timestamp"},
    "timestamptz": {"t-timestamptz"},
}
_WIDTHS = {"int4": ("int4",), "int8": ("int4", "int8")}


def read_type(written: str) -> SqlType:
    """The type of this name, PostgreSQL's short or long one; `BadAsk` for one nobody can fix."""
    name = written.strip().lower()
    element = name.removesuffix("[]")
    try:
        found = SqlType.parse(_SQL_NAMES.get(element, element) + name[len(element) :])
    except ValueError:
        found = SqlType("unknown")
    sized = len(found.modifier) == 2 and found.modifier[1] < found.modifier[0] <= 38
    known = found.name in NAMES and (sized if found.name == "numeric" else not found.modifier)
    if not known or found == SqlType("jsonb").array:
        told = ", ".join("numeric(p,s)" if each == "numeric" else each for each in NAMES)
        raise BadAsk(
            f"{written[:100]!a} is no type for a column: there are {told}, each but jsonb also with"
            " []; a precision and a smaller scale are needed: numeric(18,2)",
            detail=written[:100],
        )
    return found


def fits(kind: SqlType, value_class: str) -> bool:
    """Whether values of a class fit a type."""
    if value_class == NULL or kind in (SqlType("text"), SqlType("jsonb")):
        return True
    if kind.is_array:
        whole, _, element = value_class.partition(" ")
        if kind.name == "text":
            return whole == "array" and (element in ("", NULL) or element.startswith("t-"))
        return whole == "array" and (not element or fits(kind.element, element))
    if kind.name in _SAME:
        return value_class in _SAME[kind.name]
    word, *sizes = value_class.removeprefix("t-").split()
    if kind.name == "float8":
        number = word in ("int", "int4", "int8", "int38", "decimal", "float")
        return number and not value_class.startswith("t-") and "inexact" not in sizes
    if kind.name in _WIDTHS:
        return word in _WIDTHS[kind.name]
    if kind.name != "numeric" or word not in ("int4", "int8", "int38", "decimal", "numeric"):
        return False
    precision, scale = kind.modifier
    return int(sizes[0]) <= precision - scale and int(sizes[1]) <= scale


def value_fits(kind: SqlType, value: object) -> bool:
    """Whether a JSON value fits a type."""
    return all(fits(kind, each) for each in value_classes(value))
