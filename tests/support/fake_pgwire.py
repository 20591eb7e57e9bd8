"""A Postgres wire transport with a made-up dispatcher, and a client that speaks in raw messages.

async with Playing() as transport:
    client = await transport.client()                    signed in
    await client.ask(query("rows 3"))               → [Said("T", …), Said("D", …), …]

statement       what it does
rows N          N rows of a number (int4) and a word (text, NULL in every third)
say $1 …        its parameters, as declared or as text
wait            never ends; `Play.left` counts those that were cancelled
fail KIND       that error of `redask.core.errors`; `bug` is none of them
begin, commit, rollback, restore
drop A B        prepared statements; without a name: all
tell N V        a setting that clients are told of; `timeout S` is the statement_timeout
"""

import asyncio
import base64
import hashlib
import hmac
import socket
import ssl
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace, TracebackType
from typing import Any, Self, cast

from waiting import SECONDS

from redask.api.asynchronous import AsyncDatabase
from redask.core import errors
from redask.core.access import credentials
from redask.core.access.ask_shares import AskClaim
from redask.server.admission import Admission
from redask.server.connection_limits import ConnectionLimits
from redask.server.pgwire.listener import PostgresListener
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import StatementResult, TransactionStep
from redask.server.pgwire.session.session_state import SessionState
from redask.server.pgwire.types.encoding import PLAIN, ResultStyle
from redask.server.sessions import Authenticator

INT4, TEXT = 23, 25
SALT_SECRET = b"salt"
IDENT, TOKEN, _ = credentials.new_token()
STEPS = ("begin", "commit", "rollback", "restore")


@dataclass
class FakePlanner:
    """One client's made-up statements."""

    response: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    ran: list[str] = field(default_factory=list)
    left: int = 0
    state: SessionState = field(default_factory=SessionState)

    def split(self, text: str) -> list[str]:
        return [part.strip() for part in text.split(";") if part.strip()]

    async def plan(self, sql: str, declared: Sequence[int] | None) -> "FakeStatement":
        word = sql.split(maxsplit=1)[0]
        if word == "ponder":
            self.ran.append(sql)
            try:
                await asyncio.Event().wait()
            finally:
                self.left += 1
        if word not in ("rows", "say", "wait", "fail", "tell", "drop", "timeout", "now", *STEPS):
            raise errors.BadStatement(1, 1, word, "a statement")
        return FakeStatement(self, sql, tuple(declared or ()))

    def timeout(self) -> float | None:
        return self.seconds

    def style(self) -> ResultStyle:
        return PLAIN

    def parameter(self, name: str) -> str | None:
        return {"server_version": "15.0", "client_encoding": "UTF8"}.get(name)

    def changed_parameters(self) -> dict[str, str]:
        response, self.response = self.response, {}
        return response


@dataclass
class FakeStatement:
    """A made-up statement."""

    planner: FakePlanner
    sql: str
    declared: tuple[int, ...]

    @property
    def words(self) -> list[str]:
        return self.sql.split()

    @property
    def parameters(self) -> tuple[int, ...]:
        count = self.sql.count("$")
        return tuple(oid or TEXT for oid in (*self.declared, *(0,) * count)[:count])

    @property
    def columns(self) -> tuple[ResultColumn, ...] | None:
        if self.words[0] in ("rows", "wait"):
            return (ResultColumn("number", INT4), ResultColumn("word", TEXT))
        if self.words[0] == "say":
            return tuple(ResultColumn(f"p{n}", oid) for n, oid in enumerate(self.parameters))
        return None

    @property
    def step(self) -> TransactionStep | None:
        word = self.words[0]
        return cast(TransactionStep, word) if word in STEPS else None

    def run_now(self, parameters: Sequence[object]) -> StatementResult | None:
        if self.words[0] != "now":
            return None
        self.planner.ran.append(self.sql)
        if self.words[1:]:
            raise failure(self.words[1])
        return StatementResult([], "NOW")

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        self.planner.ran.append(self.sql)
        words = self.words
        match words[0]:
            case "rows":
                count = int(words[1])
                found = [[n, None if n % 3 == 2 else f"wörd {n}"] for n in range(count)]
                return StatementResult(found, f"SELECT {count}")
            case "say":
                return StatementResult([parameters], "SELECT 1")
            case "wait":
                return await self._wait()
            case "fail":
                raise failure(words[1])
            case "tell":
                self.planner.response[words[1]] = words[2]
            case "drop":
                return StatementResult([], "DROP", tuple(words[1:]) or None)
            case "timeout":
                self.planner.seconds = float(words[1])
        return StatementResult([], words[0].upper())

    async def _wait(self) -> StatementResult:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.planner.left += 1
            raise
        raise AssertionError("nobody waits that long")


