"""Every transport of one small database, open at once, and a client of each.

    with Transports(directory) as transports:
        transports.run(transports.ask("http", "Why?", {"limit": 2}))      → Heard(kind, body)

The database and its server are those of `server_thread`. `Heard.body` is the envelope, or the JSON
of the error, as canonical bytes; `code` is the transport's own number or name for the outcome.
"here" is the same question in process.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import httpx
import httpx2
import psycopg
from loop_thread import LoopThread
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from server_thread import ServerThread
from waiting import SECONDS

from redask.core import clauses, errors, values
from redask.core.model import Ask
from redask.core.wire import envelope, frames, outcomes
from redask.core.wire import json as canonical
from redask.server import jsonrpc, mcp_transport
from redask.server.admission import Admission
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc
from redask.server.sessions import Authenticator

TRANSPORTS = (
    *("http", "sse", "chat", "chat-stream", "rpc", "rpc-stream"),
    *("mcp", "mcp-http", "grpc", "grpc-stream", "pg"),
)


@dataclass(frozen=True)
class Received:
    """What a client heard: `answered` with the envelope, or an error."""

    kind: str
    body: bytes
    code: object


@dataclass
class Lines:
    """A JSON-RPC dispatcher in memory."""

    session: Any
    admission: Admission
    incoming: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    waiting: dict[object, asyncio.Future[Any]] = field(default_factory=dict)
    received: dict[object, list[frames.Frame]] = field(default_factory=dict)
    count: int = 0

    async def serve(self) -> None:
        await jsonrpc.serve(self.session, self._lines(), self._write, self.admission)

    async def call(self, method: str, params: object) -> tuple[int, dict[str, Any]]:
        """→ the request's id and the reply."""
        self.count += 1
        name = self.count
        self.waiting[name] = asyncio.get_running_loop().create_future()
        request = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
        self.incoming.put_nowait(json.dumps(request).encode())
        return name, await self.waiting[name]

    async def _lines(self) -> Any:
        while (line := await self.incoming.get()) is not None:
            yield line

    async def _write(self, line: bytes) -> None:
        message = json.loads(line)
        if message.get("method") == "frame":
            response = message["params"]
            frame = frames.Frame(response["name"], response["payload"])
            self.received.setdefault(response["id"], []).append(frame)
        else:
            self.waiting[message["id"]].set_result(message)


@dataclass
class Clients:
    """One user's clients of every transport."""

    http: httpx.AsyncClient
    lines: Lines
    mcp: Client
    mcp_http: Client
    metadata: tuple[tuple[str, str], ...]
    pg: psycopg.AsyncConnection[Any]
    db: Any


