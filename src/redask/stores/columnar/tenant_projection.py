"""One tenant's projection: caught up before every statement, made again when it is damaged.

    projection.lock    held (`file_lock`) while a generation is built, by one thread of one process
    current            the name of the generation in use; replaced as a whole
    <16 digits>.duckdb a generation: see `generation_builder`

A statement compares the watermark of a view of the store with that of the state, and reads if the
state is not behind. Otherwise this process applies the missing changes to its tail. Class keys
must be those of the state: when that is ahead of the view, another view shows whether they changed.

A tail that is large is folded into the next generation, in a thread of its own, while readers go
on; the other processes notice the new file and open it. When there is no generation and much is
missing, the first one is built before anybody reads.

Made again from the store's change log: a generation that is missing, damaged, of another layout, of
another store or another history of it, or ahead of it. Deleting the directory loses nothing.
"""

import logging
import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from redask.core.access.policy import OWNER
from redask.core.errors import AskError, CorruptIndex, StoreFailed
from redask.core.model import Caller
from redask.core.ports import AuditLog, StoreView
from redask.core.sql.types import SqlType
from redask.index import private_files
from redask.index.file_lock import FileLock
from redask.stores.backend import EntityStore
from redask.stores.columnar.duckdb_connections import columnar_errors, is_broken, is_damage
from redask.stores.columnar.generations.generation_builder import build, remove_others
from redask.stores.columnar.generations.generation_files import CURRENT
from redask.stores.columnar.generations.open_generation import OpenGeneration
from redask.stores.columnar.readable_tables import Declared, ReadableTables

MAX_TAIL = 2_000  # rows, or a fiftieth of the generation's, if that is more
_log = logging.getLogger(__name__)
_LOCK = "projection.lock"
_LOCK_SECONDS = 60.0
_LAST_FOLD_SECONDS = 5.0  # a fold that goes on for longer than closing waits is left to itself


