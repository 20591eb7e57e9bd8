"""Upkeep of the logs: after the first rows, when it is closed, and never twice for nothing."""

import threading

from waiting import until

from redask.core.errors import StoreFailed
from redask.engine.auditing.audit_upkeep import AuditUpkeep


def test_it_is_done_soon_after_the_first_rows() -> None:
    done = threading.Event()
    upkeep = AuditUpkeep(done.set)
    assert not done.is_set()
    upkeep.wrote(1)
    assert done.wait(60)
    upkeep.close()


def test_it_is_done_after_every_thousand_rows_and_once_more_when_it_is_closed() -> None:
    times: list[int] = []
    upkeep = AuditUpkeep(lambda: times.append(1))
    upkeep.wrote(1)
    assert until(lambda: len(times) == 1)
    upkeep.wrote(400)
    upkeep.wrote(600)
    assert until(lambda: len(times) == 2)
    upkeep.wrote(1)
    upkeep.close()
    assert len(times) == 3


def test_without_rows_nothing_is_done() -> None:
    times: list[int] = []
    AuditUpkeep(lambda: times.append(1)).close()
    assert times == []


def test_what_failed_is_tried_again_and_closing_does_not_raise() -> None:
    times: list[int] = []

    def fail() -> None:
        times.append(1)
        raise StoreFailed("a bulk load has the store")

    upkeep = AuditUpkeep(fail)
    upkeep.wrote(5)
    assert until(lambda: len(times) == 1)
    upkeep.close()
    assert len(times) == 2
