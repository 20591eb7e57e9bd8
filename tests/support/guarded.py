"""A store with policies, tenants, all kinds and an audit log, in worlds that look alike to READER.

`build(directory, world)` writes what READER may see, the same in every world, and around it what
READER may not see: nothing of that in world 0, other things in every other world, all of it
carrying the word SECRET, or FOREIGN in the other tenant. Each world also has its own history:
order, rewrites and deletions.
"""

import random
from contextlib import closing
from pathlib import Path

from selecting_store import SelectingStore

from redask.core.model import Caller, Kind, Mode
from redask.core.ports import AuditRow, Entity
from redask.core.rules import audit
from redask.core.wire.json import text
from redask.stores.entity_rows import entities, link
from redask.stores.relational.auditing.audit_log import RelationalAuditLog
from redask.stores.sqlite.sqlite_backend import open_calls

SECRET = "sEcReT"
FOREIGN = "fOrEiGn"
OWNER = Caller()
READER = Caller("local", "ada", "reader")
STRANGER = Caller("other", "eve", "owner")
POLICIES = {
    "people": {
        "read": [
            {
                "roles": ["reader"],
                "rows": "region = 'eu'",
                "hide": ["salary"],
                "mask": ["email"],
            }
        ]
    },
    "plans": {"read": [{"roles": ["boss"]}]},
    "pages": {"read": [{"roles": ["*"], "rows": "public = true"}]},
    "spots": {"read": [{"roles": ["*"], "rows": "keeper = :user.name"}]},
    "ruled": {"read": [{"roles": ["*"]}]},
}
READABLE = ("people", "pages", "spots", "ruled", "notes", "config", "vectors", "links", "ties")
CLOSED = ("plans", "shadow", "nosuch", "entities", "tenants", "tokens", "users", "red_columns")
ODD_KEYS = ('q"uote', "back\\slash", "dot.ted", "größe", "select", "x y", "`tick`", "a'b", "tab\t")


def build(directory: Path, world: int) -> SelectingStore:
    """The store of one world, open."""
    rng = random.Random(world)
    _calls(directory, world)
    store = SelectingStore(directory)
    ruled = list(POLICIES.items())
    rng.shuffle(ruled)
    for name, policy in ruled[::2]:
        store.set_policy(name, policy, OWNER)
    seen, hidden = _seen(world), _hidden(world) if world else []
    _write(store, rng, [*seen, *hidden])
    edges = [*_seen_edges(), *(_hidden_edges(world) if world else [])]
    for level in (0, 1):  # an edge on an edge needs the other first
        _write(store, rng, [edge for edge in edges if ("edge" in (edge.source or "")) == level])
    for name, policy in ruled[1::2]:
        store.set_policy(name, policy, OWNER)
    if world:
        theirs = [{"id": n, "region": "eu", "name": FOREIGN, FOREIGN: n} for n in range(world)]
        store.put(entities("people", theirs), STRANGER)
        store.put(entities(f"{FOREIGN}only", [{"id": 1, "name": FOREIGN}]), STRANGER)
        store.set_policy("notes", {"read": []}, STRANGER)
    return store


def _write(store: SelectingStore, rng: random.Random, batch: list[Entity]) -> None:
    rng.shuffle(batch)
    gone = [each.urn for each in batch if rng.random() < 0.2 and each.source is None]
    for start in range(0, len(batch), 7):
        store.put(batch[start : start + 7], OWNER)
        store.put(batch[: start + 7 : 3], OWNER)
    store.delete(gone, OWNER)
    store.put(batch, OWNER)


def _person(number: int, region: str, world: int) -> dict[str, object]:
    row: dict[str, object] = {
        "id": number,
        "name": f"Person {number}",
        "region": region,
        "age": 20 + number % 7,
        "score": (0.1, 1e16, -1e16, 0.3, 7, 2.5)[number % 6],
        "email": f"{SECRET}{world}@example.org",
        "active": number % 2 == 0,
        "tags": ["a", {"n": number}],
        "Name": number if number % 3 else "mixed",
    }
    if world:
        row["salary"] = f"{SECRET} pay {world * number}"
    if region != "eu":
        row |= {
            "name": f"{SECRET} {number}",
            "age": f"{SECRET} age",
            f"{SECRET} column": 1,
            "score": SECRET,
        }
    return row


