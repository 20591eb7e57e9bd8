"""Similarity of lines to a question, and what `extractive` makes of it."""

import asyncio
import gc
import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest

from redask.core.model import Knobs, Source
from redask.core.ports import Embedder
from redask.core.rules import prompt
from redask.embedding.models.hashed import Hashed
from redask.embedding.similarity import MAX_CACHED, Similarity
from redask.providers.extractive.answerer import MODEL, Extractive, LineCosines


class RecordingEmbedder(Hashed):
    """Records what it embeds; supports English."""

    languages = frozenset({"en"})

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        self.texts += texts
        return super().embed(texts)


def english(_: str) -> str:
    return "en"


def test_the_nearest_line_is_the_one_most_like_the_question() -> None:
    cosines = Similarity(RecordingEmbedder(), english)(
        "ferry times", ["the ferry times", "brick towers"]
    )
    assert cosines is not None
    assert cosines[0] > cosines[1] + 0.3
    (same,) = Similarity(RecordingEmbedder(), english)("ferry times", ["ferry times"]) or [0.0]
    assert same == pytest.approx(1.0)


def test_a_line_is_embedded_once_and_its_number_stays_the_same() -> None:
    recording = RecordingEmbedder()
    similarity = Similarity(recording, english)
    first = similarity("ferry", ["a ferry", "a tower", "a ferry"])
    assert similarity("ferry", ["a ferry", "a tower", "a ferry"]) == first
    assert sorted(recording.texts) == ["a ferry", "a tower", "ferry"]


def test_an_unsupported_language_is_not_compared() -> None:
    recording = RecordingEmbedder()
    assert Similarity(recording, lambda _: "de")("Fähre", ["die Fähre"]) is None
    assert recording.texts == []
    assert Similarity(Hashed(), lambda _: "de")("Fähre", ["die Fähre"]) is not None


class Single(RecordingEmbedder):
    """Vectors of 384 float32 numbers, as `minilm` makes them."""

    def __init__(self) -> None:
        super().__init__()
        self._vector = np.arange(384).astype(np.float32) / np.float32(3)

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return [tuple((self._vector + np.float32(len(each))).tolist()) for each in texts]


def test_twenty_thousand_remembered_vectors_take_little_more_than_their_numbers() -> None:
    likeness = Similarity(Single(), english)
    lines = [f"line {number}" for number in range(1, MAX_CACHED)]
    likeness("which?", lines[:1])
    gc.collect()
    tracemalloc.start()
    try:
        for start in range(1, len(lines), 1000):
            likeness("which?", lines[start : start + 1000])
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(likeness._cache) == MAX_CACHED
    numbers = MAX_CACHED * 384 * 4
    assert numbers < held < numbers * 1.25


@pytest.mark.parametrize("embedder", [Single(), Hashed()], ids=["float32", "float64"])
def test_what_is_kept_changes_no_bit_of_a_cosine(embedder: Embedder) -> None:
    lines = ["the ferry leaves at nine", "brick towers", "ferry"]
    asked, *vectors = embedder.embed(["ferry times", *lines])
    exact = [sum(a * b for a, b in zip(asked, each, strict=True)) for each in vectors]
    likeness = Similarity(embedder, english)
    assert likeness("ferry times", lines) == exact
    assert likeness("ferry times", lines) == exact  # from memory


# --- extractive --------------------------------------------------------------------------

REFUND = "Goods that come back are paid for within ten days."
SOURCES = [
    Source(
        "urn:reddb:row:a/1", '{"text":"Our money is kept in a bank. Back transports are locked."}'
    ),
    Source("urn:reddb:row:a/2", f'{{"text":"{REFUND} The money office is closed on Sundays."}}'),
]
QUESTION = "how do i get money back"


def answer(alike: LineCosines | None) -> str:
    provider = Extractive(alike, "mini")
    made = prompt.assemble(QUESTION, SOURCES)
    completion = asyncio.run(provider.complete(made, Knobs(None, None), max_tokens=500))
    assert completion.model == provider.model
    return completion.text


def test_a_line_that_means_the_same_is_quoted_before_one_that_says_the_same_words() -> None:
    def alike(_: str, lines: Sequence[str]) -> list[float]:
        return [0.9 if line == REFUND else 0.0 for line in lines]

    assert not answer(None).startswith(REFUND)
    assert answer(alike).startswith(f"{REFUND} [^2]")


def test_a_line_is_compared_behind_the_name_of_its_source() -> None:
    sources = [
        Source("urn:reddb:document:a/1", '{"text":"It was pulled down in 1967.","title":"Bridge"}'),
        Source("urn:reddb:document:a/2", '{"text":"The bridge is old.","title":""}'),
    ]
    seen: list[str] = []

    def alike(_: str, lines: Sequence[str]) -> list[float]:
        seen.extend(lines)
        return [0.0] * len(lines)

    made = prompt.assemble("when was the bridge demolished", sources)
    provider = Extractive(alike, "mini")
    asyncio.run(provider.complete(made, Knobs(None, None), max_tokens=500))
    assert set(seen) == {"Bridge: It was pulled down in 1967.", "The bridge is old."}


def test_without_similarity_the_answer_is_by_words() -> None:
    assert answer(lambda *_: None) == answer(None)


def test_a_line_similar_enough_is_quoted_however_few_words_it_shares() -> None:
    question = "zebra quagga okapi money yak gnu ibex"
    made = prompt.assemble(question, SOURCES)

    def ask(cosine: float) -> str:
        provider = Extractive(lambda _, lines: [cosine] * len(lines), "mini")
        return asyncio.run(provider.complete(made, Knobs(None, None), max_tokens=500)).text

    assert ask(0.0) == "Nothing here mentions “zebra”, “quagga”, “okapi”."
    assert "money" in ask(0.6)


def test_the_embedder_is_part_of_the_models_name() -> None:
    assert Extractive().model == MODEL
    assert Extractive(lambda *_: None, "mini").model == f"{MODEL}+mini"


def test_where_the_best_line_is_a_record_words_decide_alone() -> None:
    rows = [
        Source("urn:reddb:row:orders/FDD-1", '{"id":"FDD-1","product":"beans","status":"open"}'),
        Source("urn:reddb:document:a/1", '{"text":"An order of beans is a fine thing to have."}'),
    ]
    made = prompt.assemble("What is the status of order FDD-1?", rows)

    def ask(alike: LineCosines | None) -> str:
        provider = Extractive(alike, "mini")
        return asyncio.run(provider.complete(made, Knobs(None, None), max_tokens=500)).text

    assert ask(None).startswith("status: open, id: FDD-1 [^1]")
    assert ask(lambda _, lines: [float("fine" in line) for line in lines]) == ask(None)
