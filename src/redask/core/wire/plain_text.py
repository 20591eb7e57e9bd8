"""Answers and sources as people read them: `footnotes` and `evidence`, the `snippet` of a source.

    [^1] urn:reddb:row:suppliers/2
         certificate: fair trade, country: Ethiopia, name: Yirga Union
    supported Yirga Union is certified. [^1]
         urn:reddb:row:suppliers/2, columns certificate: fair trade

A snippet is one line of at most 160 characters: the `text` of a source that has one, else its
columns without the id. The command line and `print` in Python show the same.
"""

import json
from collections.abc import Iterator

from redask.core.model import Answer, QuotedPassage

WIDTH = 160


def footnotes(answer: Answer) -> Iterator[tuple[int, str, str]]:
    """Marker, URN and snippet of every citation."""
    for note in answer.citations:
        yield note.marker, note.urn, snippet(answer.sources_flat[note.marker - 1].payload)


def evidence(answer: Answer) -> Iterator[tuple[str, str, list[str]]]:
    """Every claim with its verdict and what was found to it, each on one line."""
    for each in answer.evidence or ():
        start, end = each.span
        quotes = [
            cut(f"{passage.urn}{_place(passage)}: {' '.join(passage.text.split())}", WIDTH)
            for passage in each.passages
        ]
        claim = " ".join(answer.answer[start:end].split())
        yield cut(claim, WIDTH), each.verdict.replace("_", " "), quotes


def _place(passage: QuotedPassage) -> str:
    told = (passage.place or {}).items()
    return "".join(f", {name} {_joined(value)}" for name, value in told)


def _joined(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def snippet(payload: str) -> str:
    """The beginning of what a payload says, on one line."""
    try:
        value: object = json.loads(payload)
    except ValueError:
        value = payload
    if isinstance(value, dict):
        text = value.get("text")
        columns = (f"{key}: {item}" for key, item in value.items() if key != "id")
        value = text if isinstance(text, str) else ", ".join(columns)
    return cut(" ".join(str(value).split()), WIDTH)


def cut(line: str, width: int) -> str:
    """A line of at most so many characters; `…` stands for the rest."""
    return line if len(line) <= width else line[: width - 1] + "…"
