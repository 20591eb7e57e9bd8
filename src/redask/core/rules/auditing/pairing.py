"""Whether a store and a log belong together, and are of one time: `pairing_fault`, `unpaired`.

Each keeps the identity of the other, and a marker that is drawn anew each time the store remembers
the heads of the log. The log is marked first, and keeps the marker before: killed in between, the
store has that one.

    the store knows    the log knows      marker of the store         verdict
    no log             no store           –                           new: pair them
    no log             this store         the log has had one only    killed meanwhile: pair them
    this log           this store         the log's, or its last      they belong together
    this log           this store         another                     one is of another time
    anything else                                                     one of them was replaced
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreSide:
    """What the store is, and which log it remembers; empty: none."""

    identity: str
    log: str = ""
    marker: str = ""


@dataclass(frozen=True, slots=True)
class LogSide:
    """What the log is, and which store it remembers; empty: none."""

    identity: str
    store: str = ""
    marker: str = ""
    before: str = ""


def unpaired(store: StoreSide, log: LogSide) -> bool:
    """Whether the two are new to each other."""
    if store.log:
        return False
    return not log.store or (log.store == store.identity and not log.before)


def pairing_fault(store: StoreSide, log: LogSide) -> str | None:
    """What is wrong with the two; None when nothing is, or when they are new to each other."""
    if unpaired(store, log):
        return None
    if log.store and log.store != store.identity:
        return "the log was written beside another store: the store was replaced or lost"
    if store.log and store.log != log.identity:
        return "the store remembers another log: the log was replaced or lost"
    if store.marker not in (log.marker, log.before):
        return "the store and the log are not of one time: one of them was put back"
    return None
