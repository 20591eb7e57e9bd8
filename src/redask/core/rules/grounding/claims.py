"""The claims of an answer: `split` finds what it states, each with its span and its markers.

    a claim        a sentence of a paragraph or a list item, or a table row      `answer_blocks`
                   that states something                                         `statements`
                   a lead-in (the last sentence before a list or table, ending in a colon) only
                   if it has a marker of its own
    its markers    those inside it or right after its full stop; a claim of a list item or a
                   table row without any has those of the lead-in ("According to [^1]:"), and a
                   row those of its table's header, too

Spans are code points into the answer and include the markers; `text` is the claim without its
markers and the mark of its list. Markers are those of `rules.citations`. Linear in the answer.
"""

from dataclasses import dataclass

from redask.core.model import Citation
from redask.core.rules import citations
from redask.core.rules.grounding.splitting import answer_blocks, sentence_ends, statements
from redask.core.rules.grounding.splitting.answer_blocks import AnswerBlock, BlockKind

_ANY_SOURCE = 1 << 32


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer; `span` is half-open, `markers` are in text order, once each."""

    span: tuple[int, int]
    markers: tuple[int, ...]
    text: str


def split(answer: str) -> tuple[Claim, ...]:
    """The claims of an answer, in its order."""
    reader = _ClaimReader(answer, citations.parse(answer, _ANY_SOURCE).citations)
    claims: list[Claim] = []
    lead_in: tuple[int, ...] = ()
    listed = BlockKind.TEXT
    header: tuple[tuple[int, int] | None, tuple[int, ...]] = (None, ())
    for block in answer_blocks.find(answer):
        if block.header and block.header != header[0]:
            header = block.header, reader.read(block.header).markers
        read = [reader.read(span) for span in _sentences(answer, block)]
        if block.kind is not listed and listed is not BlockKind.TEXT:
            lead_in = ()  # it covers one list or one table
        listed = block.kind
        outer = lead_in
        if block.kind is BlockKind.TEXT:
            outer = lead_in = ()
            if read and read[-1].text.rstrip("*_ ").endswith((":", "：")):
                lead_in = read[-1].markers
                read = read if lead_in else read[:-1]
        elif block.header:
            outer = tuple(dict.fromkeys(lead_in + header[1]))
        claims += [
            Claim(claim.span, claim.markers or outer, claim.text)
            for claim in read
            if statements.is_statement(claim.text, cited=bool(claim.markers))
        ]
    return tuple(claims)


def _sentences(answer: str, block: AnswerBlock) -> list[tuple[int, int]]:
    if block.kind is BlockKind.ROW:
        return [sentence_ends.trim(answer, block.start, block.end)]
    return sentence_ends.split(answer, block.start, block.end)


class _ClaimReader:
    """The text and the markers of spans of an answer that do not overlap, read in order."""

    def __init__(self, answer: str, found: tuple[Citation, ...]) -> None:
        self._answer = answer
        self._found = found
        self._next = 0

    def read(self, span: tuple[int, int]) -> Claim:
        """A span's text without its markers, and its markers."""
        start, end = span
        pieces: list[str] = []
        markers: dict[int, None] = {}
        while self._next < len(self._found) and self._found[self._next].span[0] < end:
            citation = self._found[self._next]
            self._next += 1
            if citation.span[0] >= start:
                pieces.append(self._answer[start : citation.span[0]].rstrip(" \t"))
                start = citation.span[1]
                markers[citation.marker] = None
        pieces.append(self._answer[start:end])
        return Claim(span, tuple(markers), "".join(pieces).strip())