class Transports(ServerThread):
    """The transports and the clients."""

    url: str
    grpc_port: int
    pg: str
    stub: Any
    channel: grpc.aio.Channel

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, http_port=0, grpc_port=0, pg_port=0)
        self.clients: dict[str, Clients] = {}

    async def connect(self, stack: AsyncExitStack) -> None:
        self._afar = LoopThread()  # for a client that blocks where the server would answer
        stack.callback(self._afar.close)
        self.url, address, self.pg = self.addresses
        self.grpc_port = int(address.rpartition(":")[2])
        self.channel = await stack.enter_async_context(
            grpc.aio.insecure_channel(address.removeprefix("grpc://"))
        )
        self.stub = redask_pb2_grpc.RedaskStub(self.channel)  # type: ignore[no-untyped-call]
        for user, token in self.tokens.items():
            self.clients[user] = await self._connect(stack, user, token)

    async def _connect(self, stack: AsyncExitStack, user: str, token: str) -> Clients:
        headers = {"Authorization": f"Bearer {token}"}
        http = await stack.enter_async_context(
            httpx.AsyncClient(base_url=self.url, headers=headers, timeout=SECONDS)
        )
        authenticator = Authenticator(self.db, anonymous=False)
        lines = Lines(await authenticator.sign_in(token), Admission(64, 256))
        lines.admission = self.admission
        talking = asyncio.create_task(lines.serve())

        async def disconnect() -> None:
            lines.incoming.put_nowait(None)
            await talking

        stack.push_async_callback(disconnect)
        near = await stack.enter_async_context(
            Client(mcp_transport.server(authenticator, self.admission, token), mode="legacy")
        )
        far_http = await stack.enter_async_context(
            httpx2.AsyncClient(headers=headers, timeout=SECONDS)
        )
        far = await stack.enter_async_context(
            Client(streamable_http_client(f"{self.url}/mcp", http_client=far_http))
        )
        metadata = (("authorization", f"Bearer {token}"),)
        pg = await self._afar.run_from_afar(
            psycopg.AsyncConnection.connect(
                f"{self.pg}/local", user=user, password=token, autocommit=True
            )
        )
        stack.push_async_callback(lambda: self._afar.run_from_afar(pg.close()))
        return Clients(http, lines, near, far, metadata, pg, await self.db.signed_in(token))

    async def ask(
        self,
        transport: str,
        question: str,
        options: dict[str, Any] | None = None,
        user: str = "mia",
    ) -> Received:
        """Ask through a transport."""
        way: Callable[[Clients, dict[str, Any]], Awaitable[Received]] = getattr(
            self, f"_{transport.replace('-', '_')}"
        )
        return await way(self.clients[user], {"question": question, "options": options or {}})

    async def _here(self, clients: Clients, given: dict[str, Any]) -> Received:
        try:
            ask: Ask = clauses.from_options(given["question"], given["options"])
            answer = await clients.db.answer(ask)
        except errors.AskError as error:
            kind = outcomes.of(error).kind
            return Received(kind, canonical.encode(outcomes.body(error)), None)
        return Received("answered", canonical.encode(envelope.build(answer)), None)

    async def _http(self, clients: Clients, given: dict[str, Any]) -> Received:
        reply = await clients.http.post("/v1/ask", json=given)
        return _http_heard(reply.status_code, reply.content)

    async def _sse(self, clients: Clients, given: dict[str, Any]) -> Received:
        async with clients.http.stream("POST", "/v1/ask", json={**given, "stream": True}) as reply:
            content = await reply.aread()
        if reply.status_code != 200:
            return _http_heard(reply.status_code, content)
        found = []
        for block in content.decode().split("\n\n")[:-1]:
            if not block.startswith(":"):
                name, _, data = block.removeprefix("event: ").partition("\ndata: ")
                found.append(frames.Frame(name, json.loads(data)))
        return folded(found)

    async def _chat(self, clients: Clients, given: dict[str, Any]) -> Received:
        reply = await clients.http.post("/v1/chat/completions", json=chat_request(given))
        if reply.status_code != 200:
            return chat_failed(reply.status_code, reply.json())
        whole = reply.json()
        [choice] = whole["choices"]
        return _chat_received(choice["message"]["content"], whole["redask"])

    async def _chat_stream(self, clients: Clients, given: dict[str, Any]) -> Received:
        body = {**chat_request(given), "stream": True}
        async with clients.http.stream("POST", "/v1/chat/completions", json=body) as reply:
            content = await reply.aread()
        if reply.status_code != 200:
            return chat_failed(reply.status_code, json.loads(content))
        return chat_folded(content)

    async def _rpc(self, clients: Clients, given: dict[str, Any]) -> Received:
        _, reply = await clients.lines.call("ask", given)
        return _rpc_heard(reply)

    async def _rpc_stream(self, clients: Clients, given: dict[str, Any]) -> Received:
        name, reply = await clients.lines.call("stream", given)
        received = clients.lines.received.pop(name, [])
        whole = _rpc_heard(reply)
        if whole.kind == "answered":
            assert folded(received).body == whole.body
        return whole

    async def _mcp(self, clients: Clients, given: dict[str, Any]) -> Received:
        return mcp_received(await clients.mcp.call_tool("redask_ask", given))

    async def _mcp_http(self, clients: Clients, given: dict[str, Any]) -> Received:
        try:
            return mcp_received(await clients.mcp_http.call_tool("redask_ask", given))
        except MCPError:  # a client whose token is not good any more: HTTP's error, not MCP's
            reply = await clients.http.post("/mcp", json={})
            assert reply.headers["www-authenticate"] == "Bearer"
            return _http_heard(reply.status_code, reply.content)

    async def _grpc(self, clients: Clients, given: dict[str, Any]) -> Received:
        try:
            reply = await self.stub.Ask(grpc_request(given), metadata=clients.metadata)
        except grpc.aio.AioRpcError as error:
            return grpc_failed(error)
        return Received("answered", canonical.encode(grpc_envelope(reply)), "OK")

    async def _grpc_stream(self, clients: Clients, given: dict[str, Any]) -> Received:
        call = self.stub.AskStream(grpc_request(given), metadata=clients.metadata)
        found = []
        try:
            async for frame in call:
                found.append(_grpc_frame(frame))
        except grpc.aio.AioRpcError as error:
            return grpc_failed(error)
        finally:  # a task that is cancelled between two frames leaves its call open
            call.cancel()
        return folded(found)

    async def _pg(self, clients: Clients, given: dict[str, Any]) -> Received:
        statement = f"ASK %s{ask_clauses(given['options'])}"
        try:
            return await self._afar.run_from_afar(
                _pg_asked(clients.pg, statement, given["question"])
            )
        except psycopg.Error as error:
            return pg_failed(error)