def _seen(world: int) -> list[Entity]:
    odd = {key: number for number, key in enumerate(ODD_KEYS)}
    notes: list[dict[str, object]] = [
        {"id": f"n{n}", "text": f"note {n}", "urn": "mine", "big": 10**30 + n, **odd}
        for n in range(8)
    ]
    pages = [
        {"id": f"p/{n}", "public": True, "title": f"Page {n}", "text": "x" * n} for n in range(5)
    ]
    return [
        *entities("people", [_person(n, "eu", world) for n in range(12)]),
        *entities("notes", notes),
        *entities("pages", pages, kind=Kind.DOCUMENT),
        *entities("spots", [{"id": n, "keeper": "ada", "x": n} for n in range(4)], kind=Kind.NODE),
        *entities("config", [{"id": "k", "value": None}], kind=Kind.KV),
        *entities("config", [{"id": 5, "value": 2**64}, {"id": 6, "value": 0.5}]),
        *entities("vectors", [{"id": 1}], kind=Kind.VECTOR, vectors=[[0.5, 0.5]]),
    ]


def _hidden(world: int) -> list[Entity]:
    word = f"{SECRET}{world}"
    return [
        *entities("people", [_person(n, "us", world) for n in range(40, 44 + world)]),
        *entities("plans", [{"id": f"{word}{n}", "plan": word} for n in range(world)]),
        *entities("pages", [{"id": word, "public": False, word: 1}], kind=Kind.DOCUMENT),
        *entities("spots", [{"id": -1, "keeper": "eve", "x": word, word: 1}], kind=Kind.NODE),
    ]


def _note(number: int) -> str:
    return f"urn:reddb:row:notes/n{number}"


def _tie(number: int, source: str, target: str, **more: object) -> Entity:
    payload = text({"from": source, "to": target, **more})
    return Entity(f"urn:reddb:edge:ties/{number}", payload, source=source, target=target)


def _seen_edges() -> list[Entity]:
    first = link(_note(0), "next", _note(1))
    return [
        first,
        link(_note(1), "next", _note(2)),
        link(_note(1), "by", "urn:reddb:row:people/3"),
        link(first.urn, "about", _note(4)),
        _tie(1, _note(0), _note(3), weight=2),
    ]


def _hidden_edges(world: int) -> list[Entity]:
    hidden, word = "urn:reddb:row:people/40", f"{SECRET}{world}"
    broken = link(_note(0), word, hidden)
    shadow = Entity(
        "urn:reddb:edge:shadow/1",
        text({"from": hidden, "to": _note(0)}),
        source=hidden,
        target=_note(0),
    )
    return [
        broken,
        link(broken.urn, word, _note(2)),
        _tie(2, _note(0), hidden, weight=word, **{word: 1}),
        shadow,
    ]


def _calls(directory: Path, world: int) -> None:
    calls = [("ada", "local", "my own question")] * 2
    for user, tenant in (("eve", "local"), ("ada", "other"), ("eve", "other"))[: 3 * world]:
        calls.append((user, tenant, f"{SECRET}{world}" if tenant == "local" else FOREIGN))
    with closing(open_calls(directory, busy_timeout=5)) as database:
        RelationalAuditLog(database, nonces=lambda: bytes(32)).append(
            [AuditRow(_call(*each)) for each in calls]
        )


def _call(user: str, tenant: str, question: str) -> dict[str, object]:
    return audit.record(
        ts=1,
        tenant=tenant,
        user=user,
        role="reader",
        question=question,
        sources_urns=["urn:reddb:row:notes/n0"],
        provider="scripted",
        model="m",
        prompt_tokens=1,
        completion_tokens=1,
        cost_usd=0.0,
        answer="",
        citations=[1],
        cache_hit=False,
        mode=Mode.STRICT,
        temperature=None,
        seed=None,
        validation_ok=True,
        retry_count=0,
        errors=[],
    )
