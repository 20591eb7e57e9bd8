"""A real `redask serve` with 1,024 descriptors, two tenants and some real data: `SiegeServer`.

`fill(directory, small)` makes the database. Both tenants have the documentation of HTTPX and the
tables of a cinema (`../shared/data`), or, small, a few rows. The honest client is ada of `north`;
eve reads and mallory owns in `south`.
"""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from served import START, Served, pipe
from stage import ROWS

import redask
from redask.core.settings import load

DATA = Path(os.environ.get("REDASK_DATA") or Path(__file__).parents[4] / "shared" / "data")
DOCUMENTS = DATA / "newcomer" / "httpx"
TABLES = DATA / "compute" / "cinema" / "database.sqlite"
HONEST, HOSTILE = "north", "south"
LIMIT = (1024, 1024)  # descriptors
QUESTIONS = (
    "What is the default timeout in httpx?",
    "How many films are there?",
    "Which exception is raised when a connect timeout happens?",
    "How do I send a file with a request?",
    "What is the average capacity of a cinema?",
    "Does httpx follow redirects by default?",
)
SMALL_QUESTIONS = ("When does the ferry leave?", "How many notes are there?")


@dataclass(frozen=True, slots=True)
class SiegeTokens:
    """The tokens of the honest client, and of those who attack."""

    honest: str
    reader: str
    owner: str


def fill(directory: Path, *, small: bool) -> SiegeTokens:
    """The database, with its tenants."""
    settings = load('[embedder]\nname = "none"', {}) if small else load("", {})
    tokens: dict[str, str] = {}
    for tenant, users in (
        (HONEST, {"ada": "reader"}),
        (HOSTILE, {"eve": "reader", "mallory": "owner"}),
    ):
        with redask.open(directory, tenant=tenant, settings=settings) as db:
            if small:
                db.put("notes", ROWS)
            else:
                found = db.ingest(str(DOCUMENTS), str(TABLES))
                assert found.ok, found
            for user, role in users.items():
                db.add_user(user, role=role)
                tokens[user] = db.make_token(user)
    return SiegeTokens(tokens["ada"], tokens["eve"], tokens["mallory"])


class SiegeServer(Served):
    """HTTP, gRPC and the Postgres wire."""

    words = ("serve", "--port", "0", "--grpc-port", "0", "--pg-port", "0")
    start = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, {LIMIT}); {START}"

    def __init__(self, directory: Path, *, small: bool) -> None:
        super().__init__(directory)
        if not small:
            del self.env["REDASK_EMBEDDER_NAME"]

    @property
    def pg_port(self) -> int:
        return int(self.addresses[2].rpartition(":")[2])

    def end(self, seconds: float) -> int:
        """SIGTERM. → the exit code; kills it after so many seconds, and raises"""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            pipe(self.process.stdin).close()
            pipe(self.process.stdout).close()
            self.said = self.stderr()
            self._errors.close()
