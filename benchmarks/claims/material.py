"""Real sentences with the passage that holds them: `read(half)`, in a fixed order.

    sentences of passages   clapnq_dev (its own), squad2_dev_half and scifact (split here)
    written by people       clapnq_dev's gold answers, scifact's supported claims: true by their
                            passage, in other words than its own

A passage belongs to half "a" or "b" by a hash of its id, so no passage is in both. Rules are
written looking at half a; figures come from half b.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

HALVES = ("a", "b")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(])")
_ABBREVIATED = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|vs|etc|ca|al|No|Jr|Sr|Inc|Co|Ltd|approx|Fig|e\.g|i\.e|U\.S|cf"
    r"|Prof|Gen|Col|Lt|Sgt|Rev|Hon|Mt|Ft|c|d|b|r|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov"
    r"|Dec)\.)$"
)
_WORD = re.compile(r"\w+")
_FEWEST_WORDS, _MOST_CHARACTERS = 6, 400


@dataclass(frozen=True, slots=True)
class Passage:
    """What a claim cites."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A true claim: its text, the passage that supports it, and whether it stands there so."""

    id: str
    text: str
    passage: Passage
    verbatim: bool


def data() -> Path:
    """The folder of the evaluation data."""
    here = Path(__file__).parents[3] / "shared" / "data"
    return Path(os.environ.get("REDASK_DATA", here))


def half_of(passage_id: str) -> str:
    """The half a passage belongs to."""
    return HALVES[hashlib.sha256(passage_id.encode()).digest()[0] % 2]


@cache
def read(half: str) -> tuple[Sentence, ...]:
    """The sentences of a half: of each pack in turn, in the order of a hash of their text."""
    groups = []
    for pack in (_clapnq, _squad2, _written, _scifact):
        found = {each.text: each for each in pack() if half_of(each.passage.id) == half}
        groups.append(sorted(found.values(), key=lambda each: each.id.rpartition("/")[2]))
    turns = (each for turn in zip_longest(*groups) for each in turn if each is not None)
    return tuple({each.text: each for each in turns}.values())


@cache
def passages(half: str) -> tuple[Passage, ...]:
    """The passages of a half."""
    return tuple({each.passage.id: each.passage for each in read(half)}.values())


def _clapnq() -> Iterator[Sentence]:
    for row in _rows("qa/clapnq_dev/passages.jsonl"):
        yield from _of_passage(row, row["metadata"]["sentences"])


def _squad2() -> Iterator[Sentence]:
    for row in _rows("qa/squad2_dev_half/passages.jsonl"):
        yield from _of_passage(row, split(row["text"]))


def _scifact() -> Iterator[Sentence]:
    for row in _rows("retrieval/scifact/corpus.jsonl"):
        yield from _of_passage(row, split(row["text"]))


def _written() -> Iterator[Sentence]:
    known = {row["_id"]: row for row in _rows("qa/clapnq_dev/passages.jsonl")}
    for row in _rows("qa/clapnq_dev/questions.jsonl"):
        if row["answerable"] and len(row["evidence"]) == 1:
            passage = _passage(known[row["evidence"][0]])
            for text in (piece for answer in row["answers"] for piece in split(answer)):
                yield from _usable(text, passage, False)
    for row in _rows("support/scifact_claims.jsonl"):
        if row["supported"]:
            yield from _usable(row["claim"], Passage(row["doc_id"], "", row["source"]), False)


_NEGATED = re.compile(
    r"\b(?:not|never|no|none|neither|nor|without|cannot|unable|incapable|refused|failed|yet to)\b"
    r"|n't\b",
    re.I,
)


def negated_pairs() -> Iterator[tuple[Sentence, bool]]:
    """The claims of fever_symmetric that negate something, each with whether its source does.

    Each stands there twice: with a source that supports it, and with one that contradicts it.
    """
    for row in _rows("support/fever_symmetric.jsonl"):
        if _NEGATED.search(row["claim"]):
            passage = Passage(row["id"], "", row["source"])
            yield Sentence(row["id"], row["claim"], passage, False), row["supported"]


def _of_passage(row: dict[str, Any], sentences: list[str]) -> Iterator[Sentence]:
    for text in sentences:
        yield from _usable(text, _passage(row), True)


def _passage(row: dict[str, Any]) -> Passage:
    return Passage(row["_id"], row.get("title", ""), row["text"])


def _usable(text: str, passage: Passage, verbatim: bool) -> Iterator[Sentence]:
    """A sentence that can be a claim: whole, neither a heading nor a question, not endless."""
    text = " ".join(text.split())
    ends = text.rstrip("\"')] ").endswith(".")
    fits = len(text) <= _MOST_CHARACTERS and len(_WORD.findall(text)) >= _FEWEST_WORDS
    if ends and fits and text[0].isupper() and "[^" not in text:
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        yield Sentence(f"{passage.id}/{digest}", text, passage, verbatim)


def split(text: str) -> list[str]:
    """The sentences of a text; an abbreviation ends none."""
    pieces: list[str] = []
    start = 0
    for end in _END.finditer(text):
        piece = text[start : end.start()]
        if not _ABBREVIATED.search(piece):
            pieces.append(text[start : end.end()].strip())
            start = end.end()
    return [*pieces, text[start:].strip()]


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with (data() / name).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
