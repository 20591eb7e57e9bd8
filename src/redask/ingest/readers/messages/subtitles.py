"""Subtitles (.srt, .vtt): what is said, a paragraph for each sentence or pause, with its time.

    [00:12:04] Speaker: words     the time when it begins; cues are joined until one ends a
                                  sentence, PAUSE seconds pass, or there are MAX_CUES
    <v Name>                      "Name: "; other tags are left out
    line                          of the first cue

A file without any cue is refused. A cue that is not one is passed over, so a shortened file is
read as far as it goes.
"""

import re
from collections.abc import Iterator

from redask.core.errors import BadAsk
from redask.ingest.readers import content, passages
from redask.ingest.readers.outlines import TEXT, OutlineBuilder
from redask.ingest.records import OpenedFile, ReadRecord

PAUSE = 4
MAX_CUES = 8
_STAMP = r"(?:([0-9]{1,3}):)?([0-9]{1,2}):([0-9]{2})[,.][0-9]{1,3}"
_TIMES = re.compile(rf"[ \t]{{0,8}}{_STAMP}[ \t]{{0,8}}-->[ \t]{{0,8}}{_STAMP}")
_VOICE = re.compile(r"<v(?:\.[\w.]{1,60})?[ \t]([^<>\n]{1,100})>")
_TAG = re.compile(r"</?[A-Za-z0-9][^<>\n]{0,100}>|\{\\[^{}\n]{0,100}\}")
_END = re.compile(r"[.!?…。！？][\"'”’)\]]{0,3}$")


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of a file of subtitles."""
    builder = OutlineBuilder()
    said: list[str] = []
    start = line = until = 0
    has_cues = False
    for number, begin, end, text in _cues(content.text(file.data)):
        has_cues = True
        if said and (begin - until > PAUSE or _END.search(said[-1]) or len(said) >= MAX_CUES):
            builder.block(_paragraph(start, said), TEXT, line)
            said = []
        if not said:
            start, line = begin, number
        if text:
            said.append(text)
        until = end
    if said:
        builder.block(_paragraph(start, said), TEXT, line)
    if not has_cues and file.data.strip():
        raise BadAsk("holds no subtitles: no line is like `00:00:01,000 --> 00:00:02,000`")
    return passages.read(file.found, builder.outline())


def _cues(text: str) -> Iterator[tuple[int, int, int, str]]:
    """The line, begin, end and text of each cue."""
    found: re.Match[str] | None = None
    at = 0
    words: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        times = _TIMES.match(line)
        if found and (times or not line.strip()):
            yield at, _seconds(found, 1), _seconds(found, 4), " ".join(" ".join(words).split())
            found, words = None, []
        if times:
            found, at = times, number
        elif found:
            words.append(_TAG.sub("", _VOICE.sub(r"\1: ", line)))


def _seconds(found: re.Match[str], first: int) -> int:
    return int(found[first] or 0) * 3600 + int(found[first + 1]) * 60 + int(found[first + 2])


def _paragraph(start: int, said: list[str]) -> str:
    return f"[{start // 3600:02d}:{start // 60 % 60:02d}:{start % 60:02d}] {' '.join(said)}"
