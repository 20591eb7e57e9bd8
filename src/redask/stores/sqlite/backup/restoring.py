"""A back-up becomes a database directory again, all or nothing: `restore(source, target, …)`.

The files are put together in a new directory beside the target, each chunk and each file checked by
its hash, each database by its schema (`checking.schema_check`) and by SQLite; only then does that
directory take the target's place.

    nothing there, or an empty directory    it is renamed
    a database, or other files              refused, unless `overwrite`; then both are exchanged in
                                            one step where the system can (renameat2), and what was
                                            there stays beside it as `NAME.before-…`
    somebody has the database open          refused: a running process would go on with the old one

What is restored begins a timeline of its own when it is first opened (see `history`), and has no
index: that is made anew.
"""

import ctypes
import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

from redask.core.errors import BadAsk, StoreFailed
from redask.index import private_files
from redask.index.sqlite_schema import harden
from redask.stores.backend import RestoreReport
from redask.stores.sqlite.backup import snapshot_manifest
from redask.stores.sqlite.backup.chunk_store import ChunkStore, sync_folder
from redask.stores.sqlite.backup.snapshot_manifest import BackedUpFile, BackupManifest
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.calls_migrations import MIGRATIONS as CALLS_MIGRATIONS
from redask.stores.sqlite.connection import translated
from redask.stores.sqlite.migrations import MIGRATIONS
from redask.stores.sqlite.schema_check import check_schema

_STORE = "redask.sqlite"
_MIGRATIONS = {_STORE: MIGRATIONS, CALLS_FILE: CALLS_MIGRATIONS}
_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE, AT_FDCWD


def restore(
    source: Path, target: Path, *, at: int | None = None, overwrite: bool = False
) -> RestoreReport:
    """Restore the last back-up, or the last one made by a time (epoch ns). → what was done"""
    target = target.absolute()
    with translated(str(source)):
        if not source.is_dir():
            raise BadAsk(f"there is no back-up in {source}", detail="source")
        name = snapshot_manifest.chosen((path.name for path in source.iterdir()), at)
        manifest = snapshot_manifest.read(name, (source / name).read_bytes())
    taken = target.is_dir() and any(target.iterdir())
    if taken and not overwrite:
        raise BadAsk(
            f"{target} is not empty: restore to another directory, or say that it may be replaced",
            detail="overwrite",
        )
    with translated(str(target)):
        if target.exists() and not target.is_dir():
            raise BadAsk(f"{target} is no directory", detail="to")
        if taken:
            _check_unused(target)
        work = target.with_name(f".{target.name}.restoring-{secrets.token_hex(8)}")
        private_files.make_directory(target.parent)
        private_files.make_directory(work)
        try:
            _put_together(manifest, ChunkStore(source), work)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
        replaced = _take_place(work, target)
    return RestoreReport(name, manifest.made_at, str(target), replaced)


def _put_together(manifest: BackupManifest, chunks: ChunkStore, work: Path) -> None:
    for file in manifest.files:
        _write(file, chunks, work / file.name)
        if file.name.endswith(".sqlite"):
            _check(work / file.name)
    if not (work / _STORE).exists():
        raise StoreFailed("the back-up is damaged: it has no redask.sqlite")
    _forget_place(work / _STORE)
    sync_folder(work)


def _write(file: BackedUpFile, chunks: ChunkStore, path: Path) -> None:
    whole, size = sha256(), 0
    with os.fdopen(private_files.open_file(path, os.O_WRONLY | os.O_EXCL), "wb") as written:
        for name in file.chunks:
            content = chunks.read(name)
            whole.update(content)
            size += written.write(content)
        written.flush()
        os.fsync(written.fileno())
    if (size, whole.hexdigest()) != (file.size, file.sha256):
        raise StoreFailed(f"the back-up is damaged: {file.name} is not what it was")


def _check(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        harden(connection)
        check_schema(connection, f"the back-up's {path.name}", _MIGRATIONS[path.name])
        found = [row[0] for row in connection.execute("PRAGMA quick_check(3)").fetchall()]
    if found != ["ok"]:
        raise StoreFailed(f"the back-up of {path.name} is damaged", detail="; ".join(found))


def _forget_place(path: Path) -> None:
    """Let the store begin a timeline when it is opened, even if it is the same file to a system."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        harden(connection)
        connection.execute("PRAGMA synchronous = FULL")
        columns = {row[1] for row in connection.execute("PRAGMA table_info(store)").fetchall()}
        if "file" in columns:  # an older redask had none: the new one begins a timeline anyway
            connection.execute("UPDATE store SET file = ''")


def _check_unused(target: Path) -> None:
    """Refuse while any process has a database of the target open."""
    for path in sorted(target.glob("*.sqlite")):
        try:
            with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
                # it leaves WAL only if nobody else has it open; the next who opens it enters again
                connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreFailed(
                    f"{path} is open in a process: stop it before you restore"
                ) from error
            raise
        except sqlite3.DatabaseError:
            continue  # damaged: that may be why somebody restores


def _take_place(work: Path, target: Path) -> str | None:
    """Put the new directory in the place of the target. → where the old one is now

    If a step fails, those before it are taken back: the new directory goes, never the old one.
    """
    empty = not target.exists() or not any(target.iterdir())
    old = target.with_name(f"{target.name}.before-{secrets.token_hex(4)}")
    try:
        if empty:
            with suppress(FileNotFoundError):
                target.rmdir()
            os.rename(work, target)
        elif _exchange(work, target):
            _keep(work, old, lambda: _exchange(work, target), target)
        else:
            os.rename(target, old)
            _keep(work, target, lambda: _renamed(old, target), target)
    except OSError:
        shutil.rmtree(work, ignore_errors=True)
        raise
    sync_folder(target.parent)
    return None if empty else str(old)


def _keep(one: Path, other: Path, undo: Callable[[], bool], target: Path) -> None:
    """The last renaming; what went before it is undone if it fails, so that `work` is the new."""
    try:
        os.rename(one, other)
    except OSError as error:
        if undo():
            raise
        raise StoreFailed(
            f"{target} could not be replaced, nor be put back: what was there is beside it",
            detail=str(error),
        ) from error


def _renamed(one: Path, other: Path) -> bool:
    try:
        os.rename(one, other)
    except OSError:
        return False
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two directories in one step. → False where the system cannot"""
    try:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    done: int = exchange(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return done == 0
