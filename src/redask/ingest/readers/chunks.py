"""Sections to chunks: `cut` an outline into texts of at most MOST tokens, each with a label.

    a section         is cut between blocks, as few chunks as fit; a chunk never spans sections
    a long block      is cut between lines, a long line between sentences, then words, then anywhere
    label             the slugs of the headings down to it, joined by dots; `top` before the first
    … of more         ~2, ~3 … for the further chunks of a section
    … of namesakes    -2, -3 … for a section whose label was there already

So a label depends on the headings above a chunk and on what stands before it in its own section,
and on nothing else in the file. Tokens are those of `core.token_count`: of the text alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from redask.core.token_count import estimate
from redask.ingest.readers.markdown import Outline

MOST = 256
TOP = "top"
_LONG = 8192  # characters: more than any MOST tokens of usual text; longer is cut, not counted
_LONGEST_SLUG = 60
_NO_SLUG = re.compile(r"[\W_]+")
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
    """A heading as part of a label."""
    return _NO_SLUG.sub("-", heading.lower())[:_LONGEST_SLUG].strip("-") or "section"


def _fitting(blocks: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The blocks with their tokens; what is too long, in pieces."""
    for block in blocks:
        size = _size(block)
        if size <= MOST:
            yield block, size
        else:
            yield from _apart(_pack(_lines(block), "\n", 1))


def _lines(block: str) -> Iterator[tuple[str, int]]:
    for line in block.split("\n"):
        size = _size(line)
        if size <= MOST:
            yield line, size
        else:
            yield from _apart(_pack(_pieces(line, _SENTENCE), "", 0))


def _pieces(text: str, border: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """A text cut behind every border; what is still too long is cut at words, then anywhere."""
    start = 0
    for end in chain((found.end() for found in border.finditer(text)), (len(text),)):
        piece = text[start:end]
        start = end
        size = _size(piece)
        if size <= MOST:
            yield piece, size
        elif border is _SENTENCE:
            yield from _pieces(piece, _WORD)
        else:
            for place in range(0, len(piece), MOST):
                yield piece[place : place + MOST], MOST  # alone: no character is two tokens


def _apart(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Pieces of one whole: each counts as full but the last, or they would be glued wrongly."""
    before = None
    for text in texts:
        if before is not None:
            yield before, MOST
        before = text
    if before is not None:
        yield before, _size(before)


def _pack(pieces: Iterable[tuple[str, int]], glue: str, price: int) -> Iterator[str]:
    """Put together what fits, in order."""
    held: list[str] = []
    total = 0
    for text, size in pieces:
        if held and total + price + size > MOST:
            yield from _whole(held, glue)
            held, total = [], 0
        total += size + (price if held else 0)
        held.append(text)
    yield from _whole(held, glue)


def _whole(held: list[str], glue: str) -> Iterator[str]:
    text = glue.join(held).strip("\n").rstrip()
    if text:
        yield text


def _size(text: str) -> int:
    """The tokens of a text, or more than fit."""
    return estimate(text) if len(text) <= _LONG else MOST + 1
