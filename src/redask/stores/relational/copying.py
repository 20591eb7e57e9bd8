"""Everything of a database into another, whatever keeps them: `copy(source, destination)`.

Table by table and page by page, in the order of a key: a page that is there already is left alone,
so a copy that was interrupted, or made while the source was in use, is made whole by another, which
reads all and writes what differs. The source is read in one state. Rows that the source has no more
go first, from those that refer to others on; then rows come, from those that others refer to.

    store.file      "copying:IDENTITY" while it is under way: such a database is not opened;
                    "copied:IDENTITY" after it, until somebody opens it, who begins a new timeline

So only what is new, or was made by this and used by nobody yet, is written over.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from redask.core.errors import BadAsk, StoreFailed
from redask.core.rules.audit_chain import Broken
from redask.stores.auditing.audit_rows import ACCESSES, ASKS
from redask.stores.relational.auditing.anchors import RelationalAnchors
from redask.stores.relational.auditing.audit_log import RelationalAuditLog, draw_nonce
from redask.stores.relational.history import COPIED, COPYING
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase

_PAGE = 2_000
_KEYS = {  # by which each table is in order; those that others refer to, first
    "scram": ("secret",),
    "tenants": ("id",),
    "collections": ("id",),
    "entities": ("key",),
    "edges": ("key",),
    "vectors": ("key",),
    "holdings": ("collection", "label", "kind"),
    "columns": ("collection", "label", "name", "type"),
    "policies": ("tenant", "collection"),
    "class_layouts": ("id",),
    "labels": ("id",),
    "relabelling": ("tenant", "collection"),
    "users": ("tenant", "name"),
    "tokens": ("id",),
    "column_types": ("tenant", "collection", "key"),
    "embedding": ("tenant",),
    "history": ("tenant", "number"),
    "ingest_origins": ("id",),
    "ingest_items": ("key",),
    "ingest_links": ("origin", "source", "path", "anchor"),
    "declared_keys": ("origin", "place"),
    "log_file": ("identity",),
    "log_anchors": ("log", "tenant", "seq"),
    "log_pruning": ("log", "tenant"),
}
_CALLS = {
    "audit_file": ("identity",),
    "audit_clock": ("lived",),
    "audit_chains": ("id",),
    "audit_records": ("chain", "seq"),
    "audit_numbers": ("chain", "user"),
    "audit_provenance": ("chain", "seq"),
    "audit_trees": ("chain",),
    "audit_tiles": ("chain", "level", "number"),
    "audit_checkpoints": ("chain",),
    "audit_deliveries": ("sink", "chain"),
    "audit_sinks": ("sink",),
    "red_ask_audit": ("seq",),
    "audit_head": ("seq",),
    "audit_builds": ("seq",),
    "audit_readings": ("seq",),
    "spent": ("tenant", "day", "provider", "user", "role"),
    "reserved": ("number",),
}
_STORE = ("identity", "classes", "edge_key", "checksums")  # its place and timeline are its own

CopyProgress = Callable[[str, int], None]  # a table, and how many of its rows are done


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy holds now: rows in all, how many of them this run wrote, a hash over all."""

    rows: int
    written: int
    sha256: str
    audit_rows: int


@dataclass(frozen=True, slots=True)
class CopiedTables:
    """The two parts of a database, open; SQLite has a file for each."""

    store: SqlDatabase
    calls: SqlDatabase
    close: Callable[[], None]


def copy(
    source: CopiedTables, destination: CopiedTables, progress: CopyProgress = lambda *_: None
) -> CopyReport:
    """Make the destination what the source is. → what it holds; `StoreFailed` if it does not."""
    with ExitStack() as opened:
        store = opened.enter_context(source.store.snapshot(EVERY_TENANT))
        calls = opened.enter_context(source.calls.snapshot(EVERY_TENANT))
        identity = _begin(store, destination.store)
        written = 0
        pairs = [(name, store, destination.store) for name in _KEYS]
        pairs += [(name, calls, destination.calls) for name in _CALLS]
        for name, origin, target in reversed(pairs):
            _remove(name, origin, target)
        for name, origin, target in pairs:
            written += _bring(name, origin, target, progress)
        for target in (destination.store, destination.calls):
            with target.writing(EVERY_TENANT) as connection:
                connection.number_on()
        rows, wanted = _digest(pairs, lambda _, origin, __: origin)
        with (
            destination.store.snapshot(EVERY_TENANT) as mine,
            destination.calls.snapshot(EVERY_TENANT) as my_calls,
        ):
            _, found = _digest(pairs, lambda name, *_: mine if name in _KEYS else my_calls)
    if found != wanted:
        raise StoreFailed("the copy is not what the original is: copy it again")
    audited = _verified(destination)
    with destination.store.writing(EVERY_TENANT) as connection:
        connection.execute("UPDATE store SET file = ?", (f"{COPIED}{identity}",))
    return CopyReport(rows, written, wanted, audited)


