"""What asks need, in worker processes: `ProcessFinder` finds and checks, `ProcessQuoting` answers.

They are called in a thread, as `SourceFinder` and a provider are, and give the same. A call has
what is left of the time of the ask it is made for (`call_limits`), and ends with it: its worker is
interrupted, or killed. An index so far behind that no ask can catch it up is caught up afterwards,
as tables are.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from redask.core.errors import Cancelled, DeadlineExceeded
from redask.core.model import Ask, Caller, Capabilities, Knobs, Prompt, Source
from redask.core.ports import Completion, Provider
from redask.core.rules import validation
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.validation import Examined
from redask.engine import call_limits, telemetry
from redask.engine.computing import Computed, Uncomputed
from redask.engine.findings import Findings
from redask.engine.processes.process_selector import ProcessSelector
from redask.engine.retrieval import Hits
from redask.engine.workers import Workers


@dataclass(frozen=True, slots=True)
class ProcessFinder:
    """See the module; `timeout_ms` is for what no ask is behind."""

    selector: ProcessSelector
    clock: Callable[[], int]
    timeout_ms: int

    def find(self, ask: Ask, caller: Caller) -> Findings:
        """As `SourceFinder.find`."""
        found: Findings = self.call("find", caller, ask, caller)
        return found

    def find_with(
        self, computed: Computed | Uncomputed | None, ask: Ask, caller: Caller
    ) -> Findings:
        """As `SourceFinder.find_with`."""
        found: Findings = self.call("find_with", caller, computed, ask, caller)
        return found

    def at(self, moment: int) -> "ProcessFinder":
        """As `SourceFinder.at`."""
        return replace(self, clock=lambda: moment)

    def search(self, ask: Ask, caller: Caller) -> Hits:
        """As `SourceFinder.search`."""
        found: Hits = self.call("search", caller, ask, caller)
        return found

    def outline(self, ask: Ask, caller: Caller) -> dict[str, object]:
        """As `SourceFinder.outline`."""
        found: dict[str, object] = self.call("outline", caller, ask, caller)
        return found

    def examine(
        self,
        text: str,
        sources: Sequence[Source],
        read: dict[int, SourceText] | None = None,
        question: str = "",
        *,
        refused: bool = False,
    ) -> Examined:
        """As `SourceFinder.examine`."""
        if validation.is_short(text, sources):
            return validation.examine(text, sources, read, question, refused=refused)
        found: Examined = self.call("examine", None, text, tuple(sources), question, refused)
        return found

    def call(self, method: str, caller: Caller | None, *arguments: object) -> Any:
        """What a method of `AskService` gives; without a caller, for whom the call is made."""
        limit = call_limits.current()
        whose = caller or (limit and limit.caller) or Caller()
        seconds = self.timeout_ms / 1000 if limit is None else limit.seconds()
        try:
            result, steps = self.selector.call_for_ask(
                method, *arguments, self.clock(), caller=whose, seconds=seconds, cancelled=limit
            )
        except DeadlineExceeded:
            self.selector.catch_up_soon(whose)
            message = f"ask.timeout_ms allows {self.timeout_ms}, and that has passed"
            raise DeadlineExceeded("timeout_ms", message) from None
        except Cancelled:
            if limit is not None and not limit.seconds():
                self.selector.catch_up_soon(whose)
            raise
        telemetry.count(steps)
        return result


class ProcessQuoting:
    """The built-in answerer, in a worker process; all but `complete` is `provider`'s."""

    def __init__(self, provider: Provider, finder: ProcessFinder, threads: Workers) -> None:
        self.name: str = provider.name
        self.model: str = provider.model
        self.capabilities: Capabilities = provider.capabilities
        self.narrow = provider.narrow
        self.price = provider.price
        self._finder = finder
        self._threads = threads

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        """As the provider does."""
        completion: Completion
        completion, pieces = await self._threads.hop(
            self._finder.call, "quote", None, prompt, knobs, max_tokens
        )
        if emit is not None:
            for piece in pieces:
                await emit(piece)
        return completion
