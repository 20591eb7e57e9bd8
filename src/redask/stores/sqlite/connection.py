"""One SQLite file for many threads and processes: `Database.reading()`, `Database.writing()`.

    reading()   a connection nobody else uses meanwhile, from a pool as large as the need was
    beside()    a connection of its own that cannot write, closed afterwards
    writing()   the one writing connection of this process inside BEGIN IMMEDIATE … COMMIT;
                any exception rolls back
    rewrite()   writes the file anew, so that nothing is left of what was deleted

WAL with synchronous=FULL: when `writing()` is left without an exception, what was written
is on the disk, and every other thread and process sees it. Readers never wait. A second
writer, thread or process, waits `busy_timeout` seconds and then gets a `StoreFailed` that names
who writes.

A new file is made under another name, complete with schema, and then linked to its own: it
is never there half-made, so an empty file is damage and is refused, not taken for a new one.
A log without its database is refused too: SQLite would replay it into the new file.

A file with triggers, views or tables that redask did not make is refused before it is read:
they would run statements of whoever handed it over (`checking.schema_check`).

A file on read-only media can be read (`read_only`): SQLite is told that nobody changes it. That
needs a file that was closed well and is of this redask's schema; others are refused.

`translated` turns SQLite's and the system's errors into `StoreFailed`, with a sentence that
says what to do; what has no UTF-8 is the caller's mistake, a `BadAsk`. A connection does not
survive a fork, so a child process is told to open the database itself.
"""

import errno
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from redask.core.errors import FORKED, BadAsk, StoreFailed
from redask.index import private_files
from redask.index.sqlite_schema import harden
from redask.stores.relational.sql_database import EVERY_TENANT, Whose
from redask.stores.sqlite.lock_holders import writer_of
from redask.stores.sqlite.migrations import Migrations, check_current, known_version, upgrade
from redask.stores.sqlite.schema_check import check_schema
from redask.stores.sqlite.sqlite_connection import SqliteConnection

BULK_CACHE_KIB = 64 * 1024  # for who writes much at once
_WRITER_CACHE_KIB = 2 * 1024  # who appends row by row would fill any cache and use none of it
_READER_CACHE_KIB = 8 * 1024
_SMALLEST_BYTES = 512  # SQLite takes some shorter files for new databases
_LOG_BYTES_KEPT = 64 * 1024 * 1024

_SENTENCES = {
    sqlite3.SQLITE_BUSY: "{name} is being written by somebody else for too long: try again",
    sqlite3.SQLITE_LOCKED: "{name} is being written by somebody else for too long: try again",
    sqlite3.SQLITE_FULL: "the disk is full: nothing of this was written to {name}",
    sqlite3.SQLITE_READONLY: "{name} cannot be written: the file or its directory is read-only",
    sqlite3.SQLITE_CANTOPEN: "{name} cannot be opened: its directory must be writable, and fewer "
    "files be open",
    sqlite3.SQLITE_PERM: "{name} cannot be opened: permission denied",
    sqlite3.SQLITE_AUTH: "{name} cannot be opened: permission denied",
    sqlite3.SQLITE_CORRUPT: "{name} is damaged: restore it from a backup",
    sqlite3.SQLITE_NOTADB: "{name} is not a SQLite database, or is damaged",
    sqlite3.SQLITE_INTERRUPT: "the database was closed while {name} was used: nothing was written",
    sqlite3.SQLITE_IOERR: "{name} could not be read or written: the disk reports an error",
}


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn what SQLite and the system raise inside into `StoreFailed`."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        sentence = _SENTENCES.get(code, "{name} failed")
        raise StoreFailed(sentence.format(name=name), detail=str(error)) from error
    except OSError as error:
        full = "the disk is full: " if error.errno == errno.ENOSPC else ""
        message = f"{full}{name} cannot be used: {error.strerror}"
        raise StoreFailed(message, detail=str(error)) from error
    except UnicodeEncodeError:
        raise BadAsk("a name holds a lone surrogate, which has no UTF-8") from None


