"""What is disturbed: `OPERATIONS`, one row each. A world is a directory; the database is its `db`.

prepare(world)   what is there before
act(world)       the operation, from opening the database to closing it; → what its caller saw:
                 how many answers, and how many results of SELECTs and searches
parts(world, db) what it changes: each part is to be as before or as after, never between; the
                 database is open for looking at it, or None if there is none
"""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filing import app_of, held, write

import redask
from redask.api.auditing.sealing_methods import make_audit_key
from redask.app.locations import is_database
from redask.cli import main
from redask.core.rules.auditing.lived_time import DAY_NS
from redask.core.settings import load

QUESTION = "When does the ferry leave?"
_LATER = "urn:reddb:row:notes/6"  # what is in the database, and not in its back-up
_OF_A_STEP = ("4", "10")  # a row of each step of `folds`: a step is one transaction
NOON = 1_790_000_000 * 10**9
_CHECKPOINTS = "checkpoints.jsonl"
_DAYS = 12  # rows are kept for one, and for the margin of the log's own time
NORTH = {"read": [{"roles": ["support"], "rows": "region = 'north'"}]}
SOUTH = {"read": [{"roles": ["support"], "rows": "region = 'south'", "hide": ["text"]}]}
Seen = dict[str, int]  # by the log that has to have a row for each
Parts = dict[str, Any]


class UnexpectedExit(Exception):
    """The command ended with a code that is no outcome."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One row; see the module."""

    name: str
    prepare: Callable[[Path], None]
    act: Callable[[Path], Seen]
    parts: Callable[[Path, redask.OpenDatabase | None], Parts]


@contextmanager
def opened(world: Path, name: str = "db", **choices: Any) -> Iterator[redask.OpenDatabase]:
    with redask.open(world / name, embedder="hashed", **choices) as db:
        yield db


# --- what there is to look at ---------------------------------------------------------------------


def look(db: redask.OpenDatabase) -> dict[str, Any]:
    """What a database holds and finds; as JSON, so that it can be compared in another process."""
    db.embed()
    owner = redask.Caller()
    found: dict[str, Any] = {
        "held": held(db),
        "policies": dict(app_of(db).backend.store.policies(owner).items()),
        "users": sorted(user.name for user in db.users()),
        "search": [str(db.search(question).buckets) for question in ("ferry island", "storm tide")],
    }
    if "mia" in found["users"]:
        reader = db.signed_in(db.make_token("mia"))
        found["mia"] = [
            [reader.get(f"urn:reddb:row:notes/{number}") for number in range(4)],
            sorted(hit.urn for hit in reader.search("ferry island storm").hits),
        ]
        if "urn:reddb:row:notes/1" in found["held"]:
            found["mia"].append(
                [str(row) for row in reader.select("SELECT * FROM notes ORDER BY id")]
            )
    text = json.dumps(found, sort_keys=True, default=str)
    return dict(json.loads(text))


def whole(world: Path, db: redask.OpenDatabase | None) -> Parts:
    """The database as one part."""
    return {"database": db and look(db)}


# --- worlds ---------------------------------------------------------------------------------------


def rows(start: int, count: int, text: str) -> list[dict[str, object]]:
    return [
        {
            "id": number,
            "text": f"{text} {number}. The ferry leaves at {number} o'clock.",
            "region": "north" if number % 2 else "south",
        }
        for number in range(start, start + count)
    ]


def small(world: Path) -> None:
    """A few rows under a policy, a user, an index, an answer in the log."""
    with opened(world) as db:
        db.put("notes", rows(0, 4, "An island"))
        db.add_user("mia", role="support")
        db.set_policy("notes", NORTH)
        db.ask(QUESTION)
        db.select("SELECT * FROM notes")


def with_files(world: Path) -> None:
    small(world)
    for name in ("a", "b"):
        write(world / f"files/{name}.md", f"# {name}\n\nThe storm [comes](b.md) to {name}.\n")
    write(world / "files/t.csv", "id,name\n1,tide\n2,rope\n")
    with opened(world) as db:
        db.ingest(world / "files")
    write(world / "files/a.md", "# a\n\nA lighthouse [stands](b.md) there.\n\n## More\n\nSand.\n")
    write(world / "files/c.md", "# c\n\nA harbour, see [a](a.md).\n")
    (world / "files/t.csv").unlink()


