"""A server follows the writes of other nodes, without being asked anything."""

import queue
from dataclasses import replace
from pathlib import Path

import postgres_databases
import pytest
from waiting import SECONDS, until

import redask
from redask.app import build
from redask.app.background.following_thread import FollowingThread
from redask.core.errors import StoreFailed
from redask.core.settings import load

SETTINGS = load('[embedder]\nname = "none"\n[select]\nworkers = 0', {})


class Feed:
    """Tells what a test puts in."""

    def __init__(self) -> None:
        self.told: queue.Queue[frozenset[str]] = queue.Queue()
        self.is_closed = False

    def wait(self, _: float) -> frozenset[str]:
        return self.told.get(timeout=SECONDS)

    def interrupt(self) -> None:
        self.told.put(frozenset())

    def close(self) -> None:
        self.is_closed = True


def test_each_tenant_that_was_written_to_is_caught_up_though_another_fails() -> None:
    feed, done = Feed(), []

    def catch_up(tenant: str) -> None:
        done.append(tenant)
        if tenant == "a":
            raise StoreFailed("not now")

    thread = FollowingThread(feed, catch_up)
    feed.told.put(frozenset({"b", "a"}))
    feed.told.put(frozenset({"c"}))
    assert until(lambda: len(done) == 3)
    assert thread.close(SECONDS)
    assert done == ["a", "b", "c"]
    assert until(lambda: feed.is_closed)


@pytest.mark.parametrize("served", [(), ("local",)])
def test_a_server_has_indexed_what_another_node_wrote_before_anybody_asks(
    tmp_path: Path, served: tuple[str, ...]
) -> None:
    url = postgres_databases.location(tmp_path)
    chosen = replace(SETTINGS, serving=replace(SETTINGS.serving, tenants=served))
    app = build(f"{url}&application_name=server", settings=chosen, serving=True)
    try:
        for tenant in ("local", "another"):
            with redask.open(url, tenant=tenant, settings=SETTINGS) as db:
                db.put("calls", [{"id": 1, "note": "The pilot came late."}])
        followed = served or ("local", "another")
        assert until(lambda: all(app.index.health(each).watermark == 1 for each in followed))
        left = {"local", "another"} - set(followed)
        assert all(app.index.health(each).watermark == 0 for each in left)
    finally:
        app.close()
