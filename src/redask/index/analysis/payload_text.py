"""The text of a payload: its strings and numbers, nested ones included; not keys, true and null.

Where a chunk stands in its file (`core.places`) is no text of it.
"""

import json

from redask.core import places


class _Digits(str):
    """A number as written, so that none is too big to parse; it is not a name."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_int=_Digits, parse_float=_Digits)


def content(payload: str) -> dict[str, object]:
    """The columns of a payload with their values; one without a name if it is no object."""
    decoded, _ = _DECODER.raw_decode(payload)
    return places.worded(decoded) if isinstance(decoded, dict) else {"": decoded}


def text_of(value: object) -> str:
    """The strings and numbers in a value, one a line, in the order of the payload."""
    found = []
    stack = [value]
    while stack:
        inner = stack.pop()
        if isinstance(inner, str):
            found.append(inner)
        elif isinstance(inner, dict):
            stack.extend(reversed(inner.values()))
        elif isinstance(inner, list):
            stack.extend(reversed(inner))
    return "\n".join(found)
