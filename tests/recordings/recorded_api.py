"""The public names of Python: signatures, fields, errors, and what methods give back."""

import asyncio
import dataclasses
import inspect
import re
import runpy
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import world
from surface import HERE, Recorded, outcome, plain

import redask

ROOT = HERE.parent.parent
PUBLIC = frozenset(redask.__all__)


def record(place: Path) -> Recorded:
    """Names first, then a small database used from both kinds of API."""
    yield "__all__", redask.__all__
    yield "version", redask.__version__
    for name in redask.__all__:
        yield name, _shape(getattr(redask, name))
    yield from _pages()
    tokens = world.fill(place / "db")
    with redask.open(place / "db") as db:
        yield "errors", _errors(redask.AskError)
        yield from _results(db)
        yield from _administration(db)
        yield from _sessions(db, tokens)
        yield from _writing(db)
    yield "closed", outcome(db.ask, "Why?")
    yield "async", asyncio.run(_async(place / "db", tokens["mia"]))
    for words in ({"token": "redask_x"}, {"tenant": ""}, {"tenant": "a/b"}, {"nonsense": 1}):
        yield f"open {words}", _tried(lambda words=words: redask.open(place / "db", **words))


def _shape(value: Any) -> Any:
    """A function's signature; a class with its public bases, fields and public methods.

    How a database object is made is left out: `open` and `aopen` make them.
    """
    if not inspect.isclass(value):
        return str(inspect.signature(value)) if callable(value) else value
    known = (each for each in value.__mro__ if not _is_ours(each) or each.__name__ in PUBLIC)
    shown: dict[str, Any] = {"bases": [each.__name__ for each in known]}
    if value not in (redask.OpenDatabase, redask.AsyncDatabase):
        shown["signature"] = str(inspect.signature(value))
    if dataclasses.is_dataclass(value):
        shown["fields"] = [[each.name, str(each.type)] for each in dataclasses.fields(value)]
    ours = {name for each in value.__mro__ if _is_ours(each) for name in vars(each)}
    for name in sorted(ours):
        if name.startswith("_") and name not in ("__enter__", "__aenter__"):
            continue
        member = getattr(value, name)
        said = inspect.getdoc(member) if callable(member) else None
        form = str(inspect.signature(member)) if callable(member) else repr(member)
        shown[f".{name}"] = [form, said]
    return shown


def _is_ours(value: type) -> bool:
    return value.__module__.split(".")[0] == "redask"


def _errors(root: type[BaseException]) -> dict[str, Any]:
    """The tree below an error, with each one's kind and how it is made."""
    ours = [each for each in root.__subclasses__() if _is_ours(each)]
    return {
        each.__name__: {
            "kind": getattr(each, "kind", None),
            "signature": str(inspect.signature(each)),
            "below": _errors(each),
        }
        for each in sorted(ours, key=lambda each: each.__name__)
    }


def _pages() -> Recorded:
    """The sections of the reference page: as it is kept, and as the code makes it."""
    kept = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    made = runpy.run_path(str(ROOT / "tools" / "reference.py"))["page"]()
    for page, text in (("docs/reference.md", kept), ("make docs", made)):
        for section in re.split(r"^## ", text, flags=re.MULTILINE):
            title, _, body = section.partition("\n")
            yield f"{page}: {title}", sha256(body.encode()).hexdigest()
    table = kept.split("## Settings")[1].split("## ")[0]
    yield "settings", [line for line in table.splitlines() if line.startswith("| `")]


def _results(db: redask.OpenDatabase) -> Recorded:
    answer = db.ask("How is a torn sail mended?", limit=2)
    yield "an answer", plain(answer)
    yield "CitedAnswer.to_dict", list(answer.to_dict())
    yield "repr of an answer", repr(answer)
    found = db.search("torn sail", limit=2)
    yield "search", plain(found)
    yield "search.to_dict", found.to_dict()
    yield "search notes", list(found.notes)
    yield "search sequence", [len(found), found[0].urn, [hit.score for hit in found]]
    yield "stream", [plain(event) for event in db.stream("torn sail", limit=1)]
    yield "explain", list(db.explain("torn sail"))
    yield "audit", plain(db.audit(2))
    yield "verify_audit", {**plain(db.verify_audit()), "head": "…"}
    yield "spending", plain([{**each, "day": "…"} for each in db.spending()])
    report = db.doctor()
    yield "doctor", {**report, "files": sorted(report["files"])}
    yield "describe", plain(db.describe("SELECT id, cost, tags FROM tickets WHERE id = $1"))
    yield "tables", plain(db.tables())
    yield "get", [db.get("urn:reddb:row:boats/wal"), db.get("urn:reddb:row:boats/none")]


