"""Retention by an open database: it follows the settings, and no clock that jumps."""

from collections.abc import Callable
from pathlib import Path

import redask
from redask.core.rules.audit_chain import Intact
from redask.core.settings import Settings

DAY_NS = 86_400 * 10**9
KEPT = Settings(audit_retention_days=10)


def ask_at(directory: Path, *days: float) -> None:
    """Open the database, ask once at each of these times by its clock, and close it."""
    now = [0]
    clock: Callable[[], int] = lambda: now[0]  # noqa: E731
    with redask.open(directory, settings=KEPT, embedder="none", clock=clock) as db:
        for day in days:
            now[0] = int((20_000 + day) * DAY_NS)
            db.ask(f"What is on day {day}?")


def verified(directory: Path) -> Intact:
    with redask.open(directory, settings=KEPT, embedder="none") as db:
        verdict = db.verify_audit()
    assert isinstance(verdict, Intact), verdict
    return verdict


def test_closing_takes_what_is_old_and_verify_reports_it(tmp_path: Path) -> None:
    ask_at(tmp_path, *range(30))
    ask_at(tmp_path, 30)
    [chain] = verified(tmp_path).chains
    assert (chain.rows, chain.rule) == (18, "ask.audit.retention_days = 10")
    assert chain.anchored == chain.head.seq - 1  # the record of the last pruning came after it


def test_an_ask_in_2038_takes_nothing(tmp_path: Path) -> None:
    ask_at(tmp_path, *range(5))
    ask_at(tmp_path, 4400)
    ask_at(tmp_path, 4401)
    ask_at(tmp_path, 6)
    verdict = verified(tmp_path)
    assert (verdict.rows, verdict.head.pruned_seq) == (8, 0)
