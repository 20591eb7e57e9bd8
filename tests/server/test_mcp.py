"""MCP: its schemas, refusals with the path named, resources and progress, by the real client."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from server_thread import fill
from transports import Transports, mcp_received

from redask.core.wire import schema

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
    assert set(tools) == {"redask_ask", "redask_explain", "redask_search"}
    assert tools["redask_ask"].input_schema == schema.ask()
    assert tools["redask_ask"].output_schema == schema.envelope()
    assert tools["redask_explain"].output_schema == schema.plan()
    assert tools["redask_search"].output_schema == schema.hits()


@WAYS
@pytest.mark.parametrize("tool", ["redask_ask", "redask_explain", "redask_search"])
def test_what_a_tool_returns_is_as_its_schema_says(
    transports: Transports, way: str, tool: str
) -> None:
    given = {"question": FERRY["question"], "options": {"using": "openrouter", "seed": 2**64 - 1}}
    if tool == "redask_ask":
        given["options"] = {"using": "scripted"}
    [found] = [
        t for t in transports.run(client(transports, way).list_tools()).tools if t.name == tool
    ]
    result = transports.run(client(transports, way).call_tool(tool, given))
    assert not result.is_error
    assert found.output_schema is not None
    jsonschema.validate(result.structured_content, found.output_schema)


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
            env={"REDASK_EMBEDDER_NAME": "none", "PYTHONPATH": ":".join(filter(None, sys.path))},
        )
        async with Client(server) as started:
            return await started.call_tool("redask_ask", FERRY)

    here = transports.run(transports.ask("here", FERRY["question"], FERRY["options"]))  # type: ignore[arg-type]
    assert mcp_received(transports.run(main())).body == here.body
