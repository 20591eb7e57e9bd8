"""int2vector and oidvector, which only the catalogue has: arrays that count from 0.

In DuckDB they are lists as arrays are. What takes an array takes a vector too; a place in it is one
less than in the list.
"""

from redask.core.sql.binder.bound import INT4, Bound, made
from redask.core.sql.types import SqlType

_ITEMS = {"int2vector": SqlType("int2"), "oidvector": SqlType("oid")}
PLACES = frozenset(("array_upper", "array_lower", "array_position", "generate_subscripts"))


def is_vector(kind: SqlType) -> bool:
    """Whether it counts from 0."""
    return kind.name in _ITEMS and not kind.is_array


def array_type(kind: SqlType) -> SqlType:
    """The type of an array of a vector's items; any other type as it is."""
    return _ITEMS[kind.name].array if is_vector(kind) else kind


def as_array(value: Bound) -> Bound:
    """A vector as the array of its items; anything else as it is."""
    return value.like(value.sql, type=array_type(value.type)) if is_vector(value.type) else value


def one_less(place: Bound) -> Bound:
    """A place in the list as the place in the vector."""
    return made(f"CAST({place.sql} - 1 AS INTEGER)", INT4, place)


def one_more(place: Bound) -> Bound:
    """A place in the vector as the place in the list."""
    return made(f"CAST({place.sql} + 1 AS INTEGER)", INT4, place)


def vector_text(value: Bound, wanted: SqlType) -> Bound:
    """The cast to text: the items with blanks between them."""
    text = f"pg_array_to_string(CAST({value.sql} AS VARCHAR[]), ' ', CAST(NULL AS VARCHAR))"
    return value.like(text, type=wanted)
