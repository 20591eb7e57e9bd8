"""Evaluation packs on disk: `read` a folder in BEIR layout, for retrieval or for answers.

    kind        files
    retrieval   corpus.jsonl {_id, title, text} · queries.jsonl {_id, text} · qrels.tsv
    answers     passages.jsonl {_id, title, text} · questions.jsonl {_id, question, answers,
                answerable, evidence, evidence_sentences?} · qrels.tsv

`qrels.tsv` has a head line, then query-id, corpus-id, score; a score of 0 is no evidence. A
broken line is refused with its file and number.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from redask.core.errors import BadAsk


@dataclass(frozen=True, slots=True)
class Question:
    """One question: what it asks, which passages hold the evidence, and the gold answers."""

    id: str
    text: str
    evidence: dict[str, int]
    answers: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack: its passages as rows to put, and its questions."""

    name: str
    passages: tuple[dict[str, object], ...]
    questions: tuple[Question, ...]
    has_answers: bool

    def first(self, count: int | None) -> Self:
        """The pack with only its first questions; None for all."""
        return replace(self, questions=self.questions[:count])


def read(folder: Path) -> Pack:
    """The pack in a folder."""
    has_answers = (folder / "questions.jsonl").is_file()
    if not has_answers and not (folder / "queries.jsonl").is_file():
        raise BadAsk(f"{folder} is no pack: it has neither queries.jsonl nor questions.jsonl")
    evidence = _evidence(folder / "qrels.tsv")
    passages = tuple(
        {"id": row["_id"], "text": row["text"], "title": row.get("title", "")}
        for row in json_lines(folder / ("passages.jsonl" if has_answers else "corpus.jsonl"))
    )
    asked = json_lines(folder / ("questions.jsonl" if has_answers else "queries.jsonl"))
    questions = tuple(_question(row, evidence.get(row["_id"], {})) for row in asked)
    if not has_answers:
        questions = tuple(question for question in questions if question.evidence)
    return Pack(folder.name, passages, questions, has_answers)


def _question(row: dict[str, Any], evidence: dict[str, int]) -> Question:
    return Question(
        id=row["_id"],
        text=row.get("question") or row["text"],
        evidence=evidence,
        answers=tuple(row.get("answers", ())),
        sentences=tuple(each for group in row.get("evidence_sentences", ()) for each in group),
        answerable=row.get("answerable", True),
    )


def _evidence(file: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_text(file).splitlines()[1:], start=2):
        try:
            query, passage, score = line.split("\t")
            if int(score) > 0:
                found.setdefault(query, {})[passage] = int(score)
        except ValueError:
            raise BadAsk(f"{file}, line {number}: expected query, passage and score") from None
    return found


def json_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one a line."""
    return (row for _, row in numbered_lines(file))


def numbered_lines(file: Path) -> Iterator[tuple[int, Any]]:
    """The JSON values of a file, one a line, each with its line's number."""
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise BadAsk(f"{file}, line {number}: not JSON: {error}") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise BadAsk(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadAsk(f"{file} is not UTF-8: {error.reason} at byte {error.start}") from None
