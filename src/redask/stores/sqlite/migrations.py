"""The schema of the store, as a migrations: `upgrade(connection, …)` climbs what is missing.

`PRAGMA user_version` is the step a file stands on, `application_id` says that it is ours.

    file                        verdict
    of another program          refused
    of a newer redask           refused: we cannot know what we would break
    of an older redask          upgraded, all steps in one transaction
    as new as we are            nothing to do

A step that was released is never edited; a change is a new one at the end of the migrations.
`MIGRATIONS` is the store's; other files of ours bring their own and climb the same way.

What the tables promise:
- `tenants.seq` counts that tenant's changes and is its watermark; `vectors` counts its
  vectors, all of one `model` and of `dimensions` numbers each.
- `entities` is the change log as well: each entity stands in it once, at the sequence of
  its latest change; a deleted one stays as a tombstone (`payload` NULL) so that an index
  learns of it, and gets its key back when the same URN is written again. So the log is
  bounded by the number of URNs ever used, and a key never means two entities.
- `edges` holds the ends by key, to find what touches an entity; all else is in the payload.
- `holdings` and `columns` count live entities by label, so that catalogues depend on what is
  there for somebody to see, and never on what once was. `red_columns` is the column catalogue.
- `entities.label` is what the policies of its collection look at (`labels`), 0 where they look
  at nothing. `tenants.access` counts all that may change who sees what: policies, users, labels.
- `history` has the marks of a tenant's writes, `tenants.writes` counts them, `mark` is the last;
  `store.timeline` and `store.file` tell a copy (see `history`).
- `scram.secret` is what the salts of all names come from (see `access.credentials`).
- `embedding.seq` is how far a tenant's changes were embedded (see `unembedded`); `holder` does
  it, and writes another number into `until` with each sign of life.
- `ingest_origins` are files that were ingested, `ingest_items` what came from which, in its
  order (`place`; -1 for edges made of links), `ingest_links` what their links point at,
  `declared_keys` the keys of their tables (columns as JSON).
- `log_file` is the log that belongs to the store, `log_anchors` what the store remembers of its
  chains, `log_pruning` how far retention may have gone in them (see `rules.audit_chain`).
"""

import sqlite3

from redask.core.errors import StoreFailed

APPLICATION_ID = 0x72656461  # "reda"

