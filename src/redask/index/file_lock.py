"""A lock between processes, and between threads of one: `with FileLock(path): …`.

Taking it waits until it is free, however long that takes. It is let go at the end of the block, and
by the operating system when the process dies. By `flock`; on Windows by a lock of the file's first
byte. Neither is imported before it is used, so that this module loads everywhere.
"""

import os
from pathlib import Path
from types import TracebackType

from redask.index import private_files


class FileLock:
    """One holder's claim; the file is made if it is missing, and stays."""

    def __init__(self, path: Path) -> None:
        self._file = private_files.open_file(path, os.O_RDWR)

    def __enter__(self) -> None:
        try:
            _lock(self._file)
        except BaseException:
            os.close(self._file)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)


def _lock(file: int) -> None:
    try:
        import fcntl
    except ImportError:
        _lock_first_byte(file)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)


def _lock_first_byte(file: int) -> None:
    import msvcrt

    while True:
        try:
            msvcrt.locking(file, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]  # on Windows
        except OSError:  # it was not free for ten seconds
            continue
        return
