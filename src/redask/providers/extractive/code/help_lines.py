"""Options in the help text of a command: `find` gives each on a line of its own.

    -p, --port INTEGER    Port of the server,        -p, --port INTEGER Port of the server,
                          defaults to 8001     →     defaults to 8001
    page_size             Rows of a page (100)       page_size Rows of a page (100)

An entry is a name or an option, two spaces or more, and MIN_WORDS words or more that describe it,
with the lines that go on further to the right. A block with fewer than MIN_ENTRIES of them
is code. Linear in the text.
"""

import re

from redask.providers.extractive.text_blocks import one_line

MIN_ENTRIES = 2
MIN_WORDS = 3
_ENTRY = re.compile(
    r"[ \t]{0,12}(?:-{1,2}\w[^\n]{0,80}?|[A-Za-z][\w.-]{1,48})[ \t]{2,60}(?P<text>\S)"
)
_MAX_ENTRY = 500
_PROSE = re.compile(r"[A-Za-z]{2,32}(?=[\s.,;:)]|$)")


def find(code: str) -> list[str]:
    """The entries of a help text; none if it is other code."""
    entries: list[list[str]] = []
    column = 0
    for line in code.split("\n"):
        text = line.lstrip(" ")
        opening = _ENTRY.match(line)
        if text and column and len(line) - len(text) >= column:
            entries[-1].append(line)
        elif opening:
            entries.append([line])
            column = opening.start("text")
        elif text.startswith("-") and column:
            entries.append([line])  # described on the next line
        elif text:
            column = 0
    lines = [one_line(" ".join(each)) for each in entries]
    kept = [each for each in lines if len(each) <= _MAX_ENTRY and _is_described(each)]
    return kept if len(kept) >= MIN_ENTRIES else []


def _is_described(entry: str) -> bool:
    return len(_PROSE.findall(entry.partition(" ")[2])) >= MIN_WORDS
