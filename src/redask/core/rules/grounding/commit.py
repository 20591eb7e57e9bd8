"""What may be sent of an answer while it is still written: gates, which take it in pieces.

    in force     gate            what it lets through
    OFF, ON      MarkerGate      all of it as it comes; but from a marker beyond the sources on,
                                 nothing until its sentence has ended
    SUPPORTED    SentenceGate    whole sentences with the markers behind them, once examined

Pieces hold no marker that is cut in two (`marker_groups` sees to that). What a gate lets through,
one after the other, is the answer: nothing twice, nothing left out, the rest at the `end`.

A `SentenceGate` says what is to be examined: from the beginning of the paragraph or list that is
being written (its lead-in included) to the last complete word. By the claims found there, all is
whole but the last of them, which may still grow. Linear: a long list is examined again only when
it has grown by an eighth.
"""

import re
from collections.abc import Sequence

from redask.core.rules.grounding.claims import Claim
from redask.core.rules.grounding.splitting import answer_blocks
from redask.core.rules.grounding.splitting.answer_blocks import BlockKind
from redask.core.text import compiled_later

_MARKER = re.compile(r"\[\^([0-9]{1,10}+)\]")
_SENTENCE_END = compiled_later(r"\n|[。！？]|[.!?…][\"'”’»)\]*_]{0,8}+(?=\s)")
_BLANK = re.compile(r"\s")
_ENDED = compiled_later(
    r"(?:[.!?…。！？][\"'”’»)*_]{0,8}+|\n)[ \t]{0,8}+(?:\[\^[0-9]{1,10}+\]\s{0,8}+)*+\Z"
)
_WINDOW = 16
_BEFORE = 96
# a word that is complete, after what may have ended a sentence
_NEXT_WORD = compiled_later(r"(?:[.!?…\])\"'”’»*_]\s{1,16}+|[。！？」』）\n]\s{0,16}+)\S{1,64}+\s")
_EXAMINED_OFTEN = 512


class MarkerGate:
    """Lets everything through, but a sentence with a marker beyond the sources in one piece."""

    def __init__(self, sources_count: int) -> None:
        self._count = sources_count
        self._held: list[str] = []
        self._window = ""  # the end of what is held, where the end of a sentence may begin
        self._before = ""  # the end of what was let through
        self._awaited = _SENTENCE_END

    def take(self, piece: str) -> str:
        """What may be sent now and could not before."""
        sent: list[str] = []
        at = 0
        while at < len(piece):
            at = self._hold(piece, at, sent) if self._held else self._let(piece, at, sent)
        return "".join(sent)

    def end(self) -> str:
        """The rest: no piece follows."""
        rest, self._held = "".join(self._held), []
        return rest

    def _let(self, piece: str, at: int, sent: list[str]) -> int:
        """Let a piece through up to a marker that points nowhere. → where to go on"""
        found = next(
            (each for each in _MARKER.finditer(piece, at) if int(each[1]) > self._count), None
        )
        through = piece[at : found.start()] if found else piece[at:]
        sent.append(through)
        self._before = (self._before + through[-_BEFORE:])[-_BEFORE:]
        if found is None:
            return len(piece)
        self._awaited = _BLANK if _ENDED.search(self._before) else _SENTENCE_END
        self._held, self._window = [found[0]], ""
        return found.end()

    def _hold(self, piece: str, at: int, sent: list[str]) -> int:
        """Hold a piece back up to the end of the sentence. → where to go on"""
        text = self._window + piece[at:]
        found = self._awaited.search(text)
        if found is None:
            self._held.append(piece[at:])
            self._window = text[-_WINDOW:]
            return len(piece)
        end = at + found.end() - len(self._window)
        through = "".join([*self._held, piece[at:end]])
        sent.append(through)
        self._held, self._before = [], through[-_BEFORE:]
        return end


class SentenceGate:
    """Lets a sentence through when it was examined; see the module."""

    def __init__(self) -> None:
        self._pieces: list[str] = []  # since the beginning of what is examined
        self._length = 0
        self._sent = 0  # of these characters
        self._seen = ""  # the last characters, in which a sentence may have begun
        self._due = 0  # of these were to be examined
        self._examine_at = 0

    def take(self, piece: str) -> str | None:
        """Add a piece. → the text to examine now, if another sentence may be whole."""
        self._pieces.append(piece)
        self._length += len(piece)
        recent = self._seen + piece
        self._seen = recent[-_BEFORE:]
        if self._length < self._examine_at or not _NEXT_WORD.search(recent):
            return None
        text = "".join(self._pieces)
        self._pieces = [text]
        self._examine_at = self._length + max(0, self._length - _EXAMINED_OFTEN) // 8
        self._due = max(map(text.rfind, " \t\n")) + 1  # a word that may still grow is left out
        return text[: self._due]

    def whole(self, claims: Sequence[Claim]) -> tuple[int, int]:
        """The stretch of the examined text that is whole and was not sent; it may be empty."""
        return self._sent, max([self._sent, *(claim.span[0] for claim in claims[-1:])])

    def send(self, until: int) -> str:
        """Let the examined text through up to there, which is where its last claim begins."""
        text = "".join(self._pieces)
        through = text[self._sent : until]
        begin = _beginning(text[: self._due], until)
        self._pieces, self._length, self._sent = [text[begin:]], len(text) - begin, until - begin
        self._seen = self._seen[-(len(text) - until) :]
        self._examine_at = 0 if begin else self._examine_at
        return through

    def end(self) -> str:
        """The rest: no piece follows."""
        rest = "".join(self._pieces)[self._sent :]
        self._pieces, self._length, self._sent = [], 0, 0
        return rest


def _beginning(text: str, claim: int) -> int:
    """Where a claim that begins here is to be read from, so that it is read as in the answer.

    A sentence of a paragraph stands for itself; one that could be taken for something else at the
    beginning of a line is read from the beginning of its paragraph, and one of a list or a table
    from what was read so far, for a lead-in may carry its markers.
    """
    block = [each for each in answer_blocks.find(text) if each.start <= claim][-1]
    if block.kind is not BlockKind.TEXT:
        return 0
    first, second = text[claim], text[claim + 1 : claim + 2]
    return claim if first.isalpha() and second != ")" else block.start