def with_backup(world: Path) -> None:
    """An older back-up, and a database that went on."""
    small(world)
    with opened(world) as db:
        db.backup(world / "backup")
        db.put("notes", rows(4, 3, "A storm"))


def with_dump(world: Path) -> None:
    small(world)
    with opened(world, "other") as other:
        other.put("notes", rows(2, 6, "A tide"))
        other.put("ports", [{"id": 1, "name": "Amrum"}])
        other.add_user("ann", role="owner")
        other.set_policy("notes", SOUTH)
        other.dump(world / "dump.jsonl")


def with_old_rows(world: Path) -> None:
    """A log that has lived for longer than its rows are kept."""
    small(world)
    for day in range(_DAYS):
        with opened(world, clock=lambda day=day: NOON + day * DAY_NS) as db:
            db.ask(QUESTION)
            db.search("ferry")


def with_key(world: Path) -> None:
    small(world)
    make_audit_key(world / "audit.pem")


# --- operations -----------------------------------------------------------------------------------


def opens(world: Path) -> Seen:
    with opened(world):
        return {}


def puts(world: Path) -> Seen:
    with opened(world) as db:
        db.put("notes", rows(2, 4, "A storm"))
    return {}


def deletes(world: Path) -> Seen:
    with opened(world) as db:
        db.delete("urn:reddb:row:notes/1", "urn:reddb:row:notes/2")
    return {}


def asks(world: Path) -> Seen:
    answers = 0
    with contextlib.ExitStack() as stack:
        db = stack.enter_context(opened(world))
        answers += bool(db.ask(QUESTION, cache={"ttl": "1d"}).answer)
        stack.pop_all()
        _close(db)
    return {"ask": answers}


def asks_by_command(world: Path) -> Seen:
    return {"ask": _command("--db", str(world / "db"), "ask", QUESTION, "--using", "extractive")}


def selects(world: Path) -> Seen:
    with contextlib.ExitStack() as stack:
        db = stack.enter_context(opened(world))
        db.select("SELECT count(*) FROM notes")
        db.search("storm")
        stack.pop_all()
        _close(db)
    return {"access": 2}


def folds(world: Path) -> Seen:
    """Writes and searches until words, vectors and tables are folded."""
    with opened(world) as db:
        for start in (4, 10):
            db.put("notes", rows(start, 6, "A rope"))
            db.search("storm rope")
            db.select("SELECT count(*) FROM notes")
    return {}


def sets_policy(world: Path) -> Seen:
    with opened(world) as db:
        db.set_policy("notes", SOUTH)
    return {}


def adds_user(world: Path) -> Seen:
    with opened(world) as db:
        if "ann" not in {user.name for user in db.users()}:
            db.add_user("ann", role="owner")
        db.signed_in(db.make_token("ann"))
    return {}


def ingests(world: Path) -> Seen:
    with opened(world) as db:
        report = db.ingest(world / "files")
        if report.problems:
            raise redask.AskError(str(report.problems[0]))
    return {}


def backs_up(world: Path) -> Seen:
    with opened(world) as db:
        db.backup(world / "backup")
    return {}


def restores(world: Path) -> Seen:
    redask.restore(world / "backup", to=world / "db", overwrite=True)
    return {}


def dumps(world: Path) -> Seen:
    with opened(world) as db:
        db.dump(world / "dump.jsonl")
    return {}


def loads(world: Path) -> Seen:
    with opened(world) as db:
        db.load(world / "dump.jsonl", replace_policies=True)
    return {}


def prunes(world: Path) -> Seen:
    with opened(world, clock=lambda: NOON + _DAYS * DAY_NS) as db:
        db.ask(QUESTION)
    return {}


def seals(world: Path) -> Seen:
    places = {"KEY": world / "audit.pem", "FILE": world / _CHECKPOINTS}
    env = {f"REDASK_AUDIT_SEAL_{name}": str(place) for name, place in places.items()}
    with opened(world, settings=load("", env)) as db:
        report = db.seal_audit()
        if report.problems:
            raise redask.AskError(report.problems[0])
    return {}


def erases(world: Path) -> Seen:
    with opened(world) as db:
        db.erase_audit(1, ["question"], reason="request 12")
    return {}


def _close(db: redask.OpenDatabase) -> None:
    """After an answer was seen: what closing says cannot unsay it."""
    with contextlib.suppress(redask.AskError):
        db.close()


