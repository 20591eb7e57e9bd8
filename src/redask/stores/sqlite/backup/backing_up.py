"""A back-up of both databases while they are in use: `back_up(store, calls, …)`.

**One moment for both.** A read transaction is begun on `calls.sqlite`, then one on `redask.sqlite`;
if `calls.sqlite` was not committed to in between (its data version is the same before the first and
after the second), both were the newest states at the moment the second began, and stay readable as
they were. Else it is tried again. So the log holds each row that the store could have known of, and
no row that came of a later store. No writer waits for it, and nothing is locked.

Each state is copied with SQLite's own back-up, a step at a time, checked, cut into chunks, read
back from them and compared; only then is the manifest written, which makes it a back-up. What was
written before an interruption is found by the next run. A damaged database is not backed up.
"""

import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from hashlib import sha256
from pathlib import Path

from redask.core.errors import BadAsk, StoreFailed
from redask.index import private_files
from redask.index.file_lock import FileLock
from redask.stores.backend import BackupReport
from redask.stores.sqlite.backup import snapshot_manifest
from redask.stores.sqlite.backup.chunk_store import ChunkStore, pieces, sync_folder
from redask.stores.sqlite.backup.pruning import check_keep, prune
from redask.stores.sqlite.backup.snapshot_manifest import BackedUpFile, BackupManifest
from redask.stores.sqlite.connection import Database, translated

Progress = Callable[[int, int], None]  # bytes that are copied and checked, of how many
_STEP_PAGES = 1_000
_TRIES = 1_000
_CONFIGURATION = ("redask.toml", "synonyms.toml")
_WORK, _LOCK = ".work-", "backup.lock"


def back_up(
    store: Database,
    calls: Database,
    destination: Path,
    *,
    made_at: int,
    made_by: str,
    progress: Progress | None = None,
    keep: int | None = None,
) -> BackupReport:
    """Add a back-up to a directory, which is made if it is missing. → what was done"""
    check_keep(keep)
    source = store.path.parent
    if (
        destination.resolve() == source.resolve()
        or source.resolve() in destination.resolve().parents
    ):
        raise BadAsk("a back-up does not belong into the directory of its database", detail="dest")
    with translated(str(destination)), _locked(destination):
        for left in destination.glob(f"{_WORK}*"):
            shutil.rmtree(left, ignore_errors=True)
        work = destination / f"{_WORK}{secrets.token_hex(8)}"
        private_files.make_directory(work)
        try:
            facts = _copy_both(store, calls, work, progress)
            for name in _CONFIGURATION:
                if (source / name).is_file():
                    private_files.make_file(work / name)
                    shutil.copyfile(source / name, work / name)
            chunks = ChunkStore(destination)
            try:
                with translated(str(destination)):
                    files = [_keep(work / each.name, chunks) for each in sorted(work.iterdir())]
                    chunks.sync()
            except StoreFailed as error:
                done = f"{chunks.written} bytes of the back-up were written: the next uses them"
                raise error.after(done) from error
            for file in files:
                _verify(file, chunks)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        manifest = BackupManifest(_unique(destination, made_at), made_by, *facts, tuple(files))
        _place(destination / manifest.name, snapshot_manifest.written(manifest))
        removed = 0 if keep is None else prune(destination, keep)
    size = sum(file.size for file in files)
    return BackupReport(manifest.name, manifest.made_at, size, chunks.written, removed)


def _copy_both(
    store: Database, calls: Database, work: Path, progress: Progress | None
) -> tuple[str, str]:
    """Copy both databases as they were at one moment. → the store's identity and timeline"""
    with ExitStack() as stack:
        log, data = stack.enter_context(calls.beside()), stack.enter_context(store.beside())
        _begin_together(calls, log, data)
        pairs = ((data, store.path.name), (log, calls.path.name))
        total = 2 * sum(_bytes(connection) for connection, _ in pairs)
        done = 0
        for connection, name in pairs:
            size = _bytes(connection)
            private_files.make_file(work / name)
            with closing(sqlite3.connect(work / name, isolation_level=None)) as copy:
                copy.execute("PRAGMA synchronous = OFF")  # a work file: the chunks are synced

                def copied(
                    _: int, left: int, pages: int, done: int = done, size: int = size
                ) -> None:
                    if progress:
                        progress(done + size - size * left // max(pages, 1), total)

                connection.backup(copy, pages=_STEP_PAGES, progress=copied, sleep=0)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log
                _check(copy, name)
            done += 2 * size
            if progress:
                progress(done, total)
        identity, timeline = data.execute("SELECT identity, timeline FROM store").fetchone()
    return identity, timeline


def _begin_together(calls: Database, log: sqlite3.Connection, data: sqlite3.Connection) -> None:
    """Begin to read both in states that were the newest at one moment."""
    for _ in range(_TRIES):
        before = calls.version()
        for connection in (log, data):
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # begins it really
        if calls.version() == before:
            return
        for connection in (log, data):
            connection.execute("ROLLBACK")
    raise StoreFailed(f"{calls.path.name} is written too often to be backed up: try again")


def _check(copy: sqlite3.Connection, name: str) -> None:
    found = [row[0] for row in copy.execute("PRAGMA quick_check(3)").fetchall()]
    if found != ["ok"]:
        raise StoreFailed(
            f"{name} is damaged, so it was not backed up: earlier back-ups are as they were",
            detail="; ".join(found),
        )


def _keep(path: Path, chunks: ChunkStore) -> BackedUpFile:
    whole, names = sha256(), []
    with open(path, "rb") as file:
        for content in pieces(file):
            whole.update(content)
            names.append(chunks.add(content))
    return BackedUpFile(path.name, path.stat().st_size, whole.hexdigest(), tuple(names))


def _verify(file: BackedUpFile, chunks: ChunkStore) -> None:
    """Read a file back from its chunks."""
    whole, size = sha256(), 0
    for name in file.chunks:
        content = chunks.read(name)
        whole.update(content)
        size += len(content)
    if (size, whole.hexdigest()) != (file.size, file.sha256):
        raise StoreFailed("what was written to the back-up is not what can be read from it")


def _unique(destination: Path, made_at: int) -> int:
    """A time that no back-up has, whatever the clock says: later than all that are there."""
    names = [path.name for path in destination.glob(f"*{snapshot_manifest.ENDING}")]
    last = max((int(name.removesuffix(snapshot_manifest.ENDING)) for name in names), default=0)
    return max(made_at, last + 1)


def _place(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(private_files.open_file(draft, os.O_WRONLY | os.O_EXCL), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _bytes(connection: sqlite3.Connection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages) * int(size)


@contextmanager
def _locked(destination: Path) -> Iterator[None]:
    private_files.make_directory(destination)
    with ExitStack() as stack:
        try:
            stack.enter_context(FileLock(destination / _LOCK, 0))
        except StoreFailed as error:
            raise StoreFailed(
                f"another back-up is being written to {destination}: {error.message}"
            ) from None
        yield
