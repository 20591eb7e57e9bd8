"""Sections to chunks: `cut` an outline into texts of at most MAX_TOKENS, each with a label.

    a section         is cut between blocks into as few chunks as fit; no chunk spans sections
    a long block      is cut between lines, a long line between sentences, then words, then anywhere
    label             the slugs of the headings above it, joined by dots; `top` before the first
    … further chunks  of a section: ~2, ~3 …
    … duplicates      -2, -3 … for a section whose label is taken

So a label depends on the headings above a chunk and on the text before it in its own section, and
on nothing else in the file. Tokens are those of `core.token_count`, of the text alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from redask.core.token_count import estimate
from redask.ingest.readers.markdown import Outline

MAX_TOKENS = 256
TOP = "top"
_MAX_COUNTED = 8192  # characters: usual text of MAX_TOKENS is shorter; longer is cut uncounted
_MAX_SLUG = 60
_NOT_IN_SLUG = re.compile(r"[\W_]+")
_SENTENCE = re.compile(r"[.!?…]['\"”’)\]]{0,3}\s+|[。！？]")
_WORD = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: the headings above it, its label and its text."""

    headings: tuple[str, ...]
    label: str
    text: str


def cut(outline: Outline) -> Iterator[Chunk]:
    """The chunks of a document in their order."""
    used, last = {TOP}, Counter([TOP])
    for section in outline.sections:
        label = base = ".".join(map(slug, section.headings)) or TOP
        while section.headings and label in used:
            last[base] += 1
            label = f"{base}-{last[base]}"
        used.add(label)
        last[label] = max(1, last[label])
        for number, text in enumerate(_pack(_fitting(section.blocks), "\n\n", 2), start=1):
            yield Chunk(section.headings, label if number == 1 else f"{label}~{number}", text)


def slug(heading: str) -> str:
    """A heading as a part of a label: lower case, words joined by hyphens."""
    return _NOT_IN_SLUG.sub("-", heading.lower())[:_MAX_SLUG].strip("-") or "section"


def _fitting(blocks: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The blocks with their token counts; a block that is too long, in pieces."""
    for block in blocks:
        size = _size(block)
        if size <= MAX_TOKENS:
            yield block, size
        else:
            yield from _separate(_pack(_lines(block), "\n", 1))


def _lines(block: str) -> Iterator[tuple[str, int]]:
    for line in block.split("\n"):
        size = _size(line)
        if size <= MAX_TOKENS:
            yield line, size
        else:
            yield from _separate(_pack(_pieces(line, _SENTENCE), "", 0))


def _pieces(text: str, border: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """A text cut after every border; a piece that is still too long at words, then anywhere."""
    start = 0
    for end in chain((found.end() for found in border.finditer(text)), (len(text),)):
        piece = text[start:end]
        start = end
        size = _size(piece)
        if size <= MAX_TOKENS:
            yield piece, size
        elif border is _SENTENCE:
            yield from _pieces(piece, _WORD)
        else:
            for at in range(0, len(piece), MAX_TOKENS):
                yield piece[at : at + MAX_TOKENS], MAX_TOKENS  # fits: no character is two tokens


def _separate(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Pieces of one block: all but the last count as full, so that none are joined again."""
    before = None
    for text in texts:
        if before is not None:
            yield before, MAX_TOKENS
        before = text
    if before is not None:
        yield before, _size(before)


def _pack(
    pieces: Iterable[tuple[str, int]], separator: str, separator_tokens: int
) -> Iterator[str]:
    """Join consecutive pieces up to MAX_TOKENS."""
    current: list[str] = []
    total = 0
    for text, size in pieces:
        if current and total + separator_tokens + size > MAX_TOKENS:
            yield from _joined(current, separator)
            current, total = [], 0
        total += size + (separator_tokens if current else 0)
        current.append(text)
    yield from _joined(current, separator)


def _joined(current: list[str], separator: str) -> Iterator[str]:
    text = separator.join(current).strip("\n").rstrip()
    if text:
        yield text


def _size(text: str) -> int:
    """The token count of a text; for a very long one, MAX_TOKENS + 1."""
    return estimate(text) if len(text) <= _MAX_COUNTED else MAX_TOKENS + 1
