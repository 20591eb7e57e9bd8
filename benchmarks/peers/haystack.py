"""Haystack: its in-memory store, BM25 and embedding retrievers, a joiner, an answer builder.

The pipeline: question → embedder (looks the vector up) → embedding retriever ┐
              question → BM25 retriever ──────────────────────────────────────┴→ joiner (reciprocal
ranks) → prompt builder → generator (answers at once) → answer builder, which resolves [1].
"""

from collections.abc import Sequence
from pathlib import Path

from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore

from peers import contest
from peers.contest import CitedReply, Known, Passage

PACKAGES = ("haystack-ai",)
NOTE = "in-memory store, joiner, answer builder"
_TEMPLATE = """Answer from these sources and cite them like [1].
{% for document in documents %}
Source [{{ loop.index }}]:
{{ document.content }}
{% endfor %}
{{ question }}"""


def build(home: Path, passages: Sequence[Passage], known: Known) -> None:
    store = InMemoryDocumentStore()
    for start in range(0, len(passages), 2_000):
        store.write_documents(
            [_document(passage, known) for passage in passages[start : start + 2_000]]
        )
    store.save_to_disk(str(home / "store.json"))


def open_up(home: Path, known: Known) -> "HaystackPipeline":
    return HaystackPipeline(home, known)


@component
class KnownEmbedder:
    """Looks the question's vector up."""

    def __init__(self, known: Known) -> None:
        self._known = known

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": self._known.floats(text)}


@component
class AtOnceGenerator:
    """Answers at once."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, list[str]]:
        return {"replies": [contest.answer_of(prompt)]}


class HaystackPipeline:
    """The pipeline over the loaded store."""

    def __init__(self, home: Path, known: Known) -> None:
        self._known = known
        self._store = InMemoryDocumentStore.load_from_disk(str(home / "store.json"))
        many, few = contest.CANDIDATES, contest.SOURCES
        pipeline = Pipeline()
        pipeline.add_component("embedder", KnownEmbedder(known))
        pipeline.add_component("words", InMemoryBM25Retriever(self._store, top_k=many))
        pipeline.add_component("vectors", InMemoryEmbeddingRetriever(self._store, top_k=many))
        joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=few)
        pipeline.add_component("joiner", joiner)
        pipeline.add_component(
            "prompt", PromptBuilder(_TEMPLATE, required_variables=["documents", "question"])
        )
        pipeline.add_component("model", AtOnceGenerator())
        pipeline.add_component("answer", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
        pipeline.connect("embedder.embedding", "vectors.query_embedding")
        pipeline.connect("words.documents", "joiner.documents")
        pipeline.connect("vectors.documents", "joiner.documents")
        pipeline.connect("joiner.documents", "prompt.documents")
        pipeline.connect("prompt.prompt", "model.prompt")
        pipeline.connect("model.replies", "answer.replies")
        pipeline.connect("joiner.documents", "answer.documents")
        self._pipeline = pipeline

    def ask(self, question: str) -> CitedReply:
        given = {
            "embedder": {"text": question},
            "words": {"query": question},
            "prompt": {"question": question},
            "answer": {"query": question},
        }
        out = self._pipeline.run(given, include_outputs_from={"joiner"})
        answer = out["answer"]["answers"][0]
        sources = tuple(document.meta["name"] for document in out["joiner"]["documents"])
        cited = tuple(document.meta["name"] for document in answer.documents)
        return CitedReply(answer.data, cited, sources)

    def insert(self, passage: Passage) -> None:
        self._store.write_documents([_document(passage, self._known)])

    def close(self) -> None:
        pass


def _document(passage: Passage, known: Known) -> Document:
    return Document(
        id=passage.id,
        content=passage.body,
        meta={"name": passage.id},
        embedding=known.floats(passage.body),
    )
