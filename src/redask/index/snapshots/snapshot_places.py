"""Where snapshots are kept: a directory, or a bucket of an S3-compatible store (`s3_place`).

Names are relative, with slashes. Whatever fails is `StoreFailed`, without a word of secrets. What
is written to a directory is for its owner alone: folders 0700, files 0600, whatever the umask.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from redask.core.errors import Misconfigured, StoreFailed
from redask.index import private_files


class SnapshotPlace(Protocol):
    """See the module."""

    def read(self, name: str, most: int) -> bytes | None:
        """The first `most` bytes of a small file; None where there is none."""

    def replace(self, name: str, content: bytes) -> None:
        """Write a small file, as a whole or not at all."""

    def send(self, path: Path, name: str) -> None:
        """Write a file that is not there yet."""

    def fetch(self, name: str, path: Path) -> None:
        """Read a file into one that is not there yet."""

    def folders(self, name: str) -> dict[str, float]:
        """The folders in a folder, and when each was written last, by the place's own clock."""

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it."""


def place_of(location: str) -> SnapshotPlace:
    """The place that a setting names: `s3://bucket/prefix`, or a directory."""
    if location.startswith("s3://"):
        from redask.index.snapshots.s3_place import S3Place

        return S3Place(location)
    if "://" in location:
        raise Misconfigured(
            "serve.snapshots is a directory or s3://bucket/prefix", detail="serve.snapshots"
        )
    return DirectoryPlace(Path(location))


class DirectoryPlace:
    """A directory, on this machine or shared."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str, most: int) -> bytes | None:
        """See `SnapshotPlace`."""
        with _failures():
            try:
                with open(self._root / name, "rb") as file:
                    return file.read(most)
            except FileNotFoundError:
                return None

    def replace(self, name: str, content: bytes) -> None:
        """See `SnapshotPlace`."""
        path = self._root / name
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with _failures():
            private_files.make_directory(path.parent)
            with os.fdopen(private_files.open_file(temporary, os.O_WRONLY), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)

    def send(self, path: Path, name: str) -> None:
        """See `SnapshotPlace`."""
        with _failures():
            private_files.copy_file(path, self._root / name)

    def fetch(self, name: str, path: Path) -> None:
        """See `SnapshotPlace`."""
        with _failures():
            private_files.copy_file(self._root / name, path)

    def folders(self, name: str) -> dict[str, float]:
        """See `SnapshotPlace`."""
        with _failures():
            found = [path for path in (self._root / name).iterdir() if path.is_dir()]
            return {path.name: path.stat().st_mtime for path in found}

    def remove(self, name: str) -> None:
        """See `SnapshotPlace`."""
        with _failures():
            shutil.rmtree(self._root / name)


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StoreFailed(f"the directory of snapshots cannot be used: {why}") from error
