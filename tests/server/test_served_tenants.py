"""`redask serve --tenants`: a server of some tenants refuses the callers of others."""

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from server_thread import serving_database

import redask
from redask.api.sync import open_async, settings_for
from redask.cli.serve_commands.serve_command import command
from redask.core.serving_limits import ServingLimits
from redask.core.settings import load
from redask.server.serving import Serving

SETTINGS = load('[embedder]\nname = "none"', {})


@pytest.mark.parametrize(
    ("tenants", "tenant", "served"),
    [((), "a", True), (("a", "b"), "b", True), (("a",), "b", False), (("a",), "", False)],
)
def test_a_server_of_no_named_tenants_serves_all(
    tenants: tuple[str, ...], tenant: str, served: bool
) -> None:
    assert ServingLimits(tenants=tenants).serves(tenant) is served


def test_callers_of_other_tenants_are_told_503_and_leave_no_row(tmp_path: Path) -> None:
    tokens = {}
    for tenant in ("north", "south"):
        with redask.open(tmp_path, tenant=tenant, settings=SETTINGS) as db:
            db.put("notes", [{"id": 1, "text": f"The harbour of the {tenant}."}])
            db.add_user("ann", role="reader")
            tokens[tenant] = db.make_token("ann")
    chosen = replace(SETTINGS, serving=replace(SETTINGS.serving, tenants=("north",)))

    async def asked() -> dict[str, httpx.Response]:
        replies = {}
        async with (
            await open_async(tmp_path, settings=chosen) as db,
            serving_database(db, Serving(http_port=0, grpc_port=None, pg_port=None)) as server,
            httpx.AsyncClient(base_url=server.addresses[0], timeout=60) as client,
        ):
            for tenant, token in tokens.items():
                headers = {"authorization": f"Bearer {token}"}
                given = {"question": "Where is the harbour?"}
                replies[tenant] = await client.post("/v1/ask", json=given, headers=headers)
            assert await db.unsettled() == ()  # the south's index is behind, which is nothing to us
        return replies

    replies = asyncio.run(asked())
    assert replies["north"].status_code == 200
    assert replies["south"].status_code == 503
    assert "other tenants" in replies["south"].json()["error"]["message"]
    with redask.open(tmp_path, tenant="south", settings=SETTINGS) as db:
        assert db.audit(10) == []


def test_the_option_becomes_a_setting_of_the_server(tmp_path: Path) -> None:
    assert settings_for(tmp_path, ("a", "b")).serving.tenants == ("a", "b")
    given = command.make_context(
        "serve", ["--tenants", "a", "--tenants", "b"], resilient_parsing=True
    )
    assert given.params["tenants"] == ("a", "b")
