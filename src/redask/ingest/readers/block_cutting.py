"""A block that is too long for a chunk, in pieces: `cut(block, first, limit)`.

    a table      between rows; every further piece begins with the header again
    code         between lines; every piece has the fences, so that it is still code
    a list       between items
    any other    between lines; a long line between sentences, then words, then anywhere

The first piece has at most `first` tokens (the rest of a chunk that has begun), others `limit`.
A header or a fence that would take half of a chunk is not repeated. Nothing else is added, and
nothing but white space gets lost. Time and memory are linear.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from redask.core.token_count import estimate
from redask.ingest.readers.outlines import CODE, LIST, TABLE, Block

MAX_TOKENS = 256
SENTENCE = re.compile(r"[.!?…]['\"”’)\]]{0,3}\s+|[。！？]")
_MAX_COUNTED = 8192  # characters: usual text of MAX_TOKENS is shorter; longer is cut uncounted
_WORD = re.compile(r"\s+")
_FENCE = re.compile(r"[ \t]{0,12}(`{3,20}|~{3,20})[^\n]{0,80}$")
_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•]|[0-9]{1,4}[.)]|[A-Za-z#][.)])[ \t]")


class Piece(NamedTuple):
    """A text, its tokens (at least), and the number of lines of the block before it."""

    text: str
    size: int
    offset: int


def size_of(text: str) -> int:
    """The token count of a text; for a very long one, more than MAX_TOKENS."""
    return estimate(text) if len(text) <= _MAX_COUNTED else MAX_TOKENS + 1


def cut(block: Block, first: int, limit: int = MAX_TOKENS) -> Iterator[Piece]:
    """The pieces of a block, in order."""
    lines = block.text.split("\n")
    head, tail, body, skipped = "", "", lines, 0
    if block.kind == TABLE and len(lines) > 2:
        head, body, skipped = "\n".join(lines[:2]), lines[2:], 2
    elif block.kind == CODE and (fence := _FENCE.match(lines[0])):
        head, skipped = lines[0], 1
        is_closed = len(lines) > 1 and lines[-1].strip() == fence[1]
        tail = lines[-1] if is_closed else head[: fence.end(1)]
        body = lines[1:-1] if is_closed else lines[1:]
    around = size_of(head) + size_of(tail) + 2 if head else 0
    if around > limit // 2:
        head, tail, body, skipped, around = "", "", lines, 0, 0
    room = limit - around
    parts = _items(body, room) if block.kind == LIST else _fitting(body, room)
    for text, size, offset in _pack(parts, max(room // 4, first - around), room):
        wrapped = "\n".join(filter(None, (head, text, tail)))
        yield Piece(wrapped, size + around, offset + (skipped if offset else 0))


def _items(lines: list[str], limit: int) -> Iterator[Piece]:
    """The items of a list; one that is too long, in lines."""
    item: list[str] = []
    start = 0
    for number, line in enumerate([*lines, "- "]):
        if item and (number == len(lines) or _ITEM.match(line)):
            text = "\n".join(item)
            size = size_of(text)
            if size <= limit:
                yield Piece(text, size, start)
            else:
                yield from _fitting(item, limit, start)
            item, start = [], number
        item.append(line)


def _fitting(lines: Iterable[str], limit: int, start: int = 0) -> Iterator[Piece]:
    """The lines; one that is too long, in pieces that are not joined again."""
    for number, line in enumerate(lines, start=start):
        size = size_of(line)
        if size <= limit:
            yield Piece(line, size, number)
            continue
        before = None
        for text, *_ in _pack(_pieces(line, SENTENCE, limit), limit, limit, "", 0):
            if before is not None:
                yield Piece(before, limit, number)
            before = text
        if before is not None:
            yield Piece(before, size_of(before), number)


def _pieces(text: str, border: re.Pattern[str], limit: int) -> Iterator[Piece]:
    """A text cut after every border; a piece that is still too long at words, then anywhere."""
    start = 0
    for end in chain((found.end() for found in border.finditer(text)), (len(text),)):
        piece = text[start:end]
        start = end
        size = size_of(piece)
        if size <= limit:
            yield Piece(piece, size, 0)
        elif border is SENTENCE:
            yield from _pieces(piece, _WORD, limit)
        else:
            for at in range(0, len(piece), limit):
                yield Piece(piece[at : at + limit], limit, 0)  # no character is two tokens


def _pack(
    pieces: Iterable[Piece], first: int, limit: int, separator: str = "\n", between: int = 1
) -> Iterator[Piece]:
    """Join consecutive pieces up to a limit, which is another one for the first."""
    current: list[Piece] = []
    total, room = 0, first
    for piece in pieces:
        if current and total + between + piece.size > room:
            yield from _joined(current, separator, total)
            current, total, room = [], 0, limit
        total += piece.size + (between if current else 0)
        current.append(piece)
    yield from _joined(current, separator, total)


def _joined(pieces: list[Piece], separator: str, size: int) -> Iterator[Piece]:
    text = separator.join([piece.text for piece in pieces]).strip("\n").rstrip()
    if text:
        yield Piece(text, size, pieces[0].offset)
