"""The Merkle trees of the chains: `grow`, `tiles_of`, and their schema.

    audit_trees         of each chain: the number before the first record of its tree, its size
    audit_tiles         the hashes, 256 a row; see `rules.auditing.tree_tiles`
    audit_checkpoints   the newest checkpoint of each chain
    audit_deliveries    which size of each chain each sink has got
    audit_sinks         the sinks that failed, since when and why

A tree grows behind its chain, a page a transaction: nobody waits for it. It begins with the first
record that was there when this schema came. Retention takes records whose leaves are in it.
"""

from redask.core.rules.audit_chain import entry
from redask.core.rules.auditing.merkle import leaf_hash, root
from redask.core.rules.auditing.tree_tiles import Tiles, grown, nodes_in
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase

SCHEMA = (
    "CREATE TABLE audit_trees (chain INTEGER PRIMARY KEY, first INTEGER, size INTEGER NOT NULL)",
    """CREATE TABLE audit_tiles (
        chain INTEGER NOT NULL REFERENCES audit_chains,
        level INTEGER NOT NULL,
        number INTEGER NOT NULL,
        hashes BLOB NOT NULL,
        UNIQUE (chain, level, number)
    )""",
    "CREATE TABLE audit_checkpoints (chain INTEGER PRIMARY KEY, size INTEGER, checkpoint TEXT)",
    """CREATE TABLE audit_deliveries (
        sink TEXT NOT NULL,
        chain INTEGER NOT NULL,
        size INTEGER NOT NULL,
        PRIMARY KEY (sink, chain)
    ) WITHOUT ROWID""",
    "CREATE TABLE audit_sinks (sink TEXT PRIMARY KEY, since INTEGER, fault TEXT) WITHOUT ROWID",
)
_PAGE = 4096


def grow(database: SqlDatabase) -> None:
    """Bring the tree of every chain up to date."""
    with database.reading(EVERY_TENANT) as connection:
        behind = [number for (number,) in connection.execute(_BEHIND).fetchall()]
    for chain in behind:
        while _grow_page(database, chain):
            pass


_BEHIND = """SELECT id FROM audit_chains LEFT JOIN audit_trees ON chain = id
    WHERE seq > coalesce(first + size, pruned_seq)"""


def _grow_page(database: SqlDatabase, chain: int) -> bool:
    with database.writing(EVERY_TENANT) as connection:
        return grow_in(connection, chain)


def grow_in(connection: SqlConnection, chain: int) -> bool:
    """Add a page of records to the tree of a chain, in somebody's transaction. → whether full"""
    first, size = tree_of(connection, chain)
    found = connection.execute(
        "SELECT seq, at, kind, leaf FROM audit_records WHERE chain = ? AND seq > ?"
        " ORDER BY seq LIMIT ?",
        (chain, first + size, _PAGE),
    ).fetchall()
    if not found or found[0][0] != first + size + 1:
        return False  # what is not whole does not grow, for `verify` to find
    leaves = [leaf_hash(entry(seq, at, kind, leaf)) for seq, at, kind, leaf in found]
    try:
        changed = grown(size, leaves, tiles_of(connection, chain))
    except LookupError:
        return False  # the same
    connection.executemany(
        "INSERT INTO audit_tiles VALUES (?, ?, ?, ?)"
        " ON CONFLICT (chain, level, number) DO UPDATE SET hashes = excluded.hashes",
        [(chain, level, number, tile) for (level, number), tile in changed.items()],
    )
    connection.execute(
        "INSERT INTO audit_trees VALUES (?, ?, ?)"
        " ON CONFLICT (chain) DO UPDATE SET first = excluded.first, size = excluded.size",
        (chain, first, size + len(leaves)),
    )
    return len(found) == _PAGE


def tree_of(connection: SqlConnection, chain: int) -> tuple[int, int]:
    """The number before the first record of a chain's tree, and its size."""
    found = connection.execute(
        "SELECT coalesce(first, pruned_seq), coalesce(size, 0) FROM audit_chains"
        " LEFT JOIN audit_trees ON chain = id WHERE id = ?",
        (chain,),
    ).fetchone()
    return found or (0, 0)


def root_up_to(connection: SqlConnection, chain: int, to: int) -> str | None:
    """The root of a chain's tree up to a record; None where it does not reach so far."""
    first, size = tree_of(connection, chain)
    if not 0 < to - first <= size:
        return None
    try:
        return root(to - first, nodes_in(tiles_of(connection, chain))).hex()
    except LookupError:
        return None


def tiles_of(connection: SqlConnection, chain: int) -> Tiles:
    """The tiles of a chain's tree."""

    def tile(level: int, number: int) -> bytes:
        found = connection.execute(
            "SELECT hashes FROM audit_tiles WHERE chain = ? AND level = ? AND number = ?",
            (chain, level, number),
        ).fetchone()
        return bytes(found[0]) if found else b""

    return tile
