"""Where a chunk of a document stands in its file: fields that are a place, not words of it.

    field     a chunk that a reader made has it when
    line      the file is text: the number of the chunk's first line, from 1
    page      it is a PDF
    slide     it is a presentation
    sheet     it is a spreadsheet, and `cells`: their range (`A1:C9`); `cells` of a notebook
    heading   there are headings above it; `path` and `title` it has always

`worded` gives what of a payload is words. LOCATORS are not searched, not embedded and not quoted,
so that a line inserted at the top of a file changes places, and no ranking, vector or answer.

    payload                              worded
    has `path`, `text` and `title`       without LOCATORS: a chunk
    any other                            as it is: `line` may be a column of the user's
"""

from collections.abc import Mapping
from typing import TypeVar

LOCATORS = ("cells", "line", "page", "sheet", "slide")
NAMES = ("cells", "heading", "line", "page", "path", "sheet", "slide")
_CHUNK = ("path", "text", "title")

_Value = TypeVar("_Value")


def worded(content: Mapping[str, _Value]) -> Mapping[str, _Value]:
    """The fields of an entity that are words of it."""
    if not all(name in content for name in _CHUNK):
        return content
    return {name: value for name, value in content.items() if name not in LOCATORS}
