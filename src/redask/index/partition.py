"""A tenant's partition of the index: caught up before every search, rebuilt when it is corrupt.

    index.lock    held (`file_lock`) while catching up or rebuilding, by one thread of one process
    current       8 bytes that name the generation in use; replaced as a whole
    <16 digits>/  a generation: see `generation`

A search compares the watermark of a view of the store with that of the index, and reads if the
index is not behind. Otherwise it takes the lock, compares again (another process may have caught
up), applies the missing changes, and opens a snapshot before it releases the lock, so that inverted
and forward index are of one state. So a search always finds what was written before its view, and
readers never wait for each other. Class keys must be those of the index: when that is ahead of the
view, another view shows whether they changed.

Rebuilt from the store's change log: files that are missing, corrupt or of another layout; an index
of another store, or of another history of it (`Store.follows`); one ahead of its store. Deleting
the directory loses nothing. If the rebuild fails too, or the disk is full, `StoreFailed`.
"""

import os
import secrets
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from redask.core.errors import CorruptIndex, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Found, Query, Store, StoreView
from redask.index import buckets, private_files
from redask.index.analysis import analyzer
from redask.index.column_thread import ColumnThread
from redask.index.corruption import corrupt, index_errors, unusable
from redask.index.file_lock import FileLock
from redask.index.forward.column_builds import MAX_ROWS
from redask.index.forward.forward_index import Position
from redask.index.generation import Generation, State, foreign

# One search at a time in a process: most of it is Python, and several threads that contend for the
# GIL take longer than one after the other (16 threads: 0.6 of the rate of one; serialised, 1.1).
_SEARCH_LOCK = threading.Lock()
_LOOK_SECONDS = 0.05  # between two looks at whether a search that waits goes on
_CURRENT = "current"
_LOCK = "index.lock"
_UNCOPIED = ("-shm", ".lock")  # ends of names: shared memory and locks are of a process
_REBUILD_SECONDS = 600.0  # an owner waits for who is at work
_MIN_FREE_BYTES = 4_000_000  # needed before the files of a generation are deleted


@dataclass(frozen=True, slots=True)
class Health:
    """What `doctor` reports of a partition; `pending` changes are not applied yet.

    `problem` is why the next search will make it anew; empty when it will not.
    """

    watermark: int
    pending: int
    entities: int
    tail: int
    bytes: int
    problem: str = ""


