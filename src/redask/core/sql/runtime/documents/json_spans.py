"""Where a value stands in a valid JSON text, found without reading the rest of it into a tree.

The text is known to be JSON in which no string is at fault (see `parse_json`).
"""

import json
import re
from collections.abc import Iterator

_BLANK = r"[ \t\n\r]*"
_KEY = re.compile(rf'{_BLANK}("(?:[^"\\]|\\.)*"){_BLANK}:{_BLANK}')
_BLANKS = re.compile(_BLANK)
_COMMA = re.compile(rf"{_BLANK},")
_SCAN = json.JSONDecoder(parse_float=str, parse_int=str).raw_decode
Span = tuple[int, int]


def whole(text: str) -> Span:
    """The span without the blanks around it."""
    return len(text) - len(text.lstrip(" \t\n\r")), len(text.rstrip(" \t\n\r"))


def _members(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """The pairs of the object that starts there."""
    at = start + 1
    while (key := _KEY.match(text, at)) is not None:
        end = _SCAN(text, key.end())[1]
        yield json.loads(key[1]) if "\\" in key[1] else key[1][1:-1], (key.end(), end)
        comma = _COMMA.match(text, end)
        if comma is None:
            return
        at = comma.end()


def _elements(text: str, start: int) -> Iterator[Span]:
    """The elements of the array that starts there."""
    at = _end_of_blanks(text, start + 1)
    while text[at] != "]":
        end = _SCAN(text, at)[1]
        yield at, end
        comma = _COMMA.match(text, end)
        if comma is None:
            return
        at = _end_of_blanks(text, comma.end())


def _end_of_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()


def field(text: str, span: Span, key: str) -> Span | None:
    """The last field of that name, if the span is an object's."""
    found = None
    if text[span[0]] == "{":
        for name, value in _members(text, span[0]):
            found = value if name == key else found
    return found


def element(text: str, span: Span, index: int) -> Span | None:
    """The element, from the end where the index is negative, if the span is an array's."""
    if text[span[0]] != "[":
        return None
    found = list(_elements(text, span[0]))
    return found[index] if -len(found) <= index < len(found) else None
