"""LangChain: an EnsembleRetriever over BM25Retriever and FAISS, a prompt, a fake model.

Its BM25 retriever (rank_bm25) keeps nothing on disk and takes no new documents: it is rebuilt
from the documents of the FAISS store when the database is opened, and after every insert. Its own
way of taking a text apart splits at spaces; here words are lower-cased, as its manual advises.
LangChain has no citations: sources are numbered in the prompt, and [1] is looked up.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import PromptTemplate

from peers import contest
from peers.contest import CitedReply, Known, Passage

PACKAGES = ("langchain-classic", "langchain-community", "faiss-cpu", "rank-bm25")
NOTE = "EnsembleRetriever: rank_bm25 + FAISS"
_WORD = re.compile(r"\w+")
_TEMPLATE = """Answer from these sources and cite them like [1].

{sources}

{question}"""


class KnownEmbeddings(Embeddings):
    """Looks vectors up."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._known.floats(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._known.floats(text)


def build(home: Path, passages: Sequence[Passage], known: Known) -> None:
    store = FAISS.from_documents([_document(each) for each in passages], KnownEmbeddings(known))
    _by_words(store)
    store.save_local(str(home / "faiss"))


def open_up(home: Path, known: Known) -> "LangChain":
    return LangChain(home, known)


class LangChain:
    """The chain over the loaded store."""

    def __init__(self, home: Path, known: Known) -> None:
        self._store = FAISS.load_local(
            str(home / "faiss"), KnownEmbeddings(known), allow_dangerous_deserialization=True
        )
        model = FakeListLLM(responses=[f"{contest.SENTENCE} {contest.MARKER}"])
        self._chain = PromptTemplate.from_template(_TEMPLATE) | model | StrOutputParser()
        self._retriever = self._ensemble()

    def ask(self, question: str) -> CitedReply:
        found = self._retriever.invoke(question)[: contest.SOURCES]
        numbered = "\n\n".join(
            f"Source [{n}]:\n{each.page_content}" for n, each in enumerate(found, start=1)
        )
        answer = self._chain.invoke({"sources": numbered, "question": question})
        return contest.reply_of(answer, [each.metadata["name"] for each in found])

    def insert(self, passage: Passage) -> None:
        self._store.add_documents([_document(passage)])
        self._retriever = self._ensemble()

    def close(self) -> None:
        pass

    def _ensemble(self) -> EnsembleRetriever:
        vectors = self._store.as_retriever(search_kwargs={"k": contest.CANDIDATES})
        return EnsembleRetriever(retrievers=[_by_words(self._store), vectors], weights=[0.5, 0.5])


def _by_words(store: FAISS) -> BM25Retriever:
    held: Any = store.docstore
    return BM25Retriever.from_documents(
        list(held._dict.values()),
        k=contest.CANDIDATES,
        preprocess_func=lambda text: _WORD.findall(text.lower()),
    )


def _document(passage: Passage) -> Document:
    return Document(page_content=passage.body, metadata={"name": passage.id})