def ask_clauses(options: dict[str, Any]) -> str:
    """Options as the clauses of a statement."""
    said: dict[str, Callable[[Any], str]] = {
        "using": lambda value: f"USING '{value}'",
        "model": lambda value: f"MODEL '{value}'",
        "limit": lambda value: f"LIMIT {value}",
        "strict": lambda value: f"STRICT {values.strictness(value)}",
        "evidence": lambda value: "EVIDENCE" if value else "",
        "collection": lambda value: (
            "COLLECTION " + ", ".join([value] if isinstance(value, str) else value)
        ),
        "min_score": lambda value: f"MIN_SCORE {value}",
        "depth": lambda value: f"DEPTH {value}",
        "temperature": lambda value: f"TEMPERATURE {value}",
        "seed": lambda value: f"SEED {value}",
        "cache": lambda value: f"CACHE TTL '{value['ttl']}'",
        "nocache": lambda _: "NOCACHE",
    }
    return "".join(f" {said[name](value)}" for name, value in options.items())


async def _pg_asked(connection: Any, statement: str, question: str) -> Received:
    """One row; what is JSON in it is JSON as every transport writes it."""
    cursor = await connection.execute(statement, (question,))
    [row] = await cursor.fetchall()
    raw = cursor.pgresult
    whole = {}
    for number, (column, value) in enumerate(zip(cursor.description, row, strict=True)):
        whole[column.name] = float(value) if column.name == "cost_usd" else value
        if column.name in ("citations", "evidence", "sources_flat", "validation"):
            assert raw.get_value(0, number) == canonical.encode(value)
    return Received("answered", canonical.encode(whole), "00000")


def pg_failed(error: psycopg.Error) -> Received:
    said = error.diag
    shown = {
        "detail": said.message_detail or "",
        "kind": said.source_function,
        "message": said.message_primary,
    }
    return Received(str(said.source_function), canonical.encode({"error": shown}), said.sqlstate)


def _http_heard(status: int, content: bytes) -> Received:
    if status == 200:
        return Received("answered", content, 200)
    return Received(json.loads(content)["error"]["kind"], content, status)


def chat_request(given: dict[str, Any]) -> dict[str, Any]:
    """The body of `{question, options}` for chat programs."""
    options = dict(given["options"])
    messages = []
    for turn in options.pop("history", []):
        messages.append({"role": "user", "content": turn["question"]})
        messages.append({"role": "assistant", "content": turn["answer"]})
    messages.append({"role": "user", "content": given["question"]})
    return {"model": "redask", "messages": messages, "redask": {"options": options}}


def chat_failed(status: int, body: dict[str, Any]) -> Received:
    """An error in the shape of OpenAI's API, in which ours stands, too."""
    assert sorted(body["error"]) == ["code", "message", "param", "type"]
    found = body["redask"]
    assert found["error"]["message"] == body["error"]["message"]
    return Received(found["error"]["kind"], canonical.encode(found), status)


def chat_folded(content: bytes) -> Received:
    """A stream of chunks as a plain answer; it may end with an error."""
    *blocks, last, end = content.decode().split("\n\n")
    assert (last, end) == ("data: [DONE]", "")
    chunks = [json.loads(block.removeprefix("data: ")) for block in blocks if block[0] != ":"]
    begun = "error" not in chunks[0]  # or it failed after a heartbeat, before its first chunk
    assert len({chunk["id"] for chunk in chunks if "id" in chunk}) == int(begun)
    answer = ""
    for chunk in chunks:
        if "error" in chunk:
            assert chunk is chunks[-1]
            code = chunk["redask"].pop("code")
            return Received("error frame", chat_failed(code, chunk).body, code)
        [choice] = chunk["choices"]
        assert (choice["finish_reason"] == "stop") is (chunk is chunks[-1])
        answer += choice["delta"].get("content", "")
        if "answer_reset" in chunk.get("redask", {}):
            answer = ""
    return _chat_received(answer, chunks[-1]["redask"])


