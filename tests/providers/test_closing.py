"""A call that is no longer wanted is really hung up: the server notices, plain and streamed."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from deadlines import let_deadlines_pass
from loopback import EVENTS, Loopback, Wire
from stage import ROWS
from waiting import SECONDS
from wires import speech_of

import redask
from redask.core import errors
from redask.core.model import AnswerToken, Failed
from redask.core.settings import load

FERRY = "When does the ferry leave?"
FAMILIES = ("openai", "anthropic", "huggingface")
EACH = pytest.mark.parametrize("name", FAMILIES)
BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "stream"])
STREAMING = "".join(
    f"supports_{flag} = {value}\n"
    for flag, value in (
        ("citations", "true"),
        ("seed", "false"),
        ("temperature_zero", "true"),
        ("streaming", "true"),
    )
)


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("harbour")
    with redask.open(directory, embedder="none") as db:
        db.put("notes", ROWS)
    return directory


@asynccontextmanager
async def opened(
    directory: Path, server: Loopback, name: str, toml: str = ""
) -> AsyncIterator[redask.AsyncDatabase]:
    upper = name.upper()
    env = {
        f"REDASK_{upper}_API_KEY": "sk-test-0123456789",
        f"REDASK_{upper}_BASE_URL": server.address if name == "anthropic" else server.url,
        "REDASK_ASK_PROVIDERS_DEFAULT": name,
    }
    settings = load(f"{toml}\n[ask.capabilities.{name}]\n{STREAMING}", env)
    async with await redask.aopen(directory, settings=settings, embedder="none") as db:
        yield db


async def kinds(db: redask.AsyncDatabase) -> list[str]:
    row: dict[str, Any] = (await db.audit(1))[0].row
    return [error["kind"] for error in row["errors"]]


def begun(name: str) -> Wire:
    """The beginning of a stream that then hangs."""
    chunks = speech_of(name).stream(["At ", "nine"]).chunks[: 5 if name == "anthropic" else 3]
    return Wire(chunks=chunks, kind=EVENTS, hang=True)


async def ask(db: redask.AsyncDatabase, streamed: bool) -> None:
    """Ask; in a stream the error comes as its last event."""
    if not streamed:
        await db.ask(FERRY)
        return
    async for event in db.stream(FERRY):
        if isinstance(event, Failed):
            raise event.error


@EACH
@BOTH
@pytest.mark.parametrize("silent", [True, False], ids=["slow first byte", "slow rest"])
def test_the_deadline_hangs_up(
    harbour: Path, server: Loopback, name: str, streamed: bool, silent: bool
) -> None:
    slow = Wire(body=b"{", hang=True) if not streamed else begun(name)

    async def main() -> list[str]:
        late = partial(let_deadlines_pass, asyncio.get_running_loop())
        server.play(replace(Wire(silent=True) if silent else slow, hanging=late))
        async with opened(harbour, server, name, "[ask]\ntimeout_ms = 60000") as db:
            with pytest.raises(errors.DeadlineExceeded):
                await ask(db, streamed)
            assert server.left.wait(SECONDS)
            return await kinds(db)

    assert asyncio.run(main()) == ["timeout_ms"]


@EACH
@BOTH
def test_a_caller_who_leaves_hangs_up(
    harbour: Path, server: Loopback, name: str, streamed: bool
) -> None:
    server.play(begun(name) if streamed else Wire(silent=True))

    async def main() -> list[str]:
        async with opened(harbour, server, name) as db:
            asking = asyncio.create_task(ask(db, streamed))
            while not server.requests:
                await asyncio.sleep(0.01)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert server.left.wait(SECONDS)
            return await kinds(db)

    assert asyncio.run(main()) == ["cancelled"]


@EACH
def test_a_limit_that_breaks_in_the_middle_of_a_stream_hangs_up(
    harbour: Path, server: Loopback, name: str
) -> None:
    whole = speech_of(name).stream(["and on "]).chunks
    piece = whole[3] if name == "anthropic" else whole[1]
    server.play(Wire(chunks=[piece], kind=EVENTS, endless=True))

    async def main() -> tuple[list[str], int]:
        async with opened(harbour, server, name, "[ask]\nmax_completion_tokens = 20") as db:
            with pytest.raises(errors.LimitExceeded) as caught:
                await ask(db, True)
            assert caught.value.limit == "max_completion_tokens"
            assert server.left.wait(SECONDS)
            row: dict[str, Any] = (await db.audit(1))[0].row
            return await kinds(db), row["completion_tokens"]

    assert asyncio.run(main()) == (["max_completion_tokens"], 22)


@EACH
def test_a_reader_who_stops_reading_hangs_up(harbour: Path, server: Loopback, name: str) -> None:
    server.play(begun(name))

    async def main() -> list[str]:
        async with opened(harbour, server, name) as db:
            events = db.stream(FERRY)
            async for event in events:
                if event == AnswerToken("At "):
                    break
            await events.aclose()
            assert server.left.wait(SECONDS)
            return await kinds(db)

    assert asyncio.run(main()) == ["cancelled"]


def test_a_connection_is_used_again_and_closed_with_the_database(
    harbour: Path, server: Loopback
) -> None:
    speech = speech_of("openai")
    server.play(speech.whole("At nine [^1]."))
    env = {
        "OPENAI_API_KEY": "sk-test-0123456789",
        "REDASK_OPENAI_BASE_URL": server.url,
    }
    with redask.open(harbour, settings=load("", env), embedder="none") as db:
        for _ in range(3):
            assert db.ask(FERRY, nocache=True).answer == "At nine [^1]."
        assert len({request.caller for request in server.requests}) == 1
    assert server.idle.wait(SECONDS)
