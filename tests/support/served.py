"""A real `redask serve`, `rpc` or `mcp` in a process of its own, over a tiny database.

    with Served(directory, token) as server:          server.addresses, server.port, server.rss()
    with Piped(directory, token, "rpc") as pipe:      pipe.send(b"…\\n"), pipe.heard()

`fill(directory)` makes the database and its tokens. `audited(directory)` counts the rows of the
audit log by question, and says whether the log is whole.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from stage import ROWS
from waiting import SECONDS, until

import redask
from redask.core.rules.audit_chain import Intact
from redask.core.settings import load

START = "from redask.cli import main; main()"
SOURCE = Path(redask.__file__).parent.parent


class Silence(Exception):
    """Nothing came for SECONDS."""


def fill(directory: Path, settings: str = "") -> dict[str, str]:
    """The database, and the tokens of its users: mia reads, olga owns."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "redask.toml").write_text(f'[embedder]\nname = "none"\n{settings}')
    with redask.open(directory, settings=load('[embedder]\nname = "none"', {})) as db:
        db.put("notes", ROWS)
        db.put("secrets", [{"id": 1, "text": "The ferry is late."}])
        db.set_policy("secrets", {"read": [{"roles": ["spy"]}]})
        for user, role in (("mia", "reader"), ("olga", "owner")):
            db.add_user(user, role=role)
        return {user: db.make_token(user) for user in ("mia", "olga")}


def audited(directory: Path) -> tuple[Counter[str], bool]:
    """How many audit rows each question has, and whether the log is what was written."""
    rows: Counter[str] = Counter()
    with redask.open(directory, settings=load('[embedder]\nname = "none"', {})) as db:
        before = None
        while page := db.audit(1000, before=before):
            rows.update(str(each.row["question"]) for each in page)
            before = page[-1].seq
        return rows, isinstance(db.verify_audit(), Intact)


class Process:
    """One of our commands, running."""

    words: tuple[str, ...] = ()
    start = START
    said = b""

    def __init__(self, directory: Path, token: str | None = None, **env: str) -> None:
        self.directory = directory
        self.token = token
        self.env = {"PYTHONPATH": str(SOURCE), "REDASK_EMBEDDER_NAME": "none"}
        self.env |= {"REDASK_ASK_PROVIDERS_TESTING": "true", **env}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is stopped

    def __enter__(self) -> Self:
        given = ["--token", self.token] if self.token else []
        command = [sys.executable, "-c", self.start, "--db", str(self.directory), *given]
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [*command, *self.words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **self.env},
            bufsize=0,
        )
        self.opened()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def opened(self) -> None:
        """Wait until it is ready."""

    def stop(self, seconds: float = SECONDS) -> int:
        """Ask it to end, and see that it does. → its exit code"""
        with suppress(OSError):
            pipe(self.process.stdin).close()
        if self.process.poll() is None:
            self.ask_to_end()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            pipe(self.process.stdout).close()
            self.said = self.stderr()
            self._errors.close()

    def ask_to_end(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def alive(self) -> bool:
        return self.process.poll() is None

    def stderr(self) -> bytes:
        """What it said beside its answers."""
        if self._errors.closed:
            return self.said
        return os.pread(self._errors.fileno(), 1 << 20, 0)

    def rss(self) -> int:
        """Resident memory in bytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Served(Process):
    """`redask serve` at any ports: HTTP and gRPC, or what `words` say."""

    words: tuple[str, ...] = ("serve", "--port", "0", "--grpc-port", "0", "--no-pg")
    addresses: list[str]
    start_seconds = SECONDS

    def opened(self) -> None:
        transports = 3 - sum(f"--no-{name}" in self.words for name in ("grpc", "pg"))
        started = until(
            lambda: self.stderr().count(b"\n") >= transports or not self.alive(), self.start_seconds
        )
        if not started:
            raise Silence("the server does not start")
        if not self.alive():
            raise RuntimeError(self.stderr().decode())
        lines = self.stderr().decode().splitlines()[:transports]
        self.addresses = [line.removeprefix("redask: serving ") for line in lines]

    @property
    def port(self) -> int:
        return int(self.addresses[0].rpartition(":")[2])

    @property
    def grpc_port(self) -> int:
        return int(self.addresses[1].rpartition(":")[2])


class Piped(Process):
    """A command that talks in lines, on standard input and output."""

    def __init__(self, directory: Path, token: str | None, command: str) -> None:
        super().__init__(directory, token)
        self.words = (command,)
        self._held = b""

    def opened(self) -> None:
        self.into = pipe(self.process.stdin).fileno()
        self.out = pipe(self.process.stdout).fileno()
        os.set_blocking(self.into, False)
        os.set_blocking(self.out, False)

    def ask_to_end(self) -> None:
        """It ends with its input, which is closed."""

    def exchange(self, sent: bytes, seconds: float = SECONDS) -> list[bytes]:
        """Write all of it, reading meanwhile. → the lines that came"""
        lines: list[bytes] = []
        view = memoryview(sent)
        while view:
            readable, writable, _ = select.select([self.out], [self.into], [], seconds)
            if readable:
                lines += self._read()
            if writable:
                view = view[os.write(self.into, view[:65536]) :]
            if not readable and not writable:
                raise Silence(f"the process took nothing for {seconds} s")
        return lines

    def talk_blindly(self, sent: bytes) -> None:
        """Write what nobody will read the answer to."""
        with suppress(OSError):
            os.write(self.into, sent)

    def received(self, seconds: float = SECONDS) -> list[bytes]:
        """The lines that came, at least one piece; none at the end."""
        if not select.select([self.out], [], [], seconds)[0]:
            raise Silence(f"the process said nothing for {seconds} s")
        return self._read()

    def _read(self) -> list[bytes]:
        try:
            piece = os.read(self.out, 1 << 20)
        except BlockingIOError:
            return []
        if not piece:
            raise EOFError("the process closed its output")
        *lines, self._held = (self._held + piece).split(b"\n")
        return lines


def cpu_ms(pid: int) -> float:
    """The time that the threads of a process have run so far, in milliseconds."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has ended
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e6


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """A stream that was asked for, so that it is there."""
    assert stream is not None
    return stream


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
