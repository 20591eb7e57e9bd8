"""A lock between processes, and between threads of one: `with FileLock(path, seconds): …`.

Taking it waits until it is free, at most so many seconds; then it is `StoreFailed`, which names the
process that holds it: one that was stopped (SIGSTOP, a debugger) lets go of nothing. It is let go
at the end of the block, and by the operating system when the process dies. By `flock`; on Windows
by a lock of the file's first byte. Neither is imported before it is used, so that this module loads
everywhere.

The file holds the number of the process that took it last. It is written for people: who holds the
lock is known to the system alone.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from redask.core.errors import StoreFailed
from redask.index import private_files

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.02  # seconds between two tries
_NUMBER_AT = 1  # behind the byte that Windows locks, which nobody else can read
_NUMBER_BYTES = 20


class FileLock:
    """One holder's claim; the file is made if it is missing, and stays."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        self._seconds = seconds
        self._file = private_files.open_file(path, os.O_RDWR)

    def __enter__(self) -> None:
        try:
            self._take()
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

    def _take(self) -> None:
        attempt = _attempt_by_flock() or _attempt_by_first_byte()
        give_up, pause = time.monotonic() + self._seconds, _FIRST_PAUSE
        while not attempt(self._file):
            if time.monotonic() >= give_up:
                raise StoreFailed(
                    f"{self._path.name} was not free for {self._seconds:g} s: "
                    f"{self._holder()} holds it; try again, or end that process if it is stuck",
                    detail=str(self._path),
                )
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        with suppress(OSError):  # a full disk takes no lock away
            os.lseek(self._file, _NUMBER_AT, os.SEEK_SET)
            os.write(self._file, str(os.getpid()).ljust(_NUMBER_BYTES).encode())

    def _holder(self) -> str:
        """Who took the lock last."""
        try:
            os.lseek(self._file, _NUMBER_AT, os.SEEK_SET)
            number = os.read(self._file, _NUMBER_BYTES).decode("ascii", "replace").strip()
        except OSError:
            number = ""
        if not number.isdecimal():
            return "another process"
        if int(number) == os.getpid():
            return f"this process ({number})"
        return f"process {number}"


def _attempt_by_flock() -> Callable[[int], bool] | None:
    try:
        import fcntl
    except ImportError:
        return None

    def attempt(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    return attempt


def _attempt_by_first_byte() -> Callable[[int], bool]:
    import msvcrt

    def attempt(file: int) -> bool:
        os.lseek(file, 0, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # on Windows
        except OSError:
            return False
        return True

    return attempt
