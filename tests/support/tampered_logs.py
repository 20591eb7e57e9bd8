"""A log somebody edits: `TamperedLog(directory)`, a copy in memory for each attack, and a forger.

`verdict(edit)` says what `verify` finds after `edit` had the copy of `calls.sqlite` in its hands;
`redask.sqlite`, which remembers the log, is not touched. `forge` makes a chain and its tree anew
from its rows, as whoever owns the file can: all nonces are in it. `sealed(edit)` gives the edited
log to whoever has only checkpoints of it, because the store was re-made, too.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

from redask.core.ports import SealedLogs
from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.rules.auditing.commitments import leaf, read_opening, values_of
from redask.stores.relational.auditing.anchors import RelationalAnchors
from redask.stores.relational.auditing.audit_log import RelationalAuditLog, draw_nonce
from redask.stores.relational.auditing.sealed_log_tables import RelationalSealedLogs
from redask.stores.relational.auditing.tree_tables import grow_in
from redask.stores.relational.sql_database import SqlConnection, Whose
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.sqlite_connection import SqliteConnection
from redask.stores.sqlite.store import FILE

Edit = Callable[[sqlite3.Connection], object]


class CopiedFile:
    """What a log needs of a `Database`, over one connection."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection

    @contextmanager
    def reading(self, _whose: Whose, /) -> Iterator[SqliteConnection]:
        yield self._connection

    snapshot = reading


def in_memory() -> SqliteConnection:
    return sqlite3.connect(":memory:", isolation_level=None, factory=SqliteConnection)


def copy_of(path: Path) -> SqliteConnection:
    made = in_memory()
    with closing(sqlite3.connect(path)) as file:
        file.backup(made)
    return made


class TamperedLog:
    """The closed database in a directory."""

    def __init__(self, directory: Path, log: str = "ask") -> None:
        self._log = log
        self._store = copy_of(directory / FILE)
        self._calls = copy_of(directory / CALLS_FILE)

    def verdict(self, edit: Edit, *, tenant: str | None = None) -> Intact | Broken:
        """What `verify` says after an edit."""
        with closing(in_memory()) as copy:
            self._calls.backup(copy)
            edit(copy)
            calls, store = cast(Any, CopiedFile(copy)), cast(Any, CopiedFile(self._store))
            anchors = RelationalAnchors(store, calls, draw_nonce)
            return RelationalAuditLog(calls, self._log, anchors).verify(tenant)

    @contextmanager
    def sealed(self, edit: Edit) -> Iterator[tuple[Intact | Broken, SealedLogs]]:
        """What `verify` says without a store after an edit, and the trees then."""
        with closing(in_memory()) as copy:
            self._calls.backup(copy)
            edit(copy)
            calls = cast(Any, CopiedFile(copy))
            yield RelationalAuditLog(calls, self._log).verify(), RelationalSealedLogs(calls)


def statements(*texts: str) -> Edit:
    return lambda copy: [copy.execute(text) for text in texts]


def then_forge(*texts: str) -> Edit:
    """The statements, and then the chain made anew so that it holds in itself."""

    def edit(copy: sqlite3.Connection) -> None:
        for text in texts:
            copy.execute(text)
        forge(copy)

    return edit


def forge(copy: sqlite3.Connection) -> None:
    """Number and hash the records of every chain anew, and set their heads."""
    chains = copy.execute("SELECT id, pruned_seq, pruned_hash FROM audit_chains").fetchall()
    for chain, start, first in chains:
        seq, last = start, first
        found = copy.execute(
            "SELECT rowid, kind, at, row, beside, opening FROM audit_records"
            " WHERE chain = ? ORDER BY seq",
            (chain,),
        ).fetchall()
        copy.execute("UPDATE audit_records SET seq = -seq WHERE chain = ?", (chain,))
        for number, kind, at, row, beside, opening in found:
            seq += 1
            made = leaf({**values_of(row), **values_of(beside)}, read_opening(opening))
            last = audit_chain.link(last, audit_chain.entry(seq, at, kind, made))
            copy.execute(
                "UPDATE audit_records SET seq = ?, leaf = ?, hash = ? WHERE rowid = ?",
                (seq, made, last, number),
            )
        copy.execute("UPDATE audit_chains SET seq = ?, hash = ? WHERE id = ?", (seq, last, chain))
        copy.execute("DELETE FROM audit_tiles WHERE chain = ?", (chain,))
        copy.execute("DELETE FROM audit_trees WHERE chain = ?", (chain,))
        while grow_in(cast(SqlConnection, copy), chain):
            pass
