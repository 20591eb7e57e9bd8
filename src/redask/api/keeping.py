"""Keeping a database, from Python: back-ups of the whole, dumps of a tenant, and their way back.

    db.backup("/mnt/backups/shop")            while it is in use; again: only what changed is added
    redask.restore("/mnt/backups/shop", to="./shop")
    db.dump("shop.jsonl"); db.load("shop.jsonl")

See docs/backup.md.
"""

import json
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from redask.app import App, backups, copies, dumps
from redask.app.backups import BackupProgress, BackupReport, RestoreReport
from redask.app.copies import CopyProgress, CopyReport
from redask.app.dumps import DumpCounts, DumpProgress
from redask.app.health_report import health_report
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.embedding.stage import EmbeddingProgress

if TYPE_CHECKING:
    from redask.app.embedding_shards import TakenCounts

_T = TypeVar("_T")
_MOST = 65_536  # characters of a change that the access log keeps


class AsyncKeeping:
    """Back-ups and dumps, for asyncio; see the module."""

    _app: App

    async def _as_caller(self, work: Callable[[Caller], _T]) -> _T:
        raise NotImplementedError

    async def _change(
        self, action: str, subject: object, detail: str, work: Callable[[Caller], _T]
    ) -> _T:
        raise NotImplementedError

    async def backup(
        self,
        destination: str | Path,
        *,
        keep: int | None = None,
        progress: BackupProgress | None = None,
    ) -> BackupReport:
        """Add a verified back-up of the whole database to a directory. → what was written"""
        app = self._app
        return await self._as_caller(
            lambda caller: backups.back_up(app, destination, caller, progress, keep=keep)
        )

    async def doctor(
        self,
        *,
        rebuild_index: bool = False,
        deep: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """What is there, what is pending, what is wrong; `problems` is empty when all is well.

        `deep` compares everything with its checksum, names what is damaged and mends what is
        derived; `progress` may raise to end it.
        """
        return await self._as_caller(
            lambda caller: health_report(
                *(self._app, caller, rebuild_index), deep=deep, progress=progress
            )
        )

    async def dump(self, path: str | Path, *, progress: DumpProgress | None = None) -> DumpCounts:
        """Write the data of the caller's tenant to a file of JSON Lines, all or nothing."""
        return await self._as_caller(
            lambda caller: _dumped(self._app, Path(path), caller, progress)
        )

    async def dump_lines(self, write: Callable[[str], object]) -> DumpCounts:
        """The same, each line given to a function."""
        return await self._as_caller(lambda caller: dumps.dump(self._app, caller, write))

    async def load(
        self,
        path: str | Path,
        *,
        replace_policies: bool = False,
        progress: DumpProgress | None = None,
    ) -> DumpCounts:
        """Write what a dump holds into the caller's tenant; a known URN is replaced.

        A dump with another policy for a collection that is here is refused, unless
        `replace_policies`. The access log has a row before it, and one after.
        """
        app = self._app
        plan = await self._as_caller(
            lambda caller: dumps.plan_load(
                app, caller, Path(path), replace_policies=replace_policies
            )
        )
        told = {"policies": plan.policies, "replaced": plan.replaced, "users": plan.users}
        return await self._change(
            *("load", plan.path.name, json.dumps(told)[:_MOST]),
            lambda caller: dumps.load(app, caller, plan, progress),
        )

    async def take_vectors(
        self, *paths: str | Path, progress: EmbeddingProgress | None = None
    ) -> "TakenCounts":
        """Embed what waits for it, with the vectors of files that `embed_shard` wrote."""
        from redask.app.embedding_shards import take_vectors

        app, files = self._app, [Path(each) for each in paths]
        return await self._as_caller(lambda caller: take_vectors(app, caller, files, progress))


class SyncKeeping:
    """Back-ups and dumps for everybody else."""

    _async: AsyncKeeping

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        raise NotImplementedError

    def backup(
        self,
        destination: str | Path,
        *,
        keep: int | None = None,
        progress: BackupProgress | None = None,
    ) -> BackupReport:
        """Add a verified back-up of the whole database to a directory. → what was written

        It is made while the database is in use, of one moment of both its files. What a directory
        has already is not written again. With `keep`, all but the last so many are removed.
        """
        return self._run(self._async.backup(destination, keep=keep, progress=progress))

    def doctor(
        self,
        *,
        rebuild_index: bool = False,
        deep: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """What is there, what is pending, what is wrong; `problems` is empty when all is well.

        `deep` compares everything with its checksum, names what is damaged and mends what is
        derived; `progress` is told rows read, of all, and may raise to end it.
        """
        return self._run(
            self._async.doctor(rebuild_index=rebuild_index, deep=deep, progress=progress)
        )

    def dump(self, path: str | Path, *, progress: DumpProgress | None = None) -> DumpCounts:
        """Write the data of the caller's tenant to a file of JSON Lines, all or nothing."""
        return self._run(self._async.dump(path, progress=progress))

    def dump_lines(self, write: Callable[[str], object]) -> DumpCounts:
        """The same, each line given to a function."""
        return self._run(self._async.dump_lines(write))

    def load(
        self,
        path: str | Path,
        *,
        replace_policies: bool = False,
        progress: DumpProgress | None = None,
    ) -> DumpCounts:
        """Write what a dump holds into the caller's tenant; a known URN is replaced.

        The file is checked as a whole first, and refused if it has another policy for a collection
        that is here, unless `replace_policies`. Loading it again changes nothing.
        """
        return self._run(
            self._async.load(path, replace_policies=replace_policies, progress=progress)
        )

    def take_vectors(
        self, *paths: str | Path, progress: EmbeddingProgress | None = None
    ) -> "TakenCounts":
        """Embed what waits for it, with the vectors of files that `embed_shard` wrote.

        Each file is checked as a whole before anything is written; what no file has, or was written
        since, is embedded here. → how many texts were found, and how many embedded
        """
        return self._run(self._async.take_vectors(*paths, progress=progress))


def embed_shard(
    dump: str | Path,
    shard: str,
    *,
    to: str | Path,
    embedder: str = "minilm",
    progress: EmbeddingProgress = lambda *_: None,
) -> int:
    """Embed one shard (`2/5`) of the texts of a dump into a file, for `take_vectors`. → how many"""
    from redask.app import embedding_shards

    return embedding_shards.embed_shard(Path(dump), shard, Path(to), embedder, progress)


def restore(
    source: str | Path, *, to: str | Path, at: str | None = None, overwrite: bool = False
) -> RestoreReport:
    """Make a database from a back-up, all or nothing. `redask.restore`.

    `at` is a time in ISO 8601: the last back-up made by then. A directory that is not empty is
    refused, or with `overwrite` replaced; what was there stays beside it.
    """
    return backups.restore(source, to, at=at, overwrite=overwrite)


def copy(
    source: str | Path, destination: str | Path, progress: CopyProgress = lambda *_: None
) -> CopyReport:
    """Copy a database to another place, of whatever kind, and verify it; again: what is new."""
    return copies.copy_database(str(source), str(destination), progress)


def _dumped(app: App, path: Path, caller: Caller, progress: DumpProgress | None) -> DumpCounts:
    draft = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            counts = dumps.dump(app, caller, file.write, progress)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise BadAsk(f"{str(path)!a} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink()
    return counts
