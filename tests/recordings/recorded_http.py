"""HTTP: status, content type and body of every route, for good and bad requests; MCP at /mcp."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import world
from started import served
from surface import Recorded

SAIL = {"question": "How is a torn sail mended?", "options": {"limit": 2}}
SHOWN = ("content-type", "allow", "cache-control", "connection", "www-authenticate", "retry-after")
TICKET = "/v1/sources/urn%3Areddb%3Arow%3Atickets%2F21"


def _scripted(model: str) -> dict[str, Any]:
    return {"question": "torn sail", "options": {"using": "scripted", "model": model, "limit": 1}}


POSTS: tuple[tuple[str, Any], ...] = (
    ("/v1/ask", SAIL),
    ("/v1/ask", {**SAIL, "stream": True}),
    ("/v1/ask", {**_scripted("mending"), "stream": True}),
    ("/v1/ask", {**_scripted("breaking"), "stream": True}),
    ("/v1/ask", {**SAIL, "stream": "yes"}),
    ("/v1/ask", {**SAIL, "fish": 1}),
    ("/v1/ask", {"question": " "}),
    ("/v1/ask", {"question": 1}),
    ("/v1/ask", {"question": "x", "options": []}),
    ("/v1/ask", {"question": "x", "options": {"limit": 201}}),
    ("/v1/ask", {"question": "x", "options": {"using": "nobody"}}),
    ("/v1/ask", {"question": "x", "options": {"using": "deepseek"}}),
    ("/v1/ask", {"question": "x", "options": {"collection": "secrets"}}),
    ("/v1/ask", {"question": "x", "options": {"collection": "secrets"}, "stream": True}),
    ("/v1/ask", {"question": "sail " * 3000}),
    ("/v1/ask", _scripted("inventing")),
    ("/v1/ask", _scripted("refused")),
    ("/v1/ask", _scripted("5xx")),
    ("/v1/ask", []),
    ("/v1/explain", SAIL),
    ("/v1/explain", {"question": "x", "options": {"using": "scripted", "seed": 2**60}}),
    ("/v1/explain", {"question": ""}),
    ("/v1/search", SAIL),
    ("/v1/search", {"question": "x", "options": {"depth": 11}}),
    ("/v1/query", {"statement": "SELECT * FROM tickets ORDER BY id LIMIT 2"}),
    ("/v1/query", {"statement": "SELECT * FROM boats WHERE id = $1", "params": ["möwe"]}),
    ("/v1/query", {"statement": "ASK $1 LIMIT 1", "params": ["torn sail"]}),
    ("/v1/query", {"statement": "EXPLAIN ASK 'torn sail' LIMIT 1"}),
    ("/v1/query", {"statement": "SELECT * FROM secrets"}),
    ("/v1/query", {"statement": "SELECT a.id FROM boats a, boats b, boats c"}),
    ("/v1/query", {"statement": "DROP TABLE tickets"}),
    ("/v1/query", {"statement": 1}),
    ("/v1/query", {"statement": "SELECT 1", "params": {}}),
    ("/v1/fish", SAIL),
    ("/healthz", SAIL),
)
GETS = (
    "/healthz",
    "/openapi.json",
    TICKET,
    "/v1/sources/urn%3Areddb%3Arow%3Atickets%2F1",
    "/v1/sources/urn%3Afish",
    "/v1/sources/",
    "/v1/audit?limit=2",
    "/v1/audit?limit=1&before=3",
    "/v1/audit?limit=0",
    "/v1/audit?fish=1",
    "/v1/ask",
    "/v1/ask/",
    "/mcp",
    "/",
)
CHAT = "/v1/chat/completions"
CHATS: tuple[dict[str, Any], ...] = (
    {},
    {"stream": True, "stream_options": {"include_usage": True}},
    {"redask": {"options": {"limit": 1}, "sources_in_text": True}, "temperature": 1},
    {"redask": {"options": {"using": "scripted", "model": "mending", "limit": 1}}, "stream": True},
    {"redask": {"options": {"using": "scripted", "model": "breaking", "limit": 1}}, "stream": True},
    {"redask": {"options": {"using": "scripted", "model": "inventing", "limit": 1}}},
    {"redask": {"options": {"using": "scripted", "model": "refused", "limit": 1}}},
    {"redask": {"options": {"collection": "secrets"}}},
    {"redask": {"options": {"limit": 201}}},
    {"messages": [{"role": "user", "content": " "}]},
    {"model": "fish"},
    {"n": 2},
)
MCP: tuple[dict[str, Any], ...] = (
    {"method": "tools/list"},
    {"method": "tools/call", "params": {"name": "redask_ask", "arguments": SAIL}},
    {"method": "tools/call", "params": {"name": "redask_fish", "arguments": {}}},
    {"method": "resources/list"},
)


def record(place: Path) -> Recorded:
    """As mia, as others, and without a token at a server that asks for none."""
    tokens = world.fill(place / "db")
    with served(place / "db", "--no-grpc", "--no-pg") as ports, _client(ports) as client:
        mia = {"authorization": f"Bearer {tokens['mia']}", "x-request-id": "recorded"}
        for number, (path, body) in enumerate(POSTS):
            reply = client.post(path, json=body, headers=mia)
            yield f"{number} POST {path} {json.dumps(body)[:150]}", _shown(reply)
        for path in GETS:
            yield f"GET {path}", _shown(client.get(path, headers=mia))
        yield from _chats(client, mia)
        yield from _odd(client, mia)
        yield from _writing(client, mia, tokens["olga"])
        yield from _strangers(client, tokens["gone"])
        for number, message in enumerate(MCP):
            yield f"mcp {number} {message}", _shown(_mcp(client, mia, message))
        metrics = client.get("/metrics", headers={"authorization": f"Bearer {tokens['olga']}"})
        lines = [line for line in metrics.text.splitlines() if line.startswith("# ")]
        ours = sorted(line for line in lines if " redask_" in line)
        yield "GET /metrics", [metrics.status_code, metrics.headers["content-type"], ours]
    with (
        served(place / "db", "--no-auth", "--no-grpc", "--no-pg") as ports,
        _client(ports) as open_,
    ):
        yield "no auth: ask", _shown(open_.post("/v1/ask", json=SAIL))
        yield (
            "no auth: another host",
            _shown(open_.get("/healthz", headers={"host": "evil.example"})),
        )
        yield "no auth: a bad token", _shown(open_.post("/v1/ask", json=SAIL, headers=_bearer("x")))


def _client(ports: dict[str, int]) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{ports['http']}", timeout=60)


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def _shown(reply: httpx.Response) -> list[object]:
    """Status, the headers that say something, whose request it was, and the body as it came."""
    told = {name: reply.headers[name] for name in SHOWN if name in reply.headers}
    if "allow" in told:  # the framework's order varies
        told["allow"] = ", ".join(sorted(told["allow"].split(", ")))
    own = reply.headers.get("x-request-id")
    return [reply.status_code, told, own if own == "recorded" else len(own or ""), reply.text]


def _chats(client: httpx.Client, mia: Mapping[str, str]) -> Recorded:
    """The database as a model; at a host whose name is always the same, for the links."""
    headers = {**mia, "host": "recorded.example"}
    messages = [{"role": "user", "content": SAIL["question"]}]
    asked = {"model": "redask", "messages": messages, "redask": {"options": {"limit": 1}}}
    for each in CHATS:
        reply = client.post(CHAT, json={**asked, **each}, headers=headers)
        yield f"chat {json.dumps(each)}", _shown(reply)
    for path in ("/v1/models", "/v1/models/redask", "/v1/models/fish", CHAT):
        yield f"GET {path}", _shown(client.get(path, headers=mia))


def _odd(client: httpx.Client, mia: Mapping[str, str]) -> Recorded:
    """Requests that are not quite what the routes expect."""
    as_json = {**mia, "content-type": "application/json"}
    events = {**mia, "accept": "text/event-stream"}
    yield "no JSON", _shown(client.post("/v1/ask", content=b"{", headers=as_json))
    yield "no UTF-8", _shown(client.post("/v1/ask", content=b'"\xff"', headers=as_json))
    twice = b'{"question": "a", "question": "b"}'
    yield "a key twice", _shown(client.post("/v1/ask", content=twice, headers=as_json))
    yield "no type", _shown(client.post("/v1/ask", content=b"{}", headers=mia))
    long = b'"' + b"x" * (2 * 1024 * 1024) + b'"'
    yield "too long", _shown(client.post("/v1/ask", content=long, headers=as_json))
    yield "accept events", _shown(client.post("/v1/ask", json=SAIL, headers=events))
    yield "DELETE /v1/ask", _shown(client.delete("/v1/ask", headers=mia))


def _writing(client: httpx.Client, mia: Mapping[str, str], olga: str) -> Recorded:
    path, rows = "/v1/collections/notes/entities", [{"id": 1, "text": "A note."}]
    owner = {**_bearer(olga), "x-request-id": "recorded"}
    yield "PUT as mia", _shown(client.put(path, json={"rows": rows}, headers=mia))
    for body in ({"rows": rows}, {"rows": 1}, {"rows": [1]}, {"rows": rows, "kind": "fish"}, {}):
        yield f"PUT {body}", _shown(client.put(path, json=body, headers=owner))
    yield "PUT nodes", _shown(client.put(path, json={"rows": rows, "kind": "node"}, headers=owner))
    asked = {"statement": "SELECT * FROM notes"}
    yield "what was put", _shown(client.post("/v1/query", json=asked, headers=mia))


def _strangers(client: httpx.Client, gone: str) -> Recorded:
    for name, headers in {
        "nobody": {},
        "gone": _bearer(gone),
        "a bad token": _bearer("redask_x"),
        "another scheme": {"authorization": "Basic eDp5"},
    }.items():
        yield f"{name}: ask", _shown(client.post("/v1/ask", json=SAIL, headers=headers))
        yield f"{name}: audit", _shown(client.get("/v1/audit", headers=headers))
    yield "nobody: models", _shown(client.get("/v1/models"))


def _mcp(client: httpx.Client, mia: Mapping[str, str], message: dict[str, Any]) -> httpx.Response:
    headers = {
        **mia,
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
    }
    return client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, **message}, headers=headers)
