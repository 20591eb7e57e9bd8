"""A tenant's data as JSON Lines, and back: `dump(app, caller, write)`; `plan_load`, then `load`.

    {"redask_dump": 1, "made_by": "0.1.0"}
    {"kind": "user", "name": …, "role": …, "attributes": {…}}         no tokens: they are secrets
    {"kind": "column_type", "collection": …, "key": …, "type": …}
    {"kind": "language", "collection": …, "language": …}
    {"kind": "policy", "collection": …, "document": {…}}
    {"kind": "entity", "urn": …, "payload": {…}, "vector": […]}       an edge has from and to
    {"kind": "end", "records": 12, "sha256": …}                       of all bytes before it

Which file something came from, tokens, audit rows, spending and configuration are not in it: they
belong to one installation (`redask backup` has them). A file is read and checked as a whole before
anything is written (`dump_check`). Then it is written in steps; one that was interrupted is loaded
again, which changes nothing that is there. A user who is there keeps role and attributes: nobody
becomes an owner by a file. A collection that is there under another policy is loaded only if its
policy may be replaced: `LoadPlan` says which these are before anything is written.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from redask import __version__
from redask.app import App
from redask.app.dump_check import DumpCheck, Record, entity_of, is_between_edges
from redask.core.access.policy import must_own
from redask.core.errors import BadAsk, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Entity
from redask.core.wire import json as canonical

VERSION = 1
_STEP = 5_000
_FIELDS = {
    "user": {"name", "role", "attributes"},
    "column_type": {"collection", "key", "type"},
    "language": {"collection", "language"},
    "policy": {"collection", "document"},
    "entity": {"urn", "payload"},
}

DumpProgress = Callable[[int], None]  # how many records are done


@dataclass(frozen=True, slots=True)
class DumpCounts:
    """How many records of each kind there were.

    `kept` names users who had another role or other attributes than in the dump, and have them;
    `replaced` the collections whose policy was another before.
    """

    users: int = 0
    policies: int = 0
    entities: int = 0
    kept: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


def dump(
    app: App, caller: Caller, write: Callable[[str], object], progress: DumpProgress | None = None
) -> DumpCounts:
    """Write the data of the caller's tenant, in the state it has now, line by line."""
    must_own(caller)
    whole, counts, number = sha256(), dict.fromkeys(_FIELDS, 0), 0

    def line(record: Record) -> None:
        text = f"{canonical.text(record)}\n"
        whole.update(text.encode())
        write(text)

    line({"redask_dump": VERSION, "made_by": __version__})
    for number, record in enumerate(app.backend.store.dump(caller), start=1):
        line(record)
        counts[str(record["kind"])] += 1
        if progress and number % _STEP == 0:
            progress(number)
    line({"kind": "end", "records": number, "sha256": whole.hexdigest()})
    return _counts(counts)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What a dump that is good would change of who may read what.

    `users` are those it adds; `policies` the collections it has one of, `replaced` those of them
    that have another here, or have none and hold something.
    """

    path: Path
    users: tuple[str, ...]
    policies: tuple[str, ...]
    replaced: tuple[str, ...]


def plan_load(app: App, caller: Caller, path: Path, *, replace_policies: bool = False) -> LoadPlan:
    """Read and check a dump as a whole; nothing is written.

    `BadAsk` if it is not good, or would replace a policy that it may not.
    """
    must_own(caller)
    check, users, policies = DumpCheck(app, caller), [], {}
    for place, record in enumerate(read_records(path), start=2):
        check.add(record, place)
        if record["kind"] == "user":
            users.append(record["name"])
        elif record["kind"] == "policy":
            policies[record["collection"]] = record["document"]
    check.finish()
    store = app.backend.store
    known, have = (
        store.policies(caller),
        {each.name for each in app.backend.users.list_users(caller)},
    )
    replaced = sorted(
        name
        for name, document in policies.items()
        if (document != known[name] if name in known else store.columns(name, caller))
    )
    if replaced and not replace_policies:
        raise BadAsk(
            "collections that are here have another policy than in the dump: "
            f"{', '.join(replaced)}; load it with --replace-policies (replace_policies=True), or "
            "change one of them",
            detail="policy",
        )
    new = tuple(name for name in users if name not in have)
    return LoadPlan(path, new, tuple(sorted(policies)), tuple(replaced))


def load(
    app: App, caller: Caller, plan: LoadPlan, progress: DumpProgress | None = None
) -> DumpCounts:
    """Write what a dump holds into the caller's tenant; a known URN is replaced, no user is."""
    must_own(caller)
    written = [0]
    try:
        counts = _load(app, caller, plan.path, progress, written)
        return replace(counts, replaced=plan.replaced)
    except StoreFailed as error:
        done = f"{written[0]} records of the dump were written: load it again to go on"
        raise error.after(done) from error


