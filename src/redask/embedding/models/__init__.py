"""The embedders, one row each. A new one is one file and one row.

    none                no vectors: the vector bucket stays empty
    minilm              all-MiniLM-L6-v2, English, on this machine; the default
    openai_compatible   any host that speaks OpenAI's /embeddings
    hashed              words and trigrams, hashed; for tests and trials

Every row is tested by `tests/contract/test_embedders.py`. An embedder without `languages` supports
all of them. Creating one is quick: a model is loaded with the first text. `Misconfigured` says
what is missing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from redask.core.errors import Misconfigured
from redask.core.ports import Embedder
from redask.embedding.models.hashed import Hashed
from redask.embedding.models.minilm import MiniLm
from redask.embedding.models.openai_embeddings import OpenAiCompatible
from redask.embedding.models.openai_embeddings import RemoteModel as RemoteModel


@dataclass(frozen=True, slots=True)
class EmbedderRow:
    """An embedder's name, its summary, and how to create it."""

    name: str
    summary: str
    make: Callable[[RemoteModel], Embedder | None]


REMOTE = (OpenAiCompatible,)  # what they embed leaves this machine
EMBEDDERS: tuple[EmbedderRow, ...] = (
    EmbedderRow("none", "no vectors", lambda _: None),
    EmbedderRow("minilm", "all-MiniLM-L6-v2, English, on this machine", lambda _: MiniLm()),
    EmbedderRow("openai_compatible", "any host with OpenAI's /embeddings", OpenAiCompatible),
    EmbedderRow("hashed", "words and trigrams, hashed; for tests and trials", lambda _: Hashed()),
)


def make(name: str, remote: RemoteModel | None = None) -> Embedder | None:
    """The embedder of this name, or None for the row that has none."""
    for row in EMBEDDERS:
        if row.name == name:
            return row.make(remote or RemoteModel())
    known = ", ".join(row.name for row in EMBEDDERS)
    raise Misconfigured(f"there is no embedder {name!r}; there are {known}")
