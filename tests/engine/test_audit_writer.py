"""Group commit: rows share transactions, whatever the log behind them, and none is lost."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from redask.core.errors import AuditUnavailable, BadAsk, StoreFailed
from redask.core.model import Caller
from redask.core.ports import AuditEntry, AuditRow
from redask.core.rules.audit_chain import Broken, Head, Intact
from redask.engine.audit_writer import AuditWriter

DAY_NS = 86_400 * 10**9
Refuse = Callable[[Sequence[AuditRow]], None]


class Log:
    """A log in memory; a transaction waits while `held`, and `refuse` may raise in it."""

    def __init__(self, refuse: Refuse = lambda rows: None) -> None:
        self.transactions: list[list[object]] = []
        self.pruned: list[int] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self._refuse = refuse

    def append(self, rows: Sequence[AuditRow]) -> None:
        self.begun.set()
        assert self.go_on.wait(60)
        self._refuse(rows)
        self.transactions.append([each.row["n"] for each in rows])

    def entries(self, caller: Caller, *, limit: int, before: int | None = None) -> list[AuditEntry]:
        raise NotImplementedError

    def verify(self) -> Intact | Broken:
        return Intact(0, Head())

    def prune(self, keep_ns: int) -> None:
        self.pruned.append(keep_ns)

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
    writer = AuditWriter(log, 1)

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
    writer = AuditWriter(log, 1)

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
    writer = AuditWriter(log, 1)
    (thread,) = set(threading.enumerate()) - before
    join = thread.join

    def joined() -> None:  # the thread knows by now that it is to end
        log.go_on.set()
        join()

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
    writer = AuditWriter(log, 1)

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
    writer = AuditWriter(log, 1)

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


def test_retention_comes_with_the_first_transaction_and_then_with_every_thousandth_row() -> None:
    log = Log()
    writer = AuditWriter(log, 30)

    async def main() -> None:
        await writer.append(row(0))
        await asyncio.gather(*(writer.append(row(number)) for number in range(1, 1000)))

    asyncio.run(main())
    writer.close()
    assert log.pruned == [30 * DAY_NS]
    again = AuditWriter(log, 30)

    async def more() -> None:
        for _ in range(3):
            await asyncio.gather(*(again.append(row(number)) for number in range(500)))

    asyncio.run(more())
    again.close()
    assert log.pruned == [30 * DAY_NS] * 3


def test_a_row_is_durable_though_retention_fails() -> None:
    class Stubborn(Log):
        def prune(self, keep_ns: int) -> None:
            raise StoreFailed("somebody else writes")

    log = Stubborn()
    writer = AuditWriter(log, 1)

    async def main() -> None:
        await writer.append(row(1))
        await writer.append(row(2))

    asyncio.run(main())
    writer.close()
    assert log.transactions == [[1], [2]]
