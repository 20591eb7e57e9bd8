"""`MemoryBackend(location)`: see `redask.stores.backend.Backend`; and its `ROW`."""

import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

from memory_backend.calls import Calls, MemoryAnswerCache, MemoryAuditLog, MemoryLedger
from memory_backend.manifest import MemoryManifest
from memory_backend.sealed import MemorySealedLogs
from memory_backend.state import Access, Shared
from memory_backend.store import MemoryStore
from memory_backend.users import MemoryUsers
from redask.core.access.policy import must_own
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.stores.auditing.audit_rows import ACCESSES, ASKS
from redask.stores.backend import BackupReport
from redask.stores.backends import BackendRow

_DATABASES: dict[str, tuple[Shared, Calls]] = {}


class MemoryBackend:
    """An open database in memory, made when there is none at the location."""

    def __init__(self, location: str, *, closed: bool = False, keyed: bool = True) -> None:
        shared, calls = _DATABASES.setdefault(location, (Shared(keyed=keyed), Calls()))
        self._access = Access(shared, unruled_closed=closed)
        self.store = MemoryStore(self._access)
        self.users = MemoryUsers(self._access)
        self.manifest = MemoryManifest(self._access)
        self.audit = MemoryAuditLog(self._access, calls, ASKS)
        self.access = MemoryAuditLog(self._access, calls, ACCESSES)
        self._calls = calls
        self.sealed = MemorySealedLogs(self._access, calls)
        self.ledger = MemoryLedger(self._access, calls)
        self.answers = MemoryAnswerCache(self._access, calls)

    def check_calls(self) -> list[str]:
        return []

    def forget_damaged_answers(self) -> int:
        return 0

    def anchor(self) -> None:
        self._access.check()
        with self._access.shared.lock:
            self._calls.anchor()

    def accept_logs(self, caller: Caller, reason: str) -> str:
        must_own(caller)
        return ""

    def replica_lag(self) -> None:
        """There is none."""

    def change_feed(self) -> None:
        """There is one process."""

    def files(self) -> dict[str, int]:
        return {}

    def back_up(
        self,
        destination: Path,
        *,
        made_at: int,
        made_by: str,
        progress: Callable[[int, int], None] | None = None,
        keep: int | None = None,
    ) -> BackupReport:
        raise BadAsk("a database in memory has no back-up")

    read_only = False

    def interrupt(self) -> None:
        """Nothing here runs for long."""

    def close(self) -> None:
        self._access.closed = True


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="redask-memory-")


def _directory(location: str) -> Path:
    """Where the search index of a database is: beside no data, in a folder of this process."""
    name = sha256(location.encode()).hexdigest()[:16]
    return Path(_scratch().name) / name


ROW = BackendRow("memory", "memory", _directory, _DATABASES.__contains__, MemoryBackend)
