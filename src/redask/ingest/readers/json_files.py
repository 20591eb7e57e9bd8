"""JSON and JSON Lines: every object a row.

    .jsonl .ndjson    one object a line; blank lines are passed over
    .json             a list of objects, read one by one; or one object: one row
    id                the object's `id` or `_id`, a text or a whole number; else its number, from 1.
                      If the first has one, all must
    of one object     its `id`, else the file's name

Anything else is refused with its place: another kind of value, NaN, what is nested deeper than
can be read. One object has at most ROW characters; a list may be of any length. The collection
is the same as of a CSV file.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import NoReturn

from redask.core.errors import BadAsk
from redask.core.model import Kind, Urn
from redask.ingest.readers import content
from redask.ingest.readers.delimited import IDS, collection
from redask.ingest.records import OpenedFile, ReadItem, ReadRecord

ROW = content.LONGEST
_SPACE = re.compile(r"[ \t\n\r]*")
_TOO_DEEP = "is nested too deep"


def read_lines(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of a file with one object a line."""
    home, name_of = collection(file.found), _Names()
    lines = content.lines(file.found.path, file.advance)
    for line, text in enumerate(lines, start=1):
        if text.strip():
            found, end = _decode(text.strip(), 0, f"line {line}")
            if end != len(text.strip()):
                raise BadAsk(f"has more than one value in line {line}")
            yield _row(home, found, name_of, f"line {line}")


def read_whole(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of a file that is one list, or one object."""
    text = _Buffer(content.blocks(file.found.path, file.advance))
    home = collection(file.found)
    if text.peek() == "[":
        text.drop(1)
        name_of = _Names()
        for number, found in enumerate(_elements(text), start=1):
            yield _row(home, found, name_of, f"item {number}")
    elif text.peek() == "{":
        found = text.value("its value")
        stem = os.path.splitext(os.path.basename(file.found.path))[0]
        yield _row(home, found, lambda row: _id(row) or stem, "it")
    else:
        raise BadAsk("is no JSON list or object")
    if text.peek():
        raise BadAsk("has more than one value in it")


class _Names:
    """What the rows of a file are called: by their ids if the first has one, else by number."""

    def __init__(self) -> None:
        self._number = 0
        self._named = False

    def __call__(self, row: dict[str, object]) -> str | None:
        self._number += 1
        found = _id(row)
        if self._number == 1:
            self._named = found is not None
        return found if self._named else str(self._number)


class _Buffer:
    """A text that is read as far as needed."""

    def __init__(self, blocks: Iterator[str]) -> None:
        self._blocks = blocks
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def drop(self, count: int) -> None:
        """Go on behind some characters."""
        self._at += count

    def value(self, where: str) -> object:
        """The next value; it ends before the end of what was read, or of the file."""
        wanted = 1
        while True:
            try:
                found, end = _decode(self._text, self._at, where)
            except BadAsk:
                found, end = None, len(self._text)
                if len(self._text) - self._at > ROW or not self._grow(wanted):
                    raise
            else:
                if end < len(self._text) or not self._grow(wanted):
                    self._at = end
                    return found
            wanted *= 2

    def _grow(self, blocks: int) -> bool:
        """Read some more, twice as much each time: a long value is not begun too often."""
        return sum(self._more() for _ in range(blocks)) > 0

    def _more(self) -> bool:
        block = next(self._blocks, "")
        self._text, self._at = self._text[self._at :] + block, 0
        return bool(block)


def _elements(text: _Buffer) -> Iterator[object]:
    """The items of a list, behind its bracket."""
    number = 0
    while text.peek() != "]" or number:
        number += 1
        text.peek()
        yield text.value(f"item {number}")
        mark = text.peek()
        text.drop(1)
        if mark == "]":
            return
        if mark != ",":
            raise BadAsk(f"is no JSON: behind item {number} stands {mark!a}, not a comma")
    text.drop(1)


def _row(
    home: str, found: object, name_of: "Callable[[dict[str, object]], str | None]", where: str
) -> ReadItem:
    if not isinstance(found, dict):
        raise BadAsk(f"has no rows: {where} is no object")
    name = name_of(found)
    if name is None:
        raise BadAsk(f"has a row without an id, though the first has one: {where}")
    return ReadItem(Urn(Kind.ROW, home, name), found)


def _id(row: dict[str, object]) -> str | None:
    value = next((row[name] for name in IDS if name in row), None)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return str(value) or None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _decode(text: str, start: int, where: str) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise BadAsk(f"{_TOO_DEEP}: {where}") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadAsk(f"is no JSON: {where}: {reason}") from None
