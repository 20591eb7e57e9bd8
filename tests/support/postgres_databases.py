"""Databases on a real PostgreSQL (`real_postgres`), for tests of the backend on it.

    location(directory)    the URL of a database that belongs to a directory, new the first time; a
                           copy of one that redask made, for making its schema takes a while
    drop(directory)        it is not needed any more
    row()                  a row for `BACKENDS`: directories are databases on PostgreSQL
    empty(name)            that of a database that redask has never seen
    superuser(location)    keyword arguments for psycopg, as the superuser of the same database

One server for each process that asks for one, started by the first and gone at its end. The
service is the role `redask`, to whom the databases belong; what is derived of them is in the
server's directory.
"""

import atexit
import os
from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from real_postgres import private_postgres

from redask.stores.backend import Backend
from redask.stores.backends import BackendRow
from redask.stores.postgres.pg_location import DIRECTORY
from redask.stores.postgres.postgres_backend import PostgresBackend

ROLE = "redask"
_TEMPLATE = "template_redask"
RENEW = (  # what makes a copy of an empty database one that was made anew
    "UPDATE redask.store SET identity = md5(random()::text), classes = 0, edge_key = NULL,"
    " timeline = '', file = ''",
    "DELETE FROM redask.log_file",
    "UPDATE redask.audit_file SET identity = md5(random()::text), store = '', marker = '',"
    " before = ''",
)
_made: set[str] = set()


@cache
def _server(process: int) -> dict[str, Any]:
    """The server of this process."""
    opened = ExitStack()
    where = opened.enter_context(private_postgres())
    atexit.register(lambda: opened.close() if os.getpid() == process else None)
    os.environ[DIRECTORY] = str(Path(where["host"]) / "local")
    with psycopg.connect(**where, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN")
        connection.execute(f"CREATE DATABASE {_TEMPLATE} OWNER {ROLE}")
    PostgresBackend(_url(where, _TEMPLATE)).close()
    return where


def location(directory: Path) -> str:
    where = _server(os.getpid())
    name = _name(directory)
    if name not in _made:
        with psycopg.connect(**where, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE {_TEMPLATE}")
        with psycopg.connect(**{**where, "dbname": name}, autocommit=True) as connection:
            for statement in RENEW:
                connection.execute(statement)
        _made.add(name)
    return _url(where, name)


def drop(directory: Path) -> None:
    """Drop the database that belongs to a directory, if there is one."""
    name = _name(directory)
    if name in _made:
        with psycopg.connect(**_server(os.getpid()), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        _made.discard(name)


def _name(directory: Path) -> str:
    return f"t{sha256(str(directory).encode()).hexdigest()[:20]}"


def empty(name: str) -> str:
    """The URL of a database without a schema of ours."""
    where = _server(os.getpid())
    with psycopg.connect(**where, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
    return _url(where, name)


def _url(where: dict[str, Any], name: str) -> str:
    return f"postgresql://{ROLE}@/{name}?host={quote(where['host'], safe='')}&port={where['port']}"


def row() -> BackendRow:
    """A backend that keeps what belongs to a directory on PostgreSQL, and the index there."""

    def opened(location: str, *, closed: bool = False, keyed: bool = True) -> Backend:
        Path(location).mkdir(parents=True, exist_ok=True)
        made: Backend = PostgresBackend(
            globals()["location"](Path(location)), closed=closed, keyed=keyed
        )
        return made

    return BackendRow("postgresql", "", Path, lambda location: Path(location).is_dir(), opened)


def superuser(place: str) -> dict[str, Any]:
    """As the superuser: for tests that look, or break something."""
    name = place.partition("@/")[2]
    return {**_server(os.getpid()), "dbname": name.partition("?")[0]}
