"""One provider call within the limits: `ProviderCalls(…).complete(run, size, call, take)`.

    before    the limits are checked; where there is a cap, the worst it could cost is reserved
    during    its share of the deadline; tokens are counted as they come
    after     what it used is booked, however it ended; then the limits once more

A call that takes longer than its share has failed like one that timed out at the provider.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from redask.core import errors, token_count
from redask.core.model import Knobs, Notice, Prompt, Usage
from redask.core.ports import Completion, Provider
from redask.core.rules import capabilities
from redask.core.settings import Settings
from redask.engine import telemetry
from redask.engine.ask_state import AskState
from redask.engine.budget import Budget, billed, reported
from redask.engine.workers import Workers


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """What one provider is asked: the prompt, the settled knobs, and who may still follow."""

    provider: Provider
    prompt: Prompt
    knobs: Knobs
    providers_left: int


@dataclass(frozen=True, slots=True)
class ProviderCalls:
    """See the module."""

    budget: Budget
    settings: Settings
    workers: Workers

    async def complete(
        self,
        run: AskState,
        size: Usage,
        call: ProviderCall,
        take: Callable[[str], Awaitable[None]] | None = None,
    ) -> tuple[Completion, tuple[Notice, ...]]:
        """The completion, in pieces to `take` meanwhile, and a warning if its usage is estimated.

        `size` is the prompt's. Whoever has no `take` wants the whole.
        """
        provider, budget = call.provider, self.budget
        budget.check(run, size)
        booking = budget.booking(run, provider)
        if budget.capped(run):
            booking = await self.workers.hop(budget.reserve, run, size, call.prompt, provider)
        run.knobs, run.answer, run.build = as_sent(provider, call.knobs), "", ""
        can = capabilities.of(provider.name, self.settings.capabilities)
        used, streamed = Usage(), 0

        async def counted(piece: str) -> None:
            nonlocal streamed
            streamed += token_count.estimate(piece)
            budget.check(run, replace(size, completion_tokens=streamed))
            await take(piece)  # type: ignore[misc]  # nothing is emitted without it

        is_streamed = take is not None and run.listened and can.supports_streaming
        try:
            with telemetry.step("provider"):
                async with asyncio.timeout(budget.share(run, call.providers_left)):
                    completion = await provider.complete(
                        call.prompt,
                        run.knobs,
                        max_tokens=self.settings.limits.max_completion_tokens,
                        emit=counted if is_streamed else None,
                    )
            used, estimated = reported(completion, size, provider)
        except BaseException as error:
            worst = budget.worst(size, call.prompt, provider)
            used = billed(error, replace(size, completion_tokens=streamed), provider, worst)
            if not isinstance(error, TimeoutError):
                raise
            message = "no answer within its share of the time"
            raise errors.ProviderFailed(provider.name, errors.Failure.TIMEOUT, message) from None
        finally:
            run.spend(used)
            if booking.reservation or used.cost_usd != 0.0:
                await self.workers.hop(budget.settle, booking, used)
        run.model, run.build = completion.model, completion.build
        budget.check(run, replace(size, completion_tokens=used.completion_tokens))
        return completion, estimated


def as_sent(provider: Provider, settled: Knobs) -> Knobs:
    """The knobs as the provider's wire carries them."""
    seed = None if settled.seed is None else provider.narrow(settled.seed)
    return Knobs(settled.temperature, seed)
