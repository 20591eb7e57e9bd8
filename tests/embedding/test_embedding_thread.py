"""A server embeds what an ingest has left, and nothing that costs money or has another model."""

import logging
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from waiting import until

import redask
from redask.app import build
from redask.app.background import embedding_thread
from redask.core.errors import StoreFailed
from redask.core.settings import load
from redask.embedding.models.hashed import Hashed
from redask.embedding.stage import BATCH, EmbeddingStage

NOTES = [{"id": number, "text": f"note number {number}"} for number in range(BATCH + 9)]
IN_PROCESS = "[select]\nworkers = 0\n"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_thread, "_LOOK_EVERY", 0.01)


def left(directory: Path) -> int:
    with redask.open(directory, embedder="hashed") as db:
        pending: int = db.doctor()["embedding"]["pending"]
        return pending


def written(directory: Path, embedder: str = "hashed", tenant: str | None = None) -> None:
    with redask.open(directory, embedder=embedder, tenant=tenant) as db:
        db.put("notes", NOTES, wait=False)


def test_a_server_embeds_what_was_left_and_what_others_write_later(tmp_path: Path) -> None:
    written(tmp_path)
    written(tmp_path, tenant="north")
    settings = load(IN_PROCESS, {})
    with closing(build(tmp_path, settings=settings, embedder="hashed", serving=True)) as app:
        stage = app.retriever.embedding
        assert stage is not None
        assert until(lambda: not stage.is_pending("local") and not stage.is_pending("north"))
        with redask.open(tmp_path, embedder="none") as other:
            other.put("notes", [{"id": "new", "text": "the ferry is late"}], wait=False)
        assert until(lambda: not stage.is_pending("local"))
    assert left(tmp_path) == 0


def test_who_opens_a_database_is_no_server_and_embeds_nothing_unasked(tmp_path: Path) -> None:
    written(tmp_path)
    with closing(build(tmp_path, embedder="hashed")) as app:
        assert not any(
            isinstance(each, embedding_thread.EmbeddingThread) for each in app.parts.threads
        )
    assert left(tmp_path) == len(NOTES)


def test_closing_stops_after_a_batch_and_the_next_server_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    settings, embed = load(IN_PROCESS, {}), Hashed.embed
    begun: list[int] = []

    def slow(self: Hashed, texts: list[str]) -> list[tuple[float, ...]]:
        begun.append(len(texts))
        until(lambda: stage is not None and stage._stopped.is_set())
        return embed(self, texts)

    with monkeypatch.context() as patch:
        patch.setattr(Hashed, "embed", slow)
        stage: EmbeddingStage | None = None
        app = build(tmp_path, settings=settings, embedder="hashed", serving=True)
        stage = app.retriever.embedding
        assert until(lambda: bool(begun))
        app.close()
    assert begun == [BATCH]
    assert left(tmp_path) == len(NOTES) - BATCH


def test_vectors_of_another_model_and_embedders_elsewhere_are_left_to_the_operator(
    tmp_path: Path,
) -> None:
    written(tmp_path)
    with redask.open(tmp_path, embedder="hashed") as db:
        db.embed()
    with redask.open(tmp_path, embedder="none") as db:
        db.put("notes", [{"id": "new", "text": "the ferry is late"}], wait=False)
    with closing(build(tmp_path, embedder="hashed")) as app, ExitStack() as opened:
        stage = app.retriever.embedding
        assert stage is not None
        stage.embedder.model = "another"
        thread = embedding_thread.EmbeddingThread(stage, lambda: ["local"])
        thread._embed("local")
        assert thread.close(time.monotonic() + 60)
        assert stage.is_pending("local")
        elsewhere = '[embedder]\nmodel = "m"\nname = "openai_compatible"\nbase_url = "http://[::1]"'
        settings = load("", {}, elsewhere)
        with closing(build(tmp_path, settings=settings)) as other:
            made = embedding_thread.embedding_in_background(
                other.backend, other.retriever.embedding, opened, settings
            )
            assert made is None


def test_what_fails_is_said_once_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    written(tmp_path)
    failed: list[str] = []

    def full(*_: object) -> int:
        failed.append("once more")
        raise StoreFailed("the disk is full")

    with closing(build(tmp_path, embedder="hashed")) as app:
        stage = app.retriever.embedding
        assert stage is not None
        with caplog.at_level(logging.WARNING, logger="redask.embedding"):
            with monkeypatch.context() as patch:
                patch.setattr(EmbeddingStage, "finish", full)
                thread = embedding_thread.EmbeddingThread(stage, lambda: ["local"])
                assert until(lambda: len(failed) > 3)
            assert until(lambda: not stage.is_pending("local"))
        assert thread.close(time.monotonic() + 60)
    assert caplog.messages == ["not everything is embedded yet: the disk is full"]
