"""Replays and stale answers, from Python: methods of an open database.

    report = db.replay(12)             report.verdict: equal, sources_changed, policy_changed …
    report = db.replay(12, live=True)  the provider is asked, too; report.answer
    db.stale_answers().answers         those whose cited sources changed since

See docs/replay.md.
"""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from redask.app import App
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.rules.auditing.replay_report import ReplayReport, StaleReport

_T = TypeVar("_T")
_MOST = 1000  # rows that are looked at in one go


class AsyncReplays:
    """Replays for asyncio; see the module."""

    _app: App

    async def _who(self) -> Caller:
        raise NotImplementedError

    async def _in_ask_thread(self, work: Callable[[Caller], _T]) -> _T:
        raise NotImplementedError

    async def replay(self, seq: int, *, live: bool = False) -> ReplayReport:
        """Ask again what an audit row asked, as who asked it, and say what differs."""
        caller = await self._who()
        subject = f"row {seq!a}" + (", live" if live else "")
        async with self._app.logs.recorder.reading("replay", subject, [caller]):
            return await self._app.replays.replay(seq, caller, live=live)

    async def stale_answers(self, limit: int = _MOST, before: int | None = None) -> StaleReport:
        """Of the newest rows (`before` a number, to page on), those with sources that changed."""
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MOST:
            raise BadAsk(f"limit is a whole number from 1 to {_MOST}", detail="limit")
        stale = self._app.stale_answers
        return await self._in_ask_thread(
            lambda caller: stale.look(caller, limit=limit, before=before)
        )


class SyncReplays:
    """Replays for everybody else."""

    _async: AsyncReplays

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        raise NotImplementedError

    def replay(self, seq: int, *, live: bool = False) -> ReplayReport:
        """Ask again what an audit row asked, as who asked it, and say what differs.

        With `live`, the provider of then is asked, within your limits, and that is audited.
        """
        return self._run(self._async.replay(seq, live=live))

    def stale_answers(self, limit: int = _MOST, before: int | None = None) -> StaleReport:
        """Of the newest rows (`before` a number, to page on), those with sources that changed."""
        return self._run(self._async.stale_answers(limit, before))
