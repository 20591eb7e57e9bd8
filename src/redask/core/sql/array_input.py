"""An array's text to the texts of its elements, as PostgreSQL's array input reads it.

    split_array('{1, "a b" ,NULL}')    ["1", "a b", None]

    split_nested('{{1,2},{3,4}}')      [["1", "2"], ["3", "4"]]

An array of arrays is refused by the first, written bounds (`[1:2]={…}`) by both.
"""

from redask.core.errors import SqlError
from redask.core.sql.runtime.refusals import unsupported

_MOST_DIMENSIONS = 6  # PostgreSQL's own limit
_SPACE = " \t\n\r\v\f"


def split_array(text: str) -> list[str | None]:
    """The elements' texts, None for NULL; 22P02 for text that is no array."""
    stripped = text.strip(_SPACE)
    if stripped.startswith("["):
        raise unsupported("an array with written bounds")
    if not stripped.startswith("{"):
        raise _malformed(text)
    if stripped[1:].lstrip(_SPACE) == "}":
        return []
    elements: list[str | None] = []
    place = 1
    while True:
        element, place = _element(stripped, place, text)
        elements.append(element)
        mark = stripped[place : place + 1]
        place += 1
        if mark == "}":
            break
        if mark != ",":
            raise _malformed(text)
    if stripped[place:]:
        raise _malformed(text)
    return elements


def split_nested(text: str) -> list[object]:
    """The elements' texts of an array of up to six dimensions, in lists of lists."""
    stripped = text.strip(_SPACE)
    if stripped.startswith("["):
        raise unsupported("an array with written bounds")
    items, place = _items(stripped, 0, text, 1)
    if stripped[place:]:
        raise _malformed(text)
    _shape(items, text)
    return items


def _items(stripped: str, place: int, text: str, depth: int) -> tuple[list[object], int]:
    """The items of the braces at a place, and the place after them."""
    if stripped[place : place + 1] != "{":
        raise _malformed(text)
    if depth > _MOST_DIMENSIONS:
        raise unsupported(f"an array of more than {_MOST_DIMENSIONS} dimensions")
    place = _skip(stripped, place + 1)
    if stripped[place : place + 1] == "}":
        if depth > 1:
            raise unsupported("an empty array in an array")
        return [], place + 1
    found: list[object] = []
    while True:
        place = _skip(stripped, place)
        item: object
        if stripped[place : place + 1] == "{":
            item, place = _items(stripped, place, text, depth + 1)
            place = _skip(stripped, place)
        else:
            item, place = _element(stripped, place, text)
        found.append(item)
        mark = stripped[place : place + 1]
        place += 1
        if mark == "}":
            return found, place
        if mark != ",":
            raise _malformed(text)


def _shape(items: list[object], text: str) -> tuple[int, ...]:
    """How many items each dimension has; 22P02 where that differs."""
    shapes = {_shape(each, text) if isinstance(each, list) else () for each in items}
    if len(shapes) > 1:
        raise _malformed(text)
    return (len(items), *(shapes.pop() if shapes else ()))


def _malformed(text: str) -> SqlError:
    return SqlError("22P02", f'malformed array literal: "{text.lstrip(_SPACE)}"')


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _element(text: str, place: int, whole: str) -> tuple[str | None, int]:
    """One element, and the place of the mark after it."""
    place = _skip(text, place)
    if text[place : place + 1] == "{":
        raise unsupported("an array of arrays")
    if text[place : place + 1] == '"':
        element, place = _quoted(text, place + 1, whole)
        return element, _skip(text, place)
    found: list[str] = []
    kept = 0  # how much of `found` is not trailing space
    escaped = False
    while place < len(text) and text[place] not in ',}"{':
        if text[place] == "\\":
            place += 1
            escaped = True
            if place == len(text):
                raise _malformed(whole)
            found.append(text[place])
            kept = len(found)
        else:
            found.append(text[place])
            kept = kept if text[place] in _SPACE else len(found)
        place += 1
    if not kept or text[place : place + 1] in ('"', "{"):
        raise _malformed(whole)
    element = "".join(found[:kept])
    return (None if element.upper() == "NULL" and not escaped else element), place


def _quoted(text: str, place: int, whole: str) -> tuple[str, int]:
    found: list[str] = []
    while place < len(text) and text[place] != '"':
        place += text[place] == "\\"
        if place == len(text):
            break
        found.append(text[place])
        place += 1
    if place >= len(text):
        raise _malformed(whole)
    return "".join(found), place + 1
