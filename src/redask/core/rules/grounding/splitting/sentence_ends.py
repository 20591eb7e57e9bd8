"""Where sentences end: `split` cuts a stretch of running text into spans, offsets kept.

    an end        . ! ? … 。 ！ ？ with the quotes and brackets that close it, then white space
                  (none needed after 。 ！ ？), when no lower-case letter follows
    no end        after an abbreviation (Dr. e.g. vol.), an initial (J. Smith) or a dotted acronym
                  (U.S.) or a street's (5th Ave.); after these, unless a word that opens
                  sentences follows ("the U.S. The …"); before the number of "ext. 4471"
    its notes     note marks such as [3] or [^3] that follow, also after spaces, belong to the
                  sentence before, unless a lower-case letter follows them ("[^1] says …")
    a line        whose last characters are a [^N] ends a sentence, too

A stretch is a paragraph, so a line break in it is white space. Time is linear: every pattern is
bounded or possessive.
"""

import re

from redask.core.rules.terms import ENGLISH

ABBREVIATIONS = frozenset(
    """
    al approx apr art aug bros ca capt cf ch chap co col corp dec dept dr ed eds eg est etc feb
    fig figs ft gen gov hon ie inc jan jr jul jun lt ltd mar messrs mr mrs ms mt no nos nov oct
    op pp prof rep rev sec sen sep sept sgt sr vol vs
    """.split()
)
OF_NUMBERS = frozenset("ext fax max min nr tel".split())
_STREETS = frozenset("av ave avda blvd hwy rd sq st str".split())
_NOTES = r"(?:\s{0,4}(?:,\s?)?\[\^?[^\[\]\s]{1,16}\])*+"
_END = re.compile(  # begins with one set of characters: so the search is fast
    rf"[.!?…。！？\[](?:(?<=\[)(?P<line>\^[0-9]{{1,10}}+\](?=[ \t]{{0,4}}(?:\n|$)))"
    rf"|(?<=[.!?…])(?P<stop>[.!?…]{{0,7}}+[\"'”’»)\]*_]{{0,8}}+(?: ''(?= ))?){_NOTES}(?=\s|$)"
    rf"|(?<=[。！？])[。！？]{{0,7}}+[\"'”’»）」』]{{0,8}}+{_NOTES})"
)
_FOLLOWING = re.compile(r"\s{0,8}+([^\s]?)(\w{0,32}+)")
_NO_ABBREVIATION = 7
_INITIALS = re.compile(r"[A-Za-z]|[A-Za-z]{1,3}(?:\.[A-Za-z]{1,3})+")
_LAST = re.compile(r"[^\s(\"'\[“‘]{1,32}$")


def split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the sentences of text[start:end], without the white space around them."""
    cuts = [stop.end() for stop in _END.finditer(text, start, end) if _ends(text, stop, end)]
    spans = [trim(text, *place) for place in zip([start, *cuts], [*cuts, end], strict=True)]
    return [span for span in spans if span[0] < span[1]]


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of text[start:end] without the white space around it."""
    inner = text[start:end]
    first = start + len(inner) - len(inner.lstrip())
    return first, max(first, start + len(inner.rstrip()))


def _ends(text: str, stop: re.Match[str], end: int) -> bool:
    at = stop.start()
    after = text[stop.end() + 1 : min(end, stop.end() + 2)]
    before = text[max(0, at - _NO_ABBREVIATION) : at]
    if len(before) == _NO_ABBREVIATION and before.isalpha() and after.isupper():
        return True  # the usual case, without a search
    following = _FOLLOWING.match(text, stop.end(), end)
    first, rest = following.groups() if following else ("", "")
    if first.islower():
        return stop["line"] is not None
    if stop["stop"] is None or text[at] != "." or "." in stop["stop"]:
        return True
    last = _LAST.search(text[max(0, at - 32) : at])
    if last is None:
        return True
    word = last[0]
    if word.replace(".", "").lower() in ABBREVIATIONS:
        return not first
    if word.lower() in OF_NUMBERS and first.isdigit():
        return False
    if word.lower() not in _STREETS and not _INITIALS.fullmatch(word):
        return True
    return not first or (first + rest).lower() in ENGLISH
