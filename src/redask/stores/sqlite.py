"""The truth in one directory: `SqliteStore(directory)`, the file `redask.sqlite` in it.

What `ports.Store` promises, and what the embedded product needs around it. Methods that
give content take the caller and show nothing of another tenant; each payload leaves through
`visibility.show`. Threads may share a store; processes open one each on the same directory.
What a write does in detail is told by `writing`, how files and connections behave by
`database`, which rows are good by `rows`.

Only classes of `redask.errors` are raised: `BadAsk` for what cannot be stored, `StoreFailed`
when the store cannot do its work; after either, nothing of the call was written.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from redask.errors import BadAsk
from redask.model import Caller, Kind, Source, Urn
from redask.ports import Change, Entity
from redask.rules import urn as urns
from redask.rules.text import name_fault
from redask.stores import embeddings, inspection, migrations
from redask.stores.addresses import canonical
from redask.stores.database import Database
from redask.stores.origins import SqliteManifest
from redask.stores.records import Collection, Column, Statistics
from redask.stores.visibility import show
from redask.stores.writing import StorePen

FILE = "redask.sqlite"
PATIENCE_SECONDS = 10.0
GIVEN = "given"  # the model of vectors that came with the data, not from an embedder

_EDGE = "urn:reddb:edge:"
_TENANT = "(SELECT id FROM tenants WHERE name = ?)"


class SqliteStore:
    """An open store; `close` it, or use it as a context manager."""

    identity: str

    def __init__(self, directory: Path, *, patience: float = PATIENCE_SECONDS) -> None:
        self._database = Database(directory / FILE, patience=patience, ladder=migrations.MIGRATIONS)
        with self._database.reading() as connection:
            (self.identity,) = connection.execute("SELECT identity FROM store").fetchone()
        self.manifest = SqliteManifest(self._database, GIVEN)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- content ---------------------------------------------------------------------------

    def put(self, entities: Sequence[Entity], caller: Caller, *, model: str = GIVEN) -> int:
        """Write all or nothing; upsert by URN; equal content changes nothing. → last sequence.

        `model` names what made the vectors of these entities.
        """
        fault = name_fault(model)
        if fault:
            raise BadAsk(f"the name of the vectors' model {fault}", detail="model")
        if not entities:
            return self.watermark(caller.tenant)
        with self._database.writing() as connection:
            pen = StorePen(connection, caller.tenant)
            pen.put(entities, model)
            return pen.finish()

    def delete(self, urns: Sequence[str], caller: Caller) -> int:
        """Remove entities, and the edges that touch them. → how many went, edges included."""
        wanted = [canonical(urn) for urn in urns]
        if not self.watermark(caller.tenant):
            return 0
        with self._database.writing() as connection:
            pen = StorePen(connection, caller.tenant)
            gone = pen.delete(wanted)
            pen.finish()
            return gone

    def read(self, urns: Sequence[str], caller: Caller) -> list[Source]:
        """What of these the caller may see, as the caller may see it, in the given order."""
        wanted = [canonical(urn) for urn in urns]
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT wanted.key, payload FROM json_each(?) AS wanted CROSS JOIN entities"
                f" ON tenant = {_TENANT} AND urn = wanted.value AND payload IS NOT NULL",
                (json.dumps(wanted), caller.tenant),
            ).fetchall()
        # Sorted here and not by SQL, which would copy every payload to do it.
        shown = (show(Source(wanted[place], payload), caller) for place, payload in sorted(rows))
        return [source for source in shown if source is not None]

    def get(self, urn: str, caller: Caller) -> Source | None:
        """One entity, or None when there is none that the caller may see."""
        return next(iter(self.read([urn], caller)), None)

    def page(
        self, collection: str, caller: Caller, *, after: str = "", limit: int = 100
    ) -> list[Source]:
        """The next entities of a collection in the order of their URNs, after a given one."""
        found: list[tuple[str, str]] = []
        limit = max(limit, 0)  # SQLite takes a negative limit for none
        with self._database.reading() as connection:
            for kind in sorted(Kind):
                prefix = urns.encode(Urn(kind, collection, "x")).removesuffix("/x")
                found += connection.execute(
                    f"SELECT urn, payload FROM entities WHERE tenant = {_TENANT}"
                    " AND urn > max(?, ?) AND urn < ? AND payload IS NOT NULL"
                    " ORDER BY urn LIMIT ?",
                    (caller.tenant, f"{prefix}/", after, f"{prefix}0", limit - len(found)),
                ).fetchall()
        shown = (show(Source(urn, payload), caller) for urn, payload in found)
        return [source for source in shown if source is not None]

    # --- the change log --------------------------------------------------------------------

    def watermark(self, tenant: str) -> int:
        """The sequence of the tenant's last change; 0 when there is none."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT seq FROM tenants WHERE name = ?", (tenant,)).fetchone()
        return row[0] if row else 0

    def changes(self, tenant: str, after: int, limit: int) -> list[Change]:
        """The next changes after a sequence, in order; only an entity's latest state counts."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT entities.seq, key, urn, collections.name, language, payload, vector"
                " FROM entities JOIN collections ON collections.id = collection"
                " LEFT JOIN vectors USING (key)"
                f" WHERE entities.tenant = {_TENANT} AND entities.seq > ?"
                " ORDER BY entities.seq LIMIT ?",
                (tenant, after, max(limit, 0)),
            ).fetchall()
        return [
            Change(seq, key, urn, collection, language, _entity(urn, payload, vector))
            for seq, key, urn, collection, language, payload, vector in rows
        ]

    # --- catalogues ------------------------------------------------------------------------

    def set_language(self, collection: str, language: str | None, caller: Caller) -> int:
        """Declare a collection's language (None: detect it). → last sequence."""
        fault = None if language is None else name_fault(language)
        if fault:
            raise BadAsk(f"the language of {collection!a} {fault}", detail="language")
        with self._database.writing() as connection:
            pen = StorePen(connection, caller.tenant)
            pen.set_language(collection, language)
            return pen.finish()

    def collections(self, caller: Caller) -> list[Collection]:
        """The collections that hold something or have a language, by name."""
        with self._database.reading() as connection:
            return inspection.collections(connection, caller.tenant)

    def columns(self, collection: str, caller: Caller) -> list[Column]:
        """The columns of a collection, by name."""
        with self._database.reading() as connection:
            rows = connection.execute(
                'SELECT "column", type FROM red_columns WHERE tenant = ? AND collection = ?'
                ' ORDER BY "column"',
                (caller.tenant, collection),
            ).fetchall()
        return [Column(name, type_name) for name, type_name in rows]

    def setting(self, name: str) -> str | None:
        """A setting kept with the data, or None."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT value FROM settings WHERE name = ?", (name,)
            ).fetchone()
        return row[0] if row else None

    def set_setting(self, name: str, value: str | None) -> None:
        """Keep a setting with the data; None forgets it."""
        with self._database.writing() as connection:
            if value is None:
                connection.execute("DELETE FROM settings WHERE name = ?", (name,))
            else:
                connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    # --- health ----------------------------------------------------------------------------

    def statistics(self, caller: Caller) -> Statistics:
        """What `doctor` tells about this store and the caller's tenant; quick at any size."""
        with self._database.reading() as connection:
            return inspection.statistics(
                connection, self._database.path, self.identity, caller.tenant
            )

    def check(self) -> list[str]:
        """Read everything and name what is wrong; slow. An empty list means all is well."""
        with self._database.reading() as connection:
            return inspection.check(connection)


def _entity(urn: str, payload: str | None, vector: bytes | None) -> Entity | None:
    if payload is None:
        return None
    floats = None if vector is None else embeddings.unpack(vector)
    if not urn.startswith(_EDGE):
        return Entity(urn, payload, vector=floats)
    edge = json.loads(payload)
    return Entity(urn, payload, source=edge["from"], target=edge["to"], vector=floats)
