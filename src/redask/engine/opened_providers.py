"""The providers that are open: `OpenedProviders(…).open(step)`; the first time imports an SDK."""

from collections.abc import Callable
from dataclasses import dataclass, field

from redask.core.ports import Provider
from redask.core.rules import failover
from redask.engine.workers import Workers

_MOST = 64  # models are named by callers


@dataclass(frozen=True, slots=True)
class OpenedProviders:
    """See the module."""

    make: Callable[[str, str | None], Provider]
    workers: Workers
    _opened: dict[failover.Step, Provider] = field(default_factory=dict)

    def known(self, step: failover.Step) -> Provider | None:
        """The provider of a step, if it is open."""
        return self._opened.get(step)

    async def open(self, step: failover.Step) -> Provider:
        """The provider of a step; made in a thread, if it is not open yet."""
        found = self._opened.get(step)
        if found is None:
            if len(self._opened) >= _MOST:
                self._opened.clear()
            found = await self.workers.hop(self.make, step.provider, step.model)
            self._opened[step] = found
        return found
