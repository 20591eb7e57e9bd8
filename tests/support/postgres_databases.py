"""Databases on a real PostgreSQL (`real_postgres`), for tests of the backend on it.

    location(directory)    the URL of a database that belongs to a directory, empty the first time
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

from redask.stores.postgres.pg_location import DIRECTORY

ROLE = "redask"
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
    return where


def location(directory: Path) -> str:
    where = _server(os.getpid())
    name = f"t{sha256(str(directory).encode()).hexdigest()[:20]}"
    if name not in _made:
        with psycopg.connect(**where, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
        _made.add(name)
    host = quote(where["host"], safe="")
    return f"postgresql://{ROLE}@/{name}?host={host}&port={where['port']}"


def superuser(place: str) -> dict[str, Any]:
    """As the superuser: for tests that look, or break something."""
    name = place.partition("@/")[2]
    return {**_server(os.getpid()), "dbname": name.partition("?")[0]}
