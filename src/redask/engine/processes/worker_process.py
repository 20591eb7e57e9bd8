"""One worker process as its parent sees it: `WorkerProcess(order)` starts it.

A new interpreter, not a fork, that imports what this process can import. Standard output is
closed to it; what it logs goes to standard error. It is used by one caller at a time.
"""

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress

from redask.core.access.worker_shares import ASK_NICENESS, WorkerClaim
from redask.engine.processes import worker_messages as messages
from redask.engine.processes.worker_messages import Channel, StartOrder, packed

START_SECONDS = 60.0


class WorkerProcess:
    """A process that was started; `ready` once its first caller heard that its service is made."""

    def __init__(self, order: StartOrder) -> None:
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        with theirs:
            paths = [os.path.abspath(path) for path in sys.path if path]
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "redask.engine.processes.worker_child"),
                    *(str(theirs.fileno()), str(os.getpid())),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        self.ready = False
        self.is_full = False  # of memory, after its last call
        self.is_killed = False
        self.is_first = False  # of a pool that has done no work yet
        self.served: WorkerClaim | None = None  # by its last call
        self.replaces: WorkerClaim | None = None  # whom the one before it served
        self.niceness = ASK_NICENESS  # of its next call
        self._told_niceness = ASK_NICENESS
        self._give_up = time.monotonic() + START_SECONDS
        with suppress(OSError):  # it is gone already, as its first caller will see
            self.channel.send(messages.START, packed(order))

    @property
    def has_started(self) -> bool:
        """Whether its service is made, or cannot be; asked while nobody uses it."""
        return self.ready or self.channel.has_news()

    @property
    def usable(self) -> bool:
        """Whether a caller may try it: it has started, or may still do so, and has memory."""
        if self.is_full or self.is_killed or self.process.poll() is not None:
            return False
        return self.has_started or time.monotonic() < self._give_up

    def send_request(self, kind: bytes, request: bytes, until: float) -> None:
        """Have it work, at its niceness."""
        if self.niceness != self._told_niceness:
            self._told_niceness = self.niceness
            self.channel.send(messages.NICENESS, bytes([self.niceness]), until=until)
        self.channel.send(kind, request, until=until)

    def kill(self) -> None:
        """Have it end now; its caller need not wait until its memory is given back: see `reap`."""
        self.is_killed = True
        self.process.kill()

    def reap(self) -> None:
        """Have it end now, and wait for that."""
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)

    def ended(self) -> str:
        """How a process ended that closed its channel."""
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.reap()
        code = self.process.returncode
        return f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