def _administration(db: redask.OpenDatabase) -> Recorded:
    yield "users", plain(db.users())
    yield "tokens", [{**plain(each), "id": "…"} for each in db.tokens()]
    yield "policies", plain(db.policies())
    for who in ({"user": "mia"}, {"role": "sales"}, {"user": "nobody"}, {}):
        yield f"preview {who}", outcome(db.preview_policy, **who)
    policy = {"read": [{"roles": ["sales"], "rows": "cost > 100", "hide": ["text"]}]}
    yield "preview of a policy", outcome(db.preview_policy, "tickets", policy, role="sales")
    bads: tuple[object, ...] = ({"read": 1}, {"read": [{"roles": ["a"], "rows": "cost >"}]}, {})
    for bad in bads:
        yield f"bad policy {bad}", outcome(db.set_policy, "tickets", bad)
    yield "bad user", outcome(db.add_user, "local", role="sales")
    yield "same user", outcome(db.add_user, "mia", role="sales")
    yield (
        "other role",
        outcome(lambda: db.set_user("ben", role="sales", attributes={"a": [1, "b"]})),
    )
    yield "bad expiry", outcome(db.make_token, "mia", expires="30x")
    yield "no such token", outcome(db.revoke_token, "0123456789abcdef")
    yield "catch_up", outcome(db.catch_up)


def _sessions(db: redask.OpenDatabase, tokens: dict[str, str]) -> Recorded:
    for user in ("mia", "ada", "gone"):
        yield f"signed in as {user}", outcome(_seen, db, tokens[user])
    mia = db.signed_in(tokens["mia"])
    for name, work in {
        "put": lambda: mia.put("tickets", [{"id": 1}]),
        "users": mia.users,
        "verify_audit": mia.verify_audit,
        "spending": mia.spending,
        "doctor": mia.doctor,
        "delete": lambda: mia.delete("urn:reddb:row:tickets/1"),
        "signed_in": lambda: mia.signed_in(tokens["ben"]).users(),
    }.items():
        yield f"mia {name}", outcome(work)


def _seen(owner: redask.OpenDatabase, token: str) -> object:
    db = owner.signed_in(token)
    return [db.select("SELECT count(*) AS n FROM tickets"), db.tables()]


def _writing(db: redask.OpenDatabase) -> Recorded:
    for name, rows in _bad_rows():
        yield f"put {name}", outcome(db.put, "boats", rows)
    yield "put into a bad name", outcome(db.put, "a b/ü", [{"id": 1}])
    yield "put a bad kind", outcome(db.put, "boats", [{"id": 1}], kind="fish")
    yield "put", db.put("boats", [{"id": "new/one :é", "name": "Neu"}], wait=False)
    yield "embed", db.embed()
    yield (
        "link",
        outcome(lambda: db.link("urn:reddb:row:boats/wal", "tows", "urn:reddb:row:boats/otter")),
    )
    yield "bad link", outcome(lambda: db.link("urn:reddb:row:boats/wal", "", "urn:fish"))
    yield "delete", db.delete("urn:reddb:row:boats/otter", "urn:reddb:row:boats/none")
    yield "bad urn", outcome(db.get, "urn:reddb:fish:boats/wal")
    yield "ingest nothing", outcome(db.ingest)
    yield "ingest what is not there", outcome(lambda: db.ingest("not-there.csv").to_dict())


def _bad_rows() -> Iterator[tuple[str, list[Any]]]:
    yield "no mapping", [1]
    yield "a bad id", [{"id": 1.5}]
    yield "no JSON", [{"id": 1, "x": float("nan")}, {"id": 2, "y": {1}}]
    yield "one id twice", [{"id": 1}, {"id": 1}]


async def _async(place: Path, token: str) -> object:
    async with await redask.aopen(place) as db:
        mia = await db.signed_in(token)
        answer = await mia.ask("How is a torn sail mended?", limit=1)
        events = [plain(event) async for event in mia.stream("torn sail", limit=1)]
        rows = await mia.select("SELECT id FROM tickets ORDER BY id LIMIT 2")
        return [answer.to_dict(), events, rows, plain(await mia.tables())]


def _tried(work: Any) -> Any:
    try:
        return outcome(lambda: work().close())
    except TypeError as error:
        return re.sub(r"\w+\(\)", "…()", str(error))
