"""Checksums of the blocks of `forward.sqlite`: `BlockSums`, in a file beside it.

SQLite writes to the file itself only when its log is moved into it (a checkpoint), and that is done
here alone, under the partition's lock: connections neither do it by themselves nor when they are
closed, for one that cannot write is the last to be. So the file is what the sums say, until
`checkpoint`:

    1   the blocks that the log has pages of are noted as unsure
    2   the log is moved into the file, as far as readers let it
    3   the sums of these blocks are made again

A process killed in between leaves unsure blocks, which are not compared. What is in the log is
protected by SQLite's own checksums: a frame that fails ends it, and the change log is read again.

`verify` compares all blocks. While another process moves its log, the sums change before the file
does: so what differs is corrupt only if the sums are still the same.
"""

import json
import os
import secrets
import sqlite3
from pathlib import Path
from zlib import crc32

from redask.index import private_files
from redask.index.corruption import corrupt

BLOCK = 64 * 1024
_LOG_HEAD, _FRAME_HEAD = 32, 24  # of SQLite's log
_LOG_KEPT = 4 * 1024 * 1024  # a longer log is moved into the file


class BlockSums:
    """The sums of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sums = path.with_name(f"{path.name}.sums")
        self._log = path.with_name(f"{path.name}-wal")

    @property
    def is_due(self) -> bool:
        """Whether the log is long enough to be moved."""
        try:
            return self._log.stat().st_size > _LOG_KEPT
        except FileNotFoundError:
            return False

    def checkpoint(self, connection: sqlite3.Connection) -> None:
        """Move the log into the file. Hold the partition's lock."""
        known, changed = self._read() or (), self._logged()
        if known and not changed:
            return
        self._write(known, changed)
        connection.execute("PRAGMA busy_timeout = 0")  # readers keep a part of it for now
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.execute("PRAGMA busy_timeout = 60000")
        self._write(self._computed(known, changed), frozenset())

    def verify(self, most: int | None = None) -> None:
        """Raise `CorruptIndex` unless the file is what was written; a file above `most` passes."""
        while True:
            before = self._content()
            if before is None:
                raise corrupt(f"{self._sums.name} is missing")
            sums, unsure = _parsed(before, self._sums.name)
            if most is not None and len(sums) * BLOCK > most:
                return
            wrong = self._wrong(sums, unsure)
            if not wrong:
                return
            if self._content() == before:
                raise corrupt(f"{self._path.name} fails its checksum at {wrong}")

    def _wrong(self, sums: tuple[int, ...], unsure: frozenset[int]) -> str:
        with open(self._path, "rb", buffering=0) as file:
            for number, expected in enumerate(sums):
                content = file.read(BLOCK)
                if number not in unsure and crc32(content) != expected:
                    return f"byte {number * BLOCK}"
            longer = bool(file.read(1)) and len(sums) not in unsure
        return "its end" if longer else ""

    def _logged(self) -> frozenset[int]:
        """The blocks that the log has pages of; also of frames that count no more."""
        found: set[int] = set()
        if not self._log.exists():
            return frozenset()
        with open(self._log, "rb") as file:
            size = int.from_bytes(file.read(_LOG_HEAD)[8:12], "big")
            at = _LOG_HEAD
            while size and len(head := os.pread(file.fileno(), 4, at)) == 4:
                page = int.from_bytes(head, "big")
                if page:
                    found.add((page - 1) * size // BLOCK)
                at += _FRAME_HEAD + size
        return frozenset(found)

    def _computed(self, known: tuple[int, ...], changed: frozenset[int]) -> tuple[int, ...]:
        sums = []
        with open(self._path, "rb", buffering=0) as file:
            blocks = -(-os.fstat(file.fileno()).st_size // BLOCK)
            for number in range(blocks):
                if number < len(known) and number not in changed:
                    sums.append(known[number])
                else:
                    sums.append(crc32(os.pread(file.fileno(), BLOCK, number * BLOCK)))
        return tuple(sums)

    def _read(self) -> tuple[int, ...] | None:
        content = self._content()
        if content is None:
            return None
        sums, unsure = _parsed(content, self._sums.name)
        return self._computed(sums, unsure) if unsure else sums

    def _content(self) -> bytes | None:
        try:
            return self._sums.read_bytes()
        except FileNotFoundError:
            return None

    def _write(self, sums: tuple[int, ...], unsure: frozenset[int]) -> None:
        body = json.dumps([list(sums), sorted(unsure)]).encode()
        temporary = self._sums.with_name(f"{self._sums.name}.{secrets.token_hex(4)}")
        with os.fdopen(private_files.open_file(temporary, os.O_WRONLY), "wb") as file:
            file.write(b"%d\n" % crc32(body) + body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._sums)


def _parsed(content: bytes, name: str) -> tuple[tuple[int, ...], frozenset[int]]:
    try:
        crc, body = content.split(b"\n", 1)
        if int(crc) != crc32(body):
            raise ValueError("wrong checksum")
        sums, unsure = json.loads(body)
        return tuple(sums), frozenset(unsure)
    except (ValueError, TypeError) as error:
        raise corrupt(f"{name} cannot be read", detail=str(error)) from error
