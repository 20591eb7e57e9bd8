"""Group commit: rows share transactions, whatever the log behind them, and none is lost."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from redask.core.errors import AuditUnavailable, BadAsk, StoreFailed
from redask.core.ports import AuditRow
from redask.engine.auditing.audit_writer import AuditWriter, written_by

PATIENCE = 60
Refuse = Callable[[Sequence[AuditRow]], None]


class Log:
    """A log in memory; a transaction waits while `held`, and `refuse` may raise in it."""

    def __init__(self, refuse: Refuse = lambda rows: None) -> None:
        self.transactions: list[list[object]] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self._refuse = refuse

    def append(self, rows: Sequence[AuditRow]) -> None:
        self.begun.set()
        assert self.go_on.wait(60)
        self._refuse(rows)
        self.transactions.append([each.row["n"] for each in rows])

    def hold(self) -> None:
        self.begun.clear()
        self.go_on.clear()


def row(number: int) -> dict[str, object]:
    return {"n": number}


async def held_by_the_first(writer: AuditWriter, log: Log) -> "asyncio.Future[None]":
    """Append row 0 to a log that waits, and see that its transaction has begun."""
    log.hold()
    first = writer.append(row(0))
    assert await asyncio.to_thread(log.begun.wait, 60)
    return first


async def undisturbed(work: Coroutine[Any, Any, None]) -> None:
    """Do it, and see that nothing failed in the loop that nobody waited for."""
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    await work
    assert told == []


def test_rows_that_arrive_while_the_log_is_busy_share_the_next_transaction() -> None:
    log = Log()
    writer = AuditWriter(log)

    async def main() -> None:
        first = await held_by_the_first(writer, log)
        others = [writer.append(row(number)) for number in range(1, 6)]
        assert not any(each.done() for each in (first, *others))
        log.go_on.set()
        await asyncio.gather(first, *others)

    asyncio.run(main())
    writer.close()
    assert log.transactions == [[0], [1, 2, 3, 4, 5]]


def test_who_stops_waiting_does_not_unwrite_the_row() -> None:
    log = Log()
    writer = AuditWriter(log)

    async def main() -> None:
        first = await held_by_the_first(writer, log)
        leaving, staying = writer.append(row(1)), writer.append(row(2))
        leaving.cancel()
        log.go_on.set()
        await asyncio.gather(first, staying)

    asyncio.run(undisturbed(main()))
    writer.close()
    assert log.transactions == [[0], [1, 2]]


def test_close_writes_what_waits_and_then_ends_the_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = Log()
    before = set(threading.enumerate())
    writer = AuditWriter(log)
    (thread,) = set(threading.enumerate()) - before
    join = thread.join

    def joined(timeout: float | None) -> None:  # the thread knows by now that it is to end
        log.go_on.set()
        join(timeout)

    monkeypatch.setattr(thread, "join", joined)

    async def main() -> None:
        waiting = [await held_by_the_first(writer, log)]
        waiting += [writer.append(row(number)) for number in range(1, 4)]
        await asyncio.to_thread(writer.close)
        assert log.transactions == [[0], [1, 2, 3]]
        await asyncio.gather(*waiting)

    asyncio.run(main())
    assert not thread.is_alive()


def test_a_log_that_fails_is_an_audit_that_is_not_available_and_the_next_row_is_written() -> None:
    failing = [True]

    def refuse(rows: Sequence[AuditRow]) -> None:
        if failing[0]:
            raise StoreFailed("the disk is full")

    log = Log(refuse)
    writer = AuditWriter(log)

    async def main() -> None:
        first = await held_by_the_first(writer, log)
        second = writer.append(row(1))
        log.go_on.set()
        for each in (first, second):
            with pytest.raises(AuditUnavailable) as caught:
                await each
            assert caught.value.detail == "the disk is full"
        failing[0] = False
        await writer.append(row(2))

    asyncio.run(main())
    writer.close()
    assert log.transactions == [[2]]


def test_a_row_that_cannot_be_written_takes_no_other_with_it() -> None:
    def refuse(rows: Sequence[AuditRow]) -> None:
        if any(each.row["n"] == 2 for each in rows):
            raise BadAsk("it has no canonical form")

    log = Log(refuse)
    writer = AuditWriter(log)

    async def main() -> None:
        first = await held_by_the_first(writer, log)
        others = [writer.append(row(number)) for number in range(1, 4)]
        log.go_on.set()
        await asyncio.gather(first, others[0], others[2])
        with pytest.raises(AuditUnavailable):
            await others[1]

    asyncio.run(main())
    writer.close()
    assert log.transactions == [[0], [1], [3]]


def test_whoever_keeps_the_log_is_told_of_the_rows_of_each_transaction() -> None:
    log = Log(refuse_two)
    told: list[int] = []
    writer = AuditWriter(log, told.append)

    async def main() -> None:
        await writer.append(row(0))
        with pytest.raises(AuditUnavailable):
            await writer.append(row(2))
        await asyncio.gather(*(writer.append(row(number)) for number in range(3, 10)))

    asyncio.run(main())
    writer.close()
    assert [len(each) for each in log.transactions] == told
    assert sum(told) == 8


def refuse_two(rows: Sequence[AuditRow]) -> None:
    if any(each.row["n"] == 2 for each in rows):
        raise StoreFailed("the disk is full")


def test_a_row_is_waited_for_until_the_end_of_its_call_and_is_written_nevertheless() -> None:
    log = Log()
    writer = AuditWriter(log)

    async def main() -> None:
        await written_by(time.monotonic() + PATIENCE, writer.append(row(1)))
        log.hold()
        with pytest.raises(AuditUnavailable, match="in time, so there is no answer"):
            await written_by(time.monotonic(), writer.append(row(2)))
        leaving = asyncio.create_task(written_by(time.monotonic(), writer.append(row(3))))
        await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        log.go_on.set()

    asyncio.run(main())
    writer.close()
    assert [each for rows in log.transactions for each in rows] == [1, 2, 3]


def test_a_row_that_fails_is_told_of_in_time() -> None:
    def refuse(rows: Sequence[AuditRow]) -> None:
        raise StoreFailed("the disk is full")

    writer = AuditWriter(Log(refuse))

    async def main() -> None:
        with pytest.raises(AuditUnavailable, match="could not be written, so there is no answer"):
            await written_by(time.monotonic() + PATIENCE, writer.append(row(1)))

    asyncio.run(main())
    writer.close()
