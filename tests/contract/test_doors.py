"""One suite over every door: the same envelope bytes and the mapped outcome, as in process."""

import asyncio
import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from doors import DOORS, Doors, Heard

from redask import errors
from redask.stores.calls import CALLS_FILE
from redask.wire import outcomes

AT_A_TIME = 25
WORDS = (
    "ferry lighthouse ticket Amrum nine Sundays open costs when does is the euros Ümläut 14 late"
)
FERRY = "When does the ferry leave?"


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    patch = pytest.MonkeyPatch()
    patch.setattr("redask.app.PATIENCE_SECONDS", 0.5)
    with Doors(tmp_path_factory.mktemp("doors") / "db") as opened:
        yield opened
    patch.undo()


def made_up(number: int) -> tuple[str, dict[str, Any]]:
    """A question and its options; equal for equal numbers."""
    rng = random.Random(number)
    question = " ".join(rng.choices(WORDS.split(), k=rng.randint(1, 7))) + rng.choice("?? \n'\"é")
    choices: dict[str, Any] = {
        "using": rng.choice(("scripted", "extractive", "local", "together,scripted")),
        "model": "any",
        "limit": rng.randint(1, 200),
        "strict": rng.random() < 0.5,
        "collection": rng.choice(("notes", ["notes", "odd"], ["nowhere"])),
        "min_score": rng.choice((0.0, 0.25, 1.0)),
        "depth": rng.randint(0, 10),
        "temperature": rng.choice((0.0, 0.5, 2.0)),
        "seed": rng.choice((0, 7, 2**53 + 1, 2**64 - 1)),
        "nocache": True,
    }
    kept = {name: choices[name] for name in choices if rng.random() < 0.3}
    return question, {"using": "scripted", **kept}


def everywhere(doors: Doors, question: str, options: dict[str, Any], user: str = "mia") -> Any:
    """What each door says, all asked at once; in process first."""

    async def main() -> dict[str, Heard]:
        here = await doors.ask("here", question, options, user)
        heard = await asyncio.gather(*(doors.ask(door, question, options, user) for door in DOORS))
        return {"here": here, **dict(zip(DOORS, heard, strict=True))}

    return doors.run(main())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "start" in metafunc.fixturenames:
        questions = int(metafunc.config.getoption("--door-questions"))
        metafunc.parametrize("start", range(0, questions, AT_A_TIME))


def test_the_same_question_has_the_same_bytes_at_every_door(doors: Doors, start: int) -> None:
    answered = 0
    for number in range(start, start + AT_A_TIME):
        question, options = made_up(number)
        heard = everywhere(doors, question, options)
        kinds = {door: each.kind for door, each in heard.items()}
        assert set(kinds.values()) == {"answered"}, (question, options, heard)
        bodies = {each.body for each in heard.values()}
        assert len(bodies) == 1, (question, options, heard)
        answered += bool(json.loads(heard["here"].body)["citations"])
    assert answered > AT_A_TIME / 5  # most are real answers, not the fixed sentence


def test_an_answer_from_the_cache_is_the_same_at_every_door(doors: Doors) -> None:
    options = {"using": "scripted", "cache": {"ttl": "5m"}}
    doors.run(doors.ask("here", FERRY, options))
    heard = everywhere(doors, FERRY, options)
    assert len({each.body for each in heard.values()}) == 1
    assert json.loads(heard["http"].body)["cache_hit"] is True


OUTCOMES: dict[str, tuple[str, dict[str, Any], type[errors.AskError]]] = {
    "a blank question": (" \n", {}, errors.BadAsk),
    "a limit out of range": (FERRY, {"limit": 201}, errors.BadAsk),
    "a provider nobody knows": (FERRY, {"using": "nobody"}, errors.BadAsk),
    "a time to live that is none": (FERRY, {"cache": {"ttl": "5x"}}, errors.BadAsk),
    "a collection that is not theirs": (FERRY, {"collection": "secrets"}, errors.Denied),
    "more than the limits allow": ("ferry " * 5000, {}, errors.LimitExceeded),
    "an answer that invents": (FERRY, {"using": "openai"}, errors.Ungrounded),
    "a provider without a key": (FERRY, {"using": "deepseek"}, errors.Misconfigured),
    "a provider that refuses": (FERRY, {"using": "groq"}, errors.ProviderRefused),
    "providers that all fail": (FERRY, {"using": "together"}, errors.ProvidersExhausted),
    "a provider that takes too long": (FERRY, {"using": "venice"}, errors.DeadlineExceeded),
    "a bug": (FERRY, {"using": "openrouter"}, errors.AskError),
}


