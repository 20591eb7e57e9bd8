"""Attached tables in a server: computed by its worker processes, kept up to date by itself."""

import asyncio
import json
from pathlib import Path

import pytest
from attached_shop import Shop
from waiting import until

import redask
from redask.api.sync import open_async
from redask.app.attached import attached_parts
from redask.app.attached.attached_parts import AttachedSync
from redask.core.model import Caller
from redask.core.settings import load

HOW_MANY = "How many orders are there?"
PATIENT = load('[embedder]\nname = "none"\n[ask]\ntimeout_ms = 600000\n', {})


def attach(db: redask.OpenDatabase, place: Shop) -> None:
    db.attach(place.url, ["customers", "orders"], name="shop", role="shop_reader")


def test_a_servers_workers_compute_in_the_source(place: Shop, tmp_path: Path) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place)

    async def asked() -> list[object]:
        found = []
        async with await open_async(tmp_path / "data", serving=True, settings=PATIENT) as served:
            for statement in ("SELECT 1", "DELETE FROM orders WHERE id = 12"):
                place.run(statement)
                answer = await served.ask(HOW_MANY)
                found.append(json.loads(answer.sources_flat[0].payload)["rows"])
        return found

    assert asyncio.run(asked()) == [[[4]], [[3]]]


def test_a_server_looks_for_changes_by_itself(
    place: Shop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        app = db._async._app
        embedded: list[str] = []
        sync = AttachedSync(app.backend, embedded.append, seconds=0.01)
        sync.start()
        try:
            place.run("UPDATE orders SET note = 'a harp' WHERE id = 10")
            assert until(lambda: '"a harp"' in (db.get("urn:reddb:row:orders/10") or ""))
            assert until(lambda: embedded and set(embedded) == {"local"})
            place.run("ALTER ROLE shop_owner NOLOGIN")
            assert until(lambda: "'shop' is not up to date" in caplog.text)
            place.run("ALTER ROLE shop_owner LOGIN", "DELETE FROM orders WHERE id = 10")
            assert until(lambda: db.get("urn:reddb:row:orders/10") is None)
        finally:
            place.run("ALTER ROLE shop_owner LOGIN")
            sync.close()
        told = [each for each in caplog.messages if "is not up to date" in each]
        assert len(told) == 1  # however often it was tried


def test_a_database_without_attachments_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redask.open(tmp_path / "data") as db:
        db.put("orders", [{"id": 1}, {"id": 2}])
        monkeypatch.setattr(attached_parts, "attachments_of", None)
        assert json.loads(db.ask(HOW_MANY).sources_flat[0].payload)["rows"] == [[2]]
        assert db._async._app.computing.attached.run("SELECT 1", Caller()) is None  # type: ignore[union-attr]
