"""The data the recordings are about: a small made-up yard with policies, and its users.

`fill(directory)` makes a database with rows, documents, nodes, edges and key-values, all from
arithmetic, and returns the tokens of its users by name. `demo(directory)` makes the sample
company that `redask demo` loads, with two users of its own.
"""

import subprocess
from pathlib import Path
from typing import Any

from surface import COMMAND, environment

import redask

SETTINGS = """
[ask]
max_prompt_tokens = 3000
[select]
max_rows = 50
"""
REGIONS = ("north", "south", "east")
STATES = ("open", "closed", "draft")
BOATS = ("Adler", "Wal", "Möwe", "Krabbe", "Otter")
FAULTS = ("a leaking hull", "a torn sail", "a broken rudder", "a silent engine")
USERS: dict[str, tuple[str, dict[str, object]]] = {
    "mia": ("support", {"region": "north", "level": 3}),
    "ben": ("sales", {}),
    "ada": ("auditor", {}),
    "olga": ("owner", {}),
    "gone": ("support", {"region": "south"}),
}
POLICIES: dict[str, dict[str, Any]] = {
    "tickets": {
        "read": [
            {
                "roles": ["support"],
                "rows": "region = :user.region and status <> 'draft'",
                "hide": ["cost"],
                "mask": ["email"],
            },
            {"roles": ["sales", "auditor"], "rows": "status = 'closed'", "hide": ["email"]},
        ]
    },
    "boats": {"read": [{"roles": ["*"], "rows": "public = true"}]},
    "secrets": {"read": [{"roles": ["spy"]}]},
}


def tickets() -> list[dict[str, object]]:
    """Thirty rows in which every region meets every state."""
    return [
        {
            "id": number,
            "title": f"{BOATS[number % 5]} has {FAULTS[number % 4]}",
            "text": f"Ticket {number}: {FAULTS[number % 4]} was found on the {BOATS[number % 5]} "
            f"in the {REGIONS[number % 3]}. It takes {number % 7 + 1} days to mend.",
            "region": REGIONS[number % 3],
            "status": STATES[number // 3 % 3],
            "cost": number * 12.5,
            "email": f"owner{number}@example.org",
            "tags": [FAULTS[number % 4].split()[-1], number % 2 == 0],
        }
        for number in range(1, 31)
    ]


def boats() -> list[dict[str, object]]:
    """Five rows, one of which is not public; one has what others lack."""
    made: list[dict[str, object]] = [
        {"id": name.lower(), "name": name, "length_m": 6 + number / 2, "public": number != 3}
        for number, name in enumerate(BOATS)
    ]
    made[2] |= {"Größe": 2**60, "Name": "twice", "note": None}
    return made


def manual() -> list[dict[str, object]]:
    """Documents, in two languages and with what could break a prompt."""
    texts = (
        ("hull", "A leaking hull is dried for two days. Then it is sealed with tar."),
        ("sail", "A torn sail is sewn by hand. The sailmaker needs five metres of thread."),
        ("winter", "Im Winter liegen alle Boote in der Halle. Die Halle öffnet im März."),
        (
            "odd",
            'See </source> "quotes" \u2028 \U0001f6a2 [^1] a\ttab. The crane lifts nine tons.',
        ),
    )
    return [{"id": f"manual.md:{name}", "title": name, "text": text} for name, text in texts]


def fill(directory: Path) -> dict[str, str]:
    """The yard in a new database. → the tokens of its users"""
    directory.mkdir()
    (directory / "redask.toml").write_text(SETTINGS, encoding="utf-8")
    with redask.open(directory) as db:
        rows = db.put("tickets", tickets())
        hulls = db.put("boats", boats())
        db.put("manual", manual(), kind="document")
        people = [
            {"id": "eva", "name": "Eva Holm", "role": "sailmaker"},
            {"id": "ole", "name": "Ole Brink", "role": "foreman"},
        ]
        nodes = db.put("people", people, kind="node")
        db.put(
            "limits",
            [{"id": "crane.tons", "value": 9}, {"id": "days", "value": ["Mon"]}],
            kind="kv",
        )
        db.put("secrets", [{"id": 1, "text": "The Krabbe will be sold to Ole Brink."}])
        for number, urn in enumerate(rows, start=1):
            db.link(urn, "about", hulls[number % 5])
        db.link(nodes[0], "works for", nodes[1])
        db.link(nodes[0], "mends", rows[4])
        for collection, document in POLICIES.items():
            db.set_policy(collection, document)
        return _tokens(db, USERS)


def demo(directory: Path) -> dict[str, str]:
    """The sample company, of which `sales` reads but a part. → the tokens of its users"""
    words = [str(COMMAND), "--db", str(directory), "demo"]
    subprocess.run(words, env=environment(), check=True, stdout=subprocess.DEVNULL)
    with redask.open(directory) as db:
        rule = {"roles": ["sales"], "rows": "country = :user.country", "hide": ["certificate"]}
        db.set_policy("suppliers", {"read": [rule]})
        db.set_policy("orders", {"read": [{"roles": ["*"], "rows": "status <> 'late'"}]})
        return _tokens(db, {"mia": ("sales", {"country": "Ethiopia"}), "ben": ("guest", {})})


def _tokens(
    db: redask.OpenDatabase, users: dict[str, tuple[str, dict[str, object]]]
) -> dict[str, str]:
    for name, (role, attributes) in users.items():
        db.add_user(name, role=role, attributes=attributes)
    made = {name: db.make_token(name) for name in users}
    for token in db.tokens():
        if token.user == "gone":
            db.revoke_token(token.id)
    return made
