"""Closing a database ends what runs in it, whoever waits; each ask has its row by then."""

import asyncio
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from stage import Player, Stage

import redask
from redask.core import errors
from redask.core.model import Answered, AnswerToken, Event, Failed, Knobs, Prompt, SourcesFound
from redask.core.ports import Completion
from redask.core.rules.audit import answer_hash

FERRY = "When does the ferry leave?"
PATIENCE = 60  # seconds until a test that hangs gives up


class Endless(Player):
    """Says a piece when there is somebody to hear it, and never comes to an end."""

    def __init__(self) -> None:
        super().__init__("scripted", [])
        self.asked = threading.Semaphore(0)

    async def complete(self, prompt: Prompt, knobs: Knobs, **rest: Any) -> Completion:
        if rest["emit"] is not None:
            await rest["emit"]("At nine")
        self.asked.release()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


class InThread(threading.Thread):
    """Does something in a thread; `ended` gives its result or the error it raised."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._ended: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        try:
            self._ended.put(self._work())
        except BaseException as error:
            self._ended.put(error)

    def ended(self) -> object:
        return self._ended.get(timeout=PATIENCE)


def close(db: redask.OpenDatabase) -> None:
    """Close in a thread, so that a close that hangs fails the test."""
    assert InThread(db.close).ended() is None


def until_closing(db: redask.OpenDatabase) -> None:
    """Return when closing has begun, and what runs is told to stop."""
    give_up = time.monotonic() + PATIENCE
    while not db._async._app.running.closed:
        assert time.monotonic() < give_up
        time.sleep(0.01)


def was_closed(error: object) -> bool:
    return isinstance(error, errors.Cancelled) and error.message == "the database was closed"


def audited(stage: Stage) -> list[dict[str, Any]]:
    with redask.open(stage.directory, embedder="none") as db:
        return [entry.row for entry in db.audit(100)]


def test_threads_that_wait_for_an_answer_wake_and_every_ask_has_its_row(harbour: Stage) -> None:
    player = Endless()
    db = harbour.open(player)
    asking = [InThread(lambda: db.ask(FERRY)) for _ in range(3)]
    for _ in asking:
        assert player.asked.acquire(timeout=PATIENCE)
    close(db)
    assert all(was_closed(each.ended()) for each in asking)
    rows = audited(harbour)
    reason = {"kind": "cancelled", "detail": "the database was closed"}
    assert [row["errors"] for row in rows] == [[reason]] * 3


def test_a_thread_that_reads_a_stream_gets_the_failure_as_its_last_event(harbour: Stage) -> None:
    player = Endless()
    db = harbour.open(player)
    reading = InThread(lambda: list(db.stream(FERRY)))
    assert player.asked.acquire(timeout=PATIENCE)
    close(db)
    events = reading.ended()
    assert isinstance(events, list)
    assert [type(each) for each in events] == [SourcesFound, AnswerToken, Failed]
    assert was_closed(events[-1].error)
    [row] = audited(harbour)
    assert row["answer_hash"] == answer_hash("At nine")


def test_a_stream_that_stands_still_goes_on_to_its_failure(harbour: Stage) -> None:
    db = harbour.open(Endless())
    events: Iterator[Event] = db.stream(FERRY)
    seen = [type(next(events)), type(next(events))]
    close(db)
    assert [*seen, *(type(each) for each in events)] == [SourcesFound, AnswerToken, Failed]


def test_after_closing_everything_says_that_the_database_is_closed(harbour: Stage) -> None:
    db = harbour.open(Endless())
    db.add_user("mia", role="reader")
    session = db.signed_in(db.make_token("mia"))
    before = session.stream(FERRY)
    close(db)
    for use in (
        lambda: db.ask(FERRY),
        lambda: next(iter(db.stream(FERRY))),
        lambda: next(before),
        lambda: db.search(FERRY),
        lambda: db.explain(FERRY),
        lambda: db.put("notes", []),
        lambda: session.ask(FERRY),
        lambda: session.get("urn:reddb:row:notes/1"),
        lambda: db.signed_in("rk_x"),
    ):
        with pytest.raises(errors.BadAsk, match=r"^the database is closed$"):
            use()
    session.close()
    close(db)


def test_an_ask_of_a_session_ends_with_the_database_it_is_a_session_of(harbour: Stage) -> None:
    player = Endless()
    db = harbour.open(player)
    db.add_user("mia", role="reader")
    session = db.signed_in(db.make_token("mia"))
    asking = InThread(lambda: session.ask(FERRY))
    assert player.asked.acquire(timeout=PATIENCE)
    session.close()  # which closes nothing else
    close(db)
    assert was_closed(asking.ended())
    assert [row["user"] for row in audited(harbour)] == ["mia"]


def test_threads_that_come_while_it_closes_are_answered_or_told(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["At nine [^1]."]))
    started = threading.Semaphore(0)

    answered: list[str] = []

    def ask_on() -> object:
        while True:
            try:
                answered.append(db.ask(FERRY).answer)
            except errors.AskError as error:
                return error
            started.release()

    asking = [InThread(ask_on) for _ in range(4)]
    for _ in range(8):
        assert started.acquire(timeout=PATIENCE)
    close(db)
    for told in [each.ended() for each in asking]:
        assert was_closed(told) or isinstance(told, errors.BadAsk), told
    finished = [row for row in audited(harbour) if row["validation_ok"]]
    assert len(finished) == len(answered)


def test_an_ingest_stops_and_a_database_closed_in_two_threads_is_closed_once(
    harbour: Stage, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThe ferry leaves.\n")
    db = harbour.open(Endless())
    reading, go_on = threading.Semaphore(0), threading.Event()

    def progress(_: object) -> None:
        reading.release()
        go_on.wait(PATIENCE)

    ingesting = InThread(lambda: db.ingest(folder, progress=progress))
    assert reading.acquire(timeout=PATIENCE)
    closing = [InThread(db.close) for _ in range(2)]
    until_closing(db)
    go_on.set()
    assert [each.ended() for each in closing] == [None, None]
    assert was_closed(ingesting.ended())


@pytest.mark.parametrize("step", ["ingest", "embed"])
def test_a_progress_callback_cannot_close_the_database_it_would_wait_for_itself(
    harbour: Stage, tmp_path: Path, step: str
) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nThe ferry leaves.\n")
    db = harbour.open(Endless(), toml='[embedder]\nname = "hashed"\n')
    if step == "ingest":
        working = InThread(lambda: db.ingest(tmp_path / "note.md", progress=lambda _: db.close()))
    else:
        working = InThread(lambda: db.embed(anew=True, progress=lambda *_: db.close()))
    error = working.ended()
    assert isinstance(error, errors.BadAsk)
    assert error.message == (
        "a progress callback cannot close the database, which waits for it: "
        "raise an exception there to end the work"
    )
    assert db.ingest(tmp_path / "note.md").problems == ()  # it is still open
    close(db)


def test_work_in_a_thread_is_finished_and_its_result_handed_over(
    harbour: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = harbour.open(Endless())
    store = db._async._app.backend.store
    began, go_on = threading.Event(), threading.Event()
    delete = store.delete

    def slow(*given: Any) -> Any:
        began.set()
        assert go_on.wait(PATIENCE)
        return delete(*given)

    monkeypatch.setattr(store, "delete", slow)
    deleting = InThread(lambda: db.delete("urn:reddb:row:nowhere/1"))
    assert began.wait(PATIENCE)
    closing = InThread(db.close)
    until_closing(db)
    go_on.set()
    assert deleting.ended() == 0
    assert closing.ended() is None


def test_a_search_that_runs_is_cancelled(harbour: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    db = harbour.open(Endless())
    index = db._async._app.retriever.index
    began, go_on = threading.Event(), threading.Event()
    search = index.search

    def slow(*given: Any) -> Any:
        began.set()
        assert go_on.wait(PATIENCE)
        return search(*given)

    monkeypatch.setattr(index, "search", slow)
    searching = InThread(lambda: db.search(FERRY))
    assert began.wait(PATIENCE)
    closing = InThread(db.close)
    error = searching.ended()  # whatever its thread does meanwhile
    assert isinstance(error, errors.Cancelled), error
    go_on.set()
    assert closing.ended() is None


# --- asyncio -----------------------------------------------------------------------------


@asynccontextmanager
async def opened(stage: Stage, player: Player) -> AsyncIterator[redask.AsyncDatabase]:
    settings = stage.settings("", (player,))
    db = await redask.aopen(stage.directory, settings=settings, providers={"scripted": player})
    async with db:
        yield db


async def is_asked(player: Endless) -> None:
    assert await asyncio.to_thread(player.asked.acquire, timeout=PATIENCE)


def test_leaving_the_block_of_an_asynchronous_database_ends_its_asks(harbour: Stage) -> None:
    player = Endless()

    async def read(db: redask.AsyncDatabase) -> list[Event]:
        return [event async for event in db.stream(FERRY)]

    async def main() -> tuple[BaseException | None, list[Event]]:
        async with asyncio.timeout(PATIENCE):
            async with opened(harbour, player) as db:
                asking = asyncio.create_task(db.ask(FERRY))
                reading = asyncio.create_task(read(db))
                await is_asked(player)
                await is_asked(player)
            assert asking.done()
            return asking.exception(), await reading

    error, events = asyncio.run(main())
    assert was_closed(error)
    assert isinstance(events[-1], Failed)
    assert was_closed(events[-1].error)
    assert [row["errors"][0]["kind"] for row in audited(harbour)] == ["cancelled"] * 2


def test_a_caller_who_is_cancelled_is_cancelled_and_not_told_of_closing(harbour: Stage) -> None:
    player = Endless()

    async def main() -> None:
        async with asyncio.timeout(PATIENCE), opened(harbour, player) as db:
            asking = asyncio.create_task(db.ask(FERRY))
            await is_asked(player)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    asyncio.run(main())
    [row] = audited(harbour)
    assert row["errors"][0]["detail"] == "cancelled by the caller before the answer was complete"


def test_a_database_closed_by_who_reads_its_stream_does_not_wait_for_itself(
    harbour: Stage,
) -> None:
    async def main() -> list[Event]:
        events: list[Event] = []
        async with asyncio.timeout(PATIENCE), opened(harbour, Endless()) as db:
            async for event in db.stream(FERRY):
                events.append(event)
                if isinstance(event, AnswerToken):
                    await db.close()
        return events

    events = asyncio.run(main())
    assert was_closed(getattr(events[-1], "error", None))


def test_an_answer_whose_row_is_being_written_is_still_given(harbour: Stage) -> None:
    """Closing waits for the row and does not take the answer back."""
    player = Player("scripted", ["At nine [^1]."])

    async def main() -> list[Event]:
        async with asyncio.timeout(PATIENCE), opened(harbour, player) as db:
            log = db._app.engine.log
            append = log.append
            closing: list[asyncio.Future[None]] = []

            async def slow(*given: Any, **readings: Any) -> None:
                closing.append(asyncio.ensure_future(db.close()))
                while not db._app.running.closed:
                    await asyncio.sleep(0)
                await append(*given, **readings)

            log.append = slow  # type: ignore[method-assign]
            events = [event async for event in db.stream(FERRY)]
            await closing[0]
            return events

    assert isinstance(asyncio.run(main())[-1], Answered)
    assert [row["validation_ok"] for row in audited(harbour)] == [True]
