"""What a source that is all code says in words, and its settings: `find` its lines.

    a comment, a docstring    # The fare is paid on board.    Returns the fare in Euro.
    a setting                 power: 120      berths = 42      "port": 8080,

A source is all code if nothing is around its one block: a function, a section of a settings file.
Of code between sentences no line is quoted without the rest. Lines are as they stand there, without
the marks around them. Every pattern is bounded.
"""

import re

from redask.core.text import compiled_later

MOST_LINES = 60
_FENCE = "```"
_SETTINGS = frozenset(("yaml", "toml", "ini"))
_SETTING = re.compile(r"[\w.\"'-]{1,80} ?[:=] ?\S.{0,300}$")
_COMMENT = compiled_later(r"(?:#+|//+|--+|;+|/\*+|\*+)!? {0,4}(?=\S)")
_OPENS = compiled_later(r"[rRuUbBfF]{0,2}(\"\"\"|''')")
_WORDS = re.compile(r"[^\W\d_]{2,}[^\w\n]{1,3}[^\W\d_]{2,}")


def find(text: str) -> list[str]:
    """The lines; none where a text is not one block of code."""
    lines = text.strip().split("\n")
    is_code = len(lines) > 2 and lines[0].startswith(_FENCE) and lines[-1] == _FENCE
    inside = lines[1:-1]
    if not is_code or any(line.lstrip().startswith(_FENCE) for line in inside):
        return []
    is_settings = lines[0].removeprefix(_FENCE).strip().lower() in _SETTINGS
    found: list[str] = []
    quote = ""
    for line in map(str.strip, inside):
        said, quote = _said(line, quote)
        if said and _WORDS.search(said):
            found.append(said)
        elif is_settings and not quote and _SETTING.match(line):
            found.append(line.removesuffix(","))
    return list(dict.fromkeys(found))[:MOST_LINES]


def _said(line: str, quote: str) -> tuple[str, str]:
    """What a line says in words, and the quotes of the docstring that goes on behind it."""
    if quote:
        text, closes, _ = line.partition(quote)
        return text.strip(), "" if closes else quote
    if opens := _OPENS.match(line):
        text, closes, _ = line[opens.end() :].partition(opens[1])
        return text.strip(), "" if closes else opens[1]
    comment = _COMMENT.match(line)
    return (line[comment.end() :].removesuffix("*/").rstrip(), "") if comment else ("", "")
