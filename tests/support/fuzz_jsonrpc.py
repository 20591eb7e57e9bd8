"""Bad lines: JSON-RPC and MCP on pipes, and MCP over HTTP.

Lines of every kind go into one process, ahead of its replies; a batch is over when its good
questions and a last ping are answered. Now and then a dispatcher ends: with half a line, after
which the process must leave with 0 and silent, or by nobody reading any more, after which it must
leave by itself.
"""

import json
import random
from typing import Any

from fuzz_http import HttpFuzz, Request, Violation
from mutations import ODD, Asked, bad_json, options, twisted, written
from served import Piped, Served, pipe

BATCH = 300
LIFE = 60  # batches of one process
INTERNAL = -32603


def call(method: str, params: object, name: object = None) -> dict[str, Any]:
    made: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return made if name is None else {**made, "id": name}


class RpcFuzz:
    """`redask rpc`, attacked."""

    name = "rpc"
    command = "rpc"
    lasting = False  # whether one process lives through it all, so that its memory can be told
    methods: tuple[str, ...] = (
        "ask",
        "explain",
        "search",
        "query",
        "stream",
        "cancel",
        "nothing",
        "",
    )

    def __init__(self, server: Served, token: str, asked: Asked) -> None:
        self.directory = server.directory
        self.token = token
        self.asked = asked
        self.batches = 0
        self.count = 0
        self.start()

    def start(self) -> None:
        self.process = Piped(self.directory, self.token, self.command).__enter__()
        self.greet()

    def greet(self) -> None:
        """Say what must be said first."""

    def batch(self, rng: random.Random) -> int:
        """Send some lines. → how many messages it was"""
        waiting: dict[object, str] = {}
        lines = [self.line(rng, waiting) for _ in range(rng.randrange(1, BATCH))]
        self._exchange(lines, waiting)
        self.batches += 1
        if self.batches % LIFE == 0 and not self.lasting:
            self.end(rng)
            self.start()
        return len(lines)

    def honest(self) -> None:
        """A new question is answered."""
        waiting: dict[object, str] = {}
        self._exchange([self.good(waiting, "ask")], waiting)

    def close(self) -> None:
        if self.process.alive():
            self._left()

    def end(self, rng: random.Random) -> None:
        """Leave the process, in one of two ways."""
        if rng.random() < 0.5:
            half = written(call("explain", {"question": "ferry"}, 7))
            self.process.exchange(half[: rng.randrange(len(half))])
        else:
            pipe(self.process.process.stdout).close()
            self.process.talk_blindly((self.good({}, "ask") + b"\n") * 3)
        self._left()

    def _left(self) -> None:
        code = self.process.stop(60)
        if code != 0 or self.process.said:
            raise Violation(f"{self.name} left with {code}: {self.process.said[-2000:]!r}")

    def _exchange(self, lines: list[bytes], waiting: dict[object, str]) -> None:
        self.count += 1
        last = f"ping-{self.count}"
        received = self.process.exchange(b"\n".join([*lines, self.ping(last), b""]))
        waiting[last] = ""
        while True:
            for line in received:
                self._judge(line, waiting)
            if not waiting:
                return
            received = self.process.received()

    def _judge(self, line: bytes, waiting: dict[object, str]) -> None:
        found = json.loads(line)
        for each in found if isinstance(found, list) else [found]:
            self.judge(each)
            name = each.get("id") if "method" not in each else None
            question = waiting.pop(name, None) if isinstance(name, str) else None
            if question and not self.cited(each):
                raise Violation(f"a good question: {line[:300]!r}")
            if question:
                self.asked.receive(question)

    def judge(self, reply: dict[str, Any]) -> None:
        """A failure of ours is a violation."""
        if reply.get("error", {}).get("code") == INTERNAL:
            raise Violation(f"{reply!r}"[:600])

    # --- what is sent ------------------------------------------------------------------------

    def ping(self, name: str) -> bytes:
        return written(call("cancel", {"id": "nobody"}, name))

    def good(self, waiting: dict[object, str], method: str) -> bytes:
        question, self.count = self.asked.new(), self.count + 1
        name = f"good-{self.count}"
        waiting[name] = question
        return written(call(method, {"question": question, "options": {"using": "scripted"}}, name))

    def cited(self, reply: dict[str, Any]) -> bool:
        return bool(reply["result"]["citations"])

    def line(self, rng: random.Random, waiting: dict[object, str]) -> bytes:
        kind = rng.random()
        if kind < 0.008:
            return self.good(waiting, rng.choice(("ask", "stream")))
        made = self.request(rng)
        if kind < 0.1:
            batch = [
                made if rng.random() < 0.7 else rng.choice(ODD) for _ in range(rng.randrange(4))
            ]
            return written(batch)
        if kind < 0.3:
            return one_line(written(made))
        if kind < 0.32:
            return one_line(rng.randbytes(rng.randrange(300)))
        if kind < 0.3203:
            return b'{"x": "' + b"y" * 5_000_000
        return one_line(bad_json(rng, made))

    def request(self, rng: random.Random) -> dict[str, Any]:
        """A request that is probably refused."""
        params: Any = {
            "question": rng.choice(("", 7, None, "\x00", "x" * 9000)),
            "options": options(rng),
        }
        if rng.random() < 0.2:
            params = twisted(rng, {"statement": "SELECT 1 FROM", "params": [1]})
        name = rng.choice((1, 2, "a", None, "b" * 300, 2**70, -1))
        return call(rng.choice(self.methods), params, name)


