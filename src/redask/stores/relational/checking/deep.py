"""Every entity and vector of a store, read and compared with its checksum: `examine`.

It reads beside everybody else, a page of rows at a time, in the state that each page finds; nobody
waits for it, and it can be ended between two pages. `complete_checksums` gives rows of an older
database theirs when it is opened, step by step; interrupted, it goes on the next time.
"""

from collections.abc import Sequence

from redask.stores import checksums
from redask.stores.backend import CheckProgress, Damage
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase, rows_of
from redask.stores.relational.writer import EntityWriter
from redask.stores.write_rules import GIVEN

_PAGE = 2_000
_ROWS = """
    SELECT entities.key, tenants.id, collection, label, urn, payload, entities.checksum,
        vector, vectors.checksum, tenants.name, tenants.model
    FROM entities JOIN tenants ON tenants.id = tenant LEFT JOIN vectors USING (key)
    WHERE entities.key > ? AND payload IS NOT NULL ORDER BY entities.key LIMIT ?"""


def examine(
    database: SqlDatabase, tenant: str | None, progress: CheckProgress | None = None
) -> list[Damage]:
    """What is not as it was written, of one tenant or (None) of all."""
    found: list[Damage] = []
    with database.examining(rows_of(tenant)) as connection:
        (total,) = connection.execute("SELECT coalesce(max(key), 0) FROM entities").fetchone()
        after = 0
        while rows := connection.execute(_ROWS, (after, _PAGE)).fetchall():
            for key, number, collection, policy_class, urn, payload, own, *rest in rows:
                vector, of_vector, name, model = rest
                whose, place = _shown(name), (key, number, collection, policy_class)
                if tenant not in (None, whose):
                    continue
                if (
                    own is not None
                    and checksums.of_entity(place, _bytes(urn), _bytes(payload)) != own
                ):
                    found.append(Damage(whose, _shown(urn)))
                if vector is None or of_vector is None:
                    continue
                if checksums.of_vector(key, _bytes(vector)) != of_vector:
                    made = _shown(model or b"") != GIVEN
                    found.append(Damage(whose, _shown(urn), is_vector=True, is_derived=made))
            after = rows[-1][0]
            if progress is not None:
                progress(min(after, total), total)
    return found


def drop_vectors(connection: SqlConnection, tenant: str, urns: Sequence[str]) -> None:
    """Forget vectors that an embedder can make again; their entities wait for others."""
    writer = EntityWriter(connection, tenant)
    writer.forget_vectors_of(urns)
    writer.finish()


def complete_checksums(database: SqlDatabase) -> None:
    """Give every entity and vector that has none its checksum."""
    with database.reading(EVERY_TENANT) as connection:
        (complete,) = connection.execute("SELECT checksums FROM store").fetchone()
    while not complete:
        with database.writing(EVERY_TENANT) as connection:
            complete = not (_complete_entities(connection) or _complete_vectors(connection))
            if complete:
                connection.execute("UPDATE store SET checksums = 1")


def _complete_entities(connection: SqlConnection) -> bool:
    rows = connection.execute(
        "SELECT key, tenant, collection, label, urn, payload FROM entities"
        " WHERE payload IS NOT NULL AND checksum IS NULL LIMIT ?",
        (_PAGE,),
    ).fetchall()
    connection.executemany(
        "UPDATE entities SET checksum = ? WHERE key = ?",
        [
            (checksums.of_entity(place, urn.encode(), payload.encode()), place[0])
            for *numbers, urn, payload in rows
            for place in (_place(*numbers),)
        ],
    )
    return bool(rows)


def _complete_vectors(connection: SqlConnection) -> bool:
    rows = connection.execute(
        "SELECT key, vector FROM vectors WHERE checksum IS NULL LIMIT ?", (_PAGE,)
    ).fetchall()
    connection.executemany(
        "UPDATE vectors SET checksum = ? WHERE key = ?",
        [(checksums.of_vector(key, vector), key) for key, vector in rows],
    )
    return bool(rows)


def _place(key: int, tenant: int, collection: int, policy_class: int) -> checksums.EntityNumbers:
    return key, tenant, collection, policy_class


def _shown(name: object) -> str:
    return _bytes(name).decode(errors="backslashreplace")


def _bytes(value: object) -> bytes:
    """A value that was text or bytes when it was written."""
    return value if isinstance(value, bytes) else str(value).encode()