def _chat_received(content: str, own: dict[str, Any]) -> Received:
    """The envelope, whose answer is what was said."""
    assert own["envelope"]["answer"] == content
    return Received("answered", canonical.encode(own["envelope"]), 200)


def folded(found: list[frames.Frame]) -> Received:
    """A stream as a plain answer; its last frame may be an error."""
    names = [frame.name for frame in found]
    assert names[0] == "sources"
    assert not {"sources", "validation", "error"} & set(names[1:-1])
    if names[-1] == "error":
        return Received(
            "error frame", canonical.encode(found[-1].payload), found[-1].payload["code"]
        )
    assert names[-1] == "validation"
    return Received("answered", canonical.encode(frames.fold(found)), 200)


def _rpc_heard(reply: dict[str, Any]) -> Received:
    if "error" in reply:
        found = reply["error"]
        shown = found["data"]
        assert shown["error"]["message"] == found["message"]
        return Received(shown["error"]["kind"], canonical.encode(shown), found["code"])
    return Received("answered", canonical.encode(reply["result"]), 0)


def mcp_received(result: Any) -> Received:
    """What a tool said, which it says twice; an error only once, for it fits no schema."""
    [content] = result.content
    if result.is_error:
        assert result.structured_content is None
        kind = json.loads(content.text)["error"]["kind"]
        return Received(kind, content.text.encode(), "isError")
    assert canonical.encode(result.structured_content).decode() == content.text
    return Received("answered", content.text.encode(), "")


def grpc_request(given: dict[str, Any]) -> Any:
    """The message of `{question, options}`."""
    options = dict(given["options"])
    collection = options.pop("collection", [])
    cache = options.pop("cache", None)
    if cache is not None:
        options["cache_ttl"] = cache["ttl"]
    if options.get("strict") == "supported":  # the others are booleans in the message
        options["strictness"] = options.pop("strict")
    elif "strict" in options:
        options["strict"] = options["strict"] in (True, "on")
    named = [collection] if isinstance(collection, str) else collection
    return pb.AskRequest(question=given["question"], collection=named, **options)


def grpc_failed(error: grpc.aio.AioRpcError) -> Received:
    trailer = dict(error.trailing_metadata() or ())
    body = trailer["redask-error-bin"]
    shown = json.loads(body)["error"]
    assert shown["message"] == error.details()
    return Received(shown["kind"], bytes(body), error.code().name)


def grpc_envelope(reply: Any) -> dict[str, Any]:
    """The envelope that an AskReply or, without answer and sources, a DoneFrame holds."""
    items: Callable[[Any], list[dict[str, str]]] = lambda found: [  # noqa: E731
        {"detail": each.detail, "kind": each.kind} for each in found
    ]
    whole: dict[str, Any] = {
        "cache_hit": reply.cache_hit,
        "citations": [{"marker": each.marker, "urn": each.urn} for each in reply.citations],
        "completion_tokens": reply.completion_tokens,
        "cost_usd": reply.cost_usd,
        "mode": reply.mode,
        "model": reply.model,
        "prompt_tokens": reply.prompt_tokens,
        "provider": reply.provider,
        "retry_count": reply.retry_count,
        "validation": {
            "errors": items(reply.validation.errors),
            "ok": reply.validation.ok,
            "warnings": items(reply.validation.warnings),
        },
    }
    if isinstance(reply, pb.AskReply):
        whole["answer"] = reply.answer
        whole["sources_flat"] = json.loads(reply.sources_flat_json)
    if reply.HasField("evidence_json"):
        whole["evidence"] = json.loads(reply.evidence_json)
    return whole


def _grpc_frame(frame: Any) -> frames.Frame:
    name = frame.WhichOneof("frame")
    found = getattr(frame, name)
    match name:
        case "sources":
            return frames.Frame(name, {"sources_flat": json.loads(found.sources_flat_json)})
        case "answer_token":
            return frames.Frame(name, {"text": found.text})
        case "answer_reset":
            return frames.Frame(name, {"reason": found.reason})
        case "error":
            return frames.Frame(name, {"code": found.code, "message": found.message})
    whole = grpc_envelope(found)
    verdict = whole.pop("validation")
    beside = [key for key in ("citations", "evidence") if key in whole]
    rest: dict[str, Any] = {key: whole.pop(key) for key in beside}
    return frames.Frame(name, {"audit": whole, **rest, **verdict})
