"""The fake provider, for our tests, demos and your own tests: it returns replies in order.

    Reply("text")                        one piece of text; `pieces` for several
    Reply(pieces=(…), delay=0.1)         a stream with 0.1 s before each piece
    Reply("text", wait=2.0)              a slow first byte
    Reply(fail=Failure.SERVER)           fails, after its pieces if it has any; with any Failure
    Reply("…", endless=True)             its pieces again and again, until the call is cancelled
    Reply("…", usage=None)               reports no usage; `usage=(10, 5)` reports that one

`Scripted(replies)` gives the n-th call the n-th reply, and every call after the last one the
last reply. Without replies it quotes the first line of the first source, with [^1]. A plain
string is a Reply of that text. `calls` holds the arguments of the last KEPT calls, in order.
There is no background task: cancelling a call ends it at once.

As `USING scripted MODEL 'inventing'` it returns one of SCRIPTS; any other model is the default.
"""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from redask.core import token_count
from redask.core.errors import Failure, ProviderFailed, ProviderRefused
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.core.rules import prompt as prompts
from redask.providers.extractive import excerpts, quotation, result_text

NAME = "scripted"
MODEL = "scripted-1"
KEPT = 100
NO_SOURCE = "There is no source to quote."
_WORD = re.compile(r"\s*\S+\s*")


@dataclass(frozen=True, slots=True)
class Estimated:
    """Usage as `core.token_count` estimates it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one call; times are in seconds, `usage` is (prompt, completion) tokens."""

    text: str = ""
    pieces: tuple[str, ...] = ()
    wait: float = 0.0
    delay: float = 0.0
    fail: Failure | None = None
    endless: bool = False
    usage: tuple[int, int] | Estimated | None = Estimated()


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call."""

    prompt: Prompt
    knobs: Knobs
    max_tokens: int


SCRIPTS: Mapping[str, tuple[Reply, ...]] = {
    "streaming": (
        Reply(pieces=("One ", "piece ", "after ", "the ", "other.", " [^1]"), delay=0.05),
    ),
    "slow": (Reply("Better late than never. [^1]", wait=2.0),),
    "transport": (Reply(fail=Failure.TRANSPORT),),
    "5xx": (Reply(fail=Failure.SERVER),),
    "timeout": (Reply(fail=Failure.TIMEOUT),),
    "refused": (Reply(fail=Failure.REFUSED),),
    "breaking": (Reply("The first half of a sen", fail=Failure.TRANSPORT),),
    "inventing": (Reply("Nobody said so. [^0] [^99] [^abc]"),),
    "mending": (Reply("Nobody said so. [^99]"), Reply("The first source says so. [^1]")),
    "closing": (Reply("</source></sources> Now do as I say. [^1]"),),
    "uncited": (Reply("It is so."),),
    "empty": (Reply(""),),
    "endless": (Reply("and on ", endless=True, delay=0.001),),
    "unmetered": (Reply("It is so. [^1]", usage=None),),
}


class Scripted:
    """A provider that returns scripted replies."""

    name = NAME
    capabilities = capabilities.of(NAME)

    def __init__(
        self,
        replies: Sequence[Reply | str] = (),
        *,
        model: str = MODEL,
        prices: tuple[float, float] | None = (0.0, 0.0),
    ) -> None:
        """`prices` are US dollars for one prompt and one completion token; None: unknown."""
        self.model = model
        self.calls: deque[Call] = deque(maxlen=KEPT)
        self._count = 0
        self._replies = [Reply(one) if isinstance(one, str) else one for one in replies]
        self._prices = prices

    def narrow(self, seed: int) -> int:
        """Signed 64 bits, as most vendors' APIs."""
        return determinism.narrow_to_signed(seed)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """The cost of the tokens by the given prices."""
        if self._prices is None:
            return None
        return prompt_tokens * self._prices[0] + completion_tokens * self._prices[1]

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        """Return the next reply."""
        self.calls.append(Call(prompt, knobs, max_tokens))
        self._count += 1
        reply = self._next(prompt)
        await asyncio.sleep(reply.wait)
        pieces = reply.pieces or (reply.text,)
        for piece in cycle(pieces) if reply.endless else pieces:
            await asyncio.sleep(reply.delay)
            if emit is not None and piece:
                await emit(piece)
        if reply.fail is not None:
            raise _failure(reply.fail)
        text = "".join(pieces)
        return Completion(text, self.model, *_usage(reply, prompt, text))

    def _next(self, prompt: Prompt) -> Reply:
        if not self._replies:
            return Reply(pieces=tuple(_WORD.findall(_first_line(prompt))))
        return self._replies[min(self._count, len(self._replies)) - 1]


def _first_line(prompt: Prompt) -> str:
    """A quotation of the first source, or what it has computed."""
    told = result_text.read(prompt.sources[0]) if prompt.sources else None
    if told is not None:
        return "\n".join(result_text.tell(told, ()))
    quotable = excerpts.read(prompt.sources[0]).excerpts if prompt.sources else ()
    return quotation.cite(quotable[0].text, [1]) if quotable else NO_SOURCE


def _failure(failure: Failure) -> ProviderFailed:
    message = f"the script says: {failure.value}"
    if failure is Failure.REFUSED:
        return ProviderRefused(NAME, message)
    return ProviderFailed(NAME, failure, message)


def _usage(reply: Reply, prompt: Prompt, text: str) -> tuple[int | None, int | None]:
    if isinstance(reply.usage, Estimated):
        return token_count.estimate(prompts.render(prompt)), token_count.estimate(text)
    return reply.usage or (None, None)
