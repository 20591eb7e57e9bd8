"""A source that is too large for a prompt, cut around what matches: `excerpt(source, …)`.

The longest texts of the payload are cut until it fits, each to the stretch that
has the most words of the question, the earliest of equals, from the start of a line or sentence
where one is near, with `…` where something is left out. A document's `line` moves with its text.
The result is canonical JSON, and a source like any other: it has a version of its own.

Nothing is cut from the result of a statement, from what is not an object, and from a payload whose
texts are not what makes it large: those stay as they are.
"""

import json
import re
from collections import Counter

from redask.core.model import Source
from redask.core.rules import prompt
from redask.core.rules.grounding import stems

_SHORTEST = 200  # characters of a text that is cut
_NEAR = 120
_START = re.compile(r"\n+|(?<=[.!?])\s+")
_QUERY = "urn:reddb:query:"
_TEXT, _LINE = "text", "line"


def excerpt(source: Source, question: str, most_tokens: int, most_bytes: int) -> Source:
    """The source cut to this size around what matches the question, or as it is."""
    if source.urn.startswith(_QUERY):
        return source
    try:
        payload = json.loads(source.payload)
    except (ValueError, RecursionError):
        return source
    if not isinstance(payload, dict):
        return source
    asked = frozenset(stems.content(stems.forms(question)))
    texts = {key: text for key, text in payload.items() if isinstance(text, str)}
    line, made = payload.get(_LINE), source
    longest = max(map(len, texts.values()), default=0)
    while (over := _over(made, most_tokens, most_bytes)) > 1:
        if longest <= _SHORTEST:
            return source
        longest = max(_SHORTEST, min(longest * 9 // 10, int(longest / over)))
        for key, text in texts.items():
            if len(text) > longest:
                payload[key], skipped = _stretch(text, asked, longest)
                if key == _TEXT and isinstance(line, int):
                    payload[_LINE] = line + text.count("\n", 0, skipped)
        made = Source(source.urn, _canonical(payload))
    return made


def _over(source: Source, most_tokens: int, most_bytes: int) -> float:
    """How many times too large a source is."""
    return max(
        prompt.source_tokens(source) / max(most_tokens, 1),
        len(source.payload.encode()) / max(most_bytes, 1),
    )


def _stretch(text: str, asked: frozenset[str], size: int) -> tuple[str, int]:
    """The best stretch of so many characters, and how many stand before it."""
    start = _best(text, asked, size)
    if start:
        near = _START.search(text, start, start + _NEAR)
        start = near.end() if near else start
    end = min(len(text), start + size)
    before, behind = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{text[start:end]}{behind}", start


def _best(text: str, asked: frozenset[str], size: int) -> int:
    """Where the stretch with the most words of the question begins, by two moving ends."""
    found = [
        (start, root)
        for start, end in stems.spans(text)
        if (root := stems.form(text[start:end])[: stems.ROOT]) in asked
    ]
    inside: Counter[str] = Counter()
    best, first, place = (0, 0), 0, 0
    for start, root in found:
        inside[root] += 1
        while start - found[first][0] > size - 2 * _NEAR and found[first][0] < start:
            inside[found[first][1]] -= 1
            inside += Counter()  # drops what counts nothing
            first += 1
        score = len(inside), sum(inside.values())
        if score > best:
            best, place = score, found[first][0]
    return min(max(0, place - _NEAR), max(0, len(text) - size))


def _canonical(value: object) -> str:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