class McpLines(RpcFuzz):
    """`redask mcp`, attacked."""

    name = "mcp on a pipe"
    command = "mcp"
    methods = (
        "tools/call", "tools/call", "tools/list", "resources/read", "resources/list", "ping",
        "prompts/get", "notifications/cancelled", "logging/setLevel", "completion/complete", "x",
    )  # fmt: skip

    def greet(self) -> None:
        client = {"name": "fuzz", "version": "1"}
        opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.process.exchange(written(call("initialize", opening, "hello")) + b"\n")
        if b"serverInfo" not in b"".join(self.process.received(300)):  # it starts
            raise Violation("no greeting")
        self.process.exchange(written(call("notifications/initialized", {})) + b"\n")

    def ping(self, name: str) -> bytes:
        return written(call("ping", {}, name))

    def good(self, waiting: dict[object, str], method: str) -> bytes:
        question, self.count = self.asked.new(), self.count + 1
        name = f"good-{self.count}"
        waiting[name] = question
        return written(call("tools/call", asking(question, method == "stream"), name))

    def cited(self, reply: dict[str, Any]) -> bool:
        return bool(reply["result"]["structuredContent"]["citations"])

    def judge(self, reply: dict[str, Any]) -> None:
        super().judge(reply)
        content = (reply.get("result") or {}).get("structuredContent") or {}
        if content.get("error", {}).get("kind") == "internal":
            raise Violation(f"{reply!r}"[:600])

    def request(self, rng: random.Random) -> dict[str, Any]:
        method = rng.choice(self.methods)
        params: Any = {
            "name": rng.choice(("redask_ask", "redask_explain", "x", "")),
            "arguments": {},
        }
        if rng.random() < 0.7:
            params["arguments"] = {"question": rng.choice(("", 7, "\x00")), "options": options(rng)}
        if method.startswith("resources"):
            params = {
                "uri": rng.choice(("redask://audit", "urn:reddb:row:notes/1", "x", "", "\x00"))
            }
        if rng.random() < 0.3:
            params = twisted(rng, params)
        return call(method, params, rng.choice((1, "a", None, 2**70)))


class McpHttp(HttpFuzz):
    """MCP at /mcp, attacked."""

    name = "mcp over HTTP"

    def __init__(self, server: Served, token: str, asked: Asked) -> None:
        super().__init__(server, token, asked)
        self.lines = McpLines.__new__(McpLines)

    def request(self, rng: random.Random) -> Request:
        kind = rng.random()
        accept = rng.choice((b"application/json, text/event-stream",) * 6 + (b"*/*", b"text/plain"))
        lines = [b"Accept: " + accept]
        if rng.random() < 0.3:
            version = rng.choice((b"2025-06-18", b"2026-03-26", b"1", b"\xff", b"x" * 500))
            lines.append(b"MCP-Protocol-Version: " + version)
        if kind < 0.01:
            question = self.asked.new()
            body = written(call("tools/call", asking(question, rng.random() < 0.3), 1))
            lines = [b"Accept: application/json, text/event-stream"]
            return self.to_mcp(
                body, lines, lambda status, received: self._received(question, status, received)
            )
        made = self.lines.request(rng)
        if kind < 0.15:
            body = written(made)
        elif kind < 0.2:
            body = written([made] * rng.randrange(4))
        else:
            body = bad_json(rng, made)
        return self.to_mcp(body, lines, self._refused)

    def to_mcp(self, body: bytes, lines: list[bytes], judge: Any) -> Request:
        fixed = [self.token, b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
        first = b"\r\n".join([b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1", *fixed, *lines, b"", b""])
        return Request(first + body, judge)

    def _refused(self, status: int, body: bytes) -> None:
        if status >= 500 or b'"internal"' in body:
            raise Violation(f"{status}: {body[:300]!r}")

    def _received(self, question: str, status: int, body: bytes) -> None:
        if status != 200 or b'"marker":1' not in body.replace(b'\\"', b'"').replace(b" ", b""):
            raise Violation(f"a good question heard {status}: {body[:500]!r}")
        self.asked.receive(question)


class McpFuzz:
    """MCP on a pipe and over HTTP, as one transport; the pipe carries the most."""

    name = "mcp"

    def __init__(self, server: Served, token: str, asked: Asked) -> None:
        self.pipe = McpLines(server, token, asked)
        self.http = McpHttp(server, token, asked)

    @property
    def process(self) -> Piped:
        return self.pipe.process

    @property
    def lasting(self) -> bool:
        return self.pipe.lasting

    @lasting.setter
    def lasting(self, value: bool) -> None:
        self.pipe.lasting = value

    def batch(self, rng: random.Random) -> int:
        return (self.http if rng.random() < 0.3 else self.pipe).batch(rng)

    def honest(self) -> None:
        self.pipe.honest()
        self.http.honest()

    def close(self) -> None:
        self.pipe.close()
        self.http.close()


def asking(question: str, progress: bool) -> dict[str, Any]:
    arguments = {"question": question, "options": {"using": "scripted"}}
    made: dict[str, Any] = {"name": "redask_ask", "arguments": arguments}
    return {**made, "_meta": {"progressToken": 7}} if progress else made


def one_line(made: bytes) -> bytes:
    return made.replace(b"\n", b" ").replace(b"\r", b" ")
