"""Providers of completions."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from redask.core.model import Capabilities, Knobs, Notice, Prompt


@dataclass(frozen=True, slots=True)
class Completion:
    """What a provider answered. Token counts are `None` when it reported none.

    `build` is its system fingerprint or the like, where it sends one. `warnings` are what a
    provider of ours knows of its answer: that it is a refusal (then nothing of it was handed to
    `emit`), that sources disagree.
    """

    text: str
    model: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    build: str = ""
    warnings: tuple[Notice, ...] = ()


class Provider(Protocol):
    """A model, or what stands for one."""

    name: str
    model: str
    capabilities: Capabilities

    def narrow(self, seed: int) -> int:
        """The seed as this provider's wire can carry it."""

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What a call costs in US dollars; None when no price is known."""

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        """Answer once; hand each piece to `emit` as it comes. Cancelling closes the call."""


@runtime_checkable
class Connected(Protocol):
    """What a provider may have besides: connections to close."""

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next call opens new ones."""
