"""A log somebody edits: `TamperedLog(directory)`, a copy in memory for each attack, and a forger.

`verdict(edit)` says what `verify` finds after `edit` had the copy of `calls.sqlite` in its hands;
`redask.sqlite`, which remembers the log, is not touched. `forge` makes a chain and its tree anew
from its rows, as whoever owns the file can: all nonces are in it. `sealed(edit)` gives the edited
log to whoever has only checkpoints of it, because the store was re-made, too.

Each attack is verified from the first row to the last by the real `verify`, so that attacks on all
rows of a log take time by the square of its length. What costs most of it is the hash of a record's
content, a pure function of three texts, which is the same for all rows that are not attacked:
within `remembered_hashes()` each is computed once. Chain, anchors, tree and tables are read and
compared as ever.
"""

import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import pytest

from redask.core.ports import SealedLogs
from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.rules.auditing.commitments import Opening, leaf, read_opening, values_of
from redask.stores.auditing import audit_rows
from redask.stores.relational.auditing.anchors import RelationalAnchors
from redask.stores.relational.auditing.audit_log import RelationalAuditLog, draw_nonce
from redask.stores.relational.auditing.sealed_log_tables import RelationalSealedLogs
from redask.stores.relational.auditing.tree_tables import grow_in
from redask.stores.relational.sql_database import SqlConnection, Whose
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.connection import any_text
from redask.stores.sqlite.sqlite_connection import SqliteConnection
from redask.stores.sqlite.store import FILE

Edit = Callable[[sqlite3.Connection], object]
_REMEMBERED = 20_000  # contents: those of the log, and those that attacks make


@contextmanager
def remembered_hashes() -> Iterator[None]:
    """Within it, the content of a record is read and hashed once, by all of its texts."""
    known: dict[tuple[object, ...], str] = {}
    plain, read = leaf, lru_cache(_REMEMBERED)(values_of)

    def hashed(values: Mapping[str, str], opening: Opening) -> str:
        key = (opening.nonce or opening.stored(), *values, *values.values())
        if key not in known:
            known[key] = plain(values, opening)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        for module in (audit_rows, sys.modules[__name__]):
            patch.setattr(module, "values_of", read)
            patch.setattr(module, "leaf", hashed)
        yield


class CopiedFile:
    """What a log needs of a `Database`, over one connection."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection

    @contextmanager
    def reading(self, _whose: Whose, /) -> Iterator[SqliteConnection]:
        yield self._connection

    @contextmanager
    def snapshot(self, _whose: Whose, /, *, damaged: bool = False) -> Iterator[SqliteConnection]:
        self._connection.text_factory = any_text if damaged else str
        try:
            yield self._connection
        finally:
            self._connection.text_factory = str


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
            "SELECT rowid, kind, at, row, beside, opening, seq, leaf, hash FROM audit_records"
            " WHERE chain = ? ORDER BY seq",
            (chain,),
        ).fetchall()
        others = []  # records that are not as they were, mostly from one number on
        for number, kind, at, row, beside, opening, *before in found:
            seq += 1
            made = leaf({**values_of(row), **values_of(beside)}, read_opening(opening))
            last = audit_chain.link(last, audit_chain.entry(seq, at, kind, made))
            if before != [seq, made, last]:
                others.append((seq, made, last, number))
        copy.executemany(
            "UPDATE audit_records SET seq = -seq WHERE rowid = ?", [each[3:] for each in others]
        )
        copy.executemany(
            "UPDATE audit_records SET seq = ?, leaf = ?, hash = ? WHERE rowid = ?", others
        )
        copy.execute("UPDATE audit_chains SET seq = ?, hash = ? WHERE id = ?", (seq, last, chain))
        copy.execute("DELETE FROM audit_tiles WHERE chain = ?", (chain,))
        copy.execute("DELETE FROM audit_trees WHERE chain = ?", (chain,))
        while grow_in(cast(SqlConnection, copy), chain):
            pass
