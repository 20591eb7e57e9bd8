"""Files that nobody but their owner reads, whatever the umask: directories 0700, files 0600.

    make_directory    with all that is missing above it; what exists stays as it is
    make_file         an empty file, for a library that fills it; SQLite's logs take its mode
    open_file         a descriptor of a file that is made if it is missing
    copy_file         a file to one that is not there yet, on disk when that is done
    copy_all          all files of a directory, and below, to work with: not synced
    narrow            files that a library made by itself, and below; others' files are left alone

Where a system has no such modes (Windows), the directory's access list holds instead.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

DIRECTORY, FILE = 0o700, 0o600
_OTHERS = 0o077
_COPIED_BYTES = 2**20  # at a time


def make_directory(path: Path) -> None:
    """Make a directory, and those above it that are missing."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        if path.parent == path:
            break
        path = path.parent
    for each in reversed(missing):
        try:
            os.mkdir(each, DIRECTORY)
        except FileExistsError:
            if not each.is_dir():
                raise
        else:
            os.chmod(each, DIRECTORY)  # the umask may have taken the owner's own rights


def make_file(path: Path) -> None:
    """Make an empty file; `FileExistsError` if there is one."""
    os.close(open_file(path, os.O_WRONLY | os.O_EXCL))


def open_file(path: Path, flags: int) -> int:
    """A descriptor of a file, which is made if it is missing."""
    return os.open(path, flags | os.O_CREAT, FILE)


def copy_file(source: Path, target: Path, *, sync: bool = True) -> None:
    """Copy a file; `FileExistsError` if there is one."""
    make_directory(target.parent)
    with (
        open(source, "rb") as original,
        os.fdopen(open_file(target, os.O_WRONLY | os.O_EXCL), "wb") as copy,
    ):
        shutil.copyfileobj(original, copy, _COPIED_BYTES)
        copy.flush()
        if sync:
            os.fsync(copy.fileno())


def copy_all(source: Path, target: Path, *, without: tuple[str, ...]) -> None:
    """Copy a directory's files, but for those whose names end so, and those that vanish."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.name.endswith(without):
            with suppress(FileNotFoundError):
                copy_file(path, target / path.relative_to(source), sync=False)


def narrow(path: Path) -> None:
    """Take away what a umask left to others: of a file, or of a directory and all below."""
    with suppress(OSError):  # gone by now, or somebody else's
        if path.is_symlink():
            return
        is_directory = path.is_dir()
        if path.stat().st_mode & _OTHERS:
            os.chmod(path, DIRECTORY if is_directory else FILE)
        for entry in os.scandir(path) if is_directory else ():
            narrow(Path(entry.path))
