"""Values as PostgreSQL writes them, and what of a text counts when two are compared.

    written(value, type)        a value of our rows in PostgreSQL's text form; None is NULL
    canonical(text, type)       the same for two texts exactly when PostgreSQL would print the same

Doubles are equal when they print the same shortest digits, which is when their bits are equal, so
they are compared by value and sign. A value of a Python type that a column of that SQL type never
has is written with the name of its type, and so differs from whatever PostgreSQL says.
"""

import struct
from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

from redask.core.sql.types import SqlType

Cell = str | tuple["Cell", ...] | None
_FLOATS = ("float4", "float8")
_CLASSES: dict[str, type] = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), int),
    **dict.fromkeys(_FLOATS, float),
    **dict.fromkeys(("text", "varchar", "bpchar", "json", "jsonb", "interval", "name"), str),
    "bool": bool,
    "bytea": bytes,
    "date": date,
    "numeric": Decimal,
    "time": time,
    "timestamp": datetime,
    "timestamptz": datetime,
    "uuid": UUID,
}


def written(value: object, of: SqlType) -> str | None:
    """A value in PostgreSQL's text form."""
    if value is None:
        return None
    if of.is_array and isinstance(value, list | tuple):
        return "{" + ",".join(_element(each, of) for each in value) + "}"
    expected = _CLASSES.get(of.name, object)
    if of.is_array or (type(value) is not expected and expected is not object):
        return f"<{type(value).__name__}> {value}"
    return _plain(value, of)


def _element(value: object, of: SqlType) -> str:
    if isinstance(value, list | tuple):
        return str(written(value, of))
    text = written(value, of.element)
    if text is None:
        return "NULL"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _plain(value: object, of: SqlType) -> str:
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, datetime):
        zone = "+00" if value.tzinfo else ""
        if (of.name == "timestamptz") != bool(zone):
            return f"<zone {value.tzinfo}> {value}"
        return _seconds(value.replace(tzinfo=None).isoformat(" ")) + zone
    if isinstance(value, time):
        return _seconds(value.isoformat())
    return str(value)


def _seconds(text: str) -> str:
    return text.rstrip("0") if "." in text else text


def canonical(text: str | None, of: SqlType) -> Cell:
    """What counts of a text."""
    if text is None:
        return None
    if of.is_array and text.startswith("{"):
        return _array(text, of.element)
    if of.name in _FLOATS:
        return _float(text, of.name)
    return text


def _float(text: str, name: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    if name == "float4":
        [value] = struct.unpack("f", struct.pack("f", value))
    return repr(value)


def _array(text: str, of: SqlType) -> Cell:
    """Nested tuples of a text such as {1,NULL,"a b"}."""
    stack: list[list[Cell]] = [[]]
    at = 0
    while at < len(text):
        char = text[at]
        if char == "{":
            stack.append([])
        elif char == "}":
            last = stack.pop()
            stack[-1].append(tuple(last))
        elif char != ",":
            at, word, quoted = _word(text, at)
            stack[-1].append(None if word == "NULL" and not quoted else canonical(word, of))
            continue
        at += 1
    return stack[0][0]


def _word(text: str, at: int) -> tuple[int, str, bool]:
    found = []
    if text[at] != '"':
        end = at
        while text[end] not in ",}":
            end += 1
        return end, text[at:end], False
    at += 1
    while text[at] != '"':
        at += text[at] == "\\"
        found.append(text[at])
        at += 1
    return at + 1, "".join(found), True
