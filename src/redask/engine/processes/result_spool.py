"""Results of any length with flat memory: `ResultSpool(directory, most).keep(pages, …)`.

    up to `MEMORY_BYTES`        kept in memory, of all together up to `ALL_MEMORY_BYTES`
    more                        a file without a name in the directory, gone with its last user

A result is written to its end before anybody reads it: the worker that made it is free by then,
and a client reads as slowly as it likes, forwards and backwards, for the price of disk. Of a file
one page at a time is in memory. All files together have at most `most` bytes, those of one tenant
three quarters of it and those of one user half: `LimitExceeded` "select.spool_bytes" beyond it, and
"select.max_bytes" for one that is larger than it may be.
"""

import pickle
import tempfile
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from redask.core.errors import LimitExceeded, StoreFailed
from redask.core.model import Caller
from redask.core.ports.selecting import KeptResult, SelectPage

MEMORY_BYTES = 1024 * 1024
ALL_MEMORY_BYTES = 64 * 1024 * 1024
_WHOSE = (" of this tenant", " of this user")
_Rows = list[tuple[object, ...]]


class ResultSpool:
    """The results that one process keeps; threads may share it."""

    def __init__(self, directory: Path, most: int) -> None:
        self._directory = directory
        self._most = most
        self._lock = threading.Lock()
        self._bytes = self._in_memory = 0
        self._shares: Counter[tuple[str, ...]] = Counter()  # on disk, by tenant and by user

    @property
    def on_disk(self) -> int:
        """How many bytes the files have."""
        return self._bytes

    def keep(self, pages: Iterator[SelectPage], caller: Caller | None = None) -> KeptResult:
        """Take all pages, of which there is at least one; without a caller nobody's share holds."""
        first = next(pages)
        rows = SpooledRows(self, caller)
        try:
            rows.add(first)
            for page in pages:
                rows.add(page)
        except BaseException:
            rows.close()
            raise
        return KeptResult(first.columns, rows)

    def open(self) -> "IO[bytes]":
        """A file without a name."""
        try:
            return tempfile.TemporaryFile(dir=self._directory, buffering=0)
        except OSError as error:
            raise _no_disk(error) from error

    def reserve(self, size: int, caller: Caller | None) -> None:
        """So many bytes more on disk; fewer, if negative."""
        shares = () if caller is None else ((caller.tenant,), (caller.tenant, caller.user))
        with self._lock:
            if size > 0:
                self._check("", self._bytes + size, self._most)
                for share, quarters, whose in zip(shares, (3, 2), _WHOSE, strict=False):
                    self._check(whose, self._shares[share] + size, self._most * quarters // 4)
            self._bytes += size
            for share in shares:
                self._shares[share] += size
            self._shares += Counter()  # forgets who has nothing

    def _check(self, whose: str, size: int, most: int) -> None:
        if size > most:
            limit = "select.spool_bytes"
            message = f"results{whose} that are not read yet have {most} bytes ({limit})"
            raise LimitExceeded(limit, message, detail=limit)

    def hold(self, size: int) -> bool:
        """So many bytes more in memory, fewer if negative. → whether there is room"""
        with self._lock:
            if size > 0 and self._in_memory + size > ALL_MEMORY_BYTES:
                return False
            self._in_memory += size
            return True


class SpooledRows:
    """The rows of one result; one thread reads at a time. See `ports.selecting.KeptRows`."""

    def __init__(self, spool: ResultSpool, caller: Caller | None) -> None:
        self._spool = spool
        self._caller = caller
        self._starts: list[int] = []  # the first row of each page
        self._places: list[tuple[int, int]] = []  # in the file
        self._count = self._size = self._reserved = 0
        self._memory: list[bytes] = []
        self._file: IO[bytes] | None = None
        self._page: tuple[int, _Rows] = (-1, [])

    def __len__(self) -> int:
        return self._count

    @property
    def in_memory(self) -> bool:
        """Whether reading waits for nothing."""
        return self._file is None

    def add(self, page: SelectPage) -> None:
        """Append a page."""
        size = len(page.rows)
        if self._file is None and (self._size + size > MEMORY_BYTES or not self._spool.hold(size)):
            self._file = self._spool.open()
            before = self._forget_memory()
            for each in before:
                self._write(each)
        if self._file is None:
            self._memory.append(page.rows)
        else:
            self._write(page.rows)
        self._starts.append(self._count)
        self._places.append((self._size, size))
        self._size += size
        self._count += page.count

    def read(self, start: int, stop: int) -> _Rows:
        """The first of the rows from `start` to `stop`: as many as are in one page."""
        if not 0 <= start < min(stop, self._count):
            return []
        number = bisect_right(self._starts, start) - 1
        if self._page[0] != number:
            self._page = (number, pickle.loads(self._pickled(number)))
        first = self._starts[number]
        return self._page[1][start - first : stop - first]

    def close(self) -> None:
        """Let go of memory and disk."""
        self._forget_memory()
        self._page = (-1, [])
        self._count = 0
        if self._file is not None:
            self._file.close()
        self._spool.reserve(-self._reserved, self._caller)
        self._reserved = 0

    def _forget_memory(self) -> list[bytes]:
        """→ what was there"""
        before, self._memory = self._memory, []
        self._spool.hold(-sum(map(len, before)))
        return before

    def __del__(self) -> None:
        self.close()

    def _pickled(self, number: int) -> bytes:
        if self._file is None:
            return self._memory[number]
        place, size = self._places[number]
        try:
            self._file.seek(place)
            found = self._file.read(size)
        except (OSError, ValueError) as error:  # it may be closed
            raise _no_disk(error) from error
        if len(found) != size:
            raise StoreFailed("a result that was kept on disk is not whole")
        return found

    def _write(self, rows: bytes) -> None:
        self._spool.reserve(len(rows), self._caller)
        self._reserved += len(rows)
        assert self._file is not None
        try:
            left = memoryview(rows)
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise _no_disk(error) from error


def _no_disk(error: Exception) -> StoreFailed:
    return StoreFailed("a long result cannot be kept on disk", detail=str(error))
