"""`make fuzz-pgwire`: a million mutated messages at the Postgres wire transport, also inside TLS.

    python tests/fuzz/fuzz_pgwire.py --messages 1000000 --seed 7 --jobs 2

Each process has a real database with a scripted provider, served by the real server twice: in the
clear and with TLS. Connections come a few at a time, cut their bytes anywhere, and are
unauthenticated clients without a token or signed in. Promises, each of which ends the run when it
breaks:

    an unauthenticated client receives only authentication requests and errors
    every reply is a message of the protocol
    nothing is internal: no XX000, nothing in the log, no task that failed
    a client with valid frames is answered to the end, in time
    after every round a well-behaved client gets the same bytes as at the start
    when all clients have disconnected, no connection and no running statement is left
    memory does not grow
"""

import argparse
import asyncio
import logging
import multiprocessing
import os
import random
import resource
import shutil
import socket
import ssl
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
os.environ.setdefault("REDASK_EMBEDDER_NAME", "none")

import fake_pgwire as wire
import pgwire_mutations
from certificates import pair
from server_thread import SETTINGS, fill

from redask.api.sync import open_async
from redask.core.settings import load
from redask.providers.scripted import Scripted
from redask.server.admission import Admission
from redask.server.pgwire.listener import PostgresListener
from redask.server.pgwire.session.statement_planner import StatementPlanner
from redask.server.sessions import Authenticator

CHUNK = 10_000  # messages between two reports of a process
AT_ONCE = 8
A_ROUND = 100  # connections between two honest ones
A_VOLLEY = 120
SECONDS = 60.0  # in which everything must have been answered
SILENCE = 0.03  # how long to wait for replies to an unframed volley
WARM, GROWTH_MB = 0.2, 32  # what a warm process may still take, as caches fill
KINDS = frozenset("RSKZTDCEN123nItsvHdc")
BEFORE_SIGN_IN = frozenset("REv")
FEW = SETTINGS + "\n[select]\ntimeout_ms = 300\nmax_rows = 200\n"
HONEST = "ASK 'When does the ferry leave?' USING scripted NOCACHE"


class Violation(Exception):
    """A promise that does not hold."""


@dataclass(slots=True)
class PgReport:
    """The result of one chunk."""

    messages: int = 0
    received: Counter[str] = field(default_factory=Counter)
    violation: str = ""
    megabytes: float = 0.0


