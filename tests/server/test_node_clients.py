"""Assistants and generated clients of other people: the official conformance suite of MCP, its
TypeScript SDK, and a TypeScript client generated from the OpenAPI document."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_thread import ServerThread
from transports import Transports
from waiting import SECONDS

from redask.server.http.openapi import document

NODE = Path(__file__).parent.parent / "node"
MODULES = NODE / "node_modules"
NOT_APPLICABLE: dict[str, str] = json.loads(
    (NODE / "conformance" / "not_applicable.json").read_text(encoding="utf-8")
)
APPLICABLE = {
    *("server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error"),
    *("tools-call-with-progress", "resources-list", "resources-read-text"),
    *("resources-templates-read", "completion-complete", "dns-rebinding-protection"),
    *("server-sse-polling", "server-sse-multiple-streams"),
}
FERRY = {"question": "When does the ferry leave?", "options": {"using": "scripted"}}
# our tools and resources for those of the server that the suite was written for
NAMES = {
    "tools": {
        "test_simple_text": {"name": "redask_collections", "arguments": {}},
        "test_error_handling": {
            "name": "redask_select",
            "arguments": {"statement": "SELECT 1/0"},
        },
        "test_tool_with_progress": {"name": "redask_ask", "arguments": FERRY},
    },
    "resources": {
        "test://static-text": "redask://audit",
        "test://template/123/data": "urn:reddb:row:notes/123",
    },
}


def needs(*names: str) -> None:
    absent = [name for name in names if not (MODULES / name).is_dir()]
    if absent:
        pytest.fail(f"{', '.join(absent)} is not installed: run tools/clients.sh")


def ran(words: list[str], given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        input=given,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with Transports(tmp_path_factory.mktemp("node") / "db") as opened:
        yield opened


# --- the conformance suite of MCP ---------------------------------------------------------------


def test_the_server_passes_every_scenario_of_the_suite_that_applies(tmp_path: Path) -> None:
    needs("@modelcontextprotocol/conformance")
    with ServerThread(tmp_path / "db", http_port=0, anonymous=True) as server:
        server.run(server.db.put("notes", [{"id": 123, "text": "note 123"}]))
        suite = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        start = ["node", "--import", str(NODE / "conformance" / "start.mjs"), str(suite), "server"]
        done = ran(
            [*start, "--suite", "all", "--url", f"{server.addresses[0]}/mcp"],
            NAMES=json.dumps(NAMES),
        )
    summary = re.findall(r"^([✓✗]) (\S+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert {name for _, name, _, _ in summary} == APPLICABLE | set(NOT_APPLICABLE), done.stderr
    failed = {name for sign, name, _, bad in summary if sign == "✗" or bad != "0"}
    assert failed - set(NOT_APPLICABLE) == set(), done.stdout
    assert failed == set(NOT_APPLICABLE)  # or the list says too much


# --- the TypeScript SDK of MCP -------------------------------------------------------------------


@pytest.fixture(scope="module")
def probed(transports: Transports) -> Any:
    needs("@modelcontextprotocol/sdk")
    given = {"url": f"{transports.url}/mcp", "token": transports.tokens["mia"]}
    done = ran(["node", str(NODE / "mcp_probe.mjs")], json.dumps(given))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_typescript_lists_tools_that_only_read(probed: dict[str, Any]) -> None:
    assert {each["name"] for each in probed["tools"]} == {
        *("redask_ask", "redask_explain", "redask_plan", "redask_search"),
        *("redask_select", "redask_collections", "redask_source"),
    }
    for each in probed["tools"]:
        hints = each["annotations"]
        assert hints["title"] == each["title"] != ""
        assert (hints["readOnlyHint"], hints["destructiveHint"]) == (True, False)
        assert hints["openWorldHint"] is (each["name"] == "redask_ask")


def test_typescript_reads_what_every_tool_returns(probed: dict[str, Any]) -> None:
    assert probed["asked"]["citations"][0]["marker"] == 1
    assert probed["explained"]["determinism"]["seed"] == str(2**63 - 1)
    assert probed["planned"]["sql"] == "SELECT count(*) FROM notes"
    assert probed["searched"]["hits"][0]["urn"].startswith("urn:reddb:")
    assert probed["selected"]["columns"] == [{"name": "id", "type": "int4"}]
    assert (len(probed["selected"]["rows"]), probed["selected"]["truncated"]) == (1, True)
    names = {each["name"]: each for each in probed["collections"]["collections"]}
    assert "secrets" not in names
    assert {"name": "id", "type": "int4"} in names["notes"]["columns"]
    assert probed["source"]["urn"] == "urn:reddb:row:notes/1"


def test_typescript_reads_resources(probed: dict[str, Any]) -> None:
    assert {"redask://audit", "redask://collections/notes"} <= set(probed["resources"])
    assert not [uri for uri in probed["resources"] if "secrets" in uri]
    assert "redask://collections/{collection}" in probed["templates"]
    assert "urn:reddb:row:notes/1" in probed["notes"]["sources"]
    assert probed["completed"] == ["notes"]
    assert probed["refused"]["resource"]["code"] == -32002


def test_typescript_can_read_every_error(probed: dict[str, Any]) -> None:
    assert probed["errors"] == {
        "bad": [True, "bad_ask", False],
        "denied": [True, "denied", False],
        "ungrounded": [True, "ungrounded", False],
        "refused": [True, "provider_refused", False],
        "exhausted": [True, "providers_exhausted", False],
        "late": [True, "deadline_exceeded", False],
        "sql": [True, "bad_ask", False],
        "hidden": [True, "bad_ask", False],
    }
    assert probed["refused"]["tool"]["code"] == -32602
    assert "redask_drop" in probed["refused"]["tool"]["message"]


def test_typescript_is_not_connected_without_a_token(probed: dict[str, Any]) -> None:
    for who in ("nobody", "stranger"):
        assert "result" not in probed["refused"][who]
        assert "unauthenticated" in probed["refused"][who]["message"]


def test_typescript_cancels_and_the_ask_ends(probed: dict[str, Any]) -> None:
    assert probed["pieces"] >= 2
    assert "result" not in probed["cancelled"]
    assert [each["kind"] for each in probed["ended"]] == ["cancelled"]


# --- a generated client --------------------------------------------------------------------------


def test_a_generated_client_is_well_typed_and_drives_every_route(
    transports: Transports, tmp_path: Path
) -> None:
    needs("openapi-typescript", "openapi-fetch", "typescript")
    probe_text = (NODE / "client_probe.ts").read_text()
    driven = set(re.findall(r'client\.([A-Z]+)\("([^"]+)"', probe_text))
    routes: Any = document()["paths"]
    operations = {(verb.upper(), path) for path, verbs in routes.items() for verb in verbs}
    assert driven == operations, "client_probe.ts calls every route of the document"
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "openapi.json").write_text(json.dumps(document()))
    (tmp_path / "client_probe.ts").write_text(probe_text)
    generator = MODULES / "openapi-typescript" / "bin" / "cli.js"
    described, made = str(tmp_path / "openapi.json"), str(tmp_path / "schema.d.ts")
    optional = ["--default-non-nullable", "false"]  # what has a default may be left out
    generated = ran(["node", str(generator), described, "-o", made, *optional])
    assert generated.returncode == 0, generated.stderr
    compiler = [str(MODULES / "typescript" / "bin" / "tsc"), str(tmp_path / "client_probe.ts")]
    options = "--strict --target es2022 --module es2022 --moduleResolution bundler --skipLibCheck"
    typed = ran(["node", *compiler, *options.split(), "--outDir", str(tmp_path / "out")])
    assert typed.returncode == 0, typed.stdout
    probe = str(tmp_path / "out" / "client_probe.js")
    done = ran(["node", probe, transports.url, transports.tokens["olga"]])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "written": ["urn:reddb:row:islands/1"],
        "answer": [1],
        "chat": ["redask", "redask", "redask", True],
        "plan": 3,
        "found": 5,
        "rows": [{"name": "Amrum"}],
        "source": '{"id":1,"name":"Amrum"}',
        "audit": FERRY["question"],
        "chain": True,
        "collection": True,
        "table": [{"id": 1, "name": "Amrum"}],
        "ingested": True,
        "previewed": 1,
        "set": "islands",
        "policies": True,
        "users": True,
        "session": ["olga", True, False],
        "health": "ok",
        "ready": 200,
        "metrics": True,
        "document": True,
        "bad": "bad_ask",
    }


def test_the_document_has_a_model_for_every_shape() -> None:
    whole: Any = document()
    assert len(whole["components"]["schemas"]) >= 30
    ids = [op["operationId"] for path in whole["paths"].values() for op in path.values()]
    assert len(ids) == len(set(ids)) == 25
