"""The clients of `make soak`: each makes a turn, which is then taken again and again.

`CLIENTS` are all of them, good and bad; `ENDS` are those with something to put away, which take a
last turn with ENDING. What they share, and what came of it, is a `Soak`.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import grpc
import httpx
from fuzz_grpc import GrpcFuzz
from fuzz_http import HttpFuzz
from fuzz_jsonrpc import McpHttp, RpcFuzz, asking, call
from mutations import Asked, written
from served import Piped, Served

import redask
from redask.core.settings import load
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc

QUIET = load('[embedder]\nname = "none"', {})
OPENING = {"protocolVersion": "2025-06-18", "capabilities": {}}


@dataclass
class Soak:
    """What all clients share: where to go, until when, and what came of it."""

    server: Served
    tokens: dict[str, str]
    until: float
    sent: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    figures: dict[str, Counter[str]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    numbers: Any = field(default_factory=count)

    def over(self) -> bool:
        return time.monotonic() > self.until or bool(self.failures)

    def question(self, who: str) -> str:
        made = f"When does the ferry of {who} {next(self.numbers)} leave?"
        self.sent[made] += 1
        return made

    def note(self, who: str, what: str) -> None:
        self.figures.setdefault(who, Counter())[what] += 1

    def received(self, who: str, question: str) -> None:
        self.answered[question] += 1
        self.note(who, "answered")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def headers(self, user: str = "mia") -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[user]}"}


ProviderTurn = Callable[[random.Random], None]


def given(question: str, model: str = "scripted-1") -> dict[str, Any]:
    return {"question": question, "options": {"using": "scripted", "model": model}}


# --- clients: each makes a turn, which is then taken again and again ---------------------------


def http_client(soak: Soak) -> ProviderTurn:
    client = httpx.Client(base_url=soak.url, headers=soak.headers(), timeout=60)

    def turn(_: random.Random) -> None:
        question = soak.question("http")
        reply = client.post("/v1/ask", json=given(question))
        if reply.status_code != 200 or not reply.json()["citations"]:
            raise AssertionError(f"{reply.status_code} {reply.text[:300]}")
        soak.received("http", question)

    return turn


def stream_client(soak: Soak) -> ProviderTurn:
    """Server-sent events; every third time it vanishes after the first piece."""
    client = httpx.Client(base_url=soak.url, headers=soak.headers(), timeout=60)

    def turn(rng: random.Random) -> None:
        question, leaves = soak.question("sse"), rng.random() < 0.33
        body = {**given(question, "streaming"), "stream": True}
        with client.stream("POST", "/v1/ask", json=body) as reply:
            for line in reply.iter_lines():
                if leaves and line.startswith("event: answer_token"):
                    soak.note("sse", "vanished")
                    return
                if line.startswith("event: error"):
                    raise AssertionError("a stream failed")
                if line.startswith("event: validation"):
                    soak.received("sse", question)

    return turn


def grpc_client(soak: Soak) -> ProviderTurn:
    """Calls and streams; every third stream is cancelled."""
    channel = grpc.insecure_channel(f"127.0.0.1:{soak.server.grpc_port}")
    stub = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
    rest = {"metadata": [("authorization", f"Bearer {soak.tokens['mia']}")], "timeout": 60}

    def turn(rng: random.Random) -> None:
        question = soak.question("grpc")
        if rng.random() < 0.5:
            asked = pb.AskRequest(question=question, using="scripted")
            if not stub.Ask(asked, **rest).citations:
                raise AssertionError("no citations")
            soak.received("grpc", question)
            return
        asked = pb.AskRequest(question=question, using="scripted", model="streaming")
        leaves, frames = rng.random() < 0.33, stub.AskStream(asked, **rest)
        for each in frames:
            if leaves and each.WhichOneof("frame") == "answer_token":
                frames.cancel()
                soak.note("grpc", "cancelled")
                return
            if each.WhichOneof("frame") == "validation":
                soak.received("grpc", question)

    return turn


def pipe_client(soak: Soak, command: str) -> ProviderTurn:
    """`redask rpc` or `redask mcp`; every fourth question is cancelled while it is answered."""
    piped = Piped(soak.server.directory, soak.tokens["mia"], command).__enter__()
    soak.figures.setdefault(command, Counter())
    if command == "mcp":
        opening = {**OPENING, "clientInfo": {"name": "soak", "version": "1"}}
        piped.exchange(written(call("initialize", opening, "hello")) + b"\n")
        piped.received()
        piped.exchange(written(call("notifications/initialized", {})) + b"\n")

    def turn(rng: random.Random) -> None:
        if rng is ENDING:
            if piped.stop(60) != 0 or piped.said:
                raise AssertionError(f"{command} left: {piped.said[-500:]!r}")
            return
        question, name = soak.question(command), f"q{next(soak.numbers)}"
        leaves = rng.random() < 0.25
        if command == "rpc":
            method = "stream" if leaves else "ask"
            lines = [call(method, given(question, "streaming" if leaves else "x"), name)]
            stop = call("cancel", {"id": name}, f"stop-{name}")
        else:
            made = asking(question, False)
            made["arguments"] = given(question, "streaming" if leaves else "x")
            lines = [call("tools/call", made, name)]
            stop = call("notifications/cancelled", {"requestId": name})
        received = piped.exchange(b"".join(written(each) + b"\n" for each in lines))
        if leaves:
            time.sleep(0.1)
            received += piped.exchange(written(stop) + b"\n")
        reply = _reply(piped, received, name, leaves and command == "mcp")
        if reply is None or "error" in reply:
            if not leaves:
                raise AssertionError(f"{reply}")
            soak.note(command, "cancelled")
        else:
            result = reply["result"]
            if (result.get("structuredContent") or result).get("answer") is None:
                raise AssertionError(f"{result}")
            soak.received(command, question)

    return turn


ENDING = random.Random()  # the last turn: leave


def _reply(piped: Piped, received: list[bytes], name: str, maybe: bool) -> dict[str, Any] | None:
    """The reply of this name; a cancelled MCP request may get none."""
    end = time.monotonic() + (1.0 if maybe else 60)
    while True:
        for line in received:
            found: dict[str, Any] = json.loads(line)
            if found.get("id") == name and "method" not in found:
                return found
        try:
            received = piped.received(max(end - time.monotonic(), 0.01))
        except Exception:
            if maybe:
                return None
            raise


def mcp_http_client(soak: Soak) -> ProviderTurn:
    client = httpx.Client(base_url=soak.url, headers=soak.headers(), timeout=60)
    accept = {"Accept": "application/json, text/event-stream"}

    def turn(rng: random.Random) -> None:
        question = soak.question("mcp-http")
        body = call("tools/call", asking(question, rng.random() < 0.5), 1)
        reply = client.post("/mcp", json=body, headers=accept)
        response = reply.text.replace(" ", "")
        if "structuredContent" not in response or '"isError":true' in response:
            raise AssertionError(f"{reply.status_code} {response[:300]}")
        soak.received("mcp-http", question)

    return turn


def writer(soak: Soak) -> ProviderTurn:
    """Rows over HTTP, as the owner; each that was acknowledged must be there at the end."""
    client = httpx.Client(base_url=soak.url, headers=soak.headers("olga"), timeout=60)

    def turn(rng: random.Random) -> None:
        number = next(soak.numbers)
        rows = [{"id": f"{number}-{each}", "text": f"Note {number} {each}."} for each in range(3)]
        reply = client.put("/v1/collections/log/entities", json={"rows": rows})
        if reply.status_code != 200:
            raise AssertionError(f"{reply.status_code} {reply.text[:300]}")
        for urn, row in zip(reply.json()["urns"], rows, strict=True):
            soak.written[urn] = str(row["text"])
            soak.note("writes", "rows")
        time.sleep(rng.random())

    return turn


def lawgiver(soak: Soak) -> ProviderTurn:
    """Another policy every few seconds, from another process than the server's."""
    db = redask.open(soak.server.directory, settings=QUIET)

    def turn(rng: random.Random) -> None:
        if rng is ENDING:
            db.close()
            return
        roles = rng.sample(["spy", "reader", "support"], 2)
        db.set_policy("secrets", {"read": [{"roles": roles}]} if rng.random() < 0.8 else None)
        soak.note("policies", "changes")
        time.sleep(3)

    return turn


def rubbish(soak: Soak, kind: Any) -> ProviderTurn:
    asked = Asked(kind.__name__)
    client = kind(soak.server, soak.tokens["mia"], asked)

    def turn(rng: random.Random) -> None:
        if rng is ENDING:
            client.close()
            for question, times in asked.answered.items():
                soak.sent[question] += times
                soak.answered[question] += times
            return
        soak.figures.setdefault("rubbish", Counter())["messages"] += client.batch(rng)
        time.sleep(rng.random() * 2)

    return turn


CLIENTS: list[Callable[[Soak], ProviderTurn]] = [
    http_client,
    http_client,
    stream_client,
    stream_client,
    stream_client,
    grpc_client,
    grpc_client,
    mcp_http_client,
    writer,
    lawgiver,
    lambda soak: pipe_client(soak, "rpc"),
    lambda soak: pipe_client(soak, "mcp"),
    lambda soak: rubbish(soak, HttpFuzz),
    lambda soak: rubbish(soak, GrpcFuzz),
    lambda soak: rubbish(soak, McpHttp),
    lambda soak: rubbish(soak, RpcFuzz),
]
ENDS = {lawgiver, *CLIENTS[10:]}  # who has something to put away
