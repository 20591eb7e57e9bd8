"""Where a chunk or a row stands in its file: fields that are a place, not words of it.

    field     a chunk that a reader made has it when
    line      the file is text: the number of the chunk's first line, from 1
    page      it is a PDF
    slide     it is a presentation
    sheet     it is a spreadsheet, and `cells`: their range (`A1:C9`); `cells` of a notebook
    heading   there are headings above it; `path` and `title` it has always

A row's columns are the user's own, so a row of a sheet has its place in one field, PLACE:
{cells, path, sheet}. It is no column: tables, plans and conditions do not know it, and who
does not see every column of a row does not see it, for the range tells how many there are.

`worded` gives what of a payload is words. LOCATORS and PLACE are not searched, not embedded and
not quoted, so that a line inserted at the top of a file changes places, and no ranking, vector or
answer.

    payload                              worded
    has `path`, `text` and `title`       without LOCATORS: a chunk
    has a PLACE                          without it
    any other                            as it is: `line` may be a column of the user's
"""

from collections.abc import Mapping
from typing import TypeVar

LOCATORS = ("cells", "line", "page", "sheet", "slide")
NAMES = ("cells", "heading", "line", "page", "path", "sheet", "slide")
PLACE = "_place"
_CHUNK = ("path", "text", "title")
_ROW_PLACE = {"cells", "path", "sheet"}

_Value = TypeVar("_Value")


def worded(content: Mapping[str, _Value]) -> Mapping[str, _Value]:
    """The fields of an entity that are words of it."""
    if not all(name in content for name in _CHUNK):
        return columns(content)
    return {name: value for name, value in columns(content).items() if name not in LOCATORS}


def columns(content: Mapping[str, _Value]) -> Mapping[str, _Value]:
    """The fields of an entity without the place of a row."""
    if PLACE not in content or not is_place(PLACE, content[PLACE]):
        return content
    return {name: value for name, value in content.items() if name != PLACE}


def is_place(name: str, value: object) -> bool:
    """Whether a field is the place of a row, not a column of the user's that is named so."""
    if name != PLACE or not isinstance(value, dict) or value.keys() != _ROW_PLACE:
        return False
    return all(isinstance(each, str) and each for each in value.values())


def of_row(content: Mapping[str, object]) -> Mapping[str, object]:
    """The place of a row; empty if it has none."""
    value = content.get(PLACE)
    return value if isinstance(value, dict) and is_place(PLACE, value) else {}
