"""PostgreSQL's json operators and functions: what they give is a piece of the text as it stands.

`{"a" : [1, 2 ]}` keeps its blanks and its order, and of equal keys the last one is found. The
builders write PostgreSQL's own spacing, which differs from function to function; their arguments
are lists of JSON texts (NULL for SQL's NULL), made from values with `pg_json_string` and
`pg_json_number`.
"""

from collections.abc import Callable
from typing import Any

from redask.core.errors import SqlError
from redask.core.sql.runtime.documents.json_spans import Span, element, field, whole
from redask.core.sql.runtime.documents.json_text import (
    Piece,
    parse_json,
    path_index,
    quoted,
    unquoted,
)
from redask.core.sql.runtime.runtime_function import (
    RuntimeFunction,
    functions_by_name,
    nullable,
)


def _fault(message: str) -> SqlError:
    return SqlError("22023", message)


def checked(text: str) -> str:
    """The text itself if it is JSON."""
    parse_json(text, strict=False)
    return text


def _container(
    text: str, wanted: str, fault: Callable[[str], str], *, strict: bool = True
) -> Piece:
    """The piece, which is of the kind wanted; `fault` makes the message from what else it is."""
    kind = {"{": "object", "[": "array"}.get(text.lstrip(" \t\n\r")[:1], "scalar")
    if kind in ("object", "array") and kind != wanted:  # said before a string inside is read
        raise _fault(fault(kind))
    piece = parse_json(text, strict=strict)
    if kind != wanted:
        raise _fault(fault(kind))
    return piece


def typeof(text: str) -> str:
    return parse_json(text, strict=False).kind


def as_json(text: str, piece: Piece) -> str:
    return text[piece.start : piece.end]


def as_text(text: str, piece: Piece) -> str | None:
    if piece.kind == "null":
        return None
    return unquoted(as_json(text, piece)) if piece.kind == "string" else as_json(text, piece)


Give = Callable[[str, Span], str | None]


def _span_json(text: str, span: Span) -> str:
    return text[span[0] : span[1]]


def _span_text(text: str, span: Span) -> str | None:
    found = text[span[0] : span[1]]
    if found.strip(" \t\n\r") == "null":
        return None
    return unquoted(found) if found.lstrip(" \t\n\r").startswith('"') else found


def _path(text: str, span: Span, path: list[str]) -> Span | None:
    if not path and text[span[0]] not in "[{":
        return 0, span[1]  # PostgreSQL gives a scalar with the blanks before it
    found: Span | None = span
    for step in path:
        if found is None:
            return None
        if text[found[0]] == "[":
            index = path_index(step)
            found = None if index is None else element(text, found, index)
        else:
            found = field(text, found, step)
    return found


def _getter(find: Callable[[str, Span, Any], Span | None], give: Give) -> Callable[..., Any]:
    def get(text: str, step: Any) -> str | None:
        if isinstance(step, list) and None in step:
            return None
        if "\\u" in text:
            parse_json(text)  # PostgreSQL reads every string here, and may refuse one
        span = find(text, whole(text), step)
        return None if span is None else give(text, span)

    return nullable(get)


def array_length(text: str) -> int:
    piece = parse_json(text, strict=False)
    if piece.kind == "array":
        return len(piece.parts)
    kind = "non-array" if piece.kind == "object" else "scalar"
    raise _fault(f"cannot get array length of a {kind}")


def _elements(
    name: str, give: Callable[[str, Piece], str | None]
) -> Callable[[str], list[str | None]]:
    def elements(text: str) -> list[str | None]:
        piece = _container(
            text,
            "array",
            lambda kind: f"cannot call {name} on a {'non-array' if kind == 'object' else kind}",
            strict=give is as_text,  # else no string is read
        )
        return [give(text, part) for part in piece.parts]

    return elements


def object_keys(text: str) -> list[str]:
    kinds = {"array": "an array", "scalar": "a scalar"}
    fault = "cannot call json_object_keys on "
    return list(_container(text, "object", lambda kind: fault + kinds[kind]).keys)


def _deconstructed(text: str) -> Piece:
    kinds = {"array": "an array as an object", "scalar": "a scalar"}
    return _container(text, "object", lambda kind: f"cannot deconstruct {kinds[kind]}")


def each_keys(text: str) -> list[str]:
    return list(_deconstructed(text).keys)


def each_values(text: str) -> list[str]:
    return [as_json(text, part) for part in _deconstructed(text).parts]


def each_values_text(text: str) -> list[str | None]:
    return [as_text(text, part) for part in _deconstructed(text).parts]


def strip_nulls(text: str) -> str:
    return _stripped(text, parse_json(text))


