"""Which history a store has: a mark for each write, and a timeline for each place it lives in.

    mark        random, drawn by each transaction that moves a tenant's watermark. Two files that
                share a mark share all that was written up to it, and nothing is known of the rest
    history     "number:mark" of the last write that somebody saw; empty before the first. What is
                derived from the store keeps it beside its watermark
    follows     whether the store's history holds that write. If not, the store was replaced (by an
                older file, a copy that went on, another store): what is derived is made again
    timeline    random, drawn anew when a file is restored, or opened as a copy in another place.
                Leases and cached answers of another timeline are not there

    access      `tenants.access`, the number of a state of who sees what, moves by a random step: a
                process that lives through a failover, which lost the last writes, never takes what
                it remembers of one state for what another of the same number says

The last `KEPT` marks of each tenant are kept; what fell further behind is made again. A mark never
reaches an answer: not a fingerprint, a rank or a prompt.
"""

import secrets

from redask.core.errors import StoreFailed
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase

KEPT = 100_000
COPYING, COPIED = "copying:", "copied:"  # in place of the file: see `copying`
_MARK_BYTES = 16
_MOST_STEP = 2**30


def advance(connection: SqlConnection, tenant: int) -> None:
    """Leave the mark of this transaction, which moved the watermark of a tenant."""
    mark = secrets.token_hex(_MARK_BYTES)
    (number,) = connection.execute(
        "UPDATE tenants SET writes = writes + 1, mark = ? WHERE id = ? RETURNING writes",
        (mark, tenant),
    ).fetchone()
    connection.execute("INSERT INTO history VALUES (?, ?, ?)", (tenant, number, mark))
    connection.execute(
        "DELETE FROM history WHERE tenant = ? AND number <= ?", (tenant, number - KEPT)
    )


def change_access(connection: SqlConnection, tenant: int) -> None:
    """Note that who sees what of a tenant's has changed."""
    step = 1 + secrets.randbelow(_MOST_STEP)
    connection.execute("UPDATE tenants SET access = access + ? WHERE id = ?", (step, tenant))


def shown(number: int, mark: str) -> str:
    """A write as those keep it who saw it."""
    return f"{number}:{mark}" if mark else ""


def last_write(connection: SqlConnection, tenant: str) -> str:
    """The last write of a tenant."""
    found = connection.execute(
        "SELECT writes, mark FROM tenants WHERE name = ?", (tenant,)
    ).fetchone()
    return shown(*found) if found else ""


def follows(connection: SqlConnection, tenant: str, history: str) -> bool:
    """Whether a write that somebody saw is one of this store's."""
    number, _, mark = history.partition(":")
    if not number.isdecimal():
        return not history
    found = connection.execute(
        "SELECT mark FROM history WHERE number = ?"
        " AND tenant = (SELECT id FROM tenants WHERE name = ?)",
        (int(number), tenant),
    ).fetchone()
    return found is not None and found[0] == mark


def timeline_of(database: SqlDatabase) -> str:
    """The timeline of an open file; a new one, if the file is a copy of the one it was."""
    place, known = database.place(), "SELECT timeline, file FROM store"
    with database.reading(EVERY_TENANT) as connection:
        timeline, file = connection.execute(known).fetchone()
    if file.startswith(COPYING):
        raise StoreFailed("this is a copy that is not finished: run `redask copy` again")
    if file != place and database.read_only:
        return secrets.token_hex(_MARK_BYTES)  # a copy: nothing of another timeline is used
    if file != place:
        with database.writing(EVERY_TENANT) as connection:
            timeline, file = connection.execute(known).fetchone()
            if file != place:
                timeline = begin_timeline(connection, place)
    return str(timeline)


def begin_timeline(connection: SqlConnection, file: str) -> str:
    """Begin a new timeline; nobody works in it yet. → its name"""
    timeline = secrets.token_hex(_MARK_BYTES)
    connection.execute("UPDATE store SET timeline = ?, file = ?", (timeline, file))
    connection.execute("UPDATE embedding SET holder = NULL, until = 0")
    return timeline
