"""64 streams at once from one process, through a real SDK: none is lost, none is mixed up."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Received, Wire
from stage import ROWS
from wires import CHAT

import redask
from redask.core.model import Answered, AnswerReset, AnswerToken
from redask.core.settings import load

STREAMS = 64
PIECES = 12
PATIENT = "[ask]\ntimeout_ms = 600000"  # a busy machine may be slow, and lose nothing


def told(number: int) -> list[str]:
    return [*(f"{number}-{piece} " for piece in range(PIECES)), "[^1]"]


def play(received: Received) -> Wire:
    """The answer repeats the number of the ferry that the question is about."""
    question = received.body["messages"][-1]["content"]
    found = re.search(r"Does ferry (\d+) leave", question)
    assert found is not None
    whole = CHAT.stream(told(int(found[1])))
    return Wire(chunks=whole.chunks, kind=whole.kind, delay=0.01)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        running.play(play)
        yield running


def test_many_streams_at_once_are_each_whole_and_their_own(
    server: Loopback, tmp_path: Path
) -> None:
    env = {"OPENAI_API_KEY": "sk-test", "REDASK_OPENAI_BASE_URL": server.url}
    with redask.open(tmp_path) as db:
        db.put("notes", ROWS)

    async def one(db: redask.AsyncDatabase, number: int) -> list[str]:
        pieces: list[str] = []
        last: object = None
        async for last in db.stream(f"Does ferry {number} leave at nine?", using="openai"):
            assert not isinstance(last, AnswerReset)
            if isinstance(last, AnswerToken):
                pieces.append(last.text)
        assert isinstance(last, Answered)
        assert last.answer.answer == "".join(pieces)
        return pieces

    async def main() -> tuple[list[list[str]], list[Any]]:
        chosen = load(PATIENT, env)
        async with await redask.aopen(tmp_path, settings=chosen, embedder="none") as db:
            heard = await asyncio.gather(*(one(db, number) for number in range(STREAMS)))
            return heard, await db.audit(STREAMS + 1)

    heard, entries = asyncio.run(main())
    assert heard == [told(number) for number in range(STREAMS)]
    assert len(entries) == STREAMS
    assert all(entry.row["errors"] == [] for entry in entries)
    asked = {entry.row["question"] for entry in entries}
    assert asked == {f"Does ferry {number} leave at nine?" for number in range(STREAMS)}
