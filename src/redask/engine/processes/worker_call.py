"""How long a call of a worker process may go on: `WorkerCall`, which stops it by `CallStopped`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from redask.core.errors import AskError, Cancelled, DeadlineExceeded
from redask.core.ports import Cancellation

LOOK_SECONDS = 0.05  # between two looks at whether the caller has left


class CallStopped(Exception):
    """A call that goes on no longer; `error` is for its caller."""

    def __init__(self, error: AskError) -> None:
        super().__init__()
        self.error = error


class WorkerCall:
    """How long one call may go on."""

    def __init__(
        self, work: str, seconds: float, cancelled: Cancellation | None, setting: str
    ) -> None:
        self._work = work
        self._seconds = seconds
        self._cancelled = cancelled
        self._setting = setting
        self.end = time.monotonic() + seconds

    def next_look(self) -> float:
        """When to look again whether to go on; raises `CallStopped` if not."""
        if self._cancelled is not None and self._cancelled.is_set():
            raise CallStopped(Cancelled("the caller left"))
        now = time.monotonic()
        if now >= self.end:
            raise CallStopped(self.late())
        return self.end if self._cancelled is None else min(self.end, now + LOOK_SECONDS)

    @contextmanager
    def uncounted(self, most: float) -> Iterator[None]:
        """What is done in here, for so many seconds at most, is not of the call's time."""
        began = time.monotonic()
        left, self.end = self.end - began, began + most
        yield
        self.end = time.monotonic() + left

    def late(self, what: str = "") -> DeadlineExceeded:
        """What its caller is told when the time is over."""
        what = what or f"{self._work} took longer than"
        message = f"{what} {self._seconds * 1000:.0f} ms ({self._setting})"
        return DeadlineExceeded(self._setting, message, detail=self._setting)
