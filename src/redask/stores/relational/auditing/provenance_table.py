"""What made the answers of rows, in the table `audit_provenance`; its rules: `provenance_rows`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redask.core.rules.audit_chain import PROVENANCE_PRUNED
from redask.core.rules.auditing.lived_time import expires
from redask.stores.auditing import provenance_rows
from redask.stores.auditing.audit_rows import Nonces
from redask.stores.auditing.provenance_rows import KeptProvenance
from redask.stores.relational.auditing.chain_tables import PAGE, clock_of, save, writer_of
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase

_KEPT = """SELECT audit_records.seq, kind, row, beside, provenance FROM audit_records
    LEFT JOIN audit_provenance USING (chain, seq) WHERE chain = ? AND seq < ? ORDER BY seq"""
_OLDEST = """SELECT audit_provenance.seq, at FROM audit_provenance
    JOIN audit_records USING (chain, seq) WHERE chain = ? ORDER BY audit_provenance.seq LIMIT ?"""


def provenances_of(connection: SqlConnection, chain: int, numbers: Sequence[int]) -> dict[int, str]:
    """What is kept of these rows of a chain, by number."""
    marks = ", ".join("?" * len(numbers))
    found = connection.execute(
        f"SELECT seq, provenance FROM audit_provenance WHERE chain = ? AND seq IN ({marks})",
        (chain, *numbers),
    )
    return dict(found.fetchall())


def provenance_fault(connection: SqlConnection, chain: int, before: int) -> tuple[int, str] | None:
    """The first row before a number whose provenance is not what was written."""
    return provenance_rows.fault(_kept(connection, chain, before))


@dataclass(frozen=True, slots=True)
class ProvenanceRetention:
    """How long it is kept in a log, and by which rule."""

    log: str
    keep_ns: int
    rule: str
    nonces: Nonces


def prune_provenances(database: SqlDatabase, retention: ProvenanceRetention) -> None:
    """Take away what was kept for so long, in every chain of a log."""
    with database.reading(EVERY_TENANT) as connection:
        chains = connection.execute(
            "SELECT id, tenant FROM audit_chains WHERE log = ? ORDER BY tenant", (retention.log,)
        ).fetchall()
        now = clock_of(connection).lived
        kept = [
            (*each, at)
            for each in chains
            for _, at in connection.execute(_OLDEST, (each[0], 1)).fetchall()
        ]
    for chain, tenant, oldest in kept:
        if provenance_rows.due(oldest, now, retention.keep_ns):
            while _prune_page(database, chain, tenant, retention):
                pass


def _prune_page(
    database: SqlDatabase, chain: int, tenant: str, retention: ProvenanceRetention
) -> bool:
    """Take a page; whether there may be another."""
    with database.writing(EVERY_TENANT) as connection:
        now = clock_of(connection).lived
        page = connection.execute(_OLDEST, (chain, PAGE)).fetchall()
        gone = [seq for seq, at in page if expires(at, now, retention.keep_ns)]
        if gone:
            writer = writer_of(connection, retention.log, retention.nonces)
            writer.note(tenant, PROVENANCE_PRUNED, {"rule": retention.rule, "to": gone[-1]})
            save(connection, writer)
            forget(connection, chain, gone[-1])
    return len(gone) == PAGE


def forget(connection: SqlConnection, chain: int, to: int) -> None:
    """Drop what is kept of the rows of a chain up to a number."""
    connection.execute("DELETE FROM audit_provenance WHERE chain = ? AND seq <= ?", (chain, to))


def _kept(connection: SqlConnection, chain: int, before: int) -> Iterator[KeptProvenance]:
    cursor = connection.stream(_KEPT, (chain, before))
    while page := cursor.fetchmany(PAGE):
        yield from (KeptProvenance(*each) for each in page)
