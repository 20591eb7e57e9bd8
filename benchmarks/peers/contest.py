"""What a contestant must do, and what it is given; for any environment that has numpy.

A contestant is a module with

    PACKAGES                      the distributions whose versions the table names
    NOTE                          what of the library is used, in a few words
    build(home, passages, known)  write everything to disk, if the library can
    open_up(home, known)          → an `Opened`: ask, insert, close

`known` gives the vector of any text (`Known`): no contestant runs the model while it is timed,
neither for passages nor for questions. The model of language is `answer_of`: no time, one citation.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
DIMENSIONS = 384
SOURCES = 10
CANDIDATES = 20
SENTENCE = "The first source says so."
MARKER = "[1]"


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage."""

    id: str
    title: str
    text: str

    @property
    def body(self) -> str:
        """What is indexed and embedded."""
        return f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the passages that answer it."""

    text: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitedReply:
    """An answer: its text, the passages it cites, and those the model was shown, best first."""

    answer: str
    cited: tuple[str, ...]
    sources: tuple[str, ...]


class Known:
    """Vectors by text."""

    def __init__(self, texts: Iterable[str] = (), vectors: Matrix | None = None) -> None:
        rows = np.zeros((0, DIMENSIONS), np.float32) if vectors is None else vectors
        self._vectors: dict[str, Any] = dict(zip(texts, rows, strict=True))
        self._titled: dict[str, str] = {}  # the shortest passage of each title

    def add(self, text: str, vector: Any) -> None:
        """Know one more."""
        self._vectors[text] = vector

    def name_of(self, text: str) -> str:
        """The text as it is known here: of a passage without words only the title may be given."""
        if text in self._vectors:
            return text
        if not self._titled:
            for body in sorted(self._vectors, key=len, reverse=True):
                self._titled[body.partition("\n")[0]] = body  # the shortest of a title is left
        return self._titled[text]

    def row(self, text: str) -> Any:
        """The vector of a text, as an array."""
        return self._vectors[text]

    def floats(self, text: str) -> list[float]:
        """The same, as a list."""
        made: list[float] = self._vectors[text].tolist()
        return made

    def matrix(self, texts: Sequence[str]) -> Matrix:
        """The vectors of several texts."""
        return np.stack([self._vectors[text] for text in texts])


class Opened(Protocol):
    """A contestant's database, open."""

    def ask(self, question: str) -> CitedReply:
        """From the question to a cited answer."""

    def insert(self, passage: Passage) -> None:
        """Add a passage, so that the next question finds it by its words."""

    def close(self) -> None:
        """Close everything."""


def answer_of(prompt: str) -> str:
    """The model: it reads the prompt (its length, at least) and returns one cited sentence."""
    return f"{SENTENCE} {MARKER}" if len(prompt) else ""


def prompt_of(question: str, bodies: Sequence[str]) -> str:
    """Numbered sources and the question, for libraries without such a template."""
    numbered = "\n\n".join(f"Source [{n}]:\n{body}" for n, body in enumerate(bodies, start=1))
    return f"Answer from these sources and cite them like {MARKER}.\n\n{numbered}\n\n{question}"


def reply_of(answer: str, sources: Sequence[str]) -> CitedReply:
    """The answer with its markers resolved."""
    cited = tuple(each for n, each in enumerate(sources, start=1) if f"[{n}]" in answer)
    return CitedReply(answer, cited, tuple(sources))


def fused(rankings: Sequence[Sequence[Any]], constant: int = 60) -> list[Any]:
    """Rankings fused by reciprocal ranks, best first; ties by the order of first appearance."""
    scores: dict[Any, float] = {}
    for ranked in rankings:
        for rank, each in enumerate(ranked, start=1):
            scores[each] = scores.get(each, 0.0) + 1 / (constant + rank)
    return sorted(scores, key=lambda each: -scores[each])


def read_passages(folder: Path) -> tuple[list[Passage], Matrix]:
    """The passages of a size, and their vectors."""
    lines = (folder / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    return [Passage(**json.loads(line)) for line in lines], np.load(folder / "vectors.npy")


def read_questions(folder: Path) -> tuple[list[Asked], Matrix]:
    """The questions, and their vectors."""
    rows = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    asked = [Asked(row["text"], tuple(row["gold"])) for row in rows]
    return asked, np.load(folder / "questions.npy")
