"""Sections to chunks: `cut` an outline into texts of at most MAX_TOKENS, each with a label.

    a section         is cut between blocks into as few chunks as fit; no chunk spans sections,
                      pages, slides or sheets
    code, list, table stays with the paragraph right before it, anything with a line before it that
                      ends in a colon, what belongs to an item of a list with that; items follow
                      their list. All of that is one chunk of up to MAX_TOGETHER tokens
    … too long        the last sentence of that paragraph stays with the block
    a long block      is cut by `block_cutting`, its first piece stays with what introduces it; that
                      is repeated above every further piece of a list
    label             the slugs of the headings above it, joined by dots; `top` before the first
    … further chunks  of a section: ~2, ~3 …
    … duplicates      -2, -3 … for a section whose label is taken
    place             {line} of its first block, and {page}, {slide}, {sheet}, {cells} of it; the
                      cells of a notebook from the first to the last (`3-4`)

So a label depends on the headings above a chunk and on the text before it in its own section, and
on nothing else in the file. Tokens are those of `core.token_count`, of the text alone.
"""

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from redask.ingest.readers.block_cutting import MAX_TOKENS, SENTENCE, size_of
from redask.ingest.readers.block_cutting import cut as cut_block
from redask.ingest.readers.outlines import LIST, TEXT, Block, Outline

TOP = "top"
MAX_TOGETHER = 2 * MAX_TOKENS  # an embedder reads the first half of it, the search by words all
_MAX_LEAD = 40
_MAX_HEAD = 64
_BETWEEN = 2  # tokens of a blank line
_MAX_SLUG = 60
_NOT_IN_SLUG = re.compile(r"[\W_]+")
_BORDERS = ("page", "slide")
_SHEET = ("sheet", "cells")

