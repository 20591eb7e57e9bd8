"""The citation markers of an answer: `parse` finds every `[^N]`, well-formed or malformed.

N is a decimal from 1 to 2^32-1, ASCII digits, no leading zero. Read from left to right:

    a line of spaces/tabs, then ``` or more   a fence: it and all up to the next such line is
                                              skipped; an unclosed one hides the rest
    \\x                                        skipped: an odd run of backslashes escapes `[`
    [^digits]                                 a marker; `malformed` if 0, 01 or too large
    [^]                                       `malformed`
    [^…]  1–16 characters up to the first     `malformed`
          `]`, no LF, not all digits
    any other [^                              plain text; scanning continues at the next character

A marker beyond the source count is a citation and an issue `out_of_range`. Lines end at LF
only; `~~~` and single backticks hide nothing. Never raises; linear in the text: every
alternative is anchored, bounded, or possessive.
"""

import re
from dataclasses import dataclass

from redask.core.model import Citation, Issue

_MAX_MARKER = (1 << 32) - 1
_SHOWN = 24

_FENCE = r"^[ \t]*+`{3,}+[^\n]*+"
_TOKEN = re.compile(
    rf"(?P<fence>{_FENCE})|(?:\\[\s\S])++|\[\^(?:(?P<digits>[0-9]++)|(?P<other>[^\]\n]{{0,16}}+))\]",
    re.MULTILINE,
)
_NEXT_FENCE = re.compile(_FENCE, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The citations and issues of an answer, in text order."""

    citations: tuple[Citation, ...]
    issues: tuple[Issue, ...]
    sources_count: int


def parse(text: str, sources_count: int) -> Parsed:
    """The markers of `text`, whose sources are numbered 1 to `sources_count`."""
    citations: list[Citation] = []
    issues: list[Issue] = []
    position = 0
    while found := _TOKEN.search(text, position):
        position = found.end()
        if found["fence"] is not None:
            closing = _NEXT_FENCE.search(text, position)
            position = closing.end() if closing else len(text)
        elif found["digits"] or found["other"] is not None:
            digits = found["digits"] or ""
            marker = _marker(digits)
            if marker is None:
                issues.append(Issue("malformed", found.span(), _explain(found[0], digits)))
                continue
            citations.append(Citation(marker, found.span(), marker - 1))
            if marker > sources_count:
                detail = f"[^{marker}] points beyond the {sources_count} sources"
                issues.append(Issue("out_of_range", found.span(), detail))
    return Parsed(tuple(citations), tuple(issues), sources_count)


def _marker(digits: str) -> int | None:
    if not digits or digits[0] == "0" or len(digits) > 10:
        return None
    marker = int(digits)
    return marker if marker <= _MAX_MARKER else None


def _explain(token: str, digits: str) -> str:
    shown = token if len(token) <= _SHOWN else token[: _SHOWN - 2] + "…]"
    if not shown.isprintable():  # it goes into a prompt, a log and an audit row
        shown = ascii(shown)[1:-1]
    if not digits:
        return f"{shown} is no marker: a marker is [^N] with N a source's number"
    reason = "starts with a zero" if digits[0] == "0" else f"is above {_MAX_MARKER}"
    return f"the number in {shown} {reason}"
