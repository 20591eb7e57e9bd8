"""What every embedder promises; each row of EMBEDDERS that embeds is held to it."""

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from redask import embedders
from redask.embedders import EMBEDDERS
from redask.embedders.hashed import Hashed
from redask.errors import Misconfigured
from redask.ports import Embedder

TEXTS = [
    "The invoice was paid late.",
    "Die Rechnung wurde zu spät bezahlt.",
    "請求書の支払いが遅れた。",
    "",
    "   \n\t",
    "!?…",
    "a",
    "\ud800 half of a pair",
    "word " * 5_000,
]

made = {row.name: row.make() for row in EMBEDDERS}
every = pytest.mark.parametrize(
    "embedder", [pytest.param(e, id=name) for name, e in made.items() if e is not None]
)


def similarity(a: Sequence[float], b: Sequence[float]) -> float:
    return float(np.dot(a, b))


@every
def test_each_text_gets_one_unit_vector_of_the_declared_dimensions(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert len(vectors) == len(TEXTS)
    for vector in vectors:
        assert len(vector) == embedder.dimensions
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert embedder.embed([]) == []


@every
def test_a_text_gets_the_same_vector_whoever_is_beside_it(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    assert embedder.embed(TEXTS[::-1]) == together[::-1]
    assert [embedder.embed([text])[0] for text in TEXTS] == together


@every
def test_likeness_of_words_is_likeness_of_vectors(embedder: Embedder) -> None:
    invoice, near, far = embedder.embed(
        ["The invoice was paid late", "invoices paid too late", "a walk along the river bank"]
    )
    assert similarity(invoice, near) > similarity(invoice, far) + 0.1


@every
def test_the_model_is_named_and_the_languages_are_declared(embedder: Embedder) -> None:
    assert embedder.model
    assert all(len(language) == 2 for language in embedder.languages)


@pytest.mark.parametrize("name", [name for name, e in made.items() if e is not None])
def test_another_process_gets_the_same_vectors(name: str) -> None:
    program = f"from redask import embedders; print(embedders.make({name!r}).embed(['a b', 'é']))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    embedder = embedders.make(name)
    assert embedder is not None
    assert run.stdout.strip() == repr(embedder.embed(["a b", "é"]))


def test_none_embeds_nothing() -> None:
    assert embedders.make("none") is None


def test_names_are_unique_and_an_unknown_one_is_refused_with_the_known_ones() -> None:
    assert len({row.name for row in EMBEDDERS}) == len(EMBEDDERS)
    with pytest.raises(Misconfigured, match="'nope'; there are none, hashed"):
        embedders.make("nope")


def test_features_that_cancel_still_leave_a_unit_vector() -> None:
    vectors = Hashed(dimensions=1).embed(
        [chr(97 + i) + chr(97 + j) for i in range(26) for j in range(26)]
    )
    assert {abs(number) for (number,) in vectors} == {1.0}
