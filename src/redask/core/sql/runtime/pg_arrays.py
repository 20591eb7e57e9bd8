"""The text of an array as PostgreSQL writes it, from its elements' texts: `{1,NULL,"a b"}`."""

import re

from redask.core.errors import SqlError
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

_QUOTED = re.compile(r'["\\{},\t\n\r\v\f ]|\A\Z|\A[Nn][Uu][Ll][Ll]\Z')


def _element(text: str | None) -> str:
    if text is None:
        return "NULL"
    if _QUOTED.search(text) is None:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def array_text(elements: list[str | None]) -> str:
    return "{" + ",".join(map(_element, elements)) + "}"


def trimmed_length(length: int, count: int) -> int:
    """How many elements trim_array() leaves."""
    if not 0 <= count <= length:
        message = f"number of elements to trim must be between 0 and {length}"
        raise SqlError("2202E", message)
    return length - count


FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_array_text", ("VARCHAR[]",), "VARCHAR", array_text),
    RuntimeFunction("pg_trimmed_length", ("INTEGER", "INTEGER"), "INTEGER", trimmed_length),
)
