"""The embedders, one row each. A new one is one file and one row.

    none      no vectors: the vector bucket stays empty
    hashed    words and trigrams, hashed; for tests and trials

A row enrols its embedder in `tests/contract/test_embedders.py`. `languages` empty means that
an embedder makes no difference between them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from redask.embedders.hashed import Hashed
from redask.errors import Misconfigured
from redask.ports import Embedder


@dataclass(frozen=True, slots=True)
class EmbedderRow:
    """How an embedder is called, what it is good for, and how it is made."""

    name: str
    summary: str
    make: Callable[[], Embedder | None]


EMBEDDERS: tuple[EmbedderRow, ...] = (
    EmbedderRow("none", "no vectors", lambda: None),
    EmbedderRow("hashed", "words and trigrams, hashed; for tests and trials", Hashed),
)


def make(name: str) -> Embedder | None:
    """The embedder of this name, or None for the row that has none."""
    for row in EMBEDDERS:
        if row.name == name:
            return row.make()
    known = ", ".join(row.name for row in EMBEDDERS)
    raise Misconfigured(f"there is no embedder {name!r}; there are {known}")
