"""Text to blocks: `find` the paragraphs, headings, list items, table rows and code of Markdown.

    # Heading                               HEADING
    - item, 1. item, > quotation            ITEM, with the lines that follow it
    | cell | cell |                         ROW; `header` is the row over |---|---|, and that line
    ``` or ~~~ to the next, or to the end   CODE; so is what is indented below a line that ends
                                            in a colon
    other lines up to a blank one           TEXT; marks of notes (!!! tip) are left out

`text` is on one line, without the block's mark; of CODE it is all lines, as they are. `mark` is
what a list item begins with, indentation included, or the language of code. Linear in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_MAX_LANGUAGE = 20
_BLOCK = re.compile(
    r"(?P<space>[ \t]{0,24})(?:(?P<heading>\#{1,6})[ \t]"
    r"|(?P<item>(?:[-*+>•]|[0-9]{1,3}[.)])[ \t]{1,4})"
    r"|(?P<table>\|)|(?P<fence>`{3,20}|~{3,20})|(?P<note>(?:!!!|\?\?\?\+?) [^\n]{0,80}$))"
)
_RULE = re.compile(r"[|:\- \t]*+")
_INDENTED = re.compile(r"(?: {4}|\t)[ \t]*\S")


class TextBlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    TEXT = "text"
    ITEM = "item"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block; `header` has the two lines above the rows of a table."""

    kind: TextBlockKind
    text: str
    mark: str = ""
    header: str = ""


def one_line(text: str) -> str:
    """A text without line breaks, control characters and repeated spaces."""
    return " ".join(UNPRINTABLE.sub(" ", text).split())


def find(text: str) -> Iterator[TextBlock]:
    """The blocks of a text that are not empty, in order."""
    reader = _BlockReader()
    for line in text.split("\n"):
        yield from reader.take(line)
    yield from reader.end()


class _BlockReader:
    """Lines in, blocks out."""

    def __init__(self) -> None:
        self._waiting: TextBlock | None = None  # its text has one line for each that was taken
        self._lines: list[str] = []
        self._fence = ""
        self._after_colon = self._in_list = self._was_blank = False
        self._header = ""

    def take(self, line: str) -> Iterator[TextBlock]:
        """The blocks that end before this line."""
        if self._fence:
            yield from self._in_fence(line)
            return
        if self._waiting is not None and self._waiting.kind is TextBlockKind.CODE:
            if _INDENTED.match(line) or not line.strip():
                self._lines.append(line)
                return
            yield from self._flush()
        if not line.strip():
            yield from self._flush()
            self._was_blank, self._header = True, ""
            return
        was_blank, self._was_blank = self._was_blank, False
        if was_blank and self._after_colon and not self._in_list and _INDENTED.match(line):
            yield from self._begin(TextBlockKind.CODE, line)
            return
        yield from self._line(line)

    def _line(self, line: str) -> Iterator[TextBlock]:
        opening = _BLOCK.match(line)
        if opening is None:
            if self._waiting is None or self._waiting.kind is TextBlockKind.ROW:
                yield from self._begin(TextBlockKind.TEXT, line)
            else:
                self._lines.append(line)
            return
        rest = line[opening.end() :]
        if opening["note"] is not None:
            yield from self._flush()
        elif opening["heading"]:
            yield from self._begin(TextBlockKind.HEADING, rest)
            yield from self._flush()
        elif opening["fence"]:
            self._fence = opening["fence"]
            yield from self._begin(TextBlockKind.CODE, None, _language(rest))
        elif opening["table"]:
            yield from self._row(line)
        else:
            mark = opening["space"].expandtabs(4) + opening["item"].strip() + " "
            yield from self._begin(TextBlockKind.ITEM, rest, mark)

    def _row(self, line: str) -> Iterator[TextBlock]:
        waiting = self._waiting
        if _RULE.fullmatch(line) and waiting is not None and waiting.kind is TextBlockKind.ROW:
            self._header = f"{one_line(' '.join(self._lines))}\n{one_line(line)}"
            self._waiting, self._lines = None, []
            return
        if not _RULE.fullmatch(line):
            header = self._header
            yield from self._begin(TextBlockKind.ROW, line)
            if self._waiting is not None:
                self._waiting = replace(self._waiting, header=header)
            self._header = header

    def _in_fence(self, line: str) -> Iterator[TextBlock]:
        bare = line.strip()
        if bare.startswith(self._fence) and not bare.strip(self._fence[0]):
            self._fence = ""
            yield from self._flush()
        else:
            self._lines.append(line)

    def _begin(self, kind: TextBlockKind, line: str | None, mark: str = "") -> Iterator[TextBlock]:
        yield from self._flush()
        if kind is not TextBlockKind.ROW:
            self._header = ""
        self._waiting = TextBlock(kind, "", mark)
        self._lines = [] if line is None else [line]

    def _flush(self) -> Iterator[TextBlock]:
        waiting, self._waiting = self._waiting, None
        lines, self._lines = self._lines, []
        if waiting is None:
            return
        is_code = waiting.kind is TextBlockKind.CODE
        text = _code(lines) if is_code else one_line(" ".join(lines))
        self._after_colon = waiting.kind is TextBlockKind.TEXT and text.endswith(":")
        self._in_list = waiting.kind is TextBlockKind.ITEM
        if text:
            yield replace(waiting, text=text)

    def end(self) -> Iterator[TextBlock]:
        """The last block."""
        self._fence = ""
        yield from self._flush()


def _language(rest: str) -> str:
    word = rest.strip("`~ \t{}").split(" ")[0]
    return word if word.isascii() and word.isalnum() and len(word) <= _MAX_LANGUAGE else ""


def _code(lines: list[str]) -> str:
    """Lines of code without what they are all indented by, and without blank ones around them."""
    kept = [UNPRINTABLE.sub(" ", line.replace("\r", "").expandtabs(4)).rstrip() for line in lines]
    filled = [number for number, line in enumerate(kept) if line]
    kept = kept[filled[0] : filled[-1] + 1] if filled else []
    indent = min((len(line) - len(line.lstrip(" ")) for line in kept if line), default=0)
    return "\n".join(line[indent:] for line in kept)
