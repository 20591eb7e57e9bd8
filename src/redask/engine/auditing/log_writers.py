"""Who writes to the logs of a database: `LogWriters`, one writer a log, and their upkeep."""

from collections.abc import Callable
from dataclasses import dataclass

from redask.core.errors import AuditUnavailable
from redask.engine.auditing.access_recorder import AccessRecorder
from redask.engine.auditing.audit_upkeep import AuditUpkeep
from redask.engine.auditing.audit_writer import AuditWriter
from redask.engine.auditing.sealing_thread import SealingThread


@dataclass(frozen=True, slots=True)
class LogWriters:
    """The writers of the audit log and of the access log, and what keeps the logs."""

    asks: AuditWriter
    accesses: AuditWriter
    recorder: AccessRecorder
    upkeep: AuditUpkeep
    sealing: SealingThread | None = None  # of a server, where somebody signs
    read_only: Callable[[], bool] = lambda: False

    def check(self) -> None:
        """Refuse what would leave a row, before anything is done or paid for it."""
        if self.read_only():
            raise AuditUnavailable(
                "the database is read-only, so no row can be written and nothing be answered: "
                "audit, doctor, sources, show, dump and backup work; for questions, copy it to "
                "where it can be written"
            )

    def close(self, end: float | None = None) -> None:
        """Write what is waiting, let the store remember it, seal it, then stop.

        By `end` (of `time.monotonic`) at the latest.
        """
        self.recorder.close()
        self.asks.close(end)
        self.accesses.close(end)
        self.upkeep.close(end)
        if self.sealing is not None:
            self.sealing.close(end)
