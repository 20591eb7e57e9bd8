"""The log's own time: `passed(state, ts)` counts what really passed between rows, for retention.

    the row's time, against the highest so far      the log's own time
    up to a day later                               goes on by as much
    more than a day later                           goes on by one day, whatever the clock says
    up to a day earlier                             stands, until the clock has caught up
    more than a day earlier                         stands; the clock is followed back, and what was
                                                    counted for jumps, and two days more, is `owed`:
                                                    so much time that passes is not counted

A clock that jumped may have been right before or after: neither the newest time nor the oldest
can be trusted, but time that passes in small steps can. So a jump forwards is a day at most, and
is made up for if it is taken back. However often a clock jumps, the log's own time is not ahead of
the real one by more than `MARGIN` (unless it jumps forwards six times and never back meanwhile),
and `expires` leaves that much. What it costs: of a while in which nothing is written only one
day counts, so that a log that is seldom used keeps its rows for longer.
"""

from dataclasses import dataclass

DAY_NS = 86_400 * 10**9
MARGIN = 7 * DAY_NS
_SLACK = 2 * DAY_NS  # what small steps may have counted too much before the clock went back
_MOST = 30 * DAY_NS  # a clock that went wrong does not stop retention for longer


@dataclass(frozen=True, slots=True)
class LivedTime:
    """The log's own time, the highest time of a row so far, and what of it is in doubt.

    `jumped` was counted for jumps forwards since the clock last went back.
    """

    lived: int = 0
    highest: int | None = None
    jumped: int = 0
    owed: int = 0


def passed(state: LivedTime, ts: int) -> LivedTime:
    """The state after a row of this time (epoch ns)."""
    if state.highest is None:
        return LivedTime(state.lived, ts, state.jumped, state.owed)
    step = ts - state.highest
    if step < -DAY_NS:
        return LivedTime(state.lived, ts, 0, min(state.owed + state.jumped + _SLACK, _MOST))
    if step <= 0:
        return state
    counted = min(step, DAY_NS)
    jumped = min(state.jumped + (DAY_NS if step > DAY_NS else 0), _MOST)
    paid = min(state.owed, counted)
    return LivedTime(state.lived + counted - paid, ts, jumped, state.owed - paid)


def expires(written: int, now: int, keep_ns: int) -> bool:
    """Whether a row has lived longer than it is kept; both in the log's own time."""
    return now - written > keep_ns + MARGIN