def failure(kind: str) -> Exception:
    if kind == "bug":
        return ZeroDivisionError("a bug with a KEY-1234")
    if kind == "refused":
        return SqlStateError("0A000", "not here", hint="elsewhere")
    if kind == "ProviderFailed":
        return errors.ProviderFailed("p", errors.Failure.SERVER, "busy")
    made: Exception = getattr(errors, kind)("it failed", detail="where")
    return made


@dataclass
class FakeAuthenticator(Authenticator):
    """Knows mia of the tenant local, with as many tokens as are given."""

    tokens: Sequence[str] = (TOKEN,)
    anonymous: bool = False
    wrong: list[tuple[str, str, str]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    session: Any = field(default_factory=lambda: SimpleNamespace(claim=AskClaim()))

    async def sign_in(self, token: str | None, address: str = "") -> AsyncDatabase:
        if not self.anonymous:
            raise errors.Unauthenticated("who?")
        return cast(AsyncDatabase, self.session)

    async def only_tenant(self) -> str | None:
        return None

    async def verifiers(self, user: str, tenant: str, address: str = "") -> credentials.Verifiers:
        salt = credentials.scram_salt(SALT_SECRET, tenant, user)
        known = self.tokens if (user, tenant) == ("mia", "local") else ()
        return credentials.Verifiers(salt, tuple(credentials.verifier(t, salt) for t in known))

    def not_proven(self, user: str, tenant: str, address: str) -> None:
        self.wrong.append((user, tenant, address))

    def proven(self, user: str, tenant: str, address: str) -> None:
        pass

    async def refused(self, user: str) -> None:
        self.refusals.append(user)

    async def sign_in_proven(self, token: str) -> AsyncDatabase:
        if token not in map(credentials.token_id, self.tokens):
            raise errors.Unauthenticated("who?")
        return cast(AsyncDatabase, self.session)


@dataclass(frozen=True)
class BackendMessage:
    """A message of the server."""

    kind: str
    body: bytes

    @property
    def fields(self) -> dict[str, str]:
        """Of an error or a notice."""
        parts = self.body.rstrip(b"\0").split(b"\0")
        return {part[:1].decode(): part[1:].decode() for part in parts}

    @property
    def cells(self) -> list[bytes | None]:
        found: list[bytes | None] = []
        at = 2
        for _ in range(struct.unpack_from("!H", self.body)[0]):
            [length] = struct.unpack_from("!i", self.body, at)
            at += 4
            found.append(None if length < 0 else self.body[at : at + length])
            at += max(0, length)
        return found


class FakeServer:
    """The transport, open."""

    def __init__(
        self,
        authenticator: FakeAuthenticator | None = None,
        admission: Admission | None = None,
        context: ssl.SSLContext | None = None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.planners: list[FakePlanner] = []
        self.admission = admission or Admission()
        self.server = PostgresListener(
            authenticator or FakeAuthenticator(),
            self.admission,
            self._make_planner,
            context,
            limits=limits,
        )
        self.clients: list[RawClient] = []

    def _make_planner(self, client: object) -> FakePlanner:
        self.planners.append(FakePlanner())
        return self.planners[-1]

    async def __aenter__(self) -> Self:
        listening = socket.create_server(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        await self.server.listen(listening)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for client in self.clients:
            await client.close()
        await self.server.close(1)

    async def connect(self) -> "RawClient":
        """A client that has said nothing yet."""
        client = RawClient(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        return client

    async def client(self) -> "RawClient":
        client = await self.connect()
        await client.sign_in()
        return client


class RawClient:
    """Messages in and out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.key = b""
        self.status: dict[str, str] = {}

    async def close(self) -> None:
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    async def send(self, *messages: bytes) -> None:
        self.writer.write(b"".join(messages))
        await self.writer.drain()

    async def receive(self) -> BackendMessage | None:
        """The next message; None at the end."""
        try:
            head = await self.reader.readexactly(5)
            [length] = struct.unpack("!i", head[1:])
            return BackendMessage(head[:1].decode(), await self.reader.readexactly(length - 4))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def until(self, kind: str = "Z") -> list[BackendMessage]:
        """Everything up to a message of that kind, or to the end."""
        found: list[BackendMessage] = []
        async with asyncio.timeout(SECONDS):
            while (message := await self.receive()) is not None:
                found.append(message)
                if message.kind == kind:
                    break
        return found

    async def ask(self, *messages: bytes) -> list[BackendMessage]:
        await self.send(*messages)
        return await self.until()

    async def sign_in(
        self, user: str = "mia", database: str = "local", token: str = TOKEN, **more: str
    ) -> list[BackendMessage]:
        """By SCRAM, as a client does it. → the last things said"""
        await self.send(start_up(user=user, database=database, **more))
        first = await self.until("R")
        if not first or first[-1].body[:4] != struct.pack("!i", 10):
            return first
        exchange = ScramClient(token)
        await self.send(sasl_first(exchange.first()))
        challenge = await self.until("R")
        if challenge[-1].kind != "R":
            return challenge
        await self.send(framed(b"p", exchange.final(challenge[-1].body[4:])))
        found = await self.until()
        if found and found[-1].kind == "Z":
            assert found[0].body[4:] == exchange.expected
            self.key = next(each.body for each in found if each.kind == "K")
            pairs = [each.body.split(b"\0")[:2] for each in found if each.kind == "S"]
            self.status = {name.decode(): value.decode() for name, value in pairs}
        return found


class ScramClient:
    """The client's side, written a second time."""

    def __init__(self, password: str, nonce: str = "fyko+d2lbbFgONRv9qkxdawL") -> None:
        self.password = password
        self.nonce = nonce
        self.expected = b""

    def first(self, header: str = "n,,") -> bytes:
        self.header = header
        return f"{header}n=,r={self.nonce}".encode()

    def final(self, challenge: bytes) -> bytes:
        fields = dict(part.split("=", 1) for part in challenge.decode().split(","))
        salted = _salted(self.password, fields["s"], int(fields["i"]))
        channel = base64.b64encode(self.header.encode()).decode()
        bare = f"c={channel},r={fields['r']}"
        whole = f"n=,r={self.nonce},{challenge.decode()},{bare}".encode()
        key = hmac.digest(salted, b"Client Key", "sha256")
        signature = hmac.digest(hashlib.sha256(key).digest(), whole, "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True)))
        server = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), whole, "sha256")
        self.expected = b"v=" + base64.b64encode(server)
        return f"{bare},p={proof.decode()}".encode()


@cache
def _salted(password: str, salt: str, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), iterations)


def framed(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def text(word: str) -> bytes:
    return word.encode() + b"\0"


def start_up(version: int = 3 << 16, /, **parameters: str) -> bytes:
    words = b"".join(text(name) + text(value) for name, value in parameters.items())
    return struct.pack("!ii", len(words) + 9, version) + words + b"\0"


def special(code: int, body: bytes = b"") -> bytes:
    return struct.pack("!ii", len(body) + 8, code) + body


SSL_REQUEST, GSS_REQUEST = special(80877103), special(80877104)
SYNC, FLUSH, TERMINATE = framed(b"S"), framed(b"H"), framed(b"X")


def cancel(key: bytes) -> bytes:
    return special(80877102, key)


def sasl_first(words: bytes, mechanism: str = "SCRAM-SHA-256") -> bytes:
    return framed(b"p", text(mechanism) + struct.pack("!i", len(words)) + words)


def query(sql: str) -> bytes:
    return framed(b"Q", text(sql))


def parse(sql: str, name: str = "", types: Sequence[int] = ()) -> bytes:
    numbers = struct.pack(f"!H{len(types)}I", len(types), *types)
    return framed(b"P", text(name) + text(sql) + numbers)


def bind(
    values: Sequence[bytes | None] = (),
    portal: str = "",
    name: str = "",
    formats: Sequence[int] = (),
    results: Sequence[int] = (),
) -> bytes:
    shorts = [struct.pack(f"!H{len(each)}h", len(each), *each) for each in (formats, results)]
    cells = b"".join(
        struct.pack("!i", -1) if each is None else struct.pack("!i", len(each)) + each
        for each in values
    )
    body = shorts[0] + struct.pack("!H", len(values)) + cells + shorts[1]
    return framed(b"B", text(portal) + text(name) + body)


def describe(kind: str, name: str = "") -> bytes:
    return framed(b"D", kind.encode() + text(name))


def close(kind: str, name: str = "") -> bytes:
    return framed(b"C", kind.encode() + text(name))


def execute(portal: str = "", rows: int = 0) -> bytes:
    return framed(b"E", text(portal) + struct.pack("!i", rows))