def _stripped(text: str, piece: Piece) -> str:
    if piece.kind == "array":
        return "[" + ",".join(_stripped(text, part) for part in piece.parts) + "]"
    if piece.kind == "object":
        pairs = zip(piece.keys, piece.parts, strict=True)
        kept = (f"{quoted(k)}:{_stripped(text, v)}" for k, v in pairs if v.kind != "null")
        return "{" + ",".join(kept) + "}"
    found = as_json(text, piece)
    return quoted(unquoted(found)) if piece.kind == "string" else found


def number(text: str) -> str:
    """to_json() of a number's text: NaN and the infinities are strings."""
    return text if text[-1:].isdecimal() else quoted(text)


def _joined(elements: list[str | None], comma: str) -> str:
    return "[" + comma.join("null" if each is None else each for each in elements) + "]"


def plain_array(elements: list[str | None]) -> str:
    """to_json() of an array."""
    return _joined(elements, ",")


def build_array(elements: list[str | None]) -> str:
    """json_build_array, and json_agg of anything but arrays and rows."""
    return _joined(elements, ", ")


def agg_lines(elements: list[str | None]) -> str:
    """json_agg of arrays or rows; a NULL follows its comma on the same line."""
    out: list[str] = []
    for each in elements:
        comma = ", " if each is None else ", \n "
        out += [comma if out else "", "null" if each is None else each]
    return "[" + "".join(out) + "]"


def _pairs(keys: list[Any], values: list[str | None], colon: str) -> list[str]:
    pairs = zip(keys, values, strict=True)
    return [f"{quoted(key)}{colon}{'null' if each is None else each}" for key, each in pairs]


def build_object(keys: list[str | None], values: list[str | None]) -> str:
    if None in keys:
        message = f"argument {2 * keys.index(None) + 1} cannot be null"
        raise SqlError("22023", message, hint="Object keys should be text.")
    return "{" + ", ".join(_pairs(keys, values, " : ")) + "}"


def object_agg(keys: list[str | None], values: list[str | None]) -> str:
    if None in keys:
        raise _fault("field name must not be null")
    return "{ " + ", ".join(_pairs(keys, values, " : ")) + " }"


def row(keys: list[str], values: list[str | None]) -> str:
    """row_to_json()."""
    return "{" + ",".join(_pairs(keys, values, ":")) + "}"


_V, _L, _I = "VARCHAR", "VARCHAR[]", "INTEGER"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_json_in", (_V,), _V, checked),
    RuntimeFunction("pg_json_typeof", (_V,), _V, typeof),
    RuntimeFunction("pg_json_get_key", (_V, _V), _V, _getter(field, _span_json), True),
    RuntimeFunction("pg_json_get_key_text", (_V, _V), _V, _getter(field, _span_text), True),
    RuntimeFunction("pg_json_get_index", (_V, _I), _V, _getter(element, _span_json), True),
    RuntimeFunction("pg_json_get_index_text", (_V, _I), _V, _getter(element, _span_text), True),
    RuntimeFunction("pg_json_get_path", (_V, _L), _V, _getter(_path, _span_json), True),
    RuntimeFunction("pg_json_get_path_text", (_V, _L), _V, _getter(_path, _span_text), True),
    RuntimeFunction("pg_json_array_length", (_V,), _I, array_length),
    RuntimeFunction("pg_json_array_elements", (_V,), _L, _elements("json_array_elements", as_json)),
    RuntimeFunction(
        "pg_json_array_elements_text", (_V,), _L, _elements("json_array_elements_text", as_text)
    ),
    RuntimeFunction("pg_json_object_keys", (_V,), _L, object_keys),
    RuntimeFunction("pg_json_each_keys", (_V,), _L, each_keys),
    RuntimeFunction("pg_json_each_values", (_V,), _L, each_values),
    RuntimeFunction("pg_json_each_values_text", (_V,), _L, each_values_text),
    RuntimeFunction("pg_json_strip_nulls", (_V,), _V, strip_nulls),
    RuntimeFunction("pg_json_string", (_V,), _V, quoted),
    RuntimeFunction("pg_json_number", (_V,), _V, number),
    RuntimeFunction("pg_json_plain_array", (_L,), _V, plain_array),
    RuntimeFunction("pg_json_build_array", (_L,), _V, build_array),
    RuntimeFunction("pg_json_agg_lines", (_L,), _V, agg_lines),
    RuntimeFunction("pg_json_build_object", (_L, _L), _V, build_object),
    RuntimeFunction("pg_json_object_agg", (_L, _L), _V, object_agg),
    RuntimeFunction("pg_json_row", (_L, _L), _V, row),
)
