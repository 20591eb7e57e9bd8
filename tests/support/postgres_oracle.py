"""A throw-away PostgreSQL 15 that tests ask what a function gives: locale C, UTF-8, UTC.

with running() as ask:
    ask.values("lower(c0)", ("text",), [("A",), ("b",)])    -> [("value", "a"), …]
    an error's answer is ("error", sqlstate)
"""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

BINARIES = Path("/usr/lib/postgresql/15/bin")
Answer = tuple[str, Any]


def is_installed() -> bool:
    return (BINARIES / "initdb").exists()


class Oracle:
    """Answers of one connection."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self.connection = connection

    def values(
        self, expression: str, types: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> list[Answer]:
        """What `expression` over the columns c0, c1, … gives for each row.

        Columns whose values are lists are sent as their text form.
        """
        names = ", ".join(f"c{index}" for index in range(len(types)))
        sent = ", ".join("%s::text[]" for _ in types)
        casts = ", ".join(f"c{index}::{name} AS c{index}" for index, name in enumerate(types))
        statement = (
            f"SELECT {expression} FROM (SELECT {casts}, place FROM "
            f"unnest({sent}, %s::int[]) AS sent({names}, place)) AS typed ORDER BY place"
        )
        columns = [[_sent(row[index]) for row in rows] for index in range(len(types))]
        try:
            found = self.connection.execute(statement, [*columns, list(range(len(rows)))])
            return [("value", row[0]) for row in found.fetchall()]
        except psycopg.Error as error:
            if len(rows) <= 1:
                return [("error", error.sqlstate)]
        half = len(rows) // 2
        return self.values(expression, types, rows[:half]) + self.values(
            expression, types, rows[half:]
        )


def _sent(value: Any) -> str | None:
    if isinstance(value, list):
        return "{" + ",".join(_element(each) for each in value) + "}"
    return None if value is None else str(value)


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@contextmanager
def running() -> Iterator[Oracle]:
    """A server of its own, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="pg-oracle-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    drop: dict[str, Any] = {}
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
        drop = {"user": "postgres", "group": "postgres", "extra_groups": []}
    environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", "")}
    options = f"-p {port} -k {folder} -c fsync=off -c timezone=UTC -c listen_addresses="

    def run(*command: str) -> None:
        subprocess.run(
            command, check=True, env=environment, cwd=folder, stdout=subprocess.DEVNULL, **drop
        )

    data = str(folder / "data")
    initdb, control = str(BINARIES / "initdb"), str(BINARIES / "pg_ctl")
    try:
        run(initdb, "-D", data, "-E", "UTF8", "--locale=C", "-A", "trust", "-U", "postgres", "-N")
        run(control, "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start")
        try:
            with psycopg.connect(
                host=str(folder), port=port, user="postgres", dbname="postgres", autocommit=True
            ) as connection:
                yield Oracle(connection)
        finally:
            run(control, "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
