"""The schema `redask` of a database: `upgrade(connection, place)` makes and climbs what is missing.

`redask.migrations` has a row for each step. Nodes that are opened at once wait for each other. A
step that was released is never edited. A newer schema than we know is refused. Before anything,
the role is looked at: row level security must hold for it.
"""

import secrets

from redask.core.errors import Misconfigured, StoreFailed
from redask.stores.postgres import node_schema
from redask.stores.postgres.pg_link import Link
from redask.stores.postgres.row_security import first_schema

_LOCK = 0x7265646173  # "redas"
_OLDEST = 140_000
MIGRATIONS = (first_schema(), node_schema.STATEMENTS)


def check_server(connection: Link, place: str) -> None:
    """Refuse a server, an encoding or a role that our promises do not hold with."""
    version = connection.info.server_version
    if version < _OLDEST:
        raise Misconfigured(f"{place} is PostgreSQL {version // 10_000}: redask needs 14 or newer")
    (encoding,) = connection.execute("SHOW server_encoding").fetchone() or ("",)
    if encoding != "UTF8":
        raise Misconfigured(f"{place} has the encoding {encoding}: redask needs UTF8")
    role = connection.execute(
        "SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if role is not None and role[1]:
        raise Misconfigured(
            f"row level security does not hold for the role {role[0]!a} at {place}, which is a "
            "superuser or has BYPASSRLS: make another, with CREATE ROLE redask LOGIN and GRANT "
            "CREATE ON DATABASE, see docs/postgresql.md",
            detail="role",
        )


def exists(connection: Link) -> bool:
    """Whether there is a schema of ours."""
    found = connection.execute("SELECT to_regclass('redask.migrations') IS NOT NULL").fetchone()
    return bool(found and found[0])


def upgrade(connection: Link, place: str) -> None:
    """Bring the schema to the newest step, or say why not."""
    if _version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        _climb(connection, place)
        connection.execute("COMMIT")
    except BaseException:
        if not connection.closed:
            connection.execute("ROLLBACK")
        raise


def check_current(connection: Link, place: str) -> None:
    """Refuse a standby whose schema is not ours: it cannot be upgraded there."""
    version = _version(connection)
    if version != len(MIGRATIONS):
        raise StoreFailed(
            f"{place} is a standby, and not of this redask's schema: open its primary first",
            detail=f"schema {version}, this redask has {len(MIGRATIONS)}",
        )


def _version(connection: Link) -> int:
    if not exists(connection):
        return 0
    found = connection.execute("SELECT max(version) FROM redask.migrations").fetchone()
    return int(found[0] or 0) if found else 0


def _climb(connection: Link, place: str) -> None:
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise StoreFailed(
            f"{place} was written by a newer redask: upgrade redask to open it",
            detail=f"schema {version}, this redask knows up to {len(MIGRATIONS)}",
        )
    if version == 0:
        connection.execute("CREATE SCHEMA IF NOT EXISTS redask")
        connection.execute("CREATE TABLE redask.migrations (version bigint PRIMARY KEY)")
    connection.execute("SET LOCAL search_path = redask, pg_catalog")
    connection.execute("SELECT set_config('redask.whose', 'every', true)")
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        for statement in step:
            connection.execute(statement)
        connection.execute("INSERT INTO migrations VALUES (%s)", (number,))
    if version == 0:
        identity, log = secrets.token_hex(16), secrets.token_hex(16)
        connection.execute("INSERT INTO store (identity) VALUES (%s)", (identity,))
        connection.execute("INSERT INTO scram VALUES (%s)", (secrets.token_bytes(32),))
        connection.execute("INSERT INTO audit_file VALUES (%s, '', '', '')", (log,))
