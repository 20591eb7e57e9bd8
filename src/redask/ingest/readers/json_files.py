"""JSON and JSON Lines: every object becomes a row.

    .jsonl .ndjson    one object a line; blank lines are skipped
    .json             an array of objects, read one by one; an object that wraps such arrays
                      (`wrapping`): a collection for each, `<collection>.<key>`, and what else it
                      says as one row; any other object: one row
    id                the object's `id` or `_id`, a string or an integer; else its number, from 1.
                      If the first has one, all must
    of one object     its `id`, else the file's name

Anything else is refused with its position: another type of value, NaN, nesting beyond Python's
recursion limit. One object has at most MAX_ROW characters; an array may be of any length. The
collection is chosen as for a CSV file.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import NoReturn

from redask.core.errors import BadAsk
from redask.core.model import Kind, Urn
from redask.ingest.readers import content, wrapping
from redask.ingest.readers.delimited import IDS, collection
from redask.ingest.records import OpenedFile, ReadItem, ReadRecord

MAX_ROW = content.MAX_LINE
_SPACE = re.compile(r"[ \t\n\r]*")
_TOO_DEEP = "is nested too deep"


def read_lines(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of a file with one object a line."""
    into, id_of = collection(file.found), _RowIds()
    lines = content.lines(file.found.path, file.advance)
    for line, text in enumerate(lines, start=1):
        if text.strip():
            found, end = _decode(text.strip(), 0, f"line {line}")
            if end != len(text.strip()):
                raise BadAsk(f"has more than one value in line {line}")
            yield _row(into, found, id_of, f"line {line}")


def read_whole(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of a file that is one array, or one object."""
    text = _Buffer(content.blocks(file.found.path, file.advance))
    into = collection(file.found)
    if text.peek() == "[":
        text.drop(1)
        id_of = _RowIds()
        for number, found in enumerate(_elements(text), start=1):
            yield _row(into, found, id_of, f"item {number}")
    elif text.peek() == "{" and (tables := _tables(file)):
        yield from _unwrapped(file, text, into, tables)
    elif text.peek() == "{":
        found = text.value("its value")
        stem = os.path.splitext(os.path.basename(file.found.path))[0]
        yield _row(into, found, lambda row: _id(row) or stem, "it")
    else:
        raise BadAsk("is not a JSON array or object")
    if text.peek():
        raise BadAsk("has more than one value in it")


def _tables(file: OpenedFile) -> set[str]:
    """The keys of the tables that the object wraps, if so; it is read once to find out."""
    text = _Buffer(content.blocks(file.found.path, lambda _: None))
    shape = wrapping.Shape()
    try:
        for key in _keys(text):
            if text.peek() == "[":
                text.drop(1)
                shape.add_list(key, _elements(text))
            else:
                shape.add(key, text.value(key))
    except BadAsk:
        return set()  # the other way of reading says what is wrong
    return shape.tables if shape.is_wrapped else set()


def _unwrapped(
    file: OpenedFile, text: "_Buffer", into: str, tables: set[str]
) -> Iterator[ReadRecord]:
    others: dict[str, object] = {}
    for key in _keys(text):
        if key not in tables:
            others[key] = text.value(key)
            continue
        text.drop(1)
        id_of = _RowIds()
        for number, found in enumerate(_elements(text), start=1):
            yield _row(f"{into}.{key}", found, id_of, f"item {number} of {key}")
    if others:
        stem = os.path.splitext(os.path.basename(file.found.path))[0]
        yield ReadItem(Urn(Kind.ROW, into, stem), others)


def _keys(text: "_Buffer") -> Iterator[str]:
    """The keys of an object; who asks for them reads the value behind each."""
    following = text.peek()
    text.drop(1)
    if text.peek() == "}":
        text.drop(1)
        return
    while following in ("{", ","):
        text.peek()
        key = text.value("a key")
        if not isinstance(key, str) or text.peek() != ":":
            raise BadAsk("is not valid JSON: expected a key and a colon")
        text.drop(1)
        text.peek()
        yield key
        following = text.peek()
        text.drop(1)
    if following != "}":
        raise BadAsk(f"is not valid JSON: expected a comma or a brace, found {following!a}")


class _RowIds:
    """The ids of a file's rows: their own if the first has one, else their numbers."""

    def __init__(self) -> None:
        self._number = 0
        self._has_ids = False

    def __call__(self, row: dict[str, object]) -> str | None:
        self._number += 1
        found = _id(row)
        if self._number == 1:
            self._has_ids = found is not None
        return found if self._has_ids else str(self._number)


class _Buffer:
    """A text that is read on demand, block by block."""

    def __init__(self, blocks: Iterator[str]) -> None:
        self._blocks = blocks
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def drop(self, count: int) -> None:
        """Skip some characters."""
        self._at += count

    def value(self, where: str) -> object:
        """Decode the next value, reading more blocks until it is complete."""
        blocks = 1
        while True:
            try:
                found, end = _decode(self._text, self._at, where)
            except BadAsk:
                found, end = None, len(self._text)
                if len(self._text) - self._at > MAX_ROW or not self._grow(blocks):
                    raise
            else:
                if end < len(self._text) or not self._grow(blocks):
                    self._at = end
                    return found
            blocks *= 2

    def _grow(self, blocks: int) -> bool:
        """Read more blocks; the number is doubled each time, or a long value were quadratic."""
        return sum(self._more() for _ in range(blocks)) > 0

    def _more(self) -> bool:
        block = next(self._blocks, "")
        self._text, self._at = self._text[self._at :] + block, 0
        return bool(block)


def _elements(text: _Buffer) -> Iterator[object]:
    """The items of an array, after its opening bracket."""
    number = 0
    while text.peek() != "]" or number:
        number += 1
        text.peek()
        yield text.value(f"item {number}")
        following = text.peek()
        text.drop(1)
        if following == "]":
            return
        if following != ",":
            raise BadAsk(
                f"is not valid JSON: expected a comma after item {number}, found {following!a}"
            )
    text.drop(1)


def _row(
    into: str, found: object, id_of: "Callable[[dict[str, object]], str | None]", where: str
) -> ReadItem:
    if not isinstance(found, dict):
        raise BadAsk(f"has a row that is not a JSON object: {where}")
    name = id_of(found)
    if name is None:
        raise BadAsk(f"has a row without an id, though the first has one: {where}")
    return ReadItem(Urn(Kind.ROW, into, name), found)


def _id(row: dict[str, object]) -> str | None:
    value = next((row[name] for name in IDS if name in row), None)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return str(value) or None


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _decode(text: str, start: int, where: str) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise BadAsk(f"{_TOO_DEEP}: {where}") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadAsk(f"is not valid JSON: {where}: {reason}") from None
