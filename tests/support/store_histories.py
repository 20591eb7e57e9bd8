"""Random histories of files: databases are written, copied, put back in whole or in part.

`play(seed, steps, directory)` returns what went wrong. Two directories live side by side. What is
in `redask.sqlite` is the truth: after each change of files, searches, SELECTs and asks of two users
must be those of a database that was made from the same rows a moment ago.

    write       a few rows, now and then rows gone, or another policy
    keep        a copy of a directory, of closed files, in whole or in part
    put back    a kept copy over a directory: all of it, the store, the index, or the calls alone
    copy        one directory becomes a copy of another, and both are written on
    backup      `db.backup` and `redask.restore`, where the database can
    ask         as above; the answer cache is on, so that answers of another history could come back
"""

import json
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redask
from redask.index import generation
from redask.stores.columnar import tenant_projection

PLACES = ("a", "b")
WORDS = "ferry harbour tide island storm ticket rope".split()
QUESTIONS = ("ferry harbour", "storm island tide", "ticket rope")
PARTS = ("all", "redask.sqlite", "index", "calls.sqlite")
POLICIES: tuple[object | None, ...] = (
    None,
    {"read": [{"roles": ["support"], "rows": "region = 'north'"}]},
    {"read": [{"roles": ["support"], "hide": ["secret"]}]},
)
State = tuple[str, str]  # rows and policy, as JSON


@contextmanager
def small_tails() -> Iterator[None]:
    """Fold after a few changes, so that histories meet generations, not tails alone."""
    before = generation.MAX_TAIL, tenant_projection.MAX_TAIL
    generation.MAX_TAIL, tenant_projection.MAX_TAIL = 12, 8
    try:
        yield
    finally:
        generation.MAX_TAIL, tenant_projection.MAX_TAIL = before


class FileHistory:
    """One history: where the databases are, what was kept of them, and what is wrong so far."""

    def __init__(self, seed: int, directory: Path) -> None:
        self.chance = random.Random(seed)
        self.directory = directory
        self.kept: list[Path] = []
        self.expected: dict[State, Any] = {}
        self.log: list[str] = []
        self.wrong: list[str] = []
        self.checks = 0

    def step(self) -> None:
        """Do one thing to one directory, then look at it, most of the time."""
        place = self.chance.choice(PLACES)
        act = self.chance.choices(
            (self.write, self.keep, self.put_back, self.copy, self.backup), (4, 2, 5, 1, 1)
        )[0]
        self.log.append(f"{act.__name__} {place}")
        act(place)
        if self.chance.random() < 0.6:
            self.check(place)

    # --- what can happen --------------------------------------------------------------------

    def write(self, place: str, most: int = 2, search: float = 0.3) -> None:
        with self.opened(place) as db:
            for _ in range(self.chance.randrange(1, most + 1)):
                kind = self.chance.random()
                if kind < 0.15:
                    db.set_policy("notes", self.chance.choice(POLICIES))
                elif kind < 0.35:
                    db.delete(f"urn:reddb:row:notes/{self.chance.randrange(12)}")
                else:
                    numbers = self.chance.sample(range(12), self.chance.choice((1, 1, 2, 9)))
                    db.put("notes", [self.row(number) for number in numbers])
                if self.chance.random() < search:
                    db.search(QUESTIONS[0])

    def row(self, number: int) -> dict[str, object]:
        return {
            "id": number,
            "text": " ".join(self.chance.choices(WORDS, k=self.chance.randrange(1, 6))),
            "region": self.chance.choice(("north", "south")),
            "secret": self.chance.choice(WORDS),
        }

    def keep(self, place: str) -> None:
        if self.at(place).exists():
            copy = self.directory / f"kept-{len(self.kept)}"
            shutil.copytree(self.at(place), copy)
            self.kept.append(copy)

    def put_back(self, place: str) -> None:
        if not self.kept:
            return
        source = self.chance.choice(self.kept)
        part = self.chance.choices(PARTS, (2, 5, 2, 1))[0]
        self.log[-1] += f" {part} of {source.name}"
        if part == "all" or not self.at(place).exists():
            replace(source, self.at(place))
        elif (source / part).exists():
            replace(source / part, self.at(place) / part)
            if part.endswith(".sqlite"):  # their logs were empty: they were closed
                for log in self.at(place).glob(f"{part}-*"):
                    log.unlink()
        if self.chance.random() < 0.8:  # until its watermark has passed what was derived
            self.write(place, most=6, search=0)

    def copy(self, place: str) -> None:
        source = self.at(self.chance.choice([each for each in PLACES if each != place]))
        if source.exists():
            replace(source, self.at(place))
            self.log[-1] += f" from {source.name}"

    def backup(self, place: str) -> None:
        target = self.at(self.chance.choice(PLACES))
        with self.opened(place) as db:
            if not hasattr(db, "backup"):
                return
            kept = self.directory / "backup"
            db.backup(kept)
        redask.restore(kept, to=target, overwrite=True)
        self.log[-1] += f" to {target.name}"

    # --- looking at it ----------------------------------------------------------------------

    def check(self, place: str) -> None:
        """Compare with a database that was just made from the same rows."""
        with self.opened(place) as db:
            state = content(db)
            found = answers(db)
        if state not in self.expected:
            fresh = self.directory / "fresh"
            shutil.rmtree(fresh, ignore_errors=True)
            with redask.open(fresh, embedder="hashed") as db:
                add_user(db)
                if rows := json.loads(state[0]):
                    db.put("notes", rows)
                db.set_policy("notes", json.loads(state[1]))
                self.expected[state] = answers(db)
        self.checks += 1
        if found != self.expected[state]:
            self.wrong.append(f"{place} after {len(self.log)} steps: {' · '.join(self.log[-12:])}")

    def at(self, place: str) -> Path:
        return self.directory / place

    @contextmanager
    def opened(self, place: str) -> Iterator[redask.OpenDatabase]:
        with redask.open(self.at(place), embedder="hashed") as db:
            add_user(db)
            yield db


def play(seed: int, steps: int, directory: Path) -> FileHistory:
    """Play a history; `wrong` says what it found."""
    history = FileHistory(seed, directory)
    with small_tails():
        for _ in range(steps):
            history.step()
    return history


def replace(source: Path, target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        target.unlink(missing_ok=True)
        shutil.copy2(source, target)


def add_user(db: redask.OpenDatabase) -> None:
    if not db.users():
        db.add_user("mia", role="support")


def content(db: redask.OpenDatabase) -> State:
    """Rows and policy, read from the store alone."""
    app, owner = db._async._app, redask.Caller()
    rows = [json.loads(each.payload) for each in app.backend.store.page("notes", owner)]
    for row, source in zip(rows, app.backend.store.page("notes", owner), strict=True):
        row["id"] = int(source.urn.rpartition("/")[2])
    policy = app.backend.store.policies(owner).get("notes")
    return json.dumps(rows, sort_keys=True), json.dumps(policy, sort_keys=True)


def answers(db: redask.OpenDatabase) -> list[Any]:
    """What searches, SELECTs and asks say, to the owner and to a user."""
    found: list[Any] = []
    for reader in (db, db.signed_in(db.make_token("mia"))):
        for question in QUESTIONS:
            found.append(reader.search(question).buckets)
        try:
            found.append(reader.select("SELECT * FROM notes ORDER BY id"))
        except redask.AskError as error:  # no row yet, or none that this user may read
            found.append(type(error).__name__)
        answer = reader.ask(QUESTIONS[1], cache={"ttl": "1d"}).to_dict()
        found.append({name: answer[name] for name in ("answer", "citations", "sources_flat")})
    return found