class Noted(logging.Handler):
    """Whatever is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


class Fuzzed:
    """Both servers over one database, and clients of every kind."""

    def __init__(self, place: Path, noted: list[str]) -> None:
        self.place = place
        self.noted = noted
        self.admission = Admission()
        self.servers: list[PostgresListener] = []
        self.ports: list[int] = []
        self.expected: list[wire.BackendMessage] = []

    async def open(self) -> None:
        self.token = fill(self.place / "db")["mia"]
        certificate, key = pair(self.place)
        self.db = await open_async(
            self.place / "db", settings=load(FEW, {}), providers={"scripted": Scripted()}
        )
        authenticator = Authenticator(self.db, anonymous=False)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.trust = ssl.create_default_context(cafile=certificate)
        for given in (None, context):
            server = PostgresListener(authenticator, self.admission, _make_planner, given)
            listening = socket.create_server(("127.0.0.1", 0), backlog=512)
            self.ports.append(listening.getsockname()[1])
            await server.listen(listening)
            self.servers.append(server)
        self.expected = await self.honest()
        if not any(each.kind == "D" for each in self.expected):
            raise Violation(f"the honest client gets no answer: {self.expected}")

    async def close(self) -> None:
        for server in self.servers:
            await server.close(1)
        await self.admission.close(1)
        await self.db.close()

    async def connect(self, *, tls: bool) -> wire.RawClient:
        client = wire.RawClient(*await asyncio.open_connection("127.0.0.1", self.ports[tls]))
        if tls:
            await client.send(wire.SSL_REQUEST)
            await client.reader.readexactly(1)
            await client.writer.start_tls(self.trust, server_hostname="127.0.0.1")
        return client

    async def honest(self) -> list[wire.BackendMessage]:
        """What a well-behaved client receives."""
        client = await self.connect(tls=False)
        await client.sign_in(token=self.token)
        found = await client.ask(wire.query(HONEST))
        await client.send(wire.TERMINATE)
        await client.close()
        return found

    async def round(self, rng: random.Random, report: PgReport, most: int) -> None:
        """Connections, a few at a time, then an honest one."""
        seeds = [rng.getrandbits(64) for _ in range(A_ROUND)]

        async def turns() -> None:
            while seeds and report.messages < most:
                await self.one(random.Random(seeds.pop()), report)

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(turns())
        async with asyncio.timeout(SECONDS):
            if await self.honest() != self.expected:
                raise Violation("an honest client is answered in another way than before")
            while any(server._connections for server in self.servers) or self.admission._tasks:
                await asyncio.sleep(0.001)
        if self.noted:
            raise Violation(f"logged: {self.noted[:3]}")

    async def one(self, rng: random.Random, report: PgReport) -> None:
        """One connection."""
        tls = rng.random() < 0.06
        sent: pgwire_mutations.Volley | None = None
        try:
            async with asyncio.timeout(SECONDS):
                client = await self.connect(tls=tls)
                try:
                    if rng.random() < 0.25:
                        sent = pgwire_mutations.connect(rng)
                        await self.unauthenticated(client, sent, rng, report)
                    else:
                        sent = pgwire_mutations.batch(rng, rng.randint(1, A_VOLLEY * 2))
                        await self.authenticated(client, sent, rng, report)
                finally:
                    client.writer.transport.abort()
        except TimeoutError:
            raise Violation(f"no end after {SECONDS} s: {_shown(sent)}") from None
        except Violation as violation:
            raise Violation(f"{violation}\nafter {_shown(sent)}") from None
        report.messages += len(sent.messages)

    async def unauthenticated(
        self,
        client: wire.RawClient,
        sent: pgwire_mutations.Volley,
        rng: random.Random,
        report: PgReport,
    ) -> None:
        await pour(client, b"".join(sent.messages), rng)
        received = await silence(client)
        for message in messages(received.lstrip(b"NS"), BEFORE_SIGN_IN):
            if message.kind == "R" and message.body[:4] not in (b"\0\0\0\x0a", b"\0\0\0\x0b"):
                raise Violation(f"an unauthenticated client is signed in: {message}")
            note(message, report)

    async def authenticated(
        self,
        client: wire.RawClient,
        sent: pgwire_mutations.Volley,
        rng: random.Random,
        report: PgReport,
    ) -> None:
        if (await client.sign_in(token=self.token))[-1].kind != "Z":
            raise Violation("an honest client cannot sign in")
        if not sent.is_framed:
            await pour(client, b"".join(sent.messages), rng)
            for message in messages(await silence(client), KINDS):
                note(message, report)
            return
        marker = f"marker {rng.getrandbits(64)}"
        end = (wire.SYNC, wire.describe("S", marker), wire.SYNC)
        pouring = asyncio.create_task(pour(client, b"".join((*sent.messages, *end)), rng))
        seen = False
        while not seen or message.kind != "Z":
            received = await client.receive()
            if received is None:
                raise Violation("the connection ended, though every frame was right")
            message = received
            note(message, report)
            if message.kind not in KINDS:
                raise Violation(f"no message of the protocol: {message}")
            seen = seen or (message.kind == "E" and marker in message.fields["M"])
        await pouring


async def pour(client: wire.RawClient, data: bytes, rng: random.Random) -> None:
    """Send it in pieces."""
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice((0, 0, 1, 3))))
    with suppress(ConnectionError):
        for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
            await client.send(data[start:end])
            await asyncio.sleep(0)


async def silence(client: wire.RawClient) -> bytes:
    """All replies until there is a pause."""
    received = b""
    with suppress(TimeoutError, ConnectionError):
        while True:
            async with asyncio.timeout(SILENCE):
                piece = await client.reader.read(65536)
            if not piece:
                break
            received += piece
    return received


def messages(data: bytes, kinds: frozenset[str]) -> list[wire.BackendMessage]:
    """The messages in these bytes, all of these kinds; the last may be cut."""
    found = []
    while len(data) >= 5:
        kind, [length] = chr(data[0]), struct.unpack_from("!i", data, 1)
        if kind not in kinds or length < 4:
            raise Violation(f"received {data[:80]!r}")
        if len(data) > length:
            found.append(wire.BackendMessage(kind, data[5 : 1 + length]))
        data = data[1 + length :]
    return found


def note(message: wire.BackendMessage, report: PgReport) -> None:
    name = message.kind
    if message.kind == "E":
        name = message.fields["C"]
        if name == "XX000":
            raise Violation(f"a bug: {message.fields}")
    report.received[name] += 1


def _shown(sent: pgwire_mutations.Volley | None) -> str:
    return repr(sent.messages if sent else None)[-6000:]


def _make_planner(client: Any) -> StatementPlanner:
    return StatementPlanner(
        client.session, user=client.user, database=client.database, startup=client.startup
    )


def megabytes() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


async def fuzz(seed: int, count: int, show: Callable[[PgReport], None]) -> None:
    """So many messages, with a report for every chunk; a violation ends it."""
    place = Path(tempfile.mkdtemp(prefix="redask-fuzz-pg-"))
    noted = Noted()
    logging.getLogger().addHandler(noted)
    failed: list[str] = noted.lines
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: failed.append(str(context)))
    transport = Fuzzed(place, noted.lines)
    rng, done, at_first, report = random.Random(seed), 0, 0.0, PgReport()
    try:
        await transport.open()
        while done < count:
            report = PgReport()
            most = min(CHUNK, count - done)
            while report.messages < most:
                await transport.round(rng, report, most)
            done += report.messages
            report.megabytes = megabytes()
            if done < WARM * count or not at_first:
                at_first = report.megabytes
            elif report.megabytes - at_first > GROWTH_MB:
                raise Violation(f"memory grew from {at_first:.0f} to {report.megabytes:.0f} MB")
            show(report)
    except Exception as error:
        causes = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
        report.violation = "\n".join(f"{type(each).__name__}: {each}" for each in causes)
        show(report)
    finally:
        logging.getLogger().removeHandler(noted)
        await transport.close()
        shutil.rmtree(place, ignore_errors=True)


def run(seed: int, count: int) -> PgReport:
    """All in this process, as one report."""
    whole = PgReport()

    def add(report: PgReport) -> None:
        whole.messages += report.messages
        whole.received += report.received
        whole.violation = whole.violation or report.violation
        whole.megabytes = max(whole.megabytes, report.megabytes)

    asyncio.run(fuzz(seed, count, add))
    return whole


def _worker(seed: int, count: int, reports: Any) -> None:
    asyncio.run(fuzz(seed, count, reports.put))
    reports.put(None)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    given = parser.parse_args()
    reports: Any = multiprocessing.get_context("spawn").Queue()
    share = -(-given.messages // given.jobs)
    workers = [
        multiprocessing.get_context("spawn").Process(
            target=_worker, args=(given.seed + number, share, reports), daemon=True
        )
        for number in range(given.jobs)
    ]
    for worker in workers:
        worker.start()
    began, whole, left, largest = time.monotonic(), PgReport(), given.jobs, 0.0
    while left:
        report = reports.get()
        if report is None:
            left -= 1
            continue
        whole.messages += report.messages
        whole.received += report.received
        largest = max(largest, report.megabytes)
        rate = whole.messages / (time.monotonic() - began)
        line = f"{whole.messages:,} messages, {rate:,.0f}/s, {largest:.0f} MB"
        print(f"\r{line}", end="", file=sys.stderr, flush=True)
        if report.violation:
            print(f"\nseed {given.seed}: {report.violation}")
            print(f"{whole.messages} passed, 1 failed")
            return 1
    print("", file=sys.stderr)
    print(", ".join(f"{name} {count}" for name, count in sorted(whole.received.items())))
    print(f"{whole.messages} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
