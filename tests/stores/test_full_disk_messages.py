"""A disk that runs full in the middle of long work: the message says what was written."""

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filing import write

import redask
from redask.app import dumps
from redask.core.errors import StoreFailed
from redask.embedding import stage
from redask.ingest import pipeline
from redask.stores.sqlite.backup.chunk_store import ChunkStore
from redask.stores.sqlite.connection import translated
from redask.stores.sqlite.store import SqliteStore


class FullAt:
    """The nth call of a method finds the disk full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, nth: int) -> None:
        real: Callable[..., Any] = getattr(owner, name)
        calls = [0]

        def failing(*given: Any, **named: Any) -> Any:
            calls[0] += 1
            if calls[0] == nth:
                raise StoreFailed("the disk is full: nothing of this was written to redask.sqlite")
            return real(*given, **named)

        monkeypatch.setattr(owner, name, failing)


def message(work: Callable[[], object]) -> str:
    with pytest.raises(StoreFailed) as told:
        work()
    return told.value.message


def test_an_ingest_says_how_many_files_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH", 1)
    for number in range(4):
        write(tmp_path / f"files/{number}.md", f"The ferry {number}.")
    with redask.open(tmp_path / "db", embedder="none") as db:
        manifest = type(db._async._app.backend.manifest)
        FullAt(monkeypatch, manifest, "load", 3)
        assert message(lambda: db.ingest(tmp_path / "files")) == (
            "the disk is full: nothing of this was written to redask.sqlite; 2 files with 2 new or "
            "changed entities were written before: run it again to go on"
        )
        assert db.ingest(tmp_path / "files").written == 2
        FullAt(monkeypatch, manifest, "load", 1)
        write(tmp_path / "files/0.md", "Another ferry.")
        assert message(lambda: db.ingest(tmp_path / "files")).endswith("; no file was written")


def test_a_load_says_how_many_records_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumps, "_STEP", 2)
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("notes", [{"id": number} for number in range(5)])
        db.set_policy("notes", {"read": [{"roles": ["support"]}]})
        db.dump(tmp_path / "dump.jsonl")
    with redask.open(tmp_path / "other", embedder="none") as db:
        FullAt(monkeypatch, SqliteStore, "put", 2)
        told = message(lambda: db.load(tmp_path / "dump.jsonl"))
        assert told.endswith("; 3 records of the dump were written: load it again to go on")
        assert db.load(tmp_path / "dump.jsonl").entities == 5


def test_embedding_says_how_many_vectors_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "BATCH", 2)
    with redask.open(tmp_path / "db", embedder="hashed") as db:
        db.put("notes", [{"id": n, "text": f"ferry {n}"} for n in range(5)], wait=False)
        FullAt(monkeypatch, SqliteStore, "set_vectors", 2)
        assert message(db.embed).endswith("; 2 vectors were written before, the others are pending")
        assert db.embed() == 3


def test_a_back_up_says_how_many_bytes_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = ChunkStore.add, [0]

    def failing(self: ChunkStore, content: bytes) -> str:
        calls[0] += 1
        if calls[0] == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(self, content)

    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("notes", [{"id": 1}])
        monkeypatch.setattr(ChunkStore, "add", failing)
        told = message(lambda: db.backup(tmp_path / "kept"))
        assert told.startswith("the disk is full: ")
        count, _, rest = told.partition("; ")[2].partition(" ")
        assert int(count) > 100
        assert rest == "bytes of the back-up were written: the next uses them"
        assert db.backup(tmp_path / "kept").written > 0


def test_a_full_disk_is_called_that_whoever_says_so() -> None:
    with pytest.raises(StoreFailed, match=r"^the disk is full: x cannot be used"), translated("x"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(StoreFailed, match=r"^x cannot be used"), translated("x"):
        raise OSError(errno.EIO, "Input/output error")
    with pytest.raises(StoreFailed, match=r"^x failed$"), translated("x"):
        raise sqlite3.OperationalError("something else")