def assert_mapped(heard: dict[str, Heard], error: type[errors.AskError]) -> None:
    """Every door reports this outcome in its own way, and says the same about it."""
    row = outcomes.OUTCOMES[next(cls for cls in error.__mro__ if cls in outcomes.OUTCOMES)]
    streams = {"sse", "grpc-stream"}
    bodies = set()
    for door, each in heard.items():
        if door in streams and each.kind == "error frame":
            assert each.code == row.http, door
            continue
        assert each.kind == row.kind, (door, each)
        shown = json.loads(each.body)["error"]
        if row.kind == "bad_ask":  # paths are named as the door spells them
            shown = {"kind": shown["kind"]}
        bodies.add(json.dumps(shown))
        expected = {
            "http": row.http,
            "sse": row.http,
            "rpc": row.jsonrpc,
            "rpc-stream": row.jsonrpc,
            "mcp": "isError",
            "mcp-http": "isError",
            "grpc": row.grpc,
            "grpc-stream": row.grpc,
            "pg": row.sqlstate,
            "here": None,
        }
        assert each.code == expected[door], (door, each)
    assert len(bodies) == 1, bodies


@pytest.mark.parametrize("what", OUTCOMES)
def test_every_outcome_is_the_same_at_every_door(doors: Doors, what: str) -> None:
    question, options, error = OUTCOMES[what]
    heard = everywhere(doors, question, options)
    assert_mapped(heard, error)
    spoken = b"".join(each.body for each in heard.values())
    assert b"KEY-1234" not in spoken
    assert b"Traceback" not in spoken
    if error is errors.Ungrounded:
        for door in ("http", "rpc", "mcp", "mcp-http", "grpc"):
            assert json.loads(heard[door].body)["validation"]["ok"] is False


def test_whoever_is_not_signed_in_is_told_so_at_every_door(doors: Doors) -> None:
    async def revoke() -> None:
        [fact] = [each for each in await doors.db.tokens() if each.user == "gone"]
        await doors.db.revoke_token(fact.id)

    doors.run(revoke())
    assert_mapped(everywhere(doors, FERRY, {}, "gone"), errors.Unauthenticated)


def test_a_full_house_is_overloaded_at_every_door(doors: Doors) -> None:
    async def full() -> dict[str, Heard]:
        at_once, waiting, room = doors.gate.at_once, doors.gate.waiting, doors.gate._room
        doors.gate.at_once = doors.gate.waiting = 0
        try:
            return {door: await doors.ask(door, FERRY) for door in DOORS}
        finally:
            doors.gate.at_once, doors.gate.waiting, doors.gate._room = at_once, waiting, room

    assert_mapped(doors.run(full()), errors.Overloaded)


def test_without_its_audit_row_there_is_no_answer_at_any_door(doors: Doors) -> None:
    with closing(sqlite3.connect(doors.directory / CALLS_FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        heard = everywhere(doors, FERRY, {"using": "scripted"})
    assert_mapped(heard, errors.AuditUnavailable)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Doors]:
    with Doors(tmp_path / "db") as opened:
        yield opened


def test_a_store_that_fails_says_so_at_every_door(
    elsewhere: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise errors.StoreFailed("the disk is gone")

    monkeypatch.setattr("redask.retrieval.Retriever.find_for_provider", broken)
    assert_mapped(everywhere(elsewhere, FERRY, {"using": "scripted"}), errors.StoreFailed)


@pytest.mark.parametrize("door", DOORS)
def test_a_caller_who_leaves_cancels_the_ask_and_its_row_says_so(doors: Doors, door: str) -> None:
    question = f"ferry, asked and left at {door}"
    options = {"using": "anthropic"}
    before = len(doors.actors["anthropic"].calls)

    async def main() -> None:
        asking = asyncio.create_task(doors.ask(door, question, options))
        while len(doors.actors["anthropic"].calls) == before:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.02)
        if door.startswith("rpc"):
            lines = doors.clients["mia"].lines
            _, reply = await lines.call("cancel", {"id": lines.count})
            assert reply["result"] is True
            assert (await asking).kind == "cancelled"
        asking.cancel()
        await asyncio.wait([asking])
        async with asyncio.timeout(1):  # well before the ask's own time is up
            while True:
                newest = (await doors.db.audit(1))[0].row
                if newest["question"] == question:
                    break
                await asyncio.sleep(0.01)
        reasons: Any = newest["errors"]
        assert [each["kind"] for each in reasons] == ["cancelled"]

    doors.run(main())
    assert doors.gate._tasks == set()
