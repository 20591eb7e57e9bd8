"""Files that nobody but their owner reads, whatever the umask: directories 0700, files 0600.

    make_directory    with all that is missing above it; what exists stays as it is
    make_file         an empty file, for a library that fills it; SQLite's logs take its mode
    open_file         a descriptor of a file that is made if it is missing
    narrow            files that a library made by itself, and below; others' files are left alone

Where a system has no such modes (Windows), the directory's access list holds instead.
"""

import os
from contextlib import suppress
from pathlib import Path

DIRECTORY, FILE = 0o700, 0o600
_OTHERS = 0o077


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
