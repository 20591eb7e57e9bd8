"""Where a cursor stands in its rows, and which rows a FETCH returns: `CursorScan`, without I/O.

A cursor stands before the first row, on a row, or after the last one; the three rules below are
PostgreSQL's, in its words. `count` rows are numbered from 0; what is returned is a range of them.

    direction               returns
    FORWARD n               the next n rows, and stands on the last of them; fewer: after the last
    BACKWARD n              the n rows before, in that order; fewer: before the first
    … 0                     the row it stands on, if any
    ABSOLUTE n              the n-th row, from the end if n is negative; 0: none, before the first
    RELATIVE n              the n-th row from here

A cursor that does not scroll only goes forward: 55000.
"""

from dataclasses import dataclass
from typing import Literal

from redask.server.pgwire.protocol.sqlstate_error import SqlStateError

FetchDirection = Literal["forward", "backward", "absolute", "relative"]
ALL = 1 << 62
NO_ROWS = range(0)


@dataclass(slots=True)
class CursorScan:
    """The place of one cursor."""

    count: int
    scrolls: bool = True
    position: int = 0  # rows up to where it stands
    at_start: bool = True
    at_end: bool = False

    def fetch(self, direction: FetchDirection, count: int) -> range:
        """The rows that FETCH returns."""
        if direction == "absolute":
            return self._absolute(count)
        if direction == "relative":
            direction = "forward" if count >= 0 else "backward"
            count = abs(count)
            if count > 1:
                self._run(direction == "forward", count - 1)
            return self._fetch(direction == "forward", min(count, 1))
        if count < 0:
            direction = "backward" if direction == "forward" else "forward"
        return self._fetch(direction == "forward", abs(count))

    def move(self, direction: FetchDirection, count: int) -> int:
        """How many rows MOVE passes: those that FETCH would return."""
        is_repeated = count == 0 and direction != "absolute"
        if is_repeated:  # which needs no step back
            return int(self._on_row)
        if direction in ("forward", "backward"):
            is_back = (direction == "backward") == (count > 0)
            if is_back and abs(count) >= ALL:
                passed = self.position - (self.position > 0 and not self.at_end)
                self._rewind()
                return passed
        return len(self.fetch(direction, count))

    @property
    def _on_row(self) -> bool:
        return not self.at_start and not self.at_end

    def _absolute(self, count: int) -> range:
        if count > 0:
            # going back at most half the way, or from the start
            if count - 1 <= self.position // 2:
                self._rewind()
                self._run(True, count - 1)
            else:
                here = self.position + self.at_end
                if count <= here:
                    self._run(False, here - count + 1)
                else:
                    self._run(True, count - here - 1)
            return self._run(True, 1)
        if count < 0:
            self._run(True, ALL)
            self._run(False, -count - 1)
            return self._run(False, 1)
        self._rewind()
        return NO_ROWS

    def _fetch(self, forward: bool, count: int) -> range:
        if count == 0:
            if not self._on_row:
                return NO_ROWS
            self._run(False, 1)
            return self._run(True, 1)
        return self._run(forward, count)

    def _run(self, forward: bool, count: int) -> range:
        """Go so many rows; `ALL` for the rest."""
        if forward:
            if self.at_end or count <= 0:
                return NO_ROWS
            found = range(self.position, min(self.position + count, self.count))
            self.at_start = self.at_start and not found
            self.at_end = len(found) < count
            self.position += len(found)
            return found
        if count > 0:
            self._check_scrolls()
        if self.at_start or count <= 0:
            return NO_ROWS
        last = self.position if self.at_end else self.position - 1
        found = range(last - 1, max(last - count, 0) - 1, -1)
        if found and self.at_end:
            self.at_end = False
            self.position += 1
        if len(found) < count:
            self.at_start, self.position = True, 0
        else:
            self.position -= len(found)
        return found

    def _rewind(self) -> None:
        if self.at_start and not self.at_end:
            return
        self._check_scrolls()
        self.at_start, self.at_end, self.position = True, False, 0

    def _check_scrolls(self) -> None:
        if not self.scrolls:
            raise SqlStateError(
                "55000",
                "cursor can only scan forward",
                hint="Declare it with SCROLL option to enable backward scan.",
            )