class TenantProjection:
    """One tenant's projection in a directory."""

    def __init__(
        self, folder: Path, tenant: str, store: EntityStore, logs: Mapping[str, AuditLog | None]
    ) -> None:
        self._folder = folder
        self._tenant = tenant
        self._store = store
        self._logs = logs
        self._lock = threading.Lock()
        self._opened: tuple[object, OpenGeneration] | None = None
        self._fold: threading.Thread | None = None
        self._failed_at = 0  # rows of the tail when a fold failed: it is tried again much later
        self._types: tuple[int, dict[str, dict[str, SqlType]]] | None = None

    @contextmanager
    def reading(self, caller: Caller) -> Iterator[ReadableTables]:
        """The caller's tables in a state that has everything written before this call."""
        with self._lock:
            try:
                opened, view = self._caught_up(caller)
            except CorruptIndex:
                self._discard()
                opened, view = self._caught_up(caller)
            opened.readers += 1
            visibility = view.visibility
            named = partial(self._declared, closed=visibility.closed)
            declared = Declared(named, self._fixed(visibility.version))
            tables = ReadableTables(opened, caller, view, declared, self._logs)
        try:
            yield tables
        except Exception as error:
            self._forget(opened, error)
            raise
        finally:
            tables.close()
            with self._lock:
                opened.leave()

    def close(self) -> None:
        """Close the files; running statements and folds keep theirs open until they end."""
        fold = self._fold
        if fold is not None:
            fold.join(_LAST_FOLD_SECONDS)
        with self._lock:
            self._retire()

    # --- catching up -----------------------------------------------------------------------

    def _caught_up(self, caller: Caller) -> tuple[OpenGeneration, StoreView]:
        view = self._store.view(caller)
        while True:
            opened = self._generation(view.watermark)
            if (opened.state.watermark, opened.state.history) != (view.watermark, view.history):
                opened.catch_up()
            if opened.state.watermark == view.watermark:
                break
            before, view = view, self._store.view(caller)
            if view.visibility.version == before.visibility.version:
                break  # nothing that class keys depend on changed since the first of the two
        rows = sum(
            each.rows for groups in opened.loaded.collections.values() for each in groups.values()
        )
        if opened.tail_rows - self._failed_at > max(MAX_TAIL, rows // 50):
            self._start_fold(opened)
        return opened, view

    def _generation(self, target: int) -> OpenGeneration:
        """The current generation, opened; another process may have replaced it."""
        stamp = self._stamp()
        if self._opened is None or self._opened[0] != stamp:
            if stamp is None and self._is_much(target):
                self._build(None)
                stamp = self._stamp()
            self._retire()
            with columnar_errors():
                path = None if stamp is None else self._folder / self._current()
            self._opened = (stamp, OpenGeneration(path, self._store, self._tenant))
            self._failed_at = 0
        return self._opened[1]

    def _is_much(self, target: int) -> bool:
        """Whether so much is to be read that it does not belong into a tail."""
        if target <= MAX_TAIL:
            return False
        return len(self._store.changes(self._tenant, 0, MAX_TAIL)) == MAX_TAIL

    def _declared(self, *, closed: bool) -> frozenset[str]:
        """The collections that a policy names, or (unless they are closed) that have a language."""
        owner = Caller(self._tenant, "", OWNER)
        if closed:
            return frozenset(self._store.policies(owner))
        spoken = {each.name for each in self._store.collections(owner) if each.language is not None}
        return frozenset(spoken | self._store.policies(owner).keys())

    def _fixed(self, version: int) -> dict[str, dict[str, SqlType]]:
        """The types that were fixed, by collection and key, as they are since this version."""
        if self._types is None or self._types[0] != version:
            found = self._store.column_types(self._tenant)
            self._types = (
                version,
                {
                    collection: {key: SqlType.parse(kind) for key, kind in columns.items()}
                    for collection, columns in found.items()
                },
            )
        return self._types[1]

    # --- generations -----------------------------------------------------------------------

    def _start_fold(self, opened: OpenGeneration) -> None:
        if self._fold is not None and self._fold.is_alive():
            return

        def fold() -> None:
            try:
                self._build(opened)
            except AskError as error:
                self._failed_at = opened.tail_rows
                _log.warning("the columnar projection was not folded: %s", error.message)

        self._fold = threading.Thread(target=fold, name="columnar-fold", daemon=True)
        with suppress(RuntimeError):  # no thread can be started: the next statement tries again
            self._fold.start()

    def _build(self, opened: OpenGeneration | None) -> None:
        """Build the generation that follows an opened one, unless another process has done so."""
        known = None if opened is None or opened.path is None else opened.path.name
        with self._locked(), columnar_errors():
            if self._stamp() is not None and self._current() != known:
                return
            last = None
            if opened is not None and opened.path is not None:
                last = (opened.path, opened.loaded)
            name = build(self._folder, last, self._store, self._tenant)
            _replace(self._folder / CURRENT, name.encode())
            remove_others(self._folder, name)

    def _discard(self) -> None:
        """Forget a generation that is of no use, unless another process has replaced it."""
        failed = self._opened[0] if self._opened else self._stamp()
        self._retire()
        with self._locked(), columnar_errors():
            if failed == self._stamp():
                (self._folder / CURRENT).unlink(missing_ok=True)
                remove_others(self._folder, "")

    def _forget(self, opened: OpenGeneration, error: Exception) -> None:
        """Do not use a generation again that a reader found to be damaged or broken."""
        with self._lock:
            if self._opened is None or self._opened[1] is not opened:
                return
            errors = list(_behind(error))
            if any(isinstance(each, CorruptIndex) or is_damage(each) for each in errors):
                self._discard()
            elif any(is_broken(each) for each in errors):
                self._retire()

    def _retire(self) -> None:
        if self._opened is not None:
            self._opened[1].retired = True
            self._opened[1].close_if_idle()
        self._opened = None

    def _current(self) -> str:
        return (self._folder / CURRENT).read_text(encoding="ascii", errors="replace")

    def _stamp(self) -> tuple[int, int] | None:
        """The identity of the file `current`, which changes when it is replaced."""
        try:
            status = os.stat(self._folder / CURRENT)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            private_files.make_directory(self._folder)
            lock = FileLock(self._folder / _LOCK, _LOCK_SECONDS)
        except OSError as error:
            raise StoreFailed(
                "the columnar projection cannot be written", detail=str(error)
            ) from error
        with lock:
            yield


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it was raised for."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _replace(path: Path, content: bytes) -> None:
    """Replace a small file atomically."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(private_files.open_file(temporary, os.O_WRONLY), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
