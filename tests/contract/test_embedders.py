"""What every embedder promises; each row of EMBEDDERS that embeds is held to it."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from embedding_host import hosting

from redask.core.errors import Misconfigured
from redask.core.ports import Embedder
from redask.embedding import models
from redask.embedding.models import EMBEDDERS, RemoteModel
from redask.embedding.models.hashed import Hashed
from redask.stores import vector_encoding

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

names = [row.name for row in EMBEDDERS if row.name != "none"]


@pytest.fixture(scope="module", params=names)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def remote() -> Iterator[RemoteModel]:
    with hosting() as host:
        yield RemoteModel(host.url, "hashed", "key")


@pytest.fixture(scope="module")
def embedder(name: str, remote: RemoteModel) -> Embedder:
    made = models.make(name, remote)
    assert made is not None
    return made


def similarity(a: Sequence[float], b: Sequence[float]) -> float:
    return float(np.dot(a, b))


def test_each_text_gets_one_unit_vector_of_the_declared_dimensions(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert len(vectors) == len(TEXTS)
    for vector in vectors:
        assert len(vector) == embedder.dimensions
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert embedder.embed([]) == []


def test_a_text_gets_the_same_vector_whoever_is_beside_it(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    assert embedder.embed(TEXTS[::-1]) == together[::-1]
    assert [embedder.embed([text])[0] for text in TEXTS] == together


def test_likeness_of_words_is_likeness_of_vectors(embedder: Embedder) -> None:
    invoice, near, far = embedder.embed(
        ["The invoice was paid late", "invoices paid too late", "a walk along the river bank"]
    )
    assert similarity(invoice, near) > similarity(invoice, far) + 0.1


def test_the_model_is_named_and_the_languages_are_declared(embedder: Embedder) -> None:
    assert embedder.model
    assert all(len(language) == 2 for language in embedder.languages)


def test_many_threads_get_the_same_vectors(embedder: Embedder) -> None:
    alone = embedder.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for together in pool.map(lambda _: embedder.embed(TEXTS), range(4)):
            assert together == alone


def test_another_process_gets_the_same_vectors(
    name: str, embedder: Embedder, remote: RemoteModel
) -> None:
    program = (
        "from redask.embedding.models import RemoteModel, make\n"
        f"remote = RemoteModel({remote.base_url!r}, {remote.model!r})\n"
        f"print(make({name!r}, remote).embed(['a b', 'é']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == repr(embedder.embed(["a b", "é"]))


def test_vectors_survive_the_stores_rounding_to_32_bits_as_unit_vectors(embedder: Embedder) -> None:
    (vector,) = embedder.embed(["The invoice was paid late."])
    kept = vector_encoding.unpack(vector_encoding.pack(vector))
    assert np.linalg.norm(kept) == pytest.approx(1, abs=1e-6)


def test_none_embeds_nothing() -> None:
    assert models.make("none") is None


def test_names_are_unique_and_an_unknown_one_is_refused_with_the_known_ones() -> None:
    assert len({row.name for row in EMBEDDERS}) == len(EMBEDDERS)
    with pytest.raises(Misconfigured, match="'nope'; there are none, minilm"):
        models.make("nope")


def test_features_that_cancel_still_leave_a_unit_vector() -> None:
    vectors = Hashed(dimensions=1).embed(
        [chr(97 + i) + chr(97 + j) for i in range(26) for j in range(26)]
    )
    assert {abs(number) for (number,) in vectors} == {1.0}
