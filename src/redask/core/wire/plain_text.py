"""Answers and sources as people read them: `footnotes` and `evidence`, the `snippet` of a source.

    [^1] urn:reddb:row:suppliers/2
         certificate: fair trade, country: Ethiopia, name: Yirga Union
    said by its source: Yirga Union is certified. [^1]
         urn:reddb:row:suppliers/2, columns certificate: fair trade

    [^1] SELECT count(*) FROM orders WHERE status = 'late'
         1 row: count 3

    [^1] urn:reddb:document:docs/sailing.md#reefing
         sailing.md, line 12, heading Reefing: … take in the first reef at twenty knots, …

    [^1] urn:reddb:document:mail/fair.eml
         fair.eml, mail of 2026-03-03, subject Budget for the fair: the budget is 4,200 EUR.

    [^1] urn:reddb:row:Q3/7
         prices.xlsx, sheet Q3, cells A8:C8: item: grinder, price: 249

A verdict is told as what was checked, that the source says so: not that the question is answered.

A snippet is one line of at most 160 characters: the `text` of a source that has one, else its
columns without the id and what is empty; of a statement's result, its rows. A footnote's is centred
on the words that the answer took from it, behind the place of a document or of a row of a sheet.
The command line and `print` in Python show the same. `quotes` are those words, by marker, for
whoever shows all of it.
"""

import json
import re
from collections.abc import Iterator, Sequence

from redask.core import places
from redask.core.model import Answer, QuotedPassage
from redask.core.rules import validation
from redask.core.rules.grounding import evidence as passages
from redask.core.wire import query_source

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
WIDTH = 160
VERDICT_WORDS = {
    "supported": "said by its source:",
    "unsupported": "not said by its source:",
    "contradicted": "contradicted by its source:",
    "uncited": "uncited:",
    "nothing_to_check": "nothing to check:",
}
_MAIL = ("date", "from", "thread", "title")  # what a message has, which has no lines of its own
_PLACES = ("path", "page", "slide", "sheet", "cells", "line", "heading")


def footnotes(answer: Answer) -> Iterator[tuple[int, str, str]]:
    """Marker, URN (or statement) and snippet of every citation."""
    quoted = quotes(answer)
    for note in answer.citations:
        payload = answer.sources_flat[note.marker - 1].payload
        statement = query_source.statement_of(note.urn)
        if statement is None:
            said = quoted.get(note.marker, ())
            where = place(note.urn, payload, said[0] if said else "")
            shown = snippet(payload, said)
            yield note.marker, note.urn, f"{where}: {shown}" if where else shown
        else:
            yield note.marker, " ".join(statement.split()), _rows(payload)


def quotes(answer: Answer) -> dict[int, tuple[str, ...]]:
    """What the answer took from the source of each marker, in the order of the answer."""
    sources = answer.sources_flat
    shown = answer.evidence
    if shown is None:
        examined = validation.examine(answer.answer, sources)
        shown = passages.of(examined.findings, sources)
    found: dict[int, list[str]] = {}
    for each in shown:
        for marker in each.markers:
            urn = sources[marker - 1].urn if marker <= len(sources) else None
            said = [passage.text for passage in each.passages if passage.urn == urn]
            found.setdefault(marker, []).extend(said)
    return {marker: tuple(dict.fromkeys(said)) for marker, said in found.items() if said}


def place(urn: str, payload: str, quote: str = "") -> str:
    """Where a person would open a document, on the line of the quote, or a sheet; else empty."""
    value = _value(payload)
    if not isinstance(value, dict):
        return ""
    if not urn.startswith("urn:reddb:document:"):
        value = places.of_row(value)
    told = {name: value[name] for name in _PLACES if _tells(value.get(name))}
    path, text, line = told.pop("path", ""), value.get("text"), told.get("line")
    if isinstance(line, int) and isinstance(text, str) and quote:
        told["line"] = line + text.count("\n", 0, max(text.find(quote), 0))
    if all(_tells(value.get(name)) for name in _MAIL):
        told |= {"mail of": str(value["date"])[: len("2026-03-03")], "subject": value["title"]}
    parts = [str(path), *(f"{name} {item}" for name, item in told.items())]
    return cut(" ".join(", ".join(filter(None, parts)).split()), WIDTH)


def _tells(value: object) -> bool:
    return bool(value) and isinstance(value, str | int) and not isinstance(value, bool)


def evidence(answer: Answer) -> Iterator[tuple[str, str, list[str]]]:
    """Every claim with its verdict in words and what was found to it, each on one line."""
    for each in answer.evidence or ():
        start, end = each.span
        quotes = [
            cut(f"{passage.urn}{_place(passage)}: {' '.join(passage.text.split())}", WIDTH)
            for passage in each.passages
        ]
        claim = " ".join(answer.answer[start:end].split())
        yield cut(claim, WIDTH), VERDICT_WORDS[each.verdict], quotes


def _place(passage: QuotedPassage) -> str:
    told = (passage.place or {}).items()
    return "".join(f", {name} {_joined(value)}" for name, value in told)


def _joined(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def snippet(payload: str, quoted: Sequence[str] = ()) -> str:
    """What a payload says, on one line: its beginning, or around the first quote that is found."""
    value = _value(payload)
    if isinstance(value, dict):
        text = value.get("text")
        shown = places.columns(value).items()
        columns = (f"{key}: {item}" for key, item in shown if key != "id" and item is not None)
        value = text if isinstance(text, str) else ", ".join(columns)
    line = one_line(str(value))
    for quote in quoted:
        said = one_line(quote)
        if said and (at := line.find(said)) >= 0:
            return _around(line, at, at + len(said))
    return cut(line, WIDTH)


def one_line(text: str) -> str:
    """A text on one line, without characters that a terminal would obey."""
    return " ".join(harmless(text).split())


def harmless(text: str) -> str:
    """The same, a space in place of each, line breaks kept."""
    return _CONTROLS.sub(" ", text)


def _around(line: str, start: int, end: int) -> str:
    """WIDTH characters of a line with this stretch in the middle, from the start of a word."""
    if len(line) <= WIDTH:
        return line
    first = max(0, min(start - max(0, WIDTH - (end - start)) // 2, len(line) - WIDTH + 1))
    if first:
        space = line.find(" ", first, start)
        first = space + 1 if space >= 0 else min(first, start)
    return cut(f"…{line[first:]}" if first else line, WIDTH)


def _value(payload: str) -> object:
    try:
        value: object = json.loads(payload)
    except (ValueError, RecursionError):
        return payload
    return value


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
