"""The process that opened a database: `OwningProcess` knows whether this is still that process.

A fork has the memory of a database, but none of its threads: whoever waited for one would wait for
ever, and closing would end processes and files that the parent still uses. So a child is refused at
once, and its `close` does nothing.
"""

import os

from redask.core.errors import FORKED, StoreFailed


class OwningProcess:
    """The process that this is made in."""

    def __init__(self) -> None:
        self._pid = os.getpid()

    @property
    def is_this(self) -> bool:
        """Whether this is the process that it was made in, and no fork of it."""
        return self._pid == os.getpid()

    def check(self) -> None:
        """Raise `StoreFailed` in a fork."""
        if not self.is_this:
            raise StoreFailed(FORKED)
