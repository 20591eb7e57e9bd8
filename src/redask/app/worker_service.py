"""What the worker processes of a server serve: `make(location, choices, …)`, called in each.

Each has the data open as the server has, and shows a caller what that caller may read. Keys and
models stay in the server's process: `choices` are the settings that a search depends on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from redask.app.attached.attached_parts import AttachedTables
from redask.core.ports import Embedder
from redask.core.settings import Settings
from redask.core.synonyms import Synonyms
from redask.embedding.embedding_text import embedding_text
from redask.embedding.stage import EmbeddingStage
from redask.engine.computing import Computing
from redask.engine.findings import SourceFinder
from redask.engine.plan_sources import PlanSources
from redask.engine.processes.ask_service import AskService, ParentEmbedder, ParentLink, SentClock
from redask.engine.retrieval import Retriever
from redask.index import SearchIndex
from redask.providers.extractive.answerer import Extractive
from redask.stores.backends import backend_for
from redask.stores.selectors import open_selector

_SENT = (
    *("limits", "redact_secrets", "redact_personal", "access_closed", "select_timeout_ms"),
    *("select_max_rows", "buckets"),
)


@dataclass(frozen=True, slots=True)
class EmbedderFacts:
    """What a worker knows of the embedder, which is in its parent."""

    model: str
    dimensions: int
    languages: frozenset[str]

    @classmethod
    def of(cls, embedder: Embedder | None) -> "EmbedderFacts | None":
        """Those of an embedder."""
        if embedder is None:
            return None
        return cls(embedder.model, embedder.dimensions, frozenset(embedder.languages))


def sent(chosen: Settings) -> dict[str, Any]:
    """The settings that a worker is told: no key is among them."""
    told = {name: getattr(chosen, name) for name in _SENT}
    return {**told, "buckets": dict(chosen.buckets)}


def make(
    location: str, choices: Mapping[str, Any], words: Synonyms, embedder: EmbedderFacts | None
) -> AskService:
    """The service of one worker process."""
    chosen = Settings(**{**choices, "buckets": MappingProxyType(choices["buckets"])})
    row, closed = backend_for(location), chosen.access_closed
    backend = row.open(location, closed=closed)
    store = backend.store
    link, clock = ParentLink(), SentClock()
    stage, quoting = None, Extractive()
    if embedder is not None:
        parents = ParentEmbedder(embedder.model, embedder.dimensions, embedder.languages, link)
        stage = EmbeddingStage(store, parents, embedding_text)

        def cosines(question: str, lines: Sequence[str]) -> list[float] | None:
            found: list[float] | None = link("cosines", question, list(lines))
            return found

        quoting = Extractive(cosines, embedder.model)
    index = SearchIndex(row.directory(location) / "index", store, chosen.limits.timeout_ms)
    retriever = Retriever(store, index, stage, chosen)
    selector = open_selector(location, closed)
    attached = AttachedTables(backend, selector)
    computing = Computing(selector, PlanSources(selector, words), store, chosen, attached)
    finder = SourceFinder(retriever, computing, chosen.limits, clock)
    return AskService(selector, finder, quoting, clock, link)
