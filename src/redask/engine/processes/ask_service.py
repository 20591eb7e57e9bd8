"""What a worker process does for asks: `AskService`, beside SELECT.

Each method gives its result, and the steps it took with their seconds, which the parent counts. An
interrupt is seen where work may be long (`call_limits.current`); what does not look is killed by
the parent. A model or a key is only in the parent: `ParentLink` has it work.
"""

import asyncio
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from redask.core.errors import Cancelled
from redask.core.model import Ask, Caller, Knobs, Prompt, Source, Terms
from redask.core.ports import Completion, Provider, Query, Selector
from redask.core.rules.validation import Examined
from redask.engine import call_limits, telemetry
from redask.engine.call_limits import CallLimit
from redask.engine.computing import Computed, Uncomputed
from redask.engine.findings import Findings, SourceFinder
from redask.engine.processes.process_selector import SelectService
from redask.engine.retrieval import Hits
from redask.engine.telemetry import TakenSteps

_T = TypeVar("_T")
Timed = tuple[_T, TakenSteps]


@dataclass(slots=True)
class ParentLink:
    """What the parent does for its worker: `link("cosines", question, lines)`."""

    _ask: Callable[..., Any] | None = None

    def use(self, ask: Callable[..., Any]) -> None:
        """From now on by this."""
        self._ask = ask

    def __call__(self, name: str, *arguments: object) -> Any:
        if self._ask is None:
            raise RuntimeError("there is no parent process")
        return self._ask(name, *arguments)


@dataclass(slots=True)
class ParentEmbedder:
    """The parent's embedder."""

    model: str
    dimensions: int
    languages: frozenset[str]
    link: ParentLink = field(repr=False)

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """One vector for each text."""
        found: list[tuple[float, ...]] = self.link("embed", list(texts))
        return found


@dataclass(slots=True)
class SentClock:
    """The time that a request was sent with: the parent's, so that a date is the same there."""

    now: int = 0

    def __call__(self) -> int:
        return self.now


class AskService(SelectService):
    """See the module."""

    def __init__(
        self,
        selector: Selector,
        finder: SourceFinder,
        quoting: Provider,
        clock: SentClock,
        link: ParentLink,
    ) -> None:
        super().__init__(selector)
        self._finder = finder
        self._quoting = quoting
        self._clock = clock
        self.use_parent = link.use
        self.catch_up = self._caught_up  # the index, too
        self._limit = CallLimit(math.inf)
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def find(self, ask: Ask, caller: Caller, now: int) -> Timed[Findings]:
        """The sources of an ASK, and its prompt."""
        with self._working(now) as steps:
            return self._finder.find(ask, caller), steps

    def find_with(
        self, computed: Computed | Uncomputed | None, ask: Ask, caller: Caller, now: int
    ) -> Timed[Findings]:
        """The same, when it is known whether the question is computed."""
        with self._working(now) as steps:
            return self._finder.find_with(computed, ask, caller), steps

    def search(self, ask: Ask, caller: Caller, now: int) -> Timed[Hits]:
        """What the data holds on a question."""
        with self._working(now) as steps:
            return self._finder.search(ask, caller), steps

    def outline(self, ask: Ask, caller: Caller, now: int) -> Timed[dict[str, object]]:
        """How a question would be computed."""
        with self._working(now) as steps:
            return self._finder.outline(ask, caller), steps

    def examine(
        self, text: str, sources: Sequence[Source], question: str, refused: bool, now: int
    ) -> Timed[Examined]:
        """What is found in an answer."""
        with self._working(now) as steps:
            return self._finder.examine(text, sources, None, question, refused=refused), steps

    def quote(
        self, prompt: Prompt, knobs: Knobs, max_tokens: int, now: int
    ) -> Timed[tuple[Completion, list[str]]]:
        """The answer of the built-in answerer, and the pieces that may be shown one by one."""
        pieces: list[str] = []

        async def take(piece: str) -> None:
            pieces.append(piece)

        with self._working(now) as steps:
            work = self._quoting.complete(prompt, knobs, max_tokens=max_tokens, emit=take)
            return (self._run(work), pieces), steps

    def interrupt(self) -> None:
        """Stop what runs, if it looks; a statement is stopped in any case."""
        self._limit.left.set()
        if (running := self._running) is not None:
            running[0].call_soon_threadsafe(running[1].cancel)
        super().interrupt()

    def _caught_up(self, caller: Caller) -> None:
        """Bring the tables and the index up to date."""
        self._selector.catch_up(caller)
        self._finder.retriever.index.search(Query("", Terms((), ()), top_k=1, depth=0), caller)

    @contextmanager
    def _working(self, now: int) -> Iterator[TakenSteps]:
        self._clock.now = now
        self._limit = CallLimit(math.inf)
        with call_limits.under(self._limit), telemetry.collected() as steps:
            yield steps

    def _run(self, work: Any) -> Completion:
        """What a coroutine gives, in a loop of this process."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        task = self._loop.create_task(work)
        self._running = self._loop, task
        try:
            done: Completion = self._loop.run_until_complete(task)
            return done
        except asyncio.CancelledError:
            raise Cancelled("the work was interrupted") from None
        finally:
            self._running = None
