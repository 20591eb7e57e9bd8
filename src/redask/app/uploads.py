"""Files that are sent to a server, on their way into the database: `staged` for one ingest.

A file lies in the database's own directory for as long as it is read, and is gone afterwards: what
was read of it is in the store. Its path is made of tenant and name, so that the manifest knows
it when the same name is sent again. One file is staged at a time, by whichever process of a server,
or one would be read as another.
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

from redask.app import App
from redask.core.errors import BadAsk, StoreFailed
from redask.core.text import name_fault
from redask.index import private_files
from redask.index.file_lock import FileLock

FOLDER = "uploads"
LOCK = "uploads.lock"
MAX_NAME_BYTES = 200
_AGAIN_SECONDS = 0.05


@asynccontextmanager
async def staged(app: App, tenant: str, name: str, content: bytes) -> AsyncIterator[Path]:
    """The path of the file while the block runs."""
    check_name(name)
    whose = hashlib.sha256(tenant.encode()).hexdigest()[:16]
    path = app.directory / FOLDER / whose / name
    async with app.uploading, _alone(app.directory / LOCK):
        try:
            await app.in_thread(_write, path, content)
            yield path
        finally:
            await asyncio.shield(asyncio.to_thread(_remove, path))


@asynccontextmanager
async def _alone(path: Path) -> AsyncIterator[None]:
    """Wait until no other process has a file staged."""
    while True:
        lock = FileLock(path, 0.0)
        try:
            lock.__enter__()
        except StoreFailed:
            await asyncio.sleep(_AGAIN_SECONDS)
            continue
        with ExitStack() as held:
            held.push(lock)
            yield
            return


def check_name(name: str) -> None:
    """`BadAsk` unless it names a file, and nothing above or below the folder."""
    fault = name_fault(name)
    if fault is None and (name.startswith(".") or "/" in name or "\\" in name):
        fault = "holds a slash, or begins with a dot"
    if fault is None and len(name.encode()) > MAX_NAME_BYTES:
        fault = f"is longer than {MAX_NAME_BYTES} bytes"
    if fault is not None:
        raise BadAsk(f"the file's name {fault}", detail="name")


def _write(path: Path, content: bytes) -> None:
    private_files.make_directory(path.parent)
    with os.fdopen(private_files.open_file(path, os.O_WRONLY | os.O_TRUNC), "wb") as file:
        file.write(content)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
