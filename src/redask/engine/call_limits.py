"""How long a call may go on, for whoever works for it: `limited(seconds)`, then `current()`.

    with limited(30, caller):           around all of a call
        await threads.hop(work)         the thread has the context of its caller

Work asks `current()` where it may be long: it is a `Cancellation`, set once the time is over or the
call has ended, however that came about. Nobody is told of what was going on then.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from redask.core.model import Caller


@dataclass(frozen=True, slots=True)
class CallLimit:
    """The end of a call, of `time.monotonic`, whether it came before, and whose call it is."""

    end: float
    caller: Caller | None = None
    left: threading.Event = field(default_factory=threading.Event)

    def is_set(self) -> bool:
        """Whether to stop."""
        return self.left.is_set() or time.monotonic() >= self.end

    def seconds(self) -> float:
        """How many are left."""
        return max(0.0, self.end - time.monotonic())


_CURRENT: ContextVar[CallLimit | None] = ContextVar("redask_call_limit", default=None)


@contextmanager
def limited(seconds: float, caller: Caller | None = None) -> Iterator[CallLimit]:
    """What is in here may take so long; what still works for it afterwards is to stop."""
    limit = CallLimit(time.monotonic() + seconds, caller)
    with under(limit):
        try:
            yield limit
        finally:
            limit.left.set()


@contextmanager
def under(limit: CallLimit) -> Iterator[None]:
    """What is in here works under a limit."""
    before = _CURRENT.set(limit)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def current() -> CallLimit | None:
    """The limit of the call that this is done for."""
    return _CURRENT.get()