Sized = tuple[Block, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: the headings above it, its label, its text and its place."""

    headings: tuple[str, ...]
    label: str
    text: str
    place: Mapping[str, int | str] = field(default_factory=dict)


def cut(outline: Outline) -> Iterator[Chunk]:
    """The chunks of a document in their order."""
    used, last = {TOP}, Counter([TOP])
    for section in outline.sections:
        label = start = ".".join(map(slug, section.headings)) or TOP
        while section.headings and label in used:
            last[start] += 1
            label = f"{start}-{last[start]}"
        used.add(label)
        last[label] = max(1, last[label])
        number = 0
        for _, blocks in groupby(section.blocks, lambda block: _border(block.place)):
            for packed in _packed(list(blocks)):
                number += 1
                text = "\n\n".join([block.text for block in packed])
                own = label if number == 1 else f"{label}~{number}"
                yield Chunk(section.headings, own, text, _place(packed))


def slug(heading: str) -> str:
    """A heading as a part of a label: lower case, words joined by hyphens."""
    return _NOT_IN_SLUG.sub("-", heading.lower())[:_MAX_SLUG].strip("-") or "section"


def _border(place: Mapping[str, int | str]) -> list[int | str | None]:
    return [place.get(name) for name in (_SHEET if "sheet" in place else _BORDERS)]


def _place(blocks: list[Block]) -> dict[str, int | str]:
    place = dict(blocks[0].place)
    if blocks[0].line:
        place["line"] = blocks[0].line
    if "cells" in place and blocks[-1].place != blocks[0].place:
        place["cells"] = f"{place['cells']}-{blocks[-1].place.get('cells')}"
    return place


def _packed(blocks: list[Block]) -> Iterator[list[Block]]:
    """Consecutive blocks, or pieces of them, that make a chunk."""
    packer = _Packer()
    sized = [(block, size_of(block.text)) for block in blocks]
    for unit in _runs(sized, _belongs):
        rest = unit if _total(unit) <= MAX_TOKENS else (yield from packer.begin(unit))
        if _total(rest) <= _most(rest):
            yield from packer.add(rest)
        else:
            for part in _runs(rest, _introduces):
                yield from packer.add(part) if _total(part) <= _most(part) else packer.cut(part)
    yield from packer.flush()


def _runs(blocks: Iterable[Sized], joins: Callable[[Block, Block], bool]) -> Iterator[list[Sized]]:
    """Blocks in runs of which each is joined to the one before."""
    run: list[Sized] = []
    for each in blocks:
        if run and not joins(run[-1][0], each[0]):
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def _introduces(one: Block, other: Block) -> bool:
    """Whether a block is what the next one is read with."""
    if one.text.endswith(":"):
        return True
    if other.kind == TEXT:
        return False
    return one.kind == TEXT or (one.kind == LIST and other.kind != LIST)


def _belongs(one: Block, other: Block) -> bool:
    """The same, and the items of one list, with their indented paragraphs, are together."""
    if one.kind == LIST and (other.kind == LIST or other.text[0] in " \t"):
        return True
    if other.kind == LIST and one.text[0] in " \t":
        return True
    return _introduces(one, other)


def _most(unit: list[Sized]) -> int:
    """How long blocks may be that stay together; one alone is cut."""
    return MAX_TOGETHER if len(unit) > 1 else MAX_TOKENS


def _total(blocks: list[Sized]) -> int:
    return sum(size for _, size in blocks) + _BETWEEN * (len(blocks) - 1)


class _Packer:
    """The blocks of the chunk that is being filled."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._tokens = 0

    def add(self, blocks: list[Sized]) -> Iterator[list[Block]]:
        """Add blocks that fit into a chunk, all to the same one."""
        if self._blocks and self._room() < _total(blocks):
            yield from self.flush()
        self._tokens += _total(blocks) + (_BETWEEN if self._blocks else 0)
        self._blocks += [block for block, _ in blocks]

    def begin(self, blocks: list[Sized]) -> Generator[list[Block], None, list[Sized]]:
        """Add all but the last sentence of what introduces blocks; what is left of them."""
        parts = _lead_in(blocks[0][0], blocks[1]) if len(blocks) > 1 else []
        if not parts or parts[0][1] <= _MAX_HEAD:
            return blocks
        yield from self.add(parts[:1])
        yield from self.flush()
        return [*parts[1:], *blocks[1:]]

    def cut(self, blocks: list[Sized]) -> Iterator[list[Block]]:
        """Add blocks that do not fit into one chunk, but belong together."""
        waiting = [*reversed(blocks)]
        while waiting:
            block, size = waiting.pop()
            following = waiting[-1] if waiting else None
            if following and (parts := _lead_in(block, following)):
                yield from self.add(parts[:1])
                yield from self.flush()
                block, size = parts[1]
            elif following and size <= MAX_TOKENS and not self._introduces(block):
                yield from self.flush()
            if size <= self._room() or (size <= MAX_TOKENS and not self._introduces(block)):
                yield from self.add([(block, size)])
            else:
                yield from self._add_pieces(block)

    def flush(self) -> Iterator[list[Block]]:
        """The chunk that was filled."""
        if self._blocks:
            yield self._blocks
        self._blocks, self._tokens = [], 0

    def _add_pieces(self, block: Block) -> Iterator[list[Block]]:
        lead: list[Sized] = []
        if not self._introduces(block):
            yield from self.flush()
        elif block.kind == LIST:
            lead = _repeated(self._blocks[-1])
        limit = MAX_TOKENS - sum(size + _BETWEEN for _, size in lead)
        for number, piece in enumerate(cut_block(block, min(self._room(), limit), limit)):
            if number:
                yield from self.flush()
            line = block.line and block.line + piece.offset
            part = replace(block, text=piece.text, line=line)
            above = [(replace(one, line=line), size) for one, size in lead] if number else []
            yield from self.add([*above, (part, piece.size)])

    def _introduces(self, block: Block) -> bool:
        return bool(self._blocks) and _introduces(self._blocks[-1], block)

    def _room(self) -> int:
        return MAX_TOKENS - self._tokens - (_BETWEEN if self._blocks else 0)


def _repeated(block: Block) -> list[Sized]:
    """The last sentence of what introduces a list, if it is short."""
    ends = [found.end() for found in SENTENCE.finditer(block.text) if found.end() < len(block.text)]
    text = block.text[ends[-1] if ends else 0 :].strip()
    size = size_of(text)
    return [(replace(block, text=text), size)] if block.kind == TEXT and size <= _MAX_LEAD else []


def _lead_in(block: Block, following: Sized) -> list[Sized]:
    """A paragraph in two: its last sentence is to stay with a block that all of it does not."""
    if block.kind != TEXT or size_of(block.text) > MAX_TOKENS:
        return []
    ends = [found.end() for found in SENTENCE.finditer(block.text)]
    if not ends or ends[-1] == len(block.text):
        return []
    head, tail = block.text[: ends[-1]].rstrip(), block.text[ends[-1] :]
    size = size_of(tail)
    if size + _BETWEEN + min(following[1], MAX_TOKENS // 2) > MAX_TOKENS:
        return []
    line = block.line and block.line + head.count("\n")
    return [
        (replace(block, text=head), size_of(head)),
        (replace(block, text=tail, line=line), size),
    ]
