"""Whether a worker process has all but used up the memory it may have: `is_full(pid, limits)`.

At its limit a process need not fail cleanly: a library may make another error of it, a thread does
not start, and the next work fails for what was there before. What a statement leaves behind stays
with the process, so the pool replaces one that is full after a call. Where the system does not
tell (other than Linux), none is full: there is no limit, either.
"""

import os
from pathlib import Path

from redask.engine.processes.worker_messages import WorkerLimits

_KEPT_FREE = 8  # an eighth of what it may have
_DATA = 5  # the place in `statm` of what counts against RLIMIT_DATA


def is_full(process: int, limits: WorkerLimits) -> bool:
    """Whether less than an eighth of its memory is left to it; not if it has ended."""
    try:
        fields = Path(f"/proc/{process}/statm").read_bytes().split()
        used = int(fields[_DATA]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return False
    return used > limits.memory_bytes - limits.memory_bytes // _KEPT_FREE
