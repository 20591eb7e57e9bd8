"""The blocks of an answer that may hold claims: `find` paragraphs, list items and table rows.

    ``` to the next ```, or to the end     left out (the fences of `rules.citations`)
    > quotation, # heading, **heading**    left out; so is one line over === or --- that does not
                                           end like a sentence
    a line of `code` alone                 left out
    - item, 1. item, a) item               an ITEM, with the lines that follow it
    | cell | cell |                        a ROW; the line over |---|---| is the header of the
                                           rows below it, and neither is a block
    other lines up to a blank one          a TEXT

Spans are code points, half-open. Lines end at LF only. Linear in the answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is."""

    TEXT = "text"
    ITEM = "item"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """A stretch of an answer; `header` is the span of a row's table header."""

    kind: BlockKind
    start: int
    end: int
    header: tuple[int, int] | None = None


_LINE = re.compile(
    r"[ \t]*+(?:(?P<fence>`{3})|(?P<blank>$)|(?P<skipped>>|\#{1,6}(?:[ \t]|$)"
    r"|`[^`]++`[ \t.,:;]*+$|\*\*[^*]++\*\*:?[ \t]*+$|__[^_]++__:?[ \t]*+$)"
    r"|(?P<under>={2,}+[ \t]*+$|-{2,}+[ \t]*+$)"
    r"|(?P<item>(?:[-*+•]|[0-9]{1,3}[.)]|[A-Za-z]\))[ \t]++)"
    r"|(?P<rule>[|:-][|:\- \t]*+$)|(?P<row>\|))"
)
_CELLS = re.compile(r"[^|]*+\|")


def find(answer: str) -> Iterator[AnswerBlock]:
    """The blocks of an answer, in order."""
    waiting: AnswerBlock | None = None
    header: tuple[int, int] | None = None
    in_fence = in_table = False
    for start, end in _lines(answer):
        line = answer[start:end]
        opening = _LINE.match(line)
        kind = opening.lastgroup if opening else None
        if in_fence or kind == "fence":
            in_fence ^= kind == "fence"
            kind = "skipped"
        if kind == "rule" or (kind == "under" and waiting is not None and _CELLS.match(line)):
            header = (waiting.start, waiting.end) if waiting else None
            waiting, in_table = None, True
            continue
        if in_table and kind is None and _CELLS.match(line):
            kind = "row"
        if kind is None and waiting is not None and waiting.kind is not BlockKind.ROW:
            waiting = replace(waiting, end=end)
            continue
        if waiting is not None and not (kind == "under" and _is_title(answer, waiting)):
            yield waiting
        waiting = None
        if kind != "row":
            header, in_table = None, False
        if kind in (None, "item", "row"):
            begin = start + (opening.end("item") if opening and kind == "item" else 0)
            waiting = AnswerBlock(BlockKind(kind or "text"), begin, end, header)
    if waiting is not None:
        yield waiting


def _is_title(answer: str, block: AnswerBlock) -> bool:
    """Whether a line under this block makes it a heading: one line that is no sentence."""
    text = answer[block.start : block.end].rstrip()
    return block.kind is BlockKind.TEXT and "\n" not in text and text[-1] not in ".!?…:]。！？"


def _lines(answer: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(answer):
        end = answer.find("\n", start)
        end = len(answer) if end < 0 else end
        yield start, end
        start = end + 1