_FIRST = (
    "CREATE TABLE store (identity TEXT NOT NULL)",
    "INSERT INTO store VALUES (lower(hex(randomblob(16))))",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE tenants (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        seq INTEGER NOT NULL DEFAULT 0,
        vectors INTEGER NOT NULL DEFAULT 0,
        model TEXT,
        dimensions INTEGER
    )""",
    """CREATE TABLE collections (
        id INTEGER PRIMARY KEY,
        tenant INTEGER NOT NULL REFERENCES tenants,
        name TEXT NOT NULL,
        language TEXT,
        UNIQUE (tenant, name)
    )""",
    """CREATE TABLE entities (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant INTEGER NOT NULL REFERENCES tenants,
        urn TEXT NOT NULL,
        collection INTEGER NOT NULL REFERENCES collections,
        payload TEXT,
        seq INTEGER NOT NULL
    )""",
    "CREATE UNIQUE INDEX entities_by_urn ON entities (tenant, urn)",
    "CREATE UNIQUE INDEX entities_by_seq ON entities (tenant, seq)",
    """CREATE TABLE edges (
        key INTEGER PRIMARY KEY REFERENCES entities,
        source INTEGER NOT NULL REFERENCES entities,
        target INTEGER NOT NULL REFERENCES entities
    )""",
    "CREATE INDEX edges_by_source ON edges (source)",
    "CREATE INDEX edges_by_target ON edges (target)",
    "CREATE TABLE vectors (key INTEGER PRIMARY KEY REFERENCES entities, vector BLOB NOT NULL)",
    """CREATE TABLE holdings (
        collection INTEGER NOT NULL REFERENCES collections,
        kind TEXT NOT NULL,
        entities INTEGER NOT NULL,
        PRIMARY KEY (collection, kind)
    ) WITHOUT ROWID""",
    """CREATE TABLE columns (
        collection INTEGER NOT NULL REFERENCES collections,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        entities INTEGER NOT NULL,
        PRIMARY KEY (collection, name, type)
    ) WITHOUT ROWID""",
    """CREATE VIEW red_columns (tenant, collection, "column", type) AS
        SELECT tenants.name, collections.name, columns.name,
            CASE
                WHEN count(*) FILTER (WHERE type <> 'null') = 1
                    THEN max(type) FILTER (WHERE type <> 'null')
                WHEN count(*) FILTER (WHERE type IN ('integer', 'real')) = 2
                    AND count(*) FILTER (WHERE type <> 'null') = 2 THEN 'real'
                ELSE 'text'
            END
        FROM columns
        JOIN collections ON collections.id = columns.collection
        JOIN tenants ON tenants.id = collections.tenant
        GROUP BY tenants.name, collections.name, columns.name""",
)

# Who may read what. Counters are kept for each label, because what nobody may see must not
# show in anybody's catalogue.
_ACCESS = (
    "ALTER TABLE tenants ADD COLUMN access INTEGER NOT NULL DEFAULT 0",
    """CREATE TABLE policies (
        tenant INTEGER NOT NULL REFERENCES tenants,
        collection TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (tenant, collection)
    ) WITHOUT ROWID""",
    """CREATE TABLE labels (
        id INTEGER PRIMARY KEY,
        collection INTEGER NOT NULL REFERENCES collections,
        value TEXT NOT NULL,
        UNIQUE (collection, value)
    )""",
    "ALTER TABLE entities ADD COLUMN label INTEGER NOT NULL DEFAULT 0",
    """CREATE TABLE users (
        tenant INTEGER NOT NULL REFERENCES tenants,
        name TEXT NOT NULL,
        role TEXT NOT NULL,
        attributes TEXT NOT NULL,
        PRIMARY KEY (tenant, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE tokens (
        id TEXT PRIMARY KEY,
        tenant INTEGER NOT NULL REFERENCES tenants,
        user TEXT NOT NULL,
        salt BLOB NOT NULL,
        digest BLOB NOT NULL,
        made INTEGER NOT NULL,
        expires INTEGER,
        revoked INTEGER
    ) WITHOUT ROWID""",
    "DROP VIEW red_columns",
    "ALTER TABLE holdings RENAME TO old_holdings",
    "ALTER TABLE columns RENAME TO old_columns",
    """CREATE TABLE holdings (
        collection INTEGER NOT NULL REFERENCES collections,
        label INTEGER NOT NULL,
        kind TEXT NOT NULL,
        entities INTEGER NOT NULL,
        PRIMARY KEY (collection, label, kind)
    ) WITHOUT ROWID""",
    """CREATE TABLE columns (
        collection INTEGER NOT NULL REFERENCES collections,
        label INTEGER NOT NULL,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        entities INTEGER NOT NULL,
        PRIMARY KEY (collection, label, name, type)
    ) WITHOUT ROWID""",
    "INSERT INTO holdings SELECT collection, 0, kind, entities FROM old_holdings",
    "INSERT INTO columns SELECT collection, 0, name, type, entities FROM old_columns",
    "DROP TABLE old_holdings",
    "DROP TABLE old_columns",
    """CREATE VIEW red_columns (tenant, collection, "column", type) AS
        SELECT tenants.name, collections.name, found.name,
            CASE
                WHEN count(*) FILTER (WHERE type <> 'null') = 1
                    THEN max(type) FILTER (WHERE type <> 'null')
                WHEN count(*) FILTER (WHERE type IN ('integer', 'real')) = 2
                    AND count(*) FILTER (WHERE type <> 'null') = 2 THEN 'real'
                ELSE 'text'
            END
        FROM (SELECT DISTINCT collection, name, type FROM columns) AS found
        JOIN collections ON collections.id = found.collection
        JOIN tenants ON tenants.id = collections.tenant
        GROUP BY tenants.name, collections.name, found.name""",
)

_EMBEDDING = (
    """CREATE TABLE embedding (
        tenant INTEGER PRIMARY KEY REFERENCES tenants,
        seq INTEGER NOT NULL DEFAULT 0,
        holder TEXT,
        until INTEGER NOT NULL DEFAULT 0
    )""",
)

_ORIGINS = (
    """CREATE TABLE ingest_origins (
        id INTEGER PRIMARY KEY,
        tenant INTEGER NOT NULL REFERENCES tenants,
        path TEXT NOT NULL,
        root TEXT NOT NULL,
        choice TEXT,
        stamp TEXT,
        unlinked INTEGER NOT NULL,
        UNIQUE (tenant, path)
    )""",
    "CREATE INDEX ingest_unlinked ON ingest_origins (tenant, path) WHERE unlinked",
    """CREATE TABLE ingest_items (
        key INTEGER PRIMARY KEY REFERENCES entities,
        origin INTEGER NOT NULL REFERENCES ingest_origins,
        place INTEGER NOT NULL
    )""",
    "CREATE INDEX ingest_items_by_origin ON ingest_items (origin, place)",
    """CREATE TABLE ingest_links (
        origin INTEGER NOT NULL REFERENCES ingest_origins,
        source TEXT NOT NULL,
        path TEXT NOT NULL,
        anchor TEXT NOT NULL,
        PRIMARY KEY (origin, source, path, anchor)
    ) WITHOUT ROWID""",
    "CREATE INDEX ingest_links_by_path ON ingest_links (path)",
)

# What lets a token be a password that never travels; a token made before has no keys.
_PROOFS = (
    "CREATE TABLE scram (secret BLOB NOT NULL)",
    "INSERT INTO scram VALUES (randomblob(32))",
    "ALTER TABLE tokens ADD COLUMN stored_key BLOB",
    "ALTER TABLE tokens ADD COLUMN server_key BLOB",
    "CREATE INDEX tokens_by_user ON tokens (tenant, user)",
)

# Types of columns that somebody fixed for SELECT.
_COLUMN_TYPES = (
    """CREATE TABLE column_types (
        tenant INTEGER NOT NULL REFERENCES tenants,
        collection TEXT NOT NULL,
        key TEXT NOT NULL,
        type TEXT NOT NULL,
        PRIMARY KEY (tenant, collection, key)
    ) WITHOUT ROWID""",
)

# Keys that files declare of their tables.
_DECLARED_KEYS = (
    """CREATE TABLE declared_keys (
        origin INTEGER NOT NULL REFERENCES ingest_origins,
        place INTEGER NOT NULL,
        collection TEXT NOT NULL,
        columns TEXT NOT NULL,
        target TEXT,
        target_columns TEXT NOT NULL,
        PRIMARY KEY (origin, place)
    ) WITHOUT ROWID""",
)

# When a file was read, in epoch nanoseconds.
_READ_AT = ("ALTER TABLE ingest_origins ADD COLUMN read_at INTEGER",)

# By which rules entities were classified; older ones are classified anew when it is opened. And
# what the ids of edges are made with: nothing if it is empty, not yet decided if it is NULL.
_CLASSES = (
    "ALTER TABLE store ADD COLUMN classes INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE store ADD COLUMN edge_key BLOB",
)

# What the store remembers of the logs beside it; see `auditing.anchors`.
_ANCHORS = (
    "CREATE TABLE log_file (identity TEXT NOT NULL, marker TEXT NOT NULL)",
    """CREATE TABLE log_anchors (
        log TEXT NOT NULL,
        tenant TEXT NOT NULL,
        seq INTEGER NOT NULL,
        first INTEGER NOT NULL,
        hash TEXT NOT NULL,
        marks TEXT NOT NULL,
        PRIMARY KEY (log, tenant, seq)
    ) WITHOUT ROWID""",
    """CREATE TABLE log_pruning (
        log TEXT NOT NULL,
        tenant TEXT NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (log, tenant)
    ) WITHOUT ROWID""",
)

# Which history it has: see `history`. What was written before has one mark for all.
_HISTORY = (
    "ALTER TABLE tenants ADD COLUMN writes INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE tenants ADD COLUMN mark TEXT NOT NULL DEFAULT ''",
    """CREATE TABLE history (
        tenant INTEGER NOT NULL REFERENCES tenants,
        number INTEGER NOT NULL,
        mark TEXT NOT NULL,
        PRIMARY KEY (tenant, number)
    ) WITHOUT ROWID""",
    "UPDATE tenants SET writes = 1, mark = lower(hex(randomblob(16))) WHERE seq > 0",
    "INSERT INTO history SELECT id, writes, mark FROM tenants WHERE seq > 0",
    "ALTER TABLE store ADD COLUMN timeline TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE store ADD COLUMN file TEXT NOT NULL DEFAULT ''",
)

# By which layout a class was told apart (0: that of no policy), and which collections are being
# classified anew: see `relabelling`.
_LAYOUTS = (
    """CREATE TABLE class_layouts (
        id INTEGER PRIMARY KEY,
        collection INTEGER NOT NULL REFERENCES collections,
        facts TEXT NOT NULL,
        UNIQUE (collection, facts)
    )""",
    "ALTER TABLE labels RENAME TO old_labels",
    """CREATE TABLE labels (
        id INTEGER PRIMARY KEY,
        collection INTEGER NOT NULL REFERENCES collections,
        value TEXT NOT NULL,
        layout INTEGER NOT NULL DEFAULT 0,
        UNIQUE (collection, layout, value)
    )""",
    "INSERT INTO labels SELECT id, collection, value, 0 FROM old_labels",
    "DROP TABLE old_labels",
    """CREATE TABLE relabelling (
        tenant INTEGER NOT NULL REFERENCES tenants,
        collection TEXT NOT NULL,
        earlier TEXT NOT NULL,
        joint INTEGER NOT NULL,
        after INTEGER NOT NULL,
        done INTEGER NOT NULL,
        total INTEGER NOT NULL,
        PRIMARY KEY (tenant, collection)
    ) WITHOUT ROWID""",
)

# Checksums of entities and vectors: see `stores.checksums`. Those of older rows are made when it is
# opened; `store.checksums` is 1 once all have theirs.
_CHECKSUMS = (
    "ALTER TABLE entities ADD COLUMN checksum INTEGER",
    "ALTER TABLE vectors ADD COLUMN checksum INTEGER",
    "ALTER TABLE store ADD COLUMN checksums INTEGER NOT NULL DEFAULT 0",
)

Migrations = tuple[tuple[str, ...], ...]  # steps of single statements

MIGRATIONS: Migrations = (
    *(_FIRST, _ACCESS, _EMBEDDING, _ORIGINS, _PROOFS, _COLUMN_TYPES),
    *(_DECLARED_KEYS, _READ_AT, _CLASSES, _ANCHORS, _HISTORY, _LAYOUTS, _CHECKSUMS),
)


def upgrade(connection: sqlite3.Connection, name: str, migrations: Migrations) -> None:
    """Bring the open database `name` to the top of its migrations, or say why not."""
    if _pragma(connection, "user_version") == len(migrations) and _is_ours(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _climb(connection, name, migrations)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_current(connection: sqlite3.Connection, name: str, migrations: Migrations) -> None:
    """Refuse a file that cannot be upgraded where it is, and is not at the top."""
    version = _pragma(connection, "user_version")
    if version != len(migrations):
        raise StoreFailed(
            f"{name} is read-only and was written by another redask: copy the directory to where "
            "it can be written, and open it there",
            detail=f"schema {version}, this redask has {len(migrations)}",
        )


def _climb(connection: sqlite3.Connection, name: str, migrations: Migrations) -> None:
    for step in migrations[known_version(connection, name, migrations) :]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(migrations)}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def known_version(connection: sqlite3.Connection, name: str, migrations: Migrations) -> int:
    """How many of its migrations a file has; an empty one has none."""
    version = _pragma(connection, "user_version")
    new = not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    if not new and not _is_ours(connection):
        raise StoreFailed(f"{name} is a SQLite database of another program")
    if not 0 <= version <= len(migrations):
        raise StoreFailed(
            f"{name} was written by a newer redask: upgrade redask to open it",
            detail=f"schema {version}, this redask knows up to {len(migrations)}",
        )
    return version


def _is_ours(connection: sqlite3.Connection) -> bool:
    return _pragma(connection, "application_id") == APPLICATION_ID


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value
