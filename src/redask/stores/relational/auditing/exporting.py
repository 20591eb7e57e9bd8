"""The chains of a log as lines, to be verified elsewhere: `exported`, all of one moment."""

from collections.abc import Iterator

from redask.core.rules.audit_chain import Chain
from redask.core.rules.auditing.exported_chain import chain_line, leaves_line, record_line
from redask.core.rules.auditing.tree_tiles import WIDTH, hashes_of
from redask.stores.relational.auditing.chain_tables import chains_of, identity_of, records_of
from redask.stores.relational.auditing.tree_tables import tiles_of, tree_of
from redask.stores.relational.sql_database import SqlConnection, SqlDatabase, rows_of


def exported(database: SqlDatabase, log: str, tenant: str | None) -> Iterator[str]:
    """The lines of the chains of a log: of a tenant, or of all."""
    with database.snapshot(rows_of(tenant)) as connection:
        for number, chain in chains_of(connection, log):
            if tenant in (None, chain.tenant):
                yield from _lines(connection, number, chain)


def _lines(connection: SqlConnection, number: int, chain: Chain) -> Iterator[str]:
    first, _ = tree_of(connection, number)
    yield chain_line(chain, identity_of(connection), first)
    tiles, gone = tiles_of(connection, number), chain.head.pruned_seq - first
    for place in range(0, gone, WIDTH):
        yield leaves_line(hashes_of(tiles(0, place // WIDTH))[: gone - place])
    for each in records_of(connection, number):
        yield record_line(each.provable(), each.hash)
