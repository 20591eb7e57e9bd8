"""Time runs out, callers leave, disks fail: every ASK still ends in a row, or in no answer."""

import asyncio
import sqlite3
import threading
from contextlib import aclosing, closing
from typing import Any

import pytest
from deadlines import out_of_time
from stage import Player, Stage

import redask
from redask.core import errors
from redask.core.model import Answered, AnswerToken, Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules.audit import answer_hash
from redask.stores.sqlite.calls_migrations import CALLS_FILE

FERRY = "When does the ferry leave?"
PATIENT = "[ask]\ntimeout_ms = 120000"


async def never() -> str:
    await asyncio.Event().wait()
    return "too late"


def kinds(db: redask.OpenDatabase) -> list[str]:
    row: dict[str, Any] = db.audit(1)[0].row
    return [error["kind"] for error in row["errors"]]


def test_an_ask_that_takes_too_long_is_cut_off_and_audited(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [out_of_time]), toml=PATIENT)
    with pytest.raises(errors.DeadlineExceeded) as caught:
        db.ask(FERRY)
    assert caught.value.limit == "timeout_ms"
    assert kinds(db) == ["timeout_ms"]


def test_a_slow_provider_gets_its_share_and_the_next_one_answers(harbour: Stage) -> None:
    players = (Player("openai", [out_of_time]), Player("groq", ["At nine [^1]."]))
    db = harbour.open(*players, toml=PATIENT)
    assert db.ask(FERRY).provider == "groq"
    assert kinds(db) == ["provider_failed"]
    assert "timeout" in str(db.audit(1)[0].row["errors"])


def test_once_the_deadline_has_passed_it_is_504_however_many_providers_remain(
    harbour: Stage,
) -> None:
    async def slow_failure() -> errors.ProviderFailed:
        harbour.clock.now += 10**12
        return errors.ProviderFailed("openai", errors.Failure.SERVER, "busy")

    second = Player("groq", ["never"])
    db = harbour.open(Player("openai", [slow_failure]), second, toml=PATIENT)
    with pytest.raises(errors.DeadlineExceeded):
        db.ask(FERRY)
    assert second.calls == []
    assert kinds(db) == ["provider_failed", "timeout_ms"]


class Stuck(Player):
    """Says two pieces, and then nothing any more."""

    async def complete(self, prompt: Prompt, knobs: Knobs, **rest: Any) -> Completion:
        for piece in ("At ", "nine"):
            await rest["emit"](piece)
        await asyncio.Event().wait()
        raise AssertionError("nobody waits that long")


def test_leaving_a_stream_cancels_the_ask_and_its_row_has_the_partial_text(
    harbour: Stage,
) -> None:
    player = Stuck("scripted", [])

    async def main() -> dict[str, Any]:
        settings = harbour.settings("", (player,))
        async with await redask.aopen(
            harbour.directory, settings=settings, providers={"scripted": player}
        ) as db:
            async with aclosing(db.stream(FERRY)) as events:
                async for event in events:
                    if event == AnswerToken("nine"):
                        break
            return (await db.audit(1))[0].row

    row = asyncio.run(main())
    assert [error["kind"] for error in row["errors"]] == ["cancelled"]
    assert row["answer_hash"] == answer_hash("At nine")
    assert (row["citations"], row["validation_ok"]) == ([], False)


def test_a_cancelled_plain_ask_leaves_its_row(harbour: Stage) -> None:
    player = Player("scripted", [never])

    async def main() -> list[str]:
        settings = harbour.settings("", (player,))
        async with await redask.aopen(
            harbour.directory, settings=settings, providers={"scripted": player}
        ) as db:
            asking = asyncio.create_task(db.ask(FERRY))
            while not player.calls:
                await asyncio.sleep(0.01)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            row: dict[str, Any] = (await db.audit(1))[0].row
            return [error["kind"] for error in row["errors"]]

    assert asyncio.run(main()) == ["cancelled"]


def test_without_its_row_there_is_no_answer(harbour: Stage, monkeypatch: Any) -> None:
    monkeypatch.setattr("redask.stores.sqlite.sqlite_backend.BUSY_TIMEOUT_SECONDS", 0.1)
    db = harbour.open(Player("scripted", ["At nine [^1]."]))
    file = harbour.directory / CALLS_FILE
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(errors.AuditUnavailable):
            db.ask(FERRY)
        assert not any(isinstance(event, Answered) for event in db.stream(FERRY))
    assert db.audit(10) == []
    assert db.ask(FERRY).citations


def test_the_synchronous_api_works_inside_a_running_loop_and_in_threads(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["At nine [^1]."]))

    async def notebook() -> str:
        return db.ask(FERRY).answer

    assert asyncio.run(notebook()) == "At nine [^1]."
    threads = [threading.Thread(target=db.ask, args=(FERRY,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(db.audit(100)) == 9


def test_a_closed_database_says_so(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["At nine [^1]."]))
    db.close()
    db.close()
    with pytest.raises(errors.BadAsk):
        db.ask(FERRY)


@pytest.mark.parametrize(
    "question", ["", "   ", "\n\t", "a\x00b", "a\x1fb", "\ud800", "x" * 32_769]
)
def test_a_question_nobody_could_ask_is_refused_without_a_row(
    harbour: Stage, question: str
) -> None:
    db = harbour.open(Player("scripted", ["never"]))
    with pytest.raises(errors.BadAsk):
        db.ask(question)
    with pytest.raises(errors.BadAsk):
        db.execute("ASK $1", [question])
    assert db.audit(10) == []


def test_a_lone_surrogate_in_an_answer_becomes_the_replacement_character(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["At \ud800 nine [^1]."]))
    assert db.ask(FERRY).answer == "At \ufffd nine [^1]."
    assert [e.text for e in db.stream(FERRY) if isinstance(e, AnswerToken)] == [
        "At \ufffd nine [^1]."
    ]


def test_execute_runs_statements_and_refuses_to_stream(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["At nine [^1]."]))
    [envelope] = db.execute("ASK $1 LIMIT 1", [FERRY])
    assert (envelope["answer"], len(envelope["sources_flat"])) == ("At nine [^1].", 1)
    [plan] = db.execute("EXPLAIN ASK 'ferry' DEPTH 0")
    assert plan["plan"]["depth"] == 0
    with pytest.raises(errors.BadAsk):
        db.execute("ASK 'ferry' STREAM")
