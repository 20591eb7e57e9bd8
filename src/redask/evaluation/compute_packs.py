"""Packs of questions that need computing: `read` a folder, or `read_all` of a folder of such.

    database.sqlite      the data
    questions.jsonl      {id, question, sql, answer, ordered, kind, tables, dups?, tie?}: `answer`
                         are the rows of the gold `sql`. `tie`: one of several, left out here
    unanswerable.jsonl   {question}: of other data, not to be answered
    near.jsonl           {question}: of this data but for a word, not to be answered

The last two may be missing. A half of many packs is every second by name: `even` has the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redask.core.errors import BadAsk
from redask.evaluation.packs import json_lines

DATABASE = "database.sqlite"
HALVES = ("even", "odd")
GoldRows = tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class ComputeQuestion:
    """A question with its gold rows; `joins` are those of the gold statement."""

    id: str
    text: str
    sql: str
    rows: GoldRows
    ordered: bool
    kind: str
    joins: int


@dataclass(frozen=True, slots=True)
class ComputePack:
    """A database and what is asked of it."""

    name: str
    database: Path
    questions: tuple[ComputeQuestion, ...]
    unanswerable: tuple[str, ...]
    near: tuple[str, ...]


def is_pack(folder: Path) -> bool:
    """Whether a folder is such a pack."""
    return (folder / DATABASE).is_file()


def is_collection(folder: Path) -> bool:
    """Whether a folder holds such packs."""
    return any(is_pack(each) for each in folder.iterdir() if each.is_dir())


def read(folder: Path) -> ComputePack:
    """The pack in a folder."""
    if not is_pack(folder):
        raise BadAsk(f"{folder} is no pack: it has no {DATABASE}")
    return ComputePack(
        folder.name,
        folder / DATABASE,
        tuple(_question(row) for row in _rows(folder / "questions.jsonl") if not row.get("tie")),
        tuple(row["question"] for row in _rows(folder / "unanswerable.jsonl")),
        tuple(row["question"] for row in _rows(folder / "near.jsonl")),
    )


def read_all(folder: Path, half: str | None = None) -> list[ComputePack]:
    """The packs in the folders of a folder, by name; or a half of them."""
    folders = sorted((each for each in folder.iterdir() if is_pack(each)), key=lambda one: one.name)
    return [read(each) for each in halved(folders, half)]


def halved(folders: Sequence[Path], half: str | None) -> Sequence[Path]:
    """Every second of them, or all."""
    return folders if half is None else folders[HALVES.index(half) :: 2]


def _rows(file: Path) -> list[dict[str, Any]]:
    return list(json_lines(file)) if file.is_file() else []


def _question(row: dict[str, Any]) -> ComputeQuestion:
    return ComputeQuestion(
        row["id"],
        row["question"],
        row["sql"],
        tuple(tuple(each) for each in row["answer"]),
        row["ordered"],
        row["kind"],
        max(0, row["tables"] - 1),
    )
