"""MCP: its schemas, refusals with the path named, resources and progress, by the real client."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema  # type: ignore[import-untyped]
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from server_thread import fill
from transports import Transports, mcp_received
from waiting import until_true

from redask.core.wire import schema
from redask.server import mcp_resources
from redask.server.mcp_tools import TOOLS

FERRY = {"question": "When does the ferry leave?", "options": {"using": "scripted"}}


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with Transports(tmp_path_factory.mktemp("mcp") / "db") as opened:
        yield opened


def client(transports: Transports, way: str) -> Client:
    found: Client = getattr(transports.clients["mia"], way)
    return found


WAYS = pytest.mark.parametrize("way", ["mcp", "mcp_http"])


@WAYS
def test_the_tools_have_the_schemas_of_every_surface(transports: Transports, way: str) -> None:
    tools = {each.name: each for each in transports.run(client(transports, way).list_tools()).tools}
    assert set(tools) == set(TOOLS) == set(CALLS)
    assert tools["redask_ask"].input_schema == schema.ask()
    assert tools["redask_ask"].output_schema == schema.envelope()
    assert tools["redask_explain"].output_schema == schema.plan()
    assert tools["redask_search"].output_schema == schema.hits()
    for each in tools.values():
        assert each.annotations is not None
        assert each.annotations.read_only_hint
        assert each.title


KNOBS = {"question": FERRY["question"], "options": {"using": "openrouter", "seed": 2**64 - 1}}
CALLS: dict[str, dict[str, Any]] = {
    "redask_ask": FERRY,
    "redask_explain": KNOBS,
    "redask_plan": {"question": "How many notes are there?"},
    "redask_search": KNOBS,
    "redask_select": {"statement": "SELECT id, title FROM notes WHERE id < $1", "params": [3]},
    "redask_collections": {},
    "redask_source": {"urn": "urn:reddb:row:notes/1"},
}


@WAYS
@pytest.mark.parametrize("tool", CALLS)
def test_what_a_tool_returns_is_as_its_schema_says(
    transports: Transports, way: str, tool: str
) -> None:
    [found] = [
        t for t in transports.run(client(transports, way).list_tools()).tools if t.name == tool
    ]
    jsonschema.validate(CALLS[tool], found.input_schema)
    result = transports.run(client(transports, way).call_tool(tool, CALLS[tool]))
    assert mcp_received(result).kind == "answered"
    assert found.output_schema is not None
    jsonschema.validate(result.structured_content, found.output_schema)


def structured(transports: Transports, tool: str, user: str = "mia", **given: Any) -> Any:
    near = transports.clients[user].mcp
    result = transports.run(near.call_tool(tool, given))
    return result.structured_content or json.loads(result.content[0].text)["error"]  # type: ignore[union-attr]


def test_select_shows_so_many_rows_and_says_how_many_there_are(transports: Transports) -> None:
    statement = "SELECT id, id * 10000000000000000 AS wide FROM notes ORDER BY id"
    found = structured(transports, "redask_select", statement=statement, max_rows=2)
    assert found["columns"] == [{"name": "id", "type": "int4"}, {"name": "wide", "type": "int8"}]
    assert [row["wide"] for row in found["rows"]] == ["10000000000000000", "20000000000000000"]
    assert (found["row_count"], found["truncated"]) == (3, True)
    whole = structured(transports, "redask_select", statement=statement, max_rows=3.0)
    assert (len(whole["rows"]), whole["truncated"]) == (3, False)


@pytest.mark.parametrize(
    ("tool", "given", "detail"),
    [
        ("redask_select", {"statement": 1}, "statement"),
        ("redask_select", {"statement": "SELECT 1", "params": {}}, "params"),
        ("redask_select", {"statement": "SELECT 1", "max_rows": 0}, "max_rows"),
        ("redask_select", {"statement": "SELECT 1", "max_rows": 1001}, "max_rows"),
        ("redask_select", {"statement": "SELECT 1", "max_rows": 1.5}, "max_rows"),
        ("redask_select", {"statement": "SELECT 1", "max_rows": True}, "max_rows"),
        ("redask_select", {"statement": "SELECT text FROM secrets"}, "secrets"),
        ("redask_select", {"statement": "ASK 'When?'"}, "42601"),
        ("redask_select", {"statement": "DELETE FROM notes"}, "25006"),
        ("redask_select", {"sql": "SELECT 1"}, "sql"),
        ("redask_collections", {"name": "notes"}, "name"),
        ("redask_source", {}, "urn"),
        ("redask_source", {"urn": "urn:reddb:row:secrets/1"}, "urn"),
        ("redask_source", {"urn": "urn:x"}, "scheme"),
    ],
)
def test_a_tool_says_what_is_wrong_with_its_arguments(
    transports: Transports, tool: str, given: dict[str, Any], detail: str
) -> None:
    error = structured(transports, tool, **given)
    assert error["detail"] == detail, error


def test_collections_and_their_columns_are_those_that_the_caller_reads(
    transports: Transports,
) -> None:
    def names(user: str) -> dict[str, Any]:
        found = structured(transports, "redask_collections", user)["collections"]
        assert [each["name"] for each in found] == sorted(each["name"] for each in found)
        return {each["name"]: each for each in found}

    mine, owners = names("mia"), names("olga")
    assert "secrets" in owners
    assert "secrets" not in mine
    assert mine["notes"]["entities"] == {"row": 3}
    assert {"name": "title", "type": "text"} in mine["notes"]["columns"]


@WAYS
def test_a_tool_that_does_not_exist_is_the_protocols_error(
    transports: Transports, way: str
) -> None:
    with pytest.raises(MCPError) as refused:
        transports.run(client(transports, way).call_tool("redask_drop", {}))
    assert refused.value.error.code == -32602


def test_a_collection_is_a_resource_with_its_sources_page_by_page(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_resources, "SOURCES", 2)
    near = transports.clients["mia"].mcp

    def read(uri: str) -> Any:
        [found] = transports.run(near.read_resource(uri)).contents
        return json.loads(found.text)  # type: ignore[union-attr]

    first = read("redask://collections/notes")
    last = read(first["next"])
    assert first["sources"] == ["urn:reddb:row:notes/1", "urn:reddb:row:notes/2"]
    assert (last["sources"], last["next"]) == (["urn:reddb:row:notes/3"], None)
    listed = {each.uri for each in transports.run(near.list_resources()).resources}
    assert {"redask://audit", "redask://collections/notes"} <= listed
    for hidden in ("secrets", "nowhere"):
        assert f"redask://collections/{hidden}" not in listed
        with pytest.raises(MCPError) as refused:
            read(f"redask://collections/{hidden}")
        assert refused.value.error.code == -32002
    for wrong in ("redask://collections/notes?after=x", "file:///etc/passwd"):
        with pytest.raises(MCPError) as refused:
            read(wrong)
        assert refused.value.error.code == -32602


def test_resources_and_tools_wait_for_admission(transports: Transports) -> None:
    near = transports.clients["mia"].mcp
    transports.admission.at_once, transports.admission.waiting = 0, 0
    try:
        error = structured(transports, "redask_collections")
        with pytest.raises(MCPError) as refused:
            transports.run(near.list_resources())
    finally:
        transports.admission.at_once, transports.admission.waiting = 64, 256
    assert error["kind"] == "overloaded"
    assert refused.value.error.code == -32029


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("given", ["", "Basic x", "Bearer", "Bearer redask_nobody"])
@pytest.mark.parametrize("version", ["", "2025-06-18", "2026-07-28"])
def test_who_does_not_sign_in_is_not_connected(
    transports: Transports, given: str, version: str
) -> None:
    headers = {**ACCEPT, **({"Mcp-Protocol-Version": version} if version else {})}
    if given:
        headers["Authorization"] = given
    reply = httpx.post(f"{transports.url}/mcp", json=HELLO, headers=headers)
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert reply.json()["error"]["kind"] == "unauthenticated"


def test_a_session_has_a_label_of_its_own(transports: Transports) -> None:
    http = transports.clients["mia"].http
    replies = [transports.run(http.post("/mcp", json=HELLO, headers=ACCEPT)) for _ in range(2)]
    labels = {each.headers["mcp-session-id"] for each in replies}
    assert len(labels) == 2
    assert {each.status_code for each in replies} == {200}


def test_only_who_sent_a_request_cancels_it(transports: Transports) -> None:
    """The same label and id with another token, and the same token with another label, do not."""
    endless = {"question": "Who cancels the ferry?", "options": {"using": "anthropic"}}
    call = {"name": "redask_ask", "arguments": endless}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}

    async def cancel(user: str, label: str, name: object = 7) -> int:
        params = {"requestId": name}
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        headers = {**ACCEPT, "Mcp-Session-Id": label}
        reply = await transports.clients[user].http.post("/mcp", json=told, headers=headers)
        return reply.status_code

    async def main() -> str:
        headers = {**ACCEPT, "Mcp-Session-Id": "mine"}
        http = transports.clients["mia"].http
        asking = asyncio.create_task(http.post("/mcp", json=message, headers=headers))
        before = len(transports.actors["anthropic"].calls)
        await until_true(lambda: len(transports.actors["anthropic"].calls) > before)
        for user, label, name in (("olga", "mine", 7), ("mia", "other", 7), ("mia", "mine", 8)):
            assert await cancel(user, label, name) == 202
        assert await cancel("mia", "mine", {}) == 202
        assert not asking.done()
        assert await cancel("mia", "mine") == 202
        return (await asking).text

    assert "cancelled" in transports.run(main())


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"cache": {"ttl": "5x"}}, "options.cache.ttl"),
        ({"limit": True}, "options.limit"),
        ({"limit": 1.5}, "options.limit"),
        ({"stream": True}, "options.stream"),
        ({"model": ""}, "options.model"),
        (None, "options"),
    ],
)
@WAYS
def test_a_refusal_names_the_path(
    transports: Transports, way: str, options: Any, path: str
) -> None:
    given = {"question": "ferry", "options": options}
    received = mcp_received(transports.run(client(transports, way).call_tool("redask_ask", given)))
    assert received.kind == "bad_ask"
    shown = json.loads(received.body)["error"]
    assert path in shown["detail"] + shown["message"]


@WAYS
def test_sources_and_own_audit_rows_are_resources(transports: Transports, way: str) -> None:
    near = client(transports, way)
    transports.run(near.call_tool("redask_ask", FERRY))
    [source] = transports.run(near.read_resource("urn:reddb:row:notes/1")).contents
    assert "Amrum" in source.text  # type: ignore[union-attr]
    [audit] = transports.run(near.read_resource("redask://audit")).contents
    rows = json.loads(audit.text)  # type: ignore[union-attr]
    assert {each["row"]["user"] for each in rows} == {"mia"}
    with pytest.raises(MCPError):
        transports.run(near.read_resource("urn:reddb:row:secrets/1"))


@WAYS
def test_a_client_with_a_progress_token_gets_every_piece(transports: Transports, way: str) -> None:
    received: list[str] = []

    async def noted(progress: float, total: float | None, message: str | None) -> None:
        received.append(message or "")

    near = client(transports, way)
    response = transports.run(near.call_tool("redask_ask", FERRY, progress_callback=noted))
    plain = transports.run(near.call_tool("redask_ask", FERRY))
    assert mcp_received(response) == mcp_received(plain)
    assert "".join(received[1:]) == json.loads(mcp_received(plain).body)["answer"]


def test_the_command_serves_a_client_that_starts_it(transports: Transports, tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]
    start = "from redask.cli import main; main()"
    words = ["-c", start, "--db", str(tmp_path / "db"), "--token", token, "mcp"]

    async def main() -> Any:
        server = StdioServerParameters(
            command=sys.executable,
            args=words,
            env={
                "REDASK_EMBEDDER_NAME": "none",
                "REDASK_ASK_PROVIDERS_TESTING": "true",
                "PYTHONPATH": ":".join(filter(None, sys.path)),
            },
        )
        async with Client(server) as started:
            return await started.call_tool("redask_ask", FERRY)

    here = transports.run(transports.ask("here", FERRY["question"], FERRY["options"]))  # type: ignore[arg-type]
    assert mcp_received(transports.run(main())).body == here.body


def test_the_command_does_not_start_for_a_token_that_nobody_has(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    start = "from redask.cli import main; main()"
    given = ["--db", str(tmp_path / "db"), "--token", "redask_x", "mcp"]
    env = {"REDASK_EMBEDDER_NAME": "none", "PYTHONPATH": ":".join(filter(None, sys.path))}
    words = [sys.executable, "-c", start, *given]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, input="")
    assert (done.returncode, done.stdout) == (3, "")
    assert "token" in done.stderr
