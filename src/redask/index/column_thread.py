"""Arrays of a large partition, made beside its searches: `ColumnThread`.

A search that finds arrays due (`forward.column_builds`) has a thread begin, and goes on with what
there is; no result depends on when they are ready. The partition's lock is held only to begin
and to record; a lock of its own lets one process make them at a time. What was made of a generation
that is closed or replaced meanwhile is removed.

Not begun by the first search in a process: a command that asks once would make them for nobody. Not
tried again before the next write, whatever ended it. Who has the index caught up (`finish`) waits
for them, without the partition's lock.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from redask.core.errors import AskError, StoreFailed
from redask.index.corruption import index_errors
from redask.index.file_lock import FileLock
from redask.index.forward import column_builds
from redask.index.generation import Generation, State

_LOCK = "columns.lock"
_LOOK_SECONDS = 0.25  # between two looks at whether the partition was closed
_LOOKS = 100
_log = logging.getLogger("redask.index")


class ColumnThread:
    """The thread of one partition; `locked` takes the partition's lock, within so many seconds."""

    def __init__(
        self,
        directory: Path,
        locked: Callable[[float], AbstractContextManager[None]],
        is_current: Callable[[Generation], bool],
    ) -> None:
        self._directory = directory
        self._locked = locked
        self._is_current = is_current
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._looked_at: tuple[Generation, int] | None = None
        self._has_searched = False

    def look(self, generation: Generation, state: State) -> None:
        """Begin, if a search found that arrays are due."""
        first, self._has_searched = not self._has_searched, True
        seen = self._looked_at
        if first or (seen is not None and (seen[0] is generation and seen[1] == state.watermark)):
            return
        self._looked_at = generation, state.watermark
        self._begin(generation, state)

    def finish(self, generation: Generation, state: State) -> None:
        """Begin, if they are due, and see it ended."""
        self._begin(generation, state)
        thread = self._thread
        if thread is not None:
            thread.join()

    def _begin(self, generation: Generation, state: State) -> None:
        rows = sum(group.entities for group in state.statistics)
        changes = None if state.changed is None else state.changed.count
        if rows <= column_builds.WAITED_ROWS or not generation.columns.is_due(rows, changes):
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stop = stop = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(generation, stop), name="redask-columns", daemon=True
                )
                self._thread.start()

    def close(self) -> None:
        """Stop, and see it ended."""
        with self._lock:
            self._stop.set()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self, generation: Generation, stop: threading.Event) -> None:
        try:
            with index_errors(), FileLock(self._directory / _LOCK, 0.0):
                self._make(generation, stop)
        except (AskError, OSError) as error:
            _log.info("arrays of the index were not made: %s", error)

    def _make(self, generation: Generation, stop: threading.Event) -> None:
        builds, forward = generation.columns, generation.forward
        with self._turn(stop):
            if not self._is_current(generation):
                return
            builds.begin(forward)
        made = builds.build(forward, stop.is_set)
        if made is None:
            return
        try:
            with self._turn(stop):
                if self._is_current(generation) and builds.record(forward, made):
                    return
        except StoreFailed:
            builds.discard(made)
            raise
        builds.discard(made)

    @contextmanager
    def _turn(self, stop: threading.Event) -> Iterator[None]:
        """Hold the partition's lock; `StoreFailed` if it was stopped before, or waited long."""
        with ExitStack() as stack:
            for look in range(_LOOKS):
                try:
                    stack.enter_context(self._locked(_LOOK_SECONDS))
                    break
                except StoreFailed:
                    if stop.is_set() or look == _LOOKS - 1:
                        raise
            yield
