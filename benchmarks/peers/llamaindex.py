"""LlamaIndex: CitationQueryEngine over a QueryFusionRetriever of BM25 (bm25s) and vectors.

Vectors lie in its own SimpleVectorStore; both are saved to disk and loaded. Loading that store's
JSON takes a second for every hundred vectors or so: above MOST_AS_JSON they are pickled by us
instead, which flatters its cold start. Its BM25 index takes no new nodes: it is rebuilt after
every insert. The fusion retriever makes no further queries (`num_queries=1`): that would be a
model's work.
"""

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Settings, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.storage.index_store import SimpleIndexStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.retrievers.bm25 import BM25Retriever

from peers import contest
from peers.contest import CitedReply, Known, Passage

PACKAGES = ("llama-index-core", "llama-index-retrievers-bm25")
NOTE = "CitationQueryEngine, fusion retriever"
MOST_AS_JSON = 10_000


class KnownEmbedding(BaseEmbedding):
    """Looks vectors up."""

    known: Any = None

    def _get_query_embedding(self, query: str) -> list[float]:
        found: list[float] = self.known.floats(query)
        return found

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)


class AtOnceLLM(CustomLLM):
    """Answers at once."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=128_000, num_output=256, model_name="at-once")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        del formatted, kwargs
        return CompletionResponse(text=contest.answer_of(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt, formatted, **kwargs)


def build(home: Path, passages: Sequence[Passage], known: Known) -> None:
    _configure(known)
    nodes = [_node(passage, known) for passage in passages]
    context = VectorStoreIndex(nodes).storage_context
    folder = home / "index"
    if len(nodes) <= MOST_AS_JSON:
        context.persist(str(folder))
    else:
        folder.mkdir()
        context.docstore.persist(str(folder / "docstore.json"))
        context.index_store.persist(str(folder / "index_store.json"))
        (folder / "vectors.pickle").write_bytes(pickle.dumps(context.vector_store.data))
    _by_words(nodes).persist(str(home / "words"))


def open_up(home: Path, known: Known) -> "CitingEngine":
    return CitingEngine(home, known)


class CitingEngine:
    """The query engine over what was loaded."""

    def __init__(self, home: Path, known: Known) -> None:
        _configure(known)
        self._known = known
        index: Any = load_index_from_storage(_context(home / "index"))
        self._index = index
        words = BM25Retriever.from_persist_dir(str(home / "words"))
        words.similarity_top_k = contest.CANDIDATES
        self._engine = self._over(words)

    def ask(self, question: str) -> CitedReply:
        response: Any = self._engine.query(question)
        names = [each.node.metadata["name"] for each in response.source_nodes]
        return contest.reply_of(str(response), list(dict.fromkeys(names)))

    def insert(self, passage: Passage) -> None:
        self._index.insert_nodes([_node(passage, self._known)])
        nodes = list(self._index.docstore.docs.values())
        self._engine = self._over(_by_words(nodes))

    def close(self) -> None:
        pass

    def _over(self, words: BM25Retriever) -> CitationQueryEngine:
        retriever = QueryFusionRetriever(
            [words, self._index.as_retriever(similarity_top_k=contest.CANDIDATES)],
            similarity_top_k=contest.SOURCES,
            num_queries=1,
            mode="reciprocal_rerank",
            use_async=False,
        )
        return CitationQueryEngine.from_args(self._index, retriever=retriever)


def _context(folder: Path) -> StorageContext:
    pickled = folder / "vectors.pickle"
    if not pickled.is_file():
        return StorageContext.from_defaults(persist_dir=str(folder))
    return StorageContext.from_defaults(
        docstore=SimpleDocumentStore.from_persist_dir(str(folder)),
        index_store=SimpleIndexStore.from_persist_dir(str(folder)),
        vector_store=SimpleVectorStore(data=pickle.loads(pickled.read_bytes())),
    )


def _configure(known: Known) -> None:
    Settings.embed_model = KnownEmbedding(known=known)
    Settings.llm = AtOnceLLM()


def _by_words(nodes: Sequence[Any]) -> BM25Retriever:
    return BM25Retriever.from_defaults(nodes=list(nodes), similarity_top_k=contest.CANDIDATES)


def _node(passage: Passage, known: Known) -> TextNode:
    return TextNode(
        id_=passage.id,
        text=passage.body,
        embedding=known.floats(passage.body),
        metadata={"name": passage.id},
        excluded_embed_metadata_keys=["name"],
        excluded_llm_metadata_keys=["name"],
    )
