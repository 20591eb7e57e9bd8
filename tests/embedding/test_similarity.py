"""Similarity of lines to a question, and what `extractive` makes of it."""

import asyncio
from collections.abc import Sequence

import pytest

from redask.core.model import Knobs, Source
from redask.core.rules import prompt
from redask.embedding.models.hashed import Hashed
from redask.embedding.similarity import Similarity
from redask.providers.extractive.answerer import MODEL, NO_ANSWER, Extractive, LineCosines


class Noting(Hashed):
    """Notes what it embeds; knows English."""

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
    cosines = Similarity(Noting(), english)("ferry times", ["the ferry times", "brick towers"])
    assert cosines is not None
    assert cosines[0] > cosines[1] + 0.3
    (same,) = Similarity(Noting(), english)("ferry times", ["ferry times"]) or [0.0]
    assert same == pytest.approx(1.0)


def test_a_line_is_embedded_once_and_its_number_stays_the_same() -> None:
    noting = Noting()
    likeness = Similarity(noting, english)
    first = likeness("ferry", ["a ferry", "a tower", "a ferry"])
    assert likeness("ferry", ["a ferry", "a tower", "a ferry"]) == first
    assert sorted(noting.texts) == ["a ferry", "a tower", "ferry"]


def test_another_language_is_not_compared() -> None:
    noting = Noting()
    assert Similarity(noting, lambda _: "de")("Fähre", ["die Fähre"]) is None
    assert noting.texts == []
    assert Similarity(Hashed(), lambda _: "de")("Fähre", ["die Fähre"]) is not None


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


def test_without_likeness_the_answer_is_by_words() -> None:
    assert answer(lambda *_: None) == answer(None)


def test_a_line_like_enough_is_quoted_however_few_words_it_shares() -> None:
    question = "zebra quagga okapi money yak gnu ibex"
    made = prompt.assemble(question, SOURCES)

    def ask(cosine: float) -> str:
        provider = Extractive(lambda _, lines: [cosine] * len(lines), "mini")
        return asyncio.run(provider.complete(made, Knobs(None, None), max_tokens=500)).text

    assert ask(0.0) == NO_ANSWER
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

    assert ask(None).startswith("id: FDD-1, product: beans, status: open [^1]")
    assert ask(lambda _, lines: [float("fine" in line) for line in lines]) == ask(None)
