"""A tenant's part of the index: always caught up, rebuilt when it cannot be trusted.

    index.lock    held (`file_lock`) while catching up or rebuilding, by one thread of one process
    current       8 bytes that name the generation in use; replaced as a whole
    <16 digits>/  a generation: see `generation`

A search knows from a view of the store how far that is, and reads if the index knows as much. If
not: take the lock, look again (another process may have been faster), apply what is missing, and
take a snapshot before letting go, so that words and forward index are of one moment. So a search
always finds what was written before its view, and readers never wait for each other. Class keys
must be those of the index: when that knows more than the view, another view shows whether they
moved.

Not trusted, hence built anew from the store's log: files that are missing, damaged or of
another layout; an index of another store; an index that knows more than its store. Deleting
the directory loses nothing. When rebuilding fails too, or the disk is full, `StoreFailed`.
"""

import os
import re
import secrets
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from redask.core.errors import Damaged, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Found, Query, Store, StoreView
from redask.index import buckets
from redask.index.analysis import analyzer
from redask.index.file_lock import FileLock
from redask.index.generation import Generation, State, sound

# Searches of one process take turns: most of one is Python, and several at once, fighting for its
# lock, take longer than one after the other (16 at once: 0.6 of the rate of one; in turns, 1.1).
_TURN = threading.Lock()
_CURRENT = "current"
_NAME = re.compile("[0-9a-f]{16}")
_LOCK = "index.lock"
_ROOM = 4_000_000  # bytes that must be free before files are given up to be written anew


@dataclass(frozen=True, slots=True)
class Health:
    """What `doctor` tells of a partition; `pending` changes wait to be applied."""

    watermark: int
    pending: int
    entities: int
    tail: int
    bytes: int


class Partition:
    """One tenant's index in a directory."""

    def __init__(self, directory: Path, tenant: str, store: Store) -> None:
        self._directory = directory
        self._tenant = tenant
        self._store = store
        self._opening = threading.RLock()
        self._open: tuple[tuple[int, int], Generation] | None = None

    def search(
        self, query: Query, caller: Caller, view: StoreView | None = None
    ) -> tuple[Found, ...]:
        """The three buckets, of a state no older than the view, or (None) than the call."""
        view = view or self._store.view(caller)
        try:
            return self._search(query, caller, view)
        except Damaged:
            self._mend()
            return self._search(query, caller, view)

    def _search(self, query: Query, caller: Caller, view: StoreView) -> tuple[Found, ...]:
        with ExitStack() as stack, sound():
            generation, state = self._ready(stack, view.watermark)
            while state.watermark != view.watermark:
                before, view = view, self._store.view(caller)
                if view.visibility.version == before.visibility.version:
                    break  # nothing that class keys depend on moved since the first of the two
                stack.close()
                generation, state = self._ready(stack, view.watermark)
            visibility = view.visibility

            def read(urns: Sequence[str]) -> dict[str, str]:
                sources = self._store.read(urns, caller)
                return {source.urn: analyzer.text(source.payload) for source in sources}

            with _TURN:
                return buckets.search(generation, state, query, visibility, read)

    def health(self) -> Health:
        """How the partition is, without catching up."""
        target = self._store.watermark(self._tenant)
        generation = self._generation()
        if generation is None:
            return Health(0, target, 0, 0, 0)
        with sound(), generation.forward.snapshot() as snapshot:
            known = snapshot.position().watermark
            entities = sum(share.entities for share in snapshot.statistics())
            tail = len(snapshot.tail_keys())
        sizes = (path.stat().st_size for path in generation.directory.rglob("*") if path.is_file())
        return Health(known, target - known, entities, tail, sum(sizes))

    def rebuild(self) -> None:
        """Throw the files away and build them anew."""
        with self._locked():
            self._renew().follow(self._store, self._tenant)

    def close(self) -> None:
        """Let go of the files; searches that run keep theirs until they end."""
        with self._opening:
            if self._open:
                self._open[1].close()
            self._open = None

    # --- being up to date ------------------------------------------------------------------

    def _ready(self, stack: ExitStack, target: int) -> tuple[Generation, State]:
        """A state that knows what the store knew at this sequence, until the stack ends."""
        generation = self._generation()
        if generation is not None:
            state = stack.enter_context(generation.state(target))
            if state is not None and not self._is_ahead(state.watermark, target):
                return generation, state
            stack.close()
        with self._locked():
            generation = self._generation() or self._renew()
            generation.follow(self._store, self._tenant)
            state = stack.enter_context(generation.state(0))
        if state is None:
            raise Damaged("the index does not hold together after catching up")
        return generation, state

    def _is_ahead(self, known: int, target: int) -> bool:
        """Whether the index knows what the store does not; catching up then complains."""
        return known > target and known > self._store.watermark(self._tenant)

    def _mend(self) -> None:
        """Replace a generation that failed, unless another process has done so already."""
        failed = self._open and self._open[0]
        with self._locked():
            if failed is None or failed == self._stamp():
                self._renew()

    def _generation(self) -> Generation | None:
        """The generation in use; opened again when another process made a new one."""
        stamp = self._stamp()
        if stamp is None:
            return None
        with self._opening:
            if self._open is None or self._open[0] != stamp:
                self.close()
                name = (self._directory / _CURRENT).read_bytes()[:8].hex()
                self._open = (stamp, Generation(self._directory / name, self._store.identity))
            return self._open[1]

    def _stamp(self) -> tuple[int, int] | None:
        """What tells one `current` from the next."""
        try:
            status = os.stat(self._directory / _CURRENT)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns

    def _renew(self) -> Generation:
        """An empty generation in place of the one there is; under the lock."""
        self.close()
        if shutil.disk_usage(self._directory).free < _ROOM:
            raise StoreFailed("the index cannot be written: the disk is full")
        name = secrets.token_bytes(8)
        try:
            for old in self._directory.iterdir():
                if old.is_dir():
                    shutil.rmtree(old)
            Generation.create(self._directory / name.hex(), self._store.identity)
            _replace(self._directory / _CURRENT, name)
        except OSError as error:
            raise StoreFailed("the index cannot be written", detail=str(error)) from error
        generation = self._generation()
        assert generation is not None
        return generation

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._directory / _LOCK)
        except OSError as error:
            raise StoreFailed("the index cannot be written", detail=str(error)) from error
        with lock:
            yield


def _replace(path: Path, content: bytes) -> None:
    """Write a small file so that it is there as a whole or as it was."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
