"""A caller who leaves while the audit row is being written: the row is written, and the call ends
as cancelled, never with an answer that nobody waits for."""

import asyncio
from typing import Any

import pytest
from stage import Player, Stage

import redask
from redask.core import errors
from redask.core.model import Answered, Ask, Caller, Event
from redask.engine.auditing.audit_writer import AuditSink

FERRY = "When does the ferry leave?"
REFUSED = errors.ProviderRefused("scripted", "no")


class SlowLog:
    """A log that begins to write a row when it is told to."""

    def __init__(self, log: AuditSink) -> None:
        self._log = log
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    async def append(
        self,
        row: dict[str, object],
        build: str = "",
        provenance: dict[str, object] | None = None,
        **readings: str,
    ) -> None:
        self.reached.set()
        await self.go_on.wait()
        await self._log.append(row, build, provenance, **readings)


@pytest.mark.parametrize(
    ("reply", "kinds"),
    [("At nine [^1].", []), (REFUSED, ["provider_refused"])],
    ids=["answered", "failed"],
)
@pytest.mark.parametrize("listening", [False, True])
def test_a_cancel_during_the_audit_write_is_raised_once_the_row_is_there(
    harbour: Stage, reply: object, kinds: list[str], listening: bool
) -> None:
    player = Player("scripted", [reply])
    events: list[Event] = []

    async def listen(event: Event) -> None:
        events.append(event)

    async def main() -> None:
        settings = harbour.settings("", (player,))
        async with await redask.aopen(
            harbour.directory, settings=settings, providers={"scripted": player}
        ) as db:
            engine = db._app.engine
            log = SlowLog(engine.log)
            engine.log = log
            heard = listen if listening else None
            asking = asyncio.create_task(engine.ask(Ask(FERRY), Caller(), heard))
            await log.reached.wait()
            asking.cancel()
            for _ in range(10):  # its turns, to see to the cancel
                await asyncio.sleep(0)
            assert not asking.done(), "it did not wait for its row"
            assert await db.audit() == []
            log.go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await asking
            [entry] = await db.audit()
            found: Any = entry.row["errors"]
            assert [error["kind"] for error in found] == kinds
            assert entry.row["validation_ok"] == (kinds == [])

    asyncio.run(main())
    assert not any(isinstance(event, Answered) for event in events)
