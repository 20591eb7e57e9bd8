"""Changes by triggers: each attached table notes the keys of its changed rows in a table of ours.

In the schema `redask_attach` of the source, made and removed by whom the URL signs in:

    notes_<name>        the transaction, the table and the key, as text; no other value
    note_<name>()       what the triggers call; it belongs to who attached, so that whoever writes
                        to a table needs no right to the notes
    redask_<name>       a trigger on each table for rows, and redask_<name>_all for TRUNCATE

The name is that of the attachment with its mark: others may attach the same tables.
A note counts once every transaction that is older than it has ended, so that none is passed over.
The attachment's role may read the notes and nothing else of it. Detaching drops all of this.
"""

import json

from redask.core.access.condition_sql import text_literal
from redask.stores.attached.attachment import AttachedTable, Attachment
from redask.stores.attached.changes import Changed
from redask.stores.attached.source_connection import AttachedDatabase, Connection
from redask.stores.attached.source_rows import SourceKey, batches, table_sql_name
from redask.stores.attached.source_types import quoted

SCHEMA = "redask_attach"
_FUNCTION = """CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $note$
DECLARE
    told jsonb;
    before jsonb;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO {notes} (relation, key) VALUES (TG_ARGV[0], NULL);
        RETURN NULL;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        SELECT jsonb_agg(to_jsonb(NEW) ->> TG_ARGV[n] ORDER BY n) INTO told
            FROM generate_series(1, TG_NARGS - 1) AS n;
        INSERT INTO {notes} (relation, key) VALUES (TG_ARGV[0], told);
    END IF;
    IF TG_OP <> 'INSERT' THEN
        SELECT jsonb_agg(to_jsonb(OLD) ->> TG_ARGV[n] ORDER BY n) INTO before
            FROM generate_series(1, TG_NARGS - 1) AS n;
        IF before IS DISTINCT FROM told THEN
            INSERT INTO {notes} (relation, key) VALUES (TG_ARGV[0], before);
        END IF;
    END IF;
    RETURN NULL;
END $note$"""
_NOTES = """CREATE TABLE IF NOT EXISTS {notes} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    writer xid8 NOT NULL DEFAULT pg_current_xact_id(),
    relation text NOT NULL, key jsonb)"""
_XMIN = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"


class TriggerNotes:
    """See the module."""

    def __init__(self, attachment: Attachment, source: AttachedDatabase) -> None:
        self._attachment = attachment
        self._source = source
        name = attachment.name_there
        self._notes = f"{SCHEMA}.{quoted(f'notes_{name}')}"
        self._function = f"{SCHEMA}.{quoted(f'note_{name}')}"
        self._trigger = f"redask_{name}"

    def install(self) -> None:
        """Make the table, the function and the triggers."""
        with self._source.administering() as connection:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(_NOTES.format(notes=self._notes))
            connection.execute(f"REVOKE ALL ON {self._notes} FROM PUBLIC")
            connection.execute(_FUNCTION.format(function=self._function, notes=self._notes))
            if self._attachment.role is not None:
                role = quoted(self._attachment.role)
                connection.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {role}")
                connection.execute(f"GRANT SELECT ON {self._notes} TO {role}")
            for table in self._attachment.tables:
                self._watch(connection, table)

    def position(self, reader: Connection) -> str:
        """The oldest transaction that still runs: what it and younger ones write comes later."""
        return str((reader.execute(_XMIN).fetchone() or ("0",))[0])

    def changed(self, reader: Connection, after: str) -> Changed:
        """The keys that were noted since, by table."""
        now = self.position(reader)
        keys: dict[str, dict[SourceKey, None]] = {}
        whole: set[str] = set()
        text = (
            f"SELECT relation, key::text FROM {self._notes}"
            " WHERE writer >= ($1::text)::xid8 ORDER BY id"
        )
        for rows in batches(reader, text, (after,)):
            for relation, key in rows:
                if key is None:
                    whole.add(relation)
                else:
                    keys.setdefault(relation, {})[tuple(json.loads(key))] = None
        return Changed(now, {name: list(found) for name, found in keys.items()}, frozenset(whole))

    def forget(self, position: str) -> None:
        """Notes of transactions that had ended by then."""
        with self._source.administering() as connection:
            connection.execute(
                f"DELETE FROM {self._notes} WHERE writer < ($1::text)::xid8", (position,)
            )

    def uninstall(self) -> None:
        """Drop the triggers, the function and the table; the schema, too, if it is empty."""
        with self._source.administering() as connection:
            for table in self._attachment.tables:
                if connection.execute(
                    "SELECT to_regclass($1)", (table_sql_name(table),)
                ).fetchone() != (None,):
                    for trigger in (self._trigger, f"{self._trigger}_all"):
                        connection.execute(
                            f"DROP TRIGGER IF EXISTS {quoted(trigger)} ON {table_sql_name(table)}"
                        )
            found = connection.execute("SELECT to_regnamespace($1)", (SCHEMA,)).fetchone()
            if found == (None,):
                return
            connection.execute(f"DROP FUNCTION IF EXISTS {self._function}()")
            connection.execute(f"DROP TABLE IF EXISTS {self._notes}")
            left = connection.execute(
                "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace($1)", (SCHEMA,)
            ).fetchone()
            if left == (0,):
                connection.execute(f"DROP SCHEMA {SCHEMA}")

    def _watch(self, connection: Connection, table: AttachedTable) -> None:
        where = table_sql_name(table)
        told = ", ".join(text_literal(each) for each in (table.full_name, *table.key))
        for trigger, event in (
            (self._trigger, "INSERT OR UPDATE OR DELETE ON {} FOR EACH ROW"),
            (f"{self._trigger}_all", "TRUNCATE ON {} FOR EACH STATEMENT"),
        ):
            connection.execute(f"DROP TRIGGER IF EXISTS {quoted(trigger)} ON {where}")
            connection.execute(
                f"CREATE TRIGGER {quoted(trigger)} AFTER {event.format(where)}"
                f" EXECUTE FUNCTION {self._function}({told})"
            )