class Database:
    """An open database file. `close` it when done; every method is thread-safe."""

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout: float,
        migrations: Migrations,
        cache_kib: int = _WRITER_CACHE_KIB,
    ) -> None:
        self.path = path
        self._patience = busy_timeout
        self._process = os.getpid()
        self._idle: list[SqliteConnection] = []
        self._busy_readers: set[SqliteConnection] = set()
        self._write_lock = threading.Lock()
        self._next_writer = threading.Lock()  # who is next, lest the last one be first again
        self._version_lock = threading.Lock()
        self._watcher: sqlite3.Connection | None = None
        self._closed = False
        self.read_only = path.is_file() and not _is_writable(path)
        with translated(str(path)):
            if self.read_only:
                _check_closed(path)
            else:
                private_files.make_directory(path.parent)
                _make_if_missing(path, migrations)
            self._writer = self._connect(cache_kib)
            try:
                if self.read_only:  # another version is refused, whatever is in it
                    known_version(self._writer, str(path), migrations)
                    check_current(self._writer, str(path), migrations)
                check_schema(self._writer, str(path), migrations)
                if not self.read_only:
                    self._writer.execute("PRAGMA journal_mode = WAL")
                    upgrade(self._writer, str(path), migrations)
            except BaseException:
                self._writer.close()
                raise

    @contextmanager
    def reading(self, _whose: Whose = EVERY_TENANT, /) -> Iterator[SqliteConnection]:
        """A connection to read with; fetch everything before leaving."""
        with translated(self.path.name):
            self.check_usable()
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect(_READER_CACHE_KIB)
            self._busy_readers.add(connection)
            try:
                yield connection
            except BaseException:
                connection.close()  # a statement may be open on it, holding an old snapshot
                raise
            finally:
                self._busy_readers.discard(connection)
            self._idle.append(connection)
            if self._closed:
                self._close_idle()

    @contextmanager
    def snapshot(
        self, _whose: Whose = EVERY_TENANT, /, *, damaged: bool = False
    ) -> Iterator[SqliteConnection]:
        """A connection to read one state of the file with."""
        with self.reading() as connection:
            connection.execute("BEGIN")
            try:
                if damaged:
                    connection.text_factory = any_text
                yield connection
            finally:
                connection.text_factory = str
                connection.execute("ROLLBACK")

    @contextmanager
    def examining(self, _whose: Whose = EVERY_TENANT, /) -> Iterator[SqliteConnection]:
        """A connection whose texts are bytes: what is damaged may be no text any more."""
        with self.beside() as connection:
            connection.text_factory = bytes
            yield connection

    @contextmanager
    def beside(self) -> Iterator[SqliteConnection]:
        """A new connection that cannot write; what is made on it goes with it."""
        with translated(self.path.name):
            self.check_usable()
            with closing(
                sqlite3.connect(
                    self._address("ro"),
                    uri=True,
                    timeout=self._patience,
                    isolation_level=None,
                    check_same_thread=False,
                    cached_statements=8,
                    factory=SqliteConnection,
                )
            ) as connection:
                harden(connection)
                yield connection

    def place(self) -> str:
        """Which file it is, as long as nobody copies it."""
        status = os.stat(self.path)
        return f"{status.st_dev}:{status.st_ino}"

    def version(self) -> int:
        """A number that changes with every commit, of whichever process; nothing waits for it."""
        with translated(self.path.name), self._version_lock:
            self.check_usable()
            if self._watcher is None:
                self._watcher = self._connect(_READER_CACHE_KIB)
            (number,) = self._watcher.execute("PRAGMA data_version").fetchone()
            return int(number)

    @contextmanager
    def writing(self, _whose: Whose = EVERY_TENANT, /) -> Iterator[SqliteConnection]:
        """A transaction: committed and on disk when left, rolled back on any exception."""
        with translated(self.path.name), self._writing_alone():
            self._begin()
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # After a full disk SQLite has sometimes rolled back by itself.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def rewrite(self) -> None:
        """Write the file anew and empty its log: what was deleted is in neither any more.

        It takes as long as the file is large, and other writers wait.
        """
        with translated(self.path.name), self._writing_alone():
            self._writer.execute("VACUUM")
            busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreFailed(
                f"{self.path.name}-wal may hold what was deleted, for somebody reads it: try again"
            )

    @contextmanager
    def _writing_alone(self) -> Iterator[None]:
        """No other thread of this process writes inside."""
        self.check_usable()
        if self.read_only:
            raise StoreFailed(_SENTENCES[sqlite3.SQLITE_READONLY].format(name=self.path.name))
        if not self._has_turn():
            raise self._busy(f"this process ({os.getpid()})")
        try:
            self.check_usable()
            yield
        finally:
            if self._closed:  # while this was written
                self._writer.close()
            self._write_lock.release()

    def _has_turn(self) -> bool:
        """Wait for the write lock, by turns. → whether it was got in time

        A thread that writes on and on would take a lock again before those who wait for it wake:
        the row of an ask waited for many transactions of a flooded access log.
        """
        end = time.monotonic() + self._patience
        if not self._next_writer.acquire(timeout=self._patience):
            return False
        try:
            return self._write_lock.acquire(timeout=max(0.0, end - time.monotonic()))
        finally:
            self._next_writer.release()

    def _begin(self) -> None:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            raise self._busy(writer_of(self.path)) from error

    def _busy(self, holder: str) -> StoreFailed:
        return StoreFailed(
            f"{self.path.name} was not free for {self._patience:g} s: {holder} writes to it; "
            "try again, or end that process if it is stuck",
            detail=str(self.path),
        )

    def interrupt(self) -> None:
        """Let every statement that runs now fail, and its transaction be rolled back."""
        if not self._closed and self._process == os.getpid():
            for connection in (self._writer, *self._busy_readers):
                connection.interrupt()

    def close(self) -> None:
        """Close every connection; one still in use closes when its user is done."""
        if self._closed or self._process != os.getpid():
            return
        free = self._write_lock.acquire(timeout=self._patience)
        try:
            with translated(self.path.name):
                self._closed = True
                self._close_idle()
                with self._version_lock:
                    if self._watcher is not None:
                        self._watcher.close()
                if free:
                    self._writer.close()
        finally:
            if free:
                self._write_lock.release()

    def _close_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def check_usable(self) -> None:
        """Raise `StoreFailed` in a child process, and when it is closed."""
        if self._process != os.getpid():
            raise StoreFailed(FORKED)
        if self._closed:
            raise StoreFailed("the database is closed")

    def _address(self, mode: str) -> str:
        place = self.path.absolute().as_uri()
        return f"{place}?mode=ro&immutable=1" if self.read_only else f"{place}?mode={mode}"

    def _connect(self, cache_kib: int) -> SqliteConnection:
        connection = sqlite3.connect(
            self._address("rw"),
            uri=True,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
            factory=SqliteConnection,
        )
        try:
            harden(connection)
            # First a plain read: it says at once when the file is damaged or not ours.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA cache_size = -{cache_kib}")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES_KEPT}")
        except BaseException:
            connection.close()
            raise
        return connection


