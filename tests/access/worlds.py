"""Small databases with secrets: what is in them, who asks, and what may not matter.

`World.random(chance)` draws tenants, collections of all six kinds, policies, users, a principal
and a question. Words are few, so that everything competes with everything; what the principal
may not read is as likely to match a question as what the principal may.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from redask.core.model import Caller, Kind, Urn
from redask.core.ports import DeclaredKey, Entity
from redask.core.rules import urn as urns
from redask.core.wire.json import text
from redask.embedding.models.hashed import Hashed
from redask.stores.entity_rows import link

WORDS = "amber birch cedar delta ember falcon garnet harbor island juniper".split()
NAMES = ["Ada Holm", "Ben Rau", "Cleo Park", "Amber Harbor", "Delta", "Juniper Island Ferry"]
REGIONS = ["EU", "US", "ASIA"]
ROLES = ["support", "finance", "client"]
COLLECTIONS = ["tickets", "people", "notes", "facts"]
ATTRIBUTES: list[dict[str, object]] = [
    {"region": "EU"},
    {"region": "US", "level": 2},
    {"level": 1},
    {},
]
Row = dict[str, Any]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# Each condition, and the same once more in Python: an attribute that is missing is a KeyError.
CONDITIONS: dict[str, Callable[[Row, Row], bool]] = {
    "region = :user.region": lambda r, u: r.get("region") == u["region"],
    "region <> 'US'": lambda r, _: _text(r.get("region")) and r["region"] != "US",
    "not (region = 'US')": lambda r, _: _text(r.get("region")) and r["region"] != "US",
    "level <= :user.level": lambda r, u: _number(r.get("level")) and r["level"] <= u["level"],
    "region in ('EU', 'ASIA') and secret is null": lambda r, _: (
        r.get("region") in ("EU", "ASIA") and r.get("secret") is None
    ),
    "level > 1 or region = :user.region": lambda r, u: (
        r.get("region") == u["region"] or (_number(r.get("level")) and r["level"] > 1)
    ),
    "owner = :user.name": lambda r, u: r.get("owner") == u["name"],
    "region is not null": lambda r, _: r.get("region") is not None,
    "flag = true": lambda r, _: r.get("flag") is True,
    "not (flag = true)": lambda r, _: r.get("flag") is False,
    ":user.role = 'support'": lambda _, u: u["role"] == "support",
}
LABEL = "label <> 'amber'"
CONDITIONS[LABEL] = lambda r, _: r["label"] != "amber"
COLUMNS = ["text", "title", "name", "region", "level", "salary", "email", "owner", "flag"]
# What a file would declare: edges with these labels, between these, are made of these columns.
KEYS = (
    DeclaredKey("tickets", ("owner",), "people", ("name",)),
    DeclaredKey("people", ("region", "level"), "notes", ("region", "level")),
    DeclaredKey("notes", ("email",), "notes", ("email",)),
)
KINDS = [Kind.ROW, Kind.DOCUMENT, Kind.NODE, Kind.KV, Kind.VECTOR]


def phrase(chance: random.Random, least: int = 1, most: int = 8) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(least, most)))


def row(chance: random.Random, number: int) -> dict[str, object]:
    """Columns with values of the kinds policies look at, some missing, some null."""
    every: dict[str, object] = {
        "text": phrase(chance),
        "title": chance.choice([*NAMES, phrase(chance, 1, 2)]),
        "name": chance.choice(NAMES),
        "region": chance.choice([*REGIONS, None]),
        "level": chance.choice([0, 1, 2, 3, "2", 1.5]),
        "salary": chance.randint(1, 9) * 1000,
        "email": f"{chance.choice(WORDS)}@example.org",
        "owner": chance.choice(["pia", "quin"]),
        "flag": chance.choice([True, False, None, 1]),
        "secret": phrase(chance),
    }
    kept = {name: value for name, value in every.items() if chance.random() < 0.6}
    return {"id": number, **kept}


def entity(chance: random.Random, collection: str, number: int) -> Entity:
    kind = KINDS[number % len(KINDS)]
    address = urns.encode(Urn(kind, collection, str(number)))
    vector = None
    if kind is Kind.VECTOR:
        (vector,) = Hashed().embed([phrase(chance)])
    return Entity(address, text(row(chance, number)), vector=vector)


def policy(chance: random.Random, collection: str) -> dict[str, object]:
    roles = chance.sample([*ROLES, "*"], chance.randint(1, 3))
    rules = []
    for role in roles:
        columns = chance.sample(COLUMNS, chance.randint(0, 4))
        half = len(columns) // 2
        rule: dict[str, object] = {"roles": [role], "mask": columns[half:]}
        if chance.random() < 0.3:
            rule["show"] = sorted({*COLUMNS, "secret"} - {*columns})
        else:
            rule["hide"] = columns[:half]
        if collection == "links":
            rule = {"roles": [role], **chance.choice([{}, {"rows": LABEL}])}
        elif chance.random() < 0.7:
            rule["rows"] = chance.choice(sorted({*CONDITIONS} - {LABEL}))
        rules.append(rule)
    return {"read": rules}


@dataclass
class World:
    """One tenant's data and policies, and another tenant's data beside it."""

    entities: dict[str, Entity]
    policies: dict[str, dict[str, object]]
    users: dict[str, tuple[str, dict[str, object]]]
    principal: Caller
    question: str

    @classmethod
    def random(cls, chance: random.Random) -> "World":
        entities = {}
        for collection in COLLECTIONS:
            for number in range(chance.randint(2, 9)):
                made = entity(chance, collection, number)
                entities[made.urn] = made
        if chance.random() < 0.1:  # more vectors than a bucket holds
            for number in range(100, 300, len(KINDS)):
                made = entity(chance, "facts", number + KINDS.index(Kind.VECTOR))
                entities[made.urn] = made
        for made in edges(chance, sorted(entities), chance.randint(2, 10)):
            entities[made.urn] = made
        policies = {
            collection: policy(chance, collection)
            for collection in [*COLLECTIONS, "links"]
            if chance.random() < 0.7
        }
        users: dict[str, tuple[str, dict[str, object]]] = {
            name: (chance.choice(ROLES), {**chance.choice(ATTRIBUTES)}) for name in ("pia", "quin")
        }
        if chance.random() < 0.3:
            users["quin"] = users["pia"]
        principal = Caller("acme", "pia", users["pia"][0])
        return cls(entities, policies, users, principal, question(chance))


def readable(world: World) -> dict[str, Row]:
    """What the principal may read, worked out once more from the policies as they are meant."""
    shown: dict[str, Row] = {}
    for urn, made in world.entities.items():
        content = _shown(world, collection_of(urn), json.loads(made.payload))
        if content is not None and not _tells_hidden(world, made):
            shown[urn] = content
    while True:
        broken = [
            urn
            for urn in shown
            if not {world.entities[urn].source, world.entities[urn].target} <= {None, *shown}
        ]
        if not broken:
            return shown
        for urn in broken:
            del shown[urn]


def collection_of(urn: str) -> str:
    return urn.split(":")[3].split("/", maxsplit=1)[0]


def _rule(world: World, collection: str) -> Row | None:
    """The rule for the principal; an empty one where there is no policy."""
    if collection not in world.policies:
        return {}
    rules: Any = world.policies[collection]["read"]
    role, _ = world.users[world.principal.user]
    ours = [rule for rule in rules if role in rule["roles"]]
    ours += [rule for rule in rules if "*" in rule["roles"]]
    return ours[0] if ours else None


def _hides(rule: Row, column: str) -> bool:
    if column in rule.get("hide", ()) or column in rule.get("mask", ()):
        return True
    return "show" in rule and column not in rule["show"] and column != "id"


def _tells_hidden(world: World, made: Entity) -> bool:
    """Whether an edge is made of a column that the principal cannot see."""
    if made.source is None or made.target is None:
        return False
    ends = collection_of(made.source), collection_of(made.target)
    label = json.loads(made.payload)["label"]
    for key in KEYS:
        if (key.collection, key.label, key.target) == (ends[0], label, ends[1]):
            columns = (ends[0], key.columns), (ends[1], key.target_columns)
            for collection, names in columns:
                rule = _rule(world, collection)
                if rule is None or any(_hides(rule, name) for name in names):
                    return True
    return False


def _shown(world: World, collection: str, content: Row) -> Row | None:
    role, attributes = world.users[world.principal.user]
    user = {**attributes, "name": world.principal.user, "role": role, "tenant": "acme"}
    rule = _rule(world, collection)
    if rule is None:
        return None
    try:
        if "rows" in rule and not CONDITIONS[rule["rows"]](content, user):
            return None
    except KeyError:
        return None
    kept = {name: value for name, value in content.items() if not _hides(rule, name)}
    return kept | dict.fromkeys(rule.get("mask", ()), "***")


def question(chance: random.Random) -> str:
    asked = phrase(chance, 1, 4)
    if chance.random() < 0.4:
        asked += f" {chance.choice(NAMES)}"
    if chance.random() < 0.2:
        asked += f' "{phrase(chance, 2, 2)}"'
    if chance.random() < 0.3:
        asked += f" {misspelt(chance)}"
    return f"What about {asked}?"


def misspelt(chance: random.Random) -> str:
    """A word with two letters swapped: what it is read as must be a word that may be read."""
    word = chance.choice(WORDS)
    swapped = chance.randrange(1, len(word) - 1)
    return word[:swapped] + word[swapped + 1] + word[swapped] + word[swapped + 2 :]


def edges(chance: random.Random, ends: Sequence[str], count: int) -> list[Entity]:
    """Edges between these, and from edges to these."""
    made: list[Entity] = []
    for _ in range(count):
        source = chance.choice([*ends, *(edge.urn for edge in made[:2])])
        target = chance.choice(ends)
        if source != target:
            label = chance.choice([*WORDS, *(key.label for key in KEYS)])
            made.append(link(source, label, target))
    for key in chance.choices(KEYS, k=3):  # as many that a file would make
        sources = [urn for urn in ends if collection_of(urn) == key.collection]
        targets = [urn for urn in ends if collection_of(urn) == key.target]
        if sources and targets:
            pair = chance.choice(sources), chance.choice(targets)
            if pair[0] != pair[1]:
                made.append(link(pair[0], key.label, pair[1]))
    return list({edge.urn: edge for edge in made}.values())
