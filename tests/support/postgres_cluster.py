"""A primary and streaming standbys on loopback, and what can happen to them: `Cluster`.

    with cluster(standbys=2) as servers:
        servers.primary.url("answers")        for redask; servers.standbys[0] likewise
        server.stop() · start() · pause() · resume() · promote()

`Cut` is a proxy between a node and a server, which can stop carrying without closing anything.
"""

import os
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from postgres_databases import RENEW, ROLE
from real_postgres import find_programs, free_port, initialise, temporary_room, wait_until_ready
from waiting import until

from redask.stores.postgres.postgres_backend import PostgresBackend

_SETTINGS = ("wal_level=replica", "max_wal_senders=10", "hot_standby=on", "wal_keep_size=64MB")


@dataclass
class Server:
    """One server of a cluster, on 127.0.0.1."""

    programs: Path
    directory: Path
    port: int
    as_user: dict[str, Any]
    process: "subprocess.Popen[bytes] | None" = None
    options: list[str] = field(default_factory=list)

    @property
    def where(self) -> dict[str, Any]:
        """Keyword arguments for psycopg, as the superuser."""
        return {"host": "127.0.0.1", "port": self.port, "user": "postgres", "dbname": "postgres"}

    def url(self, name: str, *, port: int | None = None) -> str:
        """The URL of a database, for the service."""
        return f"postgresql://{ROLE}@127.0.0.1:{port or self.port}/{name}"

    def start(self) -> None:
        command = [str(self.programs / "postgres"), "-D", str(self.directory / "data")]
        command += ["-p", str(self.port), "-k", str(self.directory)]
        command += ["-c", "listen_addresses=127.0.0.1"]
        for each in (*_SETTINGS, *self.options):
            command += ["-c", each]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.directory, **self.as_user
            )
        wait_until_ready(self.process, self.where, self.directory / "log")

    def stop(self) -> None:
        """As if its machine had lost its power."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                self._signal_all(signal.SIGCONT)
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """It says nothing more, and closes nothing."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_all(signal.SIGCONT)

    def promote(self) -> None:
        with psycopg.connect(**self.where, autocommit=True) as connection:
            connection.execute("SELECT pg_promote(true, 60)")

    def execute(self, *statements: str, dbname: str = "postgres") -> list[Any]:
        """As the superuser. → the rows of the last"""
        found: list[Any] = []
        with psycopg.connect(**{**self.where, "dbname": dbname}, autocommit=True) as connection:
            for each in statements:
                cursor = connection.execute(each)
                found = cursor.fetchall() if cursor.description else []
        return found

    def _signal_all(self, number: int) -> None:
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        for pid in (self.process.pid, *map(int, children.split())):
            with suppress(ProcessLookupError):
                os.kill(pid, number)


@dataclass
class Cluster:
    """A primary, and standbys that follow it."""

    primary: Server
    standbys: list[Server]
    _template: str = ""

    def make(self, name: str) -> str:
        """A new database of the service, with its schema. → its URL at the primary"""
        if not self._template:
            self._template = "template_redask"
            self.primary.execute(f"CREATE DATABASE {self._template} OWNER {ROLE}")
            PostgresBackend(self.primary.url(self._template)).close()
        self.primary.execute(f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE {self._template}")
        self.primary.execute(*RENEW, dbname=name)
        return self.primary.url(name)

    def replayed(self, standby: Server) -> bool:
        """Whether a standby has all that the primary has now."""
        [(written,)] = self.primary.execute("SELECT pg_current_wal_flush_lsn()::text")

        def is_there() -> bool:
            [(found,)] = standby.execute(f"SELECT pg_last_wal_replay_lsn() >= '{written}'::pg_lsn")
            return bool(found)

        return until(is_there)


@contextmanager
def cluster(standbys: int = 1) -> Iterator[Cluster]:
    """A cluster that is gone afterwards."""
    programs = find_programs()
    with tempfile.TemporaryDirectory(prefix="pg", dir=temporary_room()) as place:
        root, as_user = Path(place), {}
        if os.getuid() == 0:
            shutil.chown(root, "postgres", "postgres")
            as_user = {"user": "postgres", "group": "postgres", "extra_groups": []}

        def server(name: str) -> Server:
            directory = root / name
            directory.mkdir(mode=0o700)
            if as_user:
                shutil.chown(directory, "postgres", "postgres")
            return Server(programs, directory, free_port(), as_user)

        made = Cluster(server("primary"), [server(f"standby{at}") for at in range(standbys)])
        try:
            initialise(programs, made.primary.directory, as_user)
            for each in made.standbys:
                _follow(made.primary, each)
            for each in (made.primary, *made.standbys):
                each.start()
            made.primary.execute(f"CREATE ROLE {ROLE} LOGIN")
            yield made
        finally:
            for each in (made.primary, *made.standbys):
                each.stop()


def _follow(primary: Server, standby: Server) -> None:
    """Make a standby of a copy of the primary, which must not run: no package lacks cp."""
    data = standby.directory / "data"
    subprocess.run(["cp", "-a", str(primary.directory / "data"), str(data)], check=True)
    (data / "standby.signal").touch()
    with (data / "postgresql.auto.conf").open("a") as settings:
        settings.write(f"primary_conninfo = 'host=127.0.0.1 port={primary.port} user=postgres'\n")


class Cut:
    """A proxy on loopback to a port; while it is `cut`, nothing passes and nothing is closed."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self.is_cut = False
        self._closed = False
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def __enter__(self) -> "Cut":
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._thread.join()
        for each in (self._listening, *self._pairs):
            each.close()

    def _carry(self) -> None:
        while not self._closed:
            if self.is_cut:
                threading.Event().wait(0.01)
                continue
            for key, _ in self._selector.select(0.02):
                if not self.is_cut:
                    self._ready(key.fileobj)

    def _ready(self, one: Any) -> None:
        if one is self._listening:
            client, _ = self._listening.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                return
            self._pairs |= {client: server, server: client}
            self._selector.register(client, selectors.EVENT_READ)
            self._selector.register(server, selectors.EVENT_READ)
            return
        if one not in self._pairs:
            return
        data = b""
        with suppress(OSError):
            data = one.recv(65536)
        try:
            assert data
            self._pairs[one].sendall(data)
        except (OSError, AssertionError):
            for each in (one, self._pairs[one]):
                self._pairs.pop(each, None)
                self._selector.unregister(each)
                each.close()