class Partition:
    """One tenant's index in a directory."""

    def __init__(self, directory: Path, tenant: str, store: Store, lock_seconds: float) -> None:
        self._directory = directory
        self._tenant = tenant
        self._store = store
        self._lock_seconds = lock_seconds
        self._open_lock = threading.RLock()
        self._opened: tuple[tuple[int, int], Generation] | None = None
        self._columns = ColumnThread(directory, self._locked, self._is_current)

    def search(
        self, query: Query, caller: Caller, view: StoreView | None = None
    ) -> tuple[Found, ...]:
        """The three buckets, of a state no older than the view, or (None) than the call."""
        view = view or self._store.view(caller)
        try:
            return self._search(query, caller, view)
        except CorruptIndex:
            with index_errors():
                self._replace_corrupt()
            return self._search(query, caller, view)

    def _search(self, query: Query, caller: Caller, view: StoreView) -> tuple[Found, ...]:
        with ExitStack() as stack, index_errors():
            generation, state = self._caught_up(stack, view)
            while state.watermark != view.watermark:
                before, view = view, self._store.view(caller)
                if view.visibility.version == before.visibility.version:
                    break  # nothing that class keys depend on changed since the first of the two
                stack.close()
                generation, state = self._caught_up(stack, view)
            visibility = view.visibility
            self._columns.look(generation, state)

            def read(urns: Sequence[str]) -> dict[str, str]:
                query.check()
                sources = self._store.read(urns, caller)
                return {source.urn: analyzer.text(source.payload) for source in sources}

            with _searching(query):
                return buckets.search(generation, state, query, visibility, read)

    def finish(self) -> None:
        """Make what a search would begin and not wait for."""
        with index_errors():
            generation = self._generation()
        if generation is not None:
            with generation.state(0) as state:
                pass  # its counts are enough; an open transaction would be in the way of recording
            if state is not None:
                self._columns.finish(generation, state)

    def health(self) -> Health:
        """The state of the partition, without catching up."""
        try:
            return self._health()
        except CorruptIndex as error:
            target = self._store.watermark(self._tenant)
            return Health(0, target, 0, 0, _size(self._directory), error.message)

    def _health(self) -> Health:
        target = self._store.watermark(self._tenant)
        with index_errors():
            generation = self._generation()
        if generation is None:
            return Health(0, target, 0, 0, 0)
        with index_errors(), generation.forward.snapshot() as snapshot:
            known, _, _, history = snapshot.position()
            entities = sum(group.entities for group in snapshot.statistics())
            tail = len(snapshot.tail_keys())
        problem = foreign(self._store, self._tenant, known, history) or ""
        size = _size(generation.directory)
        return Health(known, max(target - known, 0), entities, tail, size, problem)

    def verify(self) -> str:
        """Read every file. → what is wrong with them; empty if they are as they were written"""
        try:
            with self._locked(_REBUILD_SECONDS):
                generation = self._generation()
                if generation is not None:
                    generation.verify()
        except CorruptIndex as error:
            return error.message
        return ""

    def rebuild(self) -> None:
        """Delete the files and build them from the store's change log."""
        with self._locked(_REBUILD_SECONDS):
            self._create_generation().catch_up(self._store, self._tenant, most=MAX_ROWS)

    def has_files(self) -> bool:
        """Whether there is a generation."""
        return self._stamp() is not None

    def copy_to(self, folder: Path) -> Position | None:
        """Copy the generation into an empty folder. → up to where it is; None: there is none

        Nobody catches up meanwhile; a copy is what a process that was killed would leave.
        """
        with self._locked(_REBUILD_SECONDS), index_errors():
            generation = self._generation()
            if generation is None:
                return None
            generation.forward.checkpoint()
            private_files.copy_all(generation.directory, folder, without=_UNCOPIED)
            with generation.forward.snapshot() as snapshot:
                return snapshot.position()

    def begin_with(self, folder: Path) -> None:
        """Take a copy as the generation, if there is none; `CorruptIndex` if it is unfit."""
        with index_errors():
            copy = Generation(folder, self._store.identity)
            try:
                copy.verify()
                with copy.forward.snapshot() as snapshot:
                    watermark, _, _, history = snapshot.position()
            finally:
                copy.close()
            if problem := foreign(self._store, self._tenant, watermark, history):
                raise unusable(problem)
            with self._locked():
                if not self.has_files():
                    name = secrets.token_bytes(8)
                    os.rename(folder, self._directory / name.hex())
                    _replace(self._directory / _CURRENT, name)

    def close(self) -> None:
        """Close the files; running searches keep theirs open until they end."""
        self._columns.close()
        with self._open_lock:
            if self._opened:
                self._opened[1].close()
            self._opened = None

    # --- catching up and rebuilding --------------------------------------------------------

    def _caught_up(self, stack: ExitStack, view: StoreView) -> tuple[Generation, State]:
        """A state of the view's history, at its sequence or later, open until the stack is."""
        generation = self._generation()
        if generation is not None:
            state = stack.enter_context(generation.state(view.watermark))
            if state is not None and self._is_of_this_store(state, view):
                return generation, state
            stack.close()
        with self._locked():
            generation = self._generation() or self._create_generation()
            generation.catch_up(self._store, self._tenant)
            state = stack.enter_context(generation.state(0))
        if state is None:
            raise corrupt("its parts are of different states after catching up")
        return generation, state

    def _is_of_this_store(self, state: State, view: StoreView) -> bool:
        """Whether the index is of the store's history; catching up else raises `CorruptIndex`."""
        if (state.watermark, state.history) == (view.watermark, view.history):
            return True
        return not foreign(self._store, self._tenant, state.watermark, state.history)

    def _replace_corrupt(self) -> None:
        """Replace a corrupt generation, unless another process has done so already."""
        failed = self._opened and self._opened[0]
        with self._locked():
            if failed is None or failed == self._stamp():
                self._create_generation()

    def _generation(self) -> Generation | None:
        """The current generation; reopened when another process created a new one."""
        stamp = self._stamp()
        if stamp is None:
            return None
        with self._open_lock:
            if self._opened is None or self._opened[0] != stamp:
                self.close()
                name = (self._directory / _CURRENT).read_bytes()[:8].hex()
                self._opened = (stamp, Generation(self._directory / name, self._store.identity))
            return self._opened[1]

    def _is_current(self, generation: Generation) -> bool:
        """Whether a generation is open and in use; a generation is replaced under the lock."""
        opened = self._opened
        return opened is not None and opened[1] is generation and opened[0] == self._stamp()

    def _stamp(self) -> tuple[int, int] | None:
        """The identity of the file `current`, which changes when it is replaced."""
        try:
            status = os.stat(self._directory / _CURRENT)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns

    def _create_generation(self) -> Generation:
        """Replace all generations by an empty one. Hold the lock."""
        self.close()
        if shutil.disk_usage(self._directory).free < _MIN_FREE_BYTES:
            raise StoreFailed("the index cannot be written: the disk is full")
        name = secrets.token_bytes(8)
        try:
            for old in self._directory.iterdir():
                if old.is_dir():
                    # who still writes there may leave a file: the next generation removes it
                    shutil.rmtree(old, ignore_errors=True)
            Generation.create(self._directory / name.hex(), self._store.identity)
            _replace(self._directory / _CURRENT, name)
        except OSError as error:
            raise StoreFailed("the index cannot be written", detail=str(error)) from error
        generation = self._generation()
        assert generation is not None
        return generation

    @contextmanager
    def _locked(self, seconds: float | None = None) -> Iterator[None]:
        try:
            private_files.make_directory(self._directory)
            lock = FileLock(self._directory / _LOCK, seconds or self._lock_seconds)
        except OSError as error:
            raise StoreFailed("the index cannot be written", detail=str(error)) from error
        with lock:
            yield


@contextmanager
def _searching(query: Query) -> Iterator[None]:
    """One's turn to search; who is cancelled while waiting for it leaves."""
    while not _SEARCH_LOCK.acquire(timeout=_LOOK_SECONDS):
        query.check()
    try:
        yield
    finally:
        _SEARCH_LOCK.release()


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _replace(path: Path, content: bytes) -> None:
    """Replace a small file atomically."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(private_files.open_file(temporary, os.O_WRONLY), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
