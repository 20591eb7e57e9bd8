"""Asks replay as equal after a restart, a new index, a back-up and its restore, a dump and a load.

`make replays` does it with 1,000 asks.
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

import redask
from redask.core.errors import AskError
from redask.core.rules.audit_chain import Intact
from redask.core.rules.auditing.replay_report import ReplayReport

PLACES = ("Amrum", "Föhr", "Sylt", "Pellworm", "Hooge")
DAYS = ("Monday", "Friday", "Sunday")


def fill(db: redask.OpenDatabase) -> None:
    db.put(
        "ferries",
        [
            {"id": n, "harbour": PLACES[n % 5], "seats": 40 + n * 7 % 60, "day": DAYS[n % 3]}
            for n in range(40)
        ],
    )
    db.put(
        "notes",
        [
            {
                "id": n,
                "title": f"Ferry {n}",
                "text": f"Ferry {n} serves the harbour of {PLACES[n % 5]} on {DAYS[n % 3]}s. " * 4,
                "seen": None,
            }
            for n in range(60)
        ],
    )
    db.link("urn:reddb:row:notes/1", "mentions", "urn:reddb:row:ferries/1")
    rule = {"roles": ["support"], "rows": "id < :user.most", "hide": ["title"]}
    db.set_policy("notes", {"read": [rule]})
    db.add_user("mia", role="support", attributes={"most": 30})
    db.add_user("leo", role="sales")


def ask_all(directory: Path, count: int) -> int:
    """Ask so many questions of several kinds, as three users. → how many rows there are"""
    random = Random(7)
    with redask.open(directory, embedder="hashed") as db:
        fill(db)
        users = [db, *(db.signed_in(db.make_token(name)) for name in ("mia", "leo"))]
        for _ in range(count):
            who, number, place = random.choice(users), random.randrange(60), random.choice(PLACES)
            question, options = random.choice(_kinds(number, place, random))
            with suppress(AskError):  # a row, too
                who.ask(question, **options)
        return len(db.audit(limit=count + 1))


def _kinds(number: int, place: str, random: Random) -> list[tuple[str, dict[str, Any]]]:
    talk = [{"question": f"Which harbour does ferry {number} serve?", "answer": f"{place}."}]
    return [
        (f"Which harbour does ferry {number} serve?", {}),
        (f"Which harbour does ferry {number} serve?", {"limit": random.randrange(1, 30)}),
        (f"Which ferry serves {place} today?", {"plan": "off", "depth": 0}),
        (f"How many ferries serve the harbour {place}?", {}),
        (f"What is the average of seats of ferries by harbour {number}?", {}),
        ("And on which day?", {"history": talk, "plan": "off"}),
        (f"Who is the captain of {place}?", {"cache": {"ttl": "5m"}}),
        ("xyzzy?", {"min_score": 1.0, "collection": ["ferries"]}),
    ]


def unequal(directory: Path, rows: int) -> dict[int, ReplayReport]:
    """What is not equal, by number, of so many rows that are all replayed."""
    with redask.open(directory, embedder="hashed") as db:
        assert isinstance(db.verify_audit(), Intact)
        reports = [db.replay(entry.seq) for entry in db.audit(limit=rows + 1)]
        assert len(reports) == rows
        assert db.stale_answers().answers == ()
    return {each.seq: each for each in reports if each.verdict != "equal"}


def restart(directory: Path, _: Path) -> Path:
    return directory


def new_index(directory: Path, _: Path) -> Path:
    with redask.open(directory, embedder="hashed") as db:
        db.doctor(rebuild_index=True)
    shutil.rmtree(directory / "index")
    return directory


def restored(directory: Path, space: Path) -> Path:
    with redask.open(directory, embedder="hashed") as db:
        db.backup(space / "kept")
    redask.restore(space / "kept", to=space / "restored")
    return space / "restored"


def loaded(directory: Path, space: Path) -> Path:
    """Everything is removed and loaded again, so that only the content is the same."""
    with redask.open(directory, embedder="hashed") as db:
        db.dump(space / "dump.jsonl")
        sources = [f"urn:reddb:row:ferries/{n}" for n in range(40)]
        db.delete(*sources, *(f"urn:reddb:row:notes/{n}" for n in range(60)))
        assert db.replay(1).verdict == "sources_changed"
        db.load(space / "dump.jsonl")
        db.embed()
    return directory


def test_asks_replay_as_equal_after_whatever_keeps_the_content(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    count = int(request.config.getoption("--replayed-asks"))
    home = tmp_path / "db"
    rows = ask_all(home, count)
    assert rows == count
    steps: list[Callable[[Path, Path], Path]] = [restart, new_index, restored, loaded]
    for step in steps:
        home = step(home, tmp_path)
        assert unequal(home, rows) == {}, step.__name__
