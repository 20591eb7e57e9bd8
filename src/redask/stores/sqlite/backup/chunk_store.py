"""Pieces of files, kept by the SHA-256 of their content: equal pieces are kept once.

A chunk is `chunks/ab/ab12…`, compressed; its name says what it must be. It is written under
another name, synced and renamed, so it is there as a whole or not at all: what an interrupted
back-up wrote is there for the next. Chunks have a fixed size: pages of a database stay where they
are, so what did not change is the same chunk again.
"""

import os
import secrets
import zlib
from collections.abc import Iterator, Set
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from redask.core.errors import StoreFailed
from redask.index import private_files

CHUNK_BYTES = 256 * 1024
_FOLDER = "chunks"
_FAST = 1  # how hard zlib tries


class ChunkStore:
    """The chunks of one back-up directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / _FOLDER
        self.written = 0  # bytes of new chunks, as they are on disk
        self._touched: set[Path] = set()

    def add(self, content: bytes) -> str:
        """Keep a chunk, unless it is there. → its name"""
        name = sha256(content).hexdigest()
        path = self._path(name)
        if path.exists() and self._is_whole(name):
            return name
        private_files.make_directory(path.parent)
        draft = path.with_name(f".{secrets.token_hex(8)}")
        try:
            with os.fdopen(private_files.open_file(draft, os.O_WRONLY | os.O_EXCL), "wb") as file:
                self.written += file.write(zlib.compress(content, _FAST))
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
        self._touched.add(path.parent)
        return name

    def sync(self) -> None:
        """See to it that the names of new chunks are on the disk."""
        for folder in sorted({self._directory, self._directory.parent, *self._touched}):
            if folder.exists():
                sync_folder(folder)
        self._touched.clear()

    def read(self, name: str) -> bytes:
        """The content of a chunk; `StoreFailed` if it is missing or not what it was."""
        try:
            packed = self._path(name).read_bytes()
            unpacker = zlib.decompressobj()
            content = unpacker.decompress(packed, CHUNK_BYTES + 1)  # never more, whatever it says
        except FileNotFoundError:
            raise StoreFailed("the back-up is damaged: a chunk is missing", detail=name) from None
        except zlib.error as error:
            raise StoreFailed(
                "the back-up is damaged: a chunk cannot be read", detail=name
            ) from error
        if sha256(content).hexdigest() != name:
            raise StoreFailed("the back-up is damaged: a chunk is not what it was", detail=name)
        return content

    def remove_others(self, needed: Set[str]) -> None:
        """Remove every chunk but these, and what interrupted back-ups left."""
        for path in sorted(self._directory.glob("*/*")):
            if path.name not in needed:
                path.unlink(missing_ok=True)

    def _is_whole(self, name: str) -> bool:
        """A chunk that rotted is written anew: the next back-up mends it."""
        try:
            self.read(name)
        except StoreFailed:
            return False
        return True

    def _path(self, name: str) -> Path:
        return self._directory / name[:2] / name


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """The chunks of a file, in order."""
    while content := file.read(CHUNK_BYTES):
        yield content


def sync_folder(folder: Path) -> None:
    """See to it that what a folder holds is on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
