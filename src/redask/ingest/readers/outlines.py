"""What readers of documents make: an `Outline` of sections, and `OutlineBuilder` to make one.

block     the smallest piece of text with a meaning of its own; `kind` says which
          text   a paragraph
          code   with fences, so that its lines are told from prose
          list   one item or several
          table  Markdown's: a header, a line of dashes, rows
line      of the file where the block begins, from 1; 0 when the file has no lines
place     what else says where it is: {page}, {slide}, {sheet, cells}, {cells}
section   the blocks below one heading, and the path of headings to it
title     the given one; else the first heading, if no text is before it and no other heading
          is of its level. Such a heading is left out of heading paths
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

TEXT, CODE, LIST, TABLE = "text", "code", "list", "table"
NOWHERE: Mapping[str, int | str] = {}
_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•]|[0-9]{1,4}[.)]|[A-Za-z#][.)])[ \t]")
_MAX_FENCE = 16
_MAX_EMPTY = 10_000
_DASHES = re.compile(r"[ \t]{0,3}\|?[ \t]{0,20}:?-[-:| \t]{0,2000}$")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document that is not cut if it can be helped."""

    text: str
    kind: str = TEXT
    line: int = 0
    place: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(slots=True)
class Section:
    """A path of headings, and the blocks below the last of them."""

    headings: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class Outline:
    """A text in sections, in text order; `title` is empty when it has none."""

    title: str
    sections: list[Section]


class OutlineBuilder:
    """Takes headings and blocks in text order."""

    def __init__(self) -> None:
        self._found: list[tuple[int, Section]] = [(0, Section(()))]
        self._above: list[tuple[int, str]] = []

    def heading(self, level: int, name: str) -> None:
        """Begin a section; `level` is 1 for the highest."""
        while self._above and self._above[-1][0] >= level:
            self._above.pop()
        self._above.append((level, name))
        self._found.append((level, Section(tuple(each for _, each in self._above))))

    def go_on_above(self, level: int) -> None:
        """End the sections of this level and below: what follows belongs to the one above them."""
        while self._above and self._above[-1][0] >= level:
            self._above.pop()
        self._found.append((level, Section(tuple(each for _, each in self._above))))

    def block(
        self, text: str, kind: str = "", line: int = 0, place: Mapping[str, int | str] = NOWHERE
    ) -> None:
        """Add a block, unless it is blank; without a kind, that is found out."""
        kept = text.strip("\n").rstrip()
        if kept:
            self._found[-1][1].blocks.append(Block(kept, kind or kind_of(kept), line, place))

    def outline(
        self, title: str = "", front: Block | None = None, *, headed: bool = True
    ) -> Outline:
        """All of it; `front` comes before everything else. Not `headed`: no heading is a title."""
        found = self._found
        highest = self._title() if headed else None
        if highest is not None:
            title = title or highest
            found = [(_, Section(each.headings[1:], each.blocks)) for _, each in found]
        top = [front] if front else []
        top += [block for _, section in found if not section.headings for block in section.blocks]
        below = [section for _, section in found if section.headings]
        return Outline(title, [Section((), top), *below])

    def _title(self) -> str | None:
        """The heading that is the title, if there is one."""
        levels = [level for level, _ in self._found if level]
        if not levels or self._found[0][1].blocks:
            return None
        first, rest = levels[0], levels[1:]
        if rest and min(rest) <= first:
            return None
        return next(section.headings[0] for level, section in self._found if level)


def kind_of(text: str) -> str:
    """The kind of a block of Markdown."""
    if text.lstrip()[:3] in ("```", "~~~"):
        return CODE
    if _ITEM.match(text):
        return LIST
    first, _, rest = text.partition("\n")
    if "|" in first and _DASHES.match(rest.partition("\n")[0]):
        return TABLE
    is_indented = all(line.startswith(("    ", "\t")) for line in text.split("\n") if line.strip())
    return CODE if is_indented else TEXT


def fenced(code: str, language: str = "") -> str:
    """Code between fences that do not occur in it; as it is if there are none."""
    for sign in "`~":
        longest = max(map(len, re.findall(f"{sign}+", code)), default=0)
        if longest < _MAX_FENCE:
            mark = sign * max(3, longest + 1)
            return f"{mark}{language}\n{code}\n{mark}"
    return code


def is_dense(rows: int, columns: int, cells: int) -> bool:
    """Whether a table can be filled up with empty cells: not if they are nearly all of it."""
    return rows * columns <= _MAX_EMPTY + 20 * cells


def table(rows: list[list[str]]) -> str:
    """Rows of cells as Markdown; the first is the header. Short rows are filled if dense."""
    width = max(map(len, rows), default=0)
    is_filled = is_dense(len(rows), width, sum(map(len, rows)))
    lines = []
    for row in rows:
        cells = [" ".join(cell.replace("|", "\\|").split()) for cell in row]
        cells += [""] * (width - len(cells) if is_filled else 0)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines[:1], "|" + " --- |" * width, *lines[1:]]) if lines else ""
