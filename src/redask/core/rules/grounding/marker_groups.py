"""Several markers in one bracket, as models write them, become one marker each: `rewrite` a text.

    [^1, ^2]   [^1,2]   [^1 ,^2,^3]     →  [^1][^2]   [^1][^2]   [^1][^2][^3]

A group is `[^`, then 2 to 32 numbers of 1 to 10 ASCII digits, a comma between two of them, at most
two spaces or tabs on either side of it and perhaps `^` after it, then `]`. Everything else is left
as it is: fenced code, an escaped `[`, and what `citations` reads as one malformed marker. What is
code and what is escaped is as in `citations`; inline backticks hide nothing there, nor here.

`GroupRewriter` does the same to a text that comes in pieces, however it is cut: `take` each piece,
then `end`. It holds back no more than a group that is not complete, so a marker is never cut in
two. Linear in the text: every pattern is anchored or bounded, and what is held is bounded.
"""

import re

from redask.core.text import compiled_later

_BETWEEN = r"[ \t]{0,2}+,[ \t]{0,2}+\^?+"
_NUMBERS = rf"[0-9]{{1,10}}+(?:{_BETWEEN}[0-9]{{1,10}}+)"
_GROUP = re.compile(rf"\[\^({_NUMBERS}{{1,31}}+)\]")
_TOKEN = compiled_later(
    r"(?:\\[\s\S])++"
    rf"|\[\^(?P<numbers>{_NUMBERS}{{1,31}}+)\]"
    r"|\[\^[^\]\n]{0,16}+\]"
    r"|(?P<open>\\\Z|\[\Z|\[\^[^\]\n]{0,16}+\Z"
    rf"|\[\^{_NUMBERS}{{0,31}}+(?:[ \t]{{0,2}}+(?:,[ \t]{{0,2}}+\^?+)?+)?+\Z)"
)
_NUMBER = re.compile(r"[0-9]+")
_BLANKS = re.compile(r"[ \t]*+")
_TEXT, _FENCE = -1, 3  # instead of a number of backticks


def rewrite(text: str) -> str:
    """The text with one marker in each bracket."""
    if _GROUP.search(text) is None:
        return text
    rewriter = GroupRewriter()
    return rewriter.take(text) + rewriter.end()


class GroupRewriter:
    """A text in pieces: what of it is final, rewritten."""

    def __init__(self) -> None:
        self._held = ""
        self._fenced = False
        self._ticks = 0  # backticks that the line begins with so far, or _TEXT, or _FENCE

    def take(self, piece: str) -> str:
        """What is final by now and was not before."""
        text, self._held = self._held + piece, ""
        final: list[str] = []
        at = 0
        while at < len(text):
            line_feed = text.find("\n", at)
            end = line_feed + 1 or len(text)
            at = self._begin_line(text, at, end, final)
            if self._fenced or self._ticks == _FENCE:
                final.append(text[at:end])
            else:
                self._rewrite_line(text, at, end, final)
            if line_feed >= 0:
                self._ticks = 0
            at = end
        return "".join(final)

    def end(self) -> str:
        """The rest: no piece follows."""
        held, self._held = self._held, ""
        return held

    def _begin_line(self, text: str, at: int, end: int, final: list[str]) -> int:
        """Read the blanks and backticks a line begins with. → where the rest of it begins"""
        start = at
        if self._ticks == 0:
            at = _BLANKS.match(text, at, end).end()  # type: ignore[union-attr]  # matches nothing
        while 0 <= self._ticks < _FENCE and at < end:
            if text[at] == "`":
                self._ticks += 1
                at += 1
                self._fenced ^= self._ticks == _FENCE
            else:
                self._ticks = _TEXT
        final.append(text[start:at])
        return at

    def _rewrite_line(self, text: str, at: int, end: int, final: list[str]) -> None:
        while found := _TOKEN.search(text, at, end):
            final.append(text[at : found.start()])
            at = found.end()
            if found["open"] is not None:
                self._held = found[0]
                break
            numbers = found["numbers"]
            final.append(found[0] if numbers is None else _markers(numbers))
        final.append(text[at:end])


def _markers(numbers: str) -> str:
    return "".join(f"[^{number}]" for number in _NUMBER.findall(numbers))
