"""The doors on standard input: JSON-RPC (`redask rpc`) and MCP (`redask mcp`), line by line."""

import json
from pathlib import Path
from typing import Any

import world
from started import Lines, piped
from surface import Recorded

SAIL = {"question": "How is a torn sail mended?", "options": {"limit": 2}}
_INVENT = {"using": "scripted", "model": "inventing", "limit": 1}
_MEND = {"using": "scripted", "model": "mending", "limit": 1}
_BREAK = {"using": "scripted", "model": "breaking", "limit": 1}
CALLS: tuple[tuple[str, Any], ...] = (
    ("ask", SAIL),
    ("ask", {"question": "sail", "options": _INVENT}),
    ("ask", {"question": "sail", "options": {"collection": "secrets"}}),
    ("ask", {"question": "sail", "options": {"using": "deepseek"}}),
    ("ask", {"question": "sail " * 3000}),
    ("ask", {"question": " "}),
    ("ask", {"question": "sail", "fish": 1}),
    ("ask", []),
    ("explain", SAIL),
    ("explain", {"question": "sail", "options": {"limit": 0}}),
    ("search", SAIL),
    ("search", {}),
    ("query", {"statement": "SELECT * FROM tickets ORDER BY id LIMIT 2"}),
    ("query", {"statement": "ASK ? LIMIT 1", "params": ["torn sail"]}),
    ("query", {"statement": "EXPLAIN ASK 'torn sail' LIMIT 1"}),
    ("query", {"statement": "DELETE FROM tickets"}),
    ("query", {"statement": 1}),
    ("stream", SAIL),
    ("stream", {"question": "sail", "options": _MEND}),
    ("stream", {"question": "sail", "options": _BREAK}),
    ("stream", {"question": "sail", "options": {"limit": 201}}),
    ("cancel", {"id": 99}),
    ("cancel", {"fish": 1}),
    ("fish", {}),
)
RAW = (
    "{",
    "[]",
    "1",
    '{"jsonrpc": "1.0", "id": 1, "method": "ask"}',
    '{"jsonrpc": "2.0", "id": 1}',
    '{"jsonrpc": "2.0", "id": 1.5, "method": "ask"}',
    '[{"jsonrpc": "2.0", "id": 1, "method": "cancel", "params": {"id": 2}}, 3]',
)
PROTOCOL = "2025-06-18"
HELLO = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "recorder", "version": "1"},
}
TOOLS: tuple[tuple[str, Any], ...] = (
    ("ping", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "redask_ask", "arguments": SAIL}),
    ("tools/call", {"name": "redask_ask", "arguments": SAIL, "_meta": {"progressToken": "p"}}),
    ("tools/call", {"name": "redask_explain", "arguments": SAIL}),
    ("tools/call", {"name": "redask_search", "arguments": SAIL}),
    ("tools/call", {"name": "redask_ask", "arguments": {"question": " "}}),
    ("tools/call", {"name": "redask_ask", "arguments": {"question": "sail", "options": _INVENT}}),
    ("tools/call", {"name": "redask_fish", "arguments": {}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "urn:reddb:row:tickets/21"}),
    ("resources/read", {"uri": "urn:reddb:row:tickets/1"}),
    ("resources/read", {"uri": "urn:fish"}),
    ("resources/read", {"uri": "redask://audit"}),
    ("prompts/list", {}),
)


def record(place: Path) -> Recorded:
    """Both doors as mia, and JSON-RPC as the owner."""
    tokens = world.fill(place / "db")
    with piped(place / "db", "rpc", tokens["mia"]) as rpc:
        for number, (method, params) in enumerate(CALLS):
            key = f"rpc {number} {method} {json.dumps(params)[:150]}"
            yield key, _said(rpc, number, method, params)
        for line in RAW:
            yield f"rpc line {line}", rpc.ask(line)
    with piped(place / "db", "rpc") as rpc:
        yield "rpc as the owner", _said(rpc, "a", "query", {"statement": "SELECT * FROM secrets"})
    with piped(place / "db", "mcp", tokens["mia"]) as mcp:
        yield "mcp initialize", _said(mcp, 0, "initialize", HELLO)
        mcp.tell('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        for number, (method, params) in enumerate(TOOLS, start=1):
            yield f"mcp {number} {method} {params}", _said(mcp, number, method, params)


def _said(lines: Lines, name: object, method: str, params: object) -> list[str]:
    return lines.ask(json.dumps({"jsonrpc": "2.0", "id": name, "method": method, "params": params}))
