"""Whether a server is ready: what makes it so, and that a stranger is told words only."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY
from server_thread import ServerThread
from waiting import until

import redask
from redask.core.errors import StoreFailed
from redask.server import readiness
from redask.server.readiness import Readiness, is_ready
from redask.stores.relational.auditing.audit_log import RelationalAuditLog
from redask.stores.relational.relabelling import relabel_steps
from redask.stores.sqlite.store import SqliteStore

POLICY = {"read": [{"roles": ["support"], "rows": "region = 'north'"}]}


@pytest.mark.parametrize(
    ("reasons", "ready"),
    [
        ((), True),
        (("catching_up", "relabelling", "embedding_pending"), True),
        (("audit_unavailable",), False),
        (("starting",), False),
        (("stopping", "catching_up"), False),
        (("closed",), False),
    ],
)
def test_only_what_keeps_answers_away_makes_a_server_unready(
    reasons: tuple[str, ...], ready: bool
) -> None:
    assert is_ready(reasons) is ready


def test_each_change_is_one_line_and_a_figure(caplog: pytest.LogCaptureFixture) -> None:
    server = Readiness()
    server.opened()
    with caplog.at_level(logging.INFO, logger="redask.server"):
        for busy in ((), ("relabelling",), ("relabelling",), ("audit_unavailable",), ()):
            server.note(busy)
            for word in readiness.STATES:
                given = REGISTRY.get_sample_value("redask_busy", {"reason": word})
                assert given == (word in busy)
            assert REGISTRY.get_sample_value("redask_ready") == ("audit_unavailable" not in busy)
    assert caplog.messages == [
        "relabelling: begins",
        "relabelling: is over",
        "audit_unavailable: begins",
        "audit_unavailable: is over",
    ]
    assert [each.levelname for each in caplog.records][2] == "WARNING"


def test_what_cannot_be_looked_at_is_not_ready() -> None:
    server = Readiness()
    server.opened()

    async def look() -> tuple[str, ...]:
        raise StoreFailed("the database is closed")

    async def main() -> None:
        watching = asyncio.ensure_future(server.watch(look))
        while not server.reasons():
            await asyncio.sleep(0.001)
        watching.cancel()

    asyncio.run(main())
    assert server.reasons() == ("audit_unavailable",)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerThread]:
    monkeypatch.setattr(readiness, "LOOK_EVERY", 0.02)
    with ServerThread(tmp_path / "db", http_port=0) as served:
        yield served


def ready(server: ServerThread) -> tuple[int, Any]:
    reply = httpx.get(f"{server.addresses[0]}/readyz", timeout=60)
    return reply.status_code, reply.json()


def test_a_stranger_is_told_words_and_nothing_else(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.run(server.db.search("ferry"))
    assert until(lambda: ready(server) == (200, {"ready": True, "reasons": []}))
    monkeypatch.setattr(relabel_steps, "STEP", 1)
    monkeypatch.setattr(SqliteStore, "relabel", lambda *_: None)  # nobody goes on with it
    server.run(server.db.set_policy("notes", POLICY, wait=False))
    expected = {"ready": True, "reasons": ["relabelling"]}
    assert until(lambda: ready(server) == (200, expected))
    monkeypatch.undo()


def test_a_log_that_cannot_be_written_is_503_until_it_can(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreFailed("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(RelationalAuditLog, "append", full)
        assert until(lambda: ready(server)[0] == 503)
        assert ready(server)[1]["ready"] is False
        assert "audit_unavailable" in ready(server)[1]["reasons"]
    assert until(lambda: ready(server)[0] == 200)


def test_what_waits_for_its_vector_is_told(tmp_path: Path) -> None:
    with redask.open(tmp_path, embedder="hashed") as db:
        db.put("notes", [{"id": 1, "text": "harbour"}], wait=False)
        assert db.unsettled() == ("catching_up", "embedding_pending")
        db.embed()
        db.search("harbour")
        assert db.unsettled() == ()
