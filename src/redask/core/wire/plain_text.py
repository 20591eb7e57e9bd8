"""Answers and sources as people read them: `footnotes` and `evidence`, the `snippet` of a source.

    [^1] urn:reddb:row:suppliers/2
         certificate: fair trade, country: Ethiopia, name: Yirga Union
    supported Yirga Union is certified. [^1]
         urn:reddb:row:suppliers/2, columns certificate: fair trade

    [^1] SELECT count(*) FROM orders WHERE status = 'late'
         1 row: count 3

A snippet is one line of at most 160 characters: the `text` of a source that has one, else its
columns without the id; of a statement's result, its rows. The command line and `print` in Python
show the same.
"""

import json
from collections.abc import Iterator

from redask.core.model import Answer, QuotedPassage
from redask.core.wire import query_source

WIDTH = 160


def footnotes(answer: Answer) -> Iterator[tuple[int, str, str]]:
    """Marker, URN (or statement) and snippet of every citation."""
    for note in answer.citations:
        payload = answer.sources_flat[note.marker - 1].payload
        statement = query_source.statement_of(note.urn)
        if statement is None:
            yield note.marker, note.urn, snippet(payload)
        else:
            yield note.marker, " ".join(statement.split()), _rows(payload)


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


def _rows(payload: str) -> str:
    """The rows of a statement's result, as many as fit on a line."""
    result = json.loads(payload)
    names = [column["name"] for column in result["columns"]]
    rows = "; ".join(
        ", ".join(f"{name} {value}" for name, value in zip(names, row, strict=True))
        for row in result["rows"]
    )
    count = result["row_count"]
    head = f"{count} row{'' if count == 1 else 's'}"
    return cut(" ".join(f"{head}: {rows}".split()) if rows else head, WIDTH)


def cut(line: str, width: int) -> str:
    """A line of at most so many characters; `…` stands for the rest."""
    return line if len(line) <= width else line[: width - 1] + "…"