def _begin(source: SqlConnection, destination: SqlDatabase) -> str:
    """Take possession of the destination, or refuse. → which database the source is"""
    names = ", ".join(_STORE)
    facts = source.execute(f"SELECT {names} FROM store").fetchone()
    identity, (file,) = facts[0], source.execute("SELECT file FROM store").fetchone()
    if file.startswith(COPYING):
        raise BadAsk("the source is a copy that is not finished itself")
    with destination.writing(EVERY_TENANT) as connection:
        (file,) = connection.execute("SELECT file FROM store").fetchone()
        is_ours = file in (f"{COPYING}{identity}", f"{COPIED}{identity}")
        used = connection.execute("SELECT 1 FROM tenants LIMIT 1").fetchone()
        if not is_ours and (used or file.startswith((COPYING, COPIED))):
            raise BadAsk(
                "the destination holds a database that is in use, or a copy of another: a copy "
                "goes to where there is none, or on with one that nobody has opened",
                detail="destination",
            )
        marks = ", ".join(f"{name} = ?" for name in _STORE)
        connection.execute(f"UPDATE store SET {marks}, file = ?", (*facts, f"{COPYING}{identity}"))
    return str(identity)


def _columns(name: str, source: SqlConnection, target: SqlConnection) -> list[str]:
    """Those that both have, the key first."""
    key = _key(name)
    both = set(source.columns_of(name)) & set(target.columns_of(name))
    return [*key, *sorted(both - set(key))]


def _key(name: str) -> tuple[str, ...]:
    return _KEYS.get(name) or _CALLS[name]


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{each}"' for each in names)


def _page(
    connection: SqlConnection,
    name: str,
    columns: Sequence[str],
    after: tuple[Any, ...] | None,
    to: tuple[Any, ...] | None = None,
) -> list[tuple[Any, ...]]:
    """The next rows in the order of their key: so many, or all up to a key."""
    key, given = _key(name), [each for each in (after, to) if each is not None]
    marks = f"({', '.join('?' * len(key))})"
    tests = [f"({_quoted(key)}) > {marks}"] if after is not None else []
    tests += [f"({_quoted(key)}) <= {marks}"] if to is not None else []
    distinct = "DISTINCT" if len(columns) == len(key) else ""
    found = connection.execute(
        f'SELECT {distinct} {_quoted(columns)} FROM "{name}"'
        + (f" WHERE {' AND '.join(tests)}" if tests else "")
        + f" ORDER BY {_quoted(key)}"
        + ("" if to is not None else f" LIMIT {_PAGE}"),
        tuple(value for each in given for value in each),
    ).fetchall()
    return [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in found]


def _pages(
    connection: SqlConnection, name: str, columns: Sequence[str]
) -> Iterator[list[tuple[Any, ...]]]:
    width, after = len(_key(name)), None
    while page := _page(connection, name, columns, after):
        yield page
        after = page[-1][:width]


def _remove(name: str, source: SqlConnection, target: SqlDatabase) -> None:
    """Take away the rows that the source has not."""
    key, after = _key(name), None
    where = " AND ".join(f'"{each}" = ?' for each in key)
    while True:
        with target.reading(EVERY_TENANT) as connection:
            page = _page(connection, name, key, after)
        if not page:
            return
        known = set(_page(source, name, key, after, to=page[-1]))
        if extra := [row for row in page if row not in known]:
            with target.writing(EVERY_TENANT) as connection:
                connection.executemany(f'DELETE FROM "{name}" WHERE {where}', extra)
        after = page[-1]


def _bring(name: str, source: SqlConnection, target: SqlDatabase, progress: CopyProgress) -> int:
    """Write the rows that are not there, or differ. → how many"""
    width, done, written = len(_key(name)), 0, 0
    with target.reading(EVERY_TENANT) as connection:
        columns = _columns(name, source, connection)
    after: tuple[Any, ...] | None = None
    for page in _pages(source, name, columns):
        with target.reading(EVERY_TENANT) as connection:
            there = {row[:width]: row for row in _page(connection, name, columns, after)}
        changed = [row for row in page if there.get(row[:width], row) != row]
        new = [row for row in page if row[:width] not in there]
        if changed or new:
            with target.writing(EVERY_TENANT) as connection:
                _change(connection, name, columns, changed)
                connection.bring(name, columns, new)
        written += len(changed) + len(new)
        after, done = page[-1][:width], done + len(page)
        progress(name, done)
    return written


def _change(
    connection: SqlConnection, name: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Give rows that are there their other columns."""
    if not rows:
        return
    key = _key(name)
    where = " AND ".join(f'"{each}" = ?' for each in key)
    marks = ", ".join(f'"{each}" = ?' for each in columns[len(key) :])
    connection.executemany(
        f'UPDATE "{name}" SET {marks} WHERE {where}',
        [(*row[len(key) :], *row[: len(key)]) for row in rows],
    )


def _digest(
    pairs: Sequence[tuple[str, SqlConnection, SqlDatabase]],
    of: Callable[[str, SqlConnection, SqlDatabase], SqlConnection],
) -> tuple[int, str]:
    """How many rows there are, and a hash over all of them, columns in the source's order."""
    whole, rows = sha256(), 0
    for name, origin, target in pairs:
        with target.reading(EVERY_TENANT) as connection:
            columns = _columns(name, origin, connection)
        for page in _pages(of(name, origin, target), name, columns):
            for row in page:
                whole.update(repr((name, row)).encode())
                rows += 1
    return rows, whole.hexdigest()


def _verified(tables: CopiedTables) -> int:
    """How many rows both logs of the copy have, which verify."""
    anchors = RelationalAnchors(tables.store, tables.calls, draw_nonce)
    rows = 0
    for log in (ASKS, ACCESSES):
        verdict = RelationalAuditLog(tables.calls, log, anchors).verify()
        if isinstance(verdict, Broken):
            raise StoreFailed(
                f"the {log} log of the copy does not verify: {verdict.reason}",
                detail="verify the original: `redask audit verify`",
            )
        rows += verdict.rows
    return rows