def _load(
    app: App, caller: Caller, path: Path, progress: DumpProgress | None, written: list[int]
) -> DumpCounts:
    """Write the records of a dump that is good; `written` says how many were, whatever happens."""
    counts, number = dict.fromkeys(_FIELDS, 0), 0
    users = {user.name: user for user in app.backend.users.list_users(caller)}
    kept: list[str] = []
    waiting: list[Entity] = []
    between: list[Entity] = []  # edges between edges, which may need each other
    for number, record in enumerate(read_records(path), start=1):
        kind = record["kind"]
        counts[kind] += 1
        if kind == "entity":
            entity = entity_of(record)
            (between if is_between_edges(entity) else waiting).append(entity)
            if len(waiting) == _STEP:
                app.backend.store.put(waiting, caller)
                written[0] += len(waiting)
                waiting = []
        elif kind == "user" and (known := users.get(record["name"])):
            if (known.role, known.attributes) != (record["role"], record["attributes"]):
                kept.append(known.name)
        else:
            _set(app, record, caller)
            written[0] += 1
        if progress and number % _STEP == 0:
            progress(number)
    for rest in (waiting, between):
        app.backend.store.put(rest, caller)
        written[0] += len(rest)
    app.embed(caller)
    return _counts(counts, kept)


def _counts(counts: dict[str, int], kept: Sequence[str] = ()) -> DumpCounts:
    return DumpCounts(counts["user"], counts["policy"], counts["entity"], tuple(kept))


def read_records(path: Path) -> Iterator[Record]:
    """The records of a file; `BadAsk` for one that is no dump, cut off or changed."""
    whole, number, ended = sha256(), -1, False
    try:
        with open(path, "rb") as file:
            for place, line in enumerate(file, start=1):
                record = _parsed(line, place)
                if ended:
                    raise BadAsk(f"line {place}: something follows the end of the dump")
                if place == 1:
                    _check_head(record)
                elif record.get("kind") == "end":
                    ended = True
                    if (record.get("records"), record.get("sha256")) != (number, whole.hexdigest()):
                        raise BadAsk("the dump was changed or damaged: its checksum is wrong")
                else:
                    _check(record, place)
                    yield record
                whole.update(line)
                number += 1
    except OSError as error:
        raise BadAsk(f"{str(path)!a} cannot be read: {error.strerror}") from None
    if not ended:
        raise BadAsk("the dump is not whole: its last line is missing")


def _parsed(line: bytes, place: int) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise BadAsk(f"line {place} of the dump is no JSON") from None
    if not isinstance(record, dict):
        raise BadAsk(f"line {place} of the dump is no record")
    return record


def _check_head(record: Record) -> None:
    if "redask_dump" not in record:
        raise BadAsk("the file is no dump of redask")
    if record["redask_dump"] != VERSION:
        raise BadAsk(
            "the dump was made by another redask: upgrade redask to load it",
            detail=f"version {record['redask_dump']!a}, this redask knows {VERSION}",
        )


def _check(record: Record, place: int) -> None:
    kind = record.get("kind")
    if not isinstance(kind, str) or kind not in _FIELDS or not _FIELDS[kind] <= record.keys():
        raise BadAsk(f"line {place} of the dump is no record that this redask knows")


def _set(app: App, record: Record, caller: Caller) -> None:
    store, users = app.backend.store, app.backend.users
    kind = record["kind"]
    if kind == "user":
        users.add_user(record["name"], record["role"], record["attributes"], caller)
    elif kind == "column_type":
        store.set_column_type(record["collection"], record["key"], record["type"], caller)
    elif kind == "language":
        store.set_language(record["collection"], record["language"], caller)
    else:
        store.set_policy(record["collection"], record["document"], caller)
