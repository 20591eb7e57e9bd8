"""The same data on every backend: the same answers, plans, searches and audit rows, to the byte.

Questions over the sample company and some made-up rows, with vectors, policies, deletions
and an ingested file; as the owner and as two users who may not read everything. Some are computed.
`--same-questions` says how many; `make test-same-answers` asks 500.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from enrolled import ENROLLED, LOCATIONS

from redask.api.sync import OpenDatabase, open_database
from redask.core.rules.audit_chain import Intact
from redask.core.wire.json import text
from redask.evaluation import sample
from redask.stores.backends import BACKENDS

NOW = 1_790_000_000 * 10**9
SHIPS = "Albatross Bounty Calypso Dorado Endeavour Fram Gjoa Hansa Iduna Jason".split()
PORTS = "Bergen Esbjerg Hamburg Oslo Riga Stavanger Tallinn Visby".split()
FAULTS = ["a broken pump", "a late pilot", "fog at the quay", "a torn sail", "no crane"]
NOTES = "# Harbour rules\n\nThe pilot of {} comes aboard at noon.\n\n## Night\n\nNobody sails {}.\n"


def fill(db: OpenDatabase, folder: Path) -> dict[str, str]:
    """Write the same history. → tokens by user"""
    chance = random.Random(7)
    sample.load(db)
    calls = [
        {
            "id": number,
            "ship": chance.choice(SHIPS),
            "port": chance.choice(PORTS),
            "note": f"Delayed by {chance.choice(FAULTS)} on day {number}.",
            "region": chance.choice(["north", "south"]),
            "fee": chance.randrange(100, 900),
        }
        for number in range(120)
    ]
    db.put("calls", calls)
    db.put("ships", [{"id": name, "name": name} for name in SHIPS], kind="node")
    for one, other in pairwise(SHIPS):
        db.link(f"urn:reddb:node:ships/{one}", "escorts", f"urn:reddb:node:ships/{other}")
    db.put("calls", [{**calls[3], "note": "Cleared at once."}])
    db.delete("urn:reddb:row:calls/5", "urn:reddb:node:ships/Jason")
    db.ingest(folder)
    (folder / "rules.md").write_text(NOTES.format("Fram", "from Oslo"), encoding="utf-8")
    db.ingest(folder)
    north = {"roles": ["clerk"], "rows": "region = :user.region", "hide": ["fee"]}
    everybody = {"roles": ["*"], "rows": "port = 'Oslo'", "mask": ["note"]}
    db.set_policy("calls", {"read": [north, everybody]})
    db.set_policy("carriers", {"read": [{"roles": ["clerk"]}]})
    db.add_user("mia", role="clerk", attributes={"region": "north"})
    db.add_user("tom", role="visitor")
    return {name: db.make_token(name) for name in ("mia", "tom")}


def questions(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    chance = random.Random(11)
    asked: list[Callable[[], str]] = [
        lambda: f"What delayed the {chance.choice(SHIPS)} in {chance.choice(PORTS)}?",
        lambda: f"Which ships had {chance.choice(FAULTS)}?",
        lambda: f"Who escorts {chance.choice(SHIPS)}?",
        lambda: f"What happened on day {chance.randrange(130)}?",
        lambda: "Why is order FDD-12313 late, and which carrier has it?",
        lambda: f"What do the rules say about {chance.choice(['pilots', 'the night', 'Oslo'])}?",
        lambda: "How do refunds work for gold customers?",
        lambda: f"quintessence zeppelin {chance.randrange(1000)}",
        lambda: f"How many calls are there in {chance.choice(PORTS)}?",
        lambda: "What is the total fee of calls per port?",
        lambda: f"What is the average fee of calls of the {chance.choice(SHIPS)}?",
    ]
    for number in range(count):
        options: dict[str, Any] = {
            "limit": chance.choice([3, 8, 20]),
            "depth": chance.choice([0, 2]),
        }
        if number % 5 == 0:
            options["using"] = "scripted"
        if number % 9 == 0:
            options["collection"] = chance.choice(["calls", "handbook", "ships"])
        yield asked[number % len(asked)](), options


def told(db: OpenDatabase, question: str, options: dict[str, Any]) -> str:
    """Everything a caller can learn from one question, as canonical text."""
    search = {name: value for name, value in options.items() if name != "using"}
    answer = db.ask(question, cache={"ttl": "1h"}, **options)
    again = db.ask(question, cache={"ttl": "1h"}, **options)
    return text(
        {
            "again": again.to_dict(),
            "answer": answer.to_dict(),
            "plan": db.explain(question, **options),
            "search": db.search(question, **search).to_dict(),
        }
    )


def audit(db: OpenDatabase) -> list[tuple[int, str]]:
    """Numbers and rows; hashes have nonces in them, so that no two are alike."""
    return [(each.seq, text(each.row)) for each in db.audit(limit=10_000)]


def test_every_backend_answers_explains_searches_and_audits_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    count = int(request.config.getoption("--same-questions"))
    assert len(ENROLLED) > 1
    folder = tmp_path / "files"
    folder.mkdir()
    file = folder / "rules.md"
    opened: list[dict[str, OpenDatabase]] = []
    with ExitStack() as stack:
        for row in ENROLLED:
            monkeypatch.setitem(BACKENDS, row.scheme, row)
            file.write_text(NOTES.format("Hansa", "alone"), encoding="utf-8")
            location = LOCATIONS[row.name](tmp_path / row.name)
            db = open_database(location, clock=lambda: NOW, embedder="hashed")
            owner = stack.enter_context(db)
            tokens = fill(owner, folder)
            opened.append({"owner": owner, **{n: owner.signed_in(t) for n, t in tokens.items()}})
        first, *others = opened
        cited = hits = computed = 0
        for number, (question, options) in enumerate(questions(count)):
            who = ("owner", "mia", "tom")[number % 3]
            expected = told(first[who], question, options)
            assert {told(each[who], question, options) for each in others} == {expected}, question
            cited += '"citations":[{' in expected
            hits += '"cache_hit":true' in expected
            computed += '"intent":"' in expected and '"sql":"SELECT' in expected
        assert cited > count / 2
        assert hits > count / 2
        assert computed > count / 10
        for who, db in first.items():
            rows = audit(db)
            assert len(rows) > count / 4
            assert all(audit(each[who]) == rows for each in others)
        verdicts = [each["owner"].verify_audit() for each in opened]
        assert all(isinstance(each, Intact) for each in verdicts)
        assert len({each.rows for each in verdicts if isinstance(each, Intact)}) == 1