def _command(*arguments: str) -> int:
    """Run a command. → 1 if it said that all is well, 0 for an outcome that is an error"""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(arguments), standalone_mode=True)
        except SystemExit as ended:
            code = ended.code or 0
    if code not in (0, 2, 3, 4, 5, 6, 7, 8, 9):
        raise UnexpectedExit(f"{code}: {err.getvalue()[-2000:]}")
    if "Traceback" in err.getvalue() or (code and not err.getvalue().startswith("redask: ")):
        raise UnexpectedExit(f"{code}: {err.getvalue()[-2000:]}")
    if code:
        raise redask.AskError(err.getvalue())
    return int(bool(out.getvalue().strip()))


# --- parts ----------------------------------------------------------------------------------------


def by_file(world: Path, db: redask.OpenDatabase | None) -> Parts:
    """What came of each file; links between files are made at the end, and are parts, too."""
    parts: Parts = {}
    for urn, payload in held(db).items() if db else ():
        parts.setdefault(urn.partition("%23")[0].partition("#")[0], {})[urn] = payload
    return parts


def by_row(world: Path, db: redask.OpenDatabase | None) -> Parts:
    """What is written in several steps: what each of them wrote."""
    found = look(db) if db else {}
    written = [name for name in found.get("held", {}) if name.rpartition("/")[2] in _OF_A_STEP]
    return {name: found["held"][name] for name in written}


def by_kind(world: Path, db: redask.OpenDatabase | None) -> Parts:
    found = look(db) if db else {}
    return {name: found.get(name) for name in ("policies", "users", "held")}


def restored(world: Path, db: redask.OpenDatabase | None) -> Parts:
    """What the last back-up holds."""
    redask.restore(world / "backup", to=world / "restored", overwrite=True)
    with opened(world, "restored") as other:
        return {"back-up": look(other)}


def replaced(world: Path, db: redask.OpenDatabase | None) -> Parts:
    """The database, and that what was there before is still somewhere."""
    kept = 0
    for place in (*world.glob("db.before-*"), *world.glob(".db.restoring-*")):
        with contextlib.suppress(redask.AskError):  # half a restored one that could not be removed
            if is_database(str(place)):
                with opened(world, place.name) as other:
                    kept += other.get(_LATER) is not None
    kept += db is not None and db.get(_LATER) is not None
    return {**whole(world, db), "kept": kept > 0}


def dumped(world: Path, db: redask.OpenDatabase | None) -> Parts:
    path = world / "dump.jsonl"
    return {"dump": path.read_text() if path.exists() else None}


def sealed(world: Path, db: redask.OpenDatabase | None) -> Parts:
    """Of which logs a checkpoint was handed over; each line is whole."""
    path = world / _CHECKPOINTS
    lines = path.read_text().splitlines() if path.exists() else []
    logs = {json.loads(line)["log"] for line in lines}
    return {log: log in logs for log in ("ask", "access")}


def erased(world: Path, db: redask.OpenDatabase | None) -> Parts:
    """Whether the question of the first row is gone, on record."""
    first = db and next(each.row for each in db.audit(100) if each.seq == 1)
    return {"question": first and first.get("question")}


def nothing(world: Path, db: redask.OpenDatabase | None) -> Parts:
    """What is pruned when is not said; the log is verified in any case."""
    return {}


def fresh(world: Path) -> None:
    """Nothing is there yet."""


OPERATIONS = (
    Operation("create", fresh, opens, whole),
    Operation("put", small, puts, whole),
    Operation("delete", small, deletes, whole),
    Operation("ask", small, asks, whole),
    Operation("ask by command", small, asks_by_command, whole),
    Operation("select and search", small, selects, whole),
    Operation("fold", small, folds, by_row),
    Operation("policy", small, sets_policy, whole),
    Operation("user and token", small, adds_user, whole),
    Operation("ingest", with_files, ingests, by_file),
    Operation("backup", with_backup, backs_up, restored),
    Operation("restore", with_backup, restores, replaced),
    Operation("dump", with_dump, dumps, dumped),
    Operation("load", with_dump, loads, by_kind),
    Operation("prune", with_old_rows, prunes, nothing),
    Operation("seal", with_key, seals, sealed),
    Operation("erase", small, erases, erased),
)
BY_NAME = {each.name: each for each in OPERATIONS}
