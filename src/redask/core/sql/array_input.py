"""An array's text to the texts of its elements, as PostgreSQL's array input reads it.

    split_array('{1, "a b" ,NULL}')    ["1", "a b", None]

An array of arrays and written bounds (`[1:2]={…}`) are refused.
"""

from redask.core.errors import SqlError
from redask.core.sql.runtime.refusals import unsupported

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