def any_text(stored: bytes) -> str:
    """A text, even if it is no UTF-8 any more: what is damaged is named, and ends no check."""
    return stored.decode(errors="surrogateescape")


def _is_writable(path: Path) -> bool:
    """Whether the file and its directory can be written: SQLite needs both."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _check_closed(path: Path) -> None:
    """Refuse what SQLite would read without the end of its log."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreFailed(
            f"{path} is read-only, and its log {log.name} holds what is not in it yet: copy the "
            "directory to where it can be written, and open it there"
        )


def _make_if_missing(path: Path, migrations: Migrations) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and not path.exists():
        raise StoreFailed(
            f"{path} is missing, but its log {log.name} is there: put the database back, "
            "or remove the log to begin anew"
        )
    if not path.exists():
        _make(path, migrations)
    # By size, not by content: closing a file of our own would drop SQLite's locks on it.
    if path.is_dir() or path.stat().st_size < _SMALLEST_BYTES:
        raise StoreFailed(
            f"{path} is empty or no file, so it is damaged: restore it from a backup, "
            "or remove it to begin anew"
        )


def _make(path: Path, migrations: Migrations) -> None:
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        private_files.make_file(draft)
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            # WAL comes last: a log would be copied into the file by closing, which tells nobody
            # when that fails, and the draft's log does not go along.
            connection.execute("PRAGMA synchronous = FULL")
            upgrade(connection, str(path), migrations)
            connection.execute("PRAGMA journal_mode = WAL")
        with suppress(FileExistsError):  # somebody else was faster: theirs is the database
            os.link(draft, path)
        _sync_directory(path.parent)
    finally:
        for leftover in path.parent.glob(f"{draft.name}*"):
            leftover.unlink()


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
