"""The remote embedder: requests, and a host that is slow, wrong, or down."""

import json
from collections.abc import Iterator
from functools import partial

import pytest
from embedding_host import EmbeddingHost, hosting

from redask.core.errors import Failure, Misconfigured, ProviderFailed, ProviderRefused
from redask.embedding.models.openai_embeddings import (
    TEXTS_PER_REQUEST,
    OpenAiCompatible,
    RemoteModel,
)

KEY = "sk-very-secret"


@pytest.fixture
def host() -> Iterator[EmbeddingHost]:
    with hosting() as started:
        yield started


def client(host: EmbeddingHost, dimensions: int | None = None) -> OpenAiCompatible:
    return OpenAiCompatible(RemoteModel(host.url + "/", "small", KEY, dimensions), timeout=60)


def answer(*vectors: list[object]) -> bytes:
    data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    return json.dumps({"data": data}).encode()


def test_it_asks_for_the_model_with_the_key_in_batches(host: EmbeddingHost) -> None:
    texts = [f"text {number}" for number in range(TEXTS_PER_REQUEST + 1)]
    vectors = client(host).embed(texts)
    assert len(vectors) == len(texts)
    assert [len(call["input"]) for call in host.calls] == [TEXTS_PER_REQUEST, 1]
    assert {(call["path"], call["model"]) for call in host.calls} == {("/v1/embeddings", "small")}
    assert set(host.keys) == {f"Bearer {KEY}"}


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(host: EmbeddingHost) -> None:
    host.reply = lambda _: (200, answer([3.0, 4.0], [0, -2]))
    assert client(host).embed(["a", "b"]) == [(0.6, 0.8), (0.0, -1.0)]


def test_the_model_is_part_of_the_name_of_its_vectors(host: EmbeddingHost) -> None:
    assert client(host).model == "openai_compatible/small"


@pytest.mark.parametrize(
    ("status", "kind", "failure"),
    [
        (400, ProviderRefused, Failure.REFUSED),
        (401, ProviderRefused, Failure.REFUSED),
        (429, ProviderRefused, Failure.REFUSED),
        (408, ProviderFailed, Failure.TIMEOUT),
        (500, ProviderFailed, Failure.SERVER),
        (503, ProviderFailed, Failure.SERVER),
    ],
)
def test_a_status_is_a_failure_of_its_kind_and_reveals_no_key(
    host: EmbeddingHost, status: int, kind: type[ProviderFailed], failure: Failure
) -> None:
    host.reply = lambda _: (status, KEY.encode())
    with pytest.raises(ProviderFailed) as caught:
        client(host).embed(["a"])
    assert (type(caught.value), caught.value.failure) == (kind, failure)
    assert str(status) in caught.value.message or status == 408
    assert KEY not in f"{caught.value!r} {caught.value.detail}"


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"[",
        b"[]",
        b"{}",
        b'{"data": 1}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999]}]}',
        b"[" * 100_000,
    ],
)
def test_an_invalid_response_is_a_refusal(host: EmbeddingHost, reply: bytes) -> None:
    host.reply = lambda _: (200, reply)
    with pytest.raises(ProviderRefused):
        client(host).embed(["a"])


def test_vectors_of_another_dimension_than_declared_or_before_are_refused(
    host: EmbeddingHost,
) -> None:
    host.reply = lambda _: (200, answer([1.0, 2.0]))
    with pytest.raises(Misconfigured, match="2 dimensions, not 3"):
        client(host, 3).embed(["a"])
    learned = client(host)
    learned.embed(["a"])
    host.reply = lambda _: (200, answer([1.0, 2.0, 3.0]))
    with pytest.raises(Misconfigured, match="3 dimensions, not 2"):
        learned.embed(["a"])


def test_a_host_that_does_not_answer_is_a_timeout(host: EmbeddingHost) -> None:
    host.silent = True
    with pytest.raises(ProviderFailed) as caught:
        OpenAiCompatible(RemoteModel(host.url, "small"), timeout=0.1).embed(["a"])
    assert caught.value.failure is Failure.TIMEOUT


def test_a_host_that_is_down_is_a_transport_failure() -> None:
    with pytest.raises(ProviderFailed) as caught:
        OpenAiCompatible(RemoteModel("http://127.0.0.1:9/v1", "small"), timeout=60).embed(["a"])
    assert caught.value.failure is Failure.TRANSPORT


def _redirect(status: int, target: bytes, _: object) -> tuple[int, bytes]:
    return status, target


def test_the_key_does_not_follow_a_redirect(host: EmbeddingHost) -> None:
    with hosting() as other:
        for status in (301, 302, 307):
            target = f"{other.url}/embeddings".encode()
            host.reply = partial(_redirect, status, target)
            with pytest.raises(ProviderRefused):
                client(host).embed(["a"])
        assert other.keys == []


@pytest.mark.parametrize(
    ("remote", "named"),
    [
        (RemoteModel("http://127.0.0.1/v1"), "embedder.model"),
        (RemoteModel(None, "small"), "embedder.base_url"),
        (RemoteModel("ftp://127.0.0.1", "small"), "embedder.base_url"),
        (RemoteModel("file:///etc/passwd", "small"), "embedder.base_url"),
    ],
)
def test_what_is_missing_is_named(remote: RemoteModel, named: str) -> None:
    with pytest.raises(Misconfigured, match=named):
        OpenAiCompatible(remote)


def test_a_key_is_not_shown() -> None:
    assert KEY not in repr(RemoteModel(None, "small", KEY))
