"""A new node on PostgreSQL starts its index from the snapshot that another node keeps."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import postgres_databases
import pytest
from waiting import until

import redask
from redask.app import App, build
from redask.app.background import snapshot_thread
from redask.app.background.snapshot_thread import SnapshotThread
from redask.core.errors import StoreFailed
from redask.core.settings import load
from redask.core.wire.json import text
from redask.index.generation import Generation

SETTINGS = load('[embedder]\nname = "hashed"\n[select]\nworkers = 0', {})
QUESTIONS = [
    *(f"Why was the {ship} late in {port}?" for ship in ("Fram", "Hansa") for port in "AB"),
    "What did the pilott say?",  # a word that is nearest to one
    "Who escorts Fram?",
    "quintessence zeppelin",
]
NOW = 1_790_000_000 * 10**9


def fill(db: redask.OpenDatabase) -> None:
    calls = [
        {
            "id": number,
            "note": f"The {('Fram', 'Hansa')[number % 2]} was late in {'AB'[number % 3 % 2]}: the"
            f" pilot said fog on day {number}.",
            "region": ("north", "south")[number % 2],
        }
        for number in range(40)
    ]
    db.put("calls", calls)
    db.put("ships", [{"id": name, "name": name} for name in ("Fram", "Hansa")], kind="node")
    db.link("urn:reddb:node:ships/Hansa", "escorts", "urn:reddb:node:ships/Fram")
    db.add_user("mia", role="clerk")
    db.set_policy("calls", {"read": [{"roles": ["clerk"], "rows": "region = 'north'"}]})


@pytest.fixture
def url(tmp_path: Path) -> str:
    made = postgres_databases.location(tmp_path)
    with redask.open(made, settings=SETTINGS) as db:
        fill(db)
    return made


@pytest.fixture
def serve(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], App]]:
    """One more server, with files of its own on this machine."""
    opened: list[App] = []
    monkeypatch.setattr(snapshot_thread, "_LOOK_EVERY", 0.05)
    kept = replace(SETTINGS, serving=replace(SETTINGS.serving, snapshots=str(tmp_path / "kept")))

    def make() -> App:
        name = f"{url}&application_name=server{len(opened)}"
        opened.append(build(name, settings=kept, serving=True))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def answers(location: str) -> list[str]:
    """Envelopes and whole rankings by the index files of a node, as the owner and as a reader."""
    with redask.open(location, settings=SETTINGS, clock=lambda: NOW) as owner:
        reader = owner.signed_in(owner.make_token("mia"))
        return [
            text([db.ask(each).to_dict(), db.search(each, limit=50).to_dict()])
            for db in (owner, reader)
            for each in QUESTIONS
        ]


def test_a_new_node_answers_alike_and_reads_of_the_log_what_came_after_the_snapshot(
    serve: Callable[[], App], url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = serve()
    assert until(lambda: list((tmp_path / "kept").rglob("manifest")) != [])
    at = first.index.health("local").watermark
    with redask.open(url, settings=SETTINGS) as db:
        db.put(
            "calls", [{"id": 99, "note": "The Fram was late in A: no crane.", "region": "north"}]
        )
        db.delete("urn:reddb:row:calls/4", "urn:reddb:row:calls/5")
    first.close()
    made: list[Path] = []
    create = Generation.create

    def noticed(path: Path, identity: str) -> None:
        made.append(path)
        create(path, identity)

    monkeypatch.setattr(Generation, "create", noticed)
    new = serve()
    assert new.index.health("local").watermark >= at > 40
    assert until(lambda: new.index.health("local").pending == 0)
    new.close()
    assert made == []  # it was not begun from zero
    found = answers(f"{url}&application_name=server1")
    assert any("no crane" in each for each in found)
    assert found == answers(f"{url}&application_name=zero")
    assert len(made) == 1


def test_what_fails_is_tried_again_and_closing_waits_for_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot_thread, "_LOOK_EVERY", 0.001)
    done: list[str] = []

    def keep(tenant: str) -> bool:
        done.append(tenant)
        if len(done) == 1:
            raise StoreFailed("not now")
        return True

    thread = SnapshotThread(lambda: ["a", "b"], keep)
    assert until(lambda: done[:3] == ["a", "a", "b"])
    assert thread.close(0.0)
