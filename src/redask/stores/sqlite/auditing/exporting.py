"""The chains of a log as lines, to be verified elsewhere: `exported`, all of one moment."""

from collections.abc import Iterator
from sqlite3 import Connection

from redask.core.rules.audit_chain import Chain
from redask.core.rules.auditing.exported_chain import chain_line, leaves_line, record_line
from redask.core.rules.auditing.tree_tiles import WIDTH, hashes_of
from redask.stores.sqlite.auditing.chain_tables import chains_of, identity_of, records_of
from redask.stores.sqlite.auditing.tree_tables import tiles_of, tree_of
from redask.stores.sqlite.connection import Database


def exported(database: Database, log: str, tenant: str | None) -> Iterator[str]:
    """The lines of the chains of a log: of a tenant, or of all."""
    with database.reading() as connection:
        connection.execute("BEGIN")
        try:
            for number, chain in chains_of(connection, log):
                if tenant in (None, chain.tenant):
                    yield from _lines(connection, number, chain)
        finally:
            connection.execute("ROLLBACK")


def _lines(connection: Connection, number: int, chain: Chain) -> Iterator[str]:
    first, _ = tree_of(connection, number)
    yield chain_line(chain, identity_of(connection), first)
    tiles, gone = tiles_of(connection, number), chain.head.pruned_seq - first
    for place in range(0, gone, WIDTH):
        yield leaves_line(hashes_of(tiles(0, place // WIDTH))[: gone - place])
    for each in records_of(connection, number):
        yield record_line(each.provable(), each.hash)
