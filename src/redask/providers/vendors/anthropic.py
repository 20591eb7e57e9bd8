"""Anthropic's models, through their own SDK (the extra `anthropic`).

The wire knows no seed. Usage comes with the reply; in a stream the prompt's with the first event
and the completion's with the last. The prompt's count includes what was read from or written to
the vendor's prompt cache. Stop reason `refusal` is a refusal, and billed; a stream that ends
without a stop reason broke off. The SDK's retries are off. The SDK has no word for the temperature
any more, but the wire has, and the default model takes it; for a newer model that does not, an
override of its capabilities (`supports_temperature_zero = false`) leaves it out.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import httpx2
from anthropic import AsyncAnthropic

from redask.core.errors import Failure, ProviderFailed, ProviderRefused
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.providers.vendors import chat, failures
from redask.providers.vendors.connections import TIMEOUT, PerLoop, Pieces, Unreadable, running
from redask.providers.vendors.endpoint import Access
from redask.providers.vendors.pricing import pricer

NAME = "anthropic"
_PROMPT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(slots=True)
class MessageReply:
    """One message while it is read, whole or event by event."""

    model: str
    key: str = field(repr=False)
    pieces: list[str] = field(default_factory=list)
    prompt_tokens: object = None
    completion_tokens: object = None
    stop: str = ""
    parts: int = 0

    def read(self, message: object) -> None:
        """Take a whole message."""
        content = chat.pick(message, "content")
        if not isinstance(content, list):
            raise Unreadable("its reply holds no answer")
        self._note(message)
        self.stop = self.stop or "end_turn"  # a whole message is whole
        for block in content:
            if chat.pick(block, "type") == "text":
                self._take(chat.pick(block, "text"))

    def hear(self, event: object) -> str:
        """Take one event of a stream. → the text it adds."""
        self.parts += 1
        match chat.pick(event, "type"):
            case "message_start":
                self._note(chat.pick(event, "message"))
            case "content_block_delta":
                if chat.pick(event, "delta", "type") == "text_delta":
                    return self._take(chat.pick(event, "delta", "text"))
            case "message_delta":
                self._note_usage(chat.pick(event, "usage"))
                self._note_stop(chat.pick(event, "delta"))
        return ""

    def completion(self) -> Completion:
        """The answer, if it is one."""
        usage = chat.counts(self.prompt_tokens, self.completion_tokens)
        if self.stop == "refusal":
            billed = chat.whole_usage(usage)
            raise ProviderRefused(NAME, "it refused to answer", billed=billed)
        if not self.parts:
            raise ProviderRefused(NAME, "its reply is empty")
        if not self.stop:
            raise ProviderFailed(NAME, Failure.TRANSPORT, "the stream broke off")
        return Completion("".join(self.pieces), self.model, *usage)

    def _note(self, message: object) -> None:
        self.parts += 1
        self.model = chat.name_in(chat.pick(message, "model")) or self.model
        self._note_usage(chat.pick(message, "usage"))
        self._note_stop(message)

    def _note_stop(self, holder: object) -> None:
        stop = chat.pick(holder, "stop_reason")
        if isinstance(stop, str):
            self.stop = stop

    def _note_usage(self, usage: object) -> None:
        read = [chat.pick(usage, name) for name in _PROMPT_COUNTS]
        if read[0] is not None:
            known = [count for count in read if count is not None]
            counted = [count for count in known if chat.sensible(count)]
            self.prompt_tokens = sum(counted) if len(counted) == len(known) else None
        written = chat.pick(usage, "output_tokens")
        if written is not None:
            self.completion_tokens = written

    def _take(self, text: object) -> str:
        if not isinstance(text, str):
            raise Unreadable("its answer is no text")
        if text:
            self.pieces.append(text)
        return text


class AnthropicMessages:
    """A model of Anthropic's."""

    name = NAME
    capabilities = capabilities.of(NAME)

    def __init__(self, access: Access) -> None:
        self.model = access.model
        self._key = access.api_key or ""
        self._base_url = access.base_url
        self._price = pricer(NAME, access.model, access.prices)
        self._clients = PerLoop(self._client)

    def narrow(self, seed: int) -> int:
        """No seed is ever sent; a wire of signed 64 bits could carry this."""
        return determinism.narrow_to_signed(seed)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What a call costs in US dollars; None when no price is known."""
        return self._price(prompt_tokens, completion_tokens)

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        """Answer once; hand each piece to `emit` as it comes. Cancelling closes the call."""
        request: dict[str, Any] = {
            "model": self.model,
            "system": prompt.system,
            "messages": [{"role": "user", "content": prompt.user}],
            "max_tokens": max_tokens,
        }
        if knobs.temperature is not None:
            request["extra_body"] = {"temperature": knobs.temperature}
        reply = MessageReply(self.model, self._key)
        if emit is None:
            with failures.translated(NAME, self._key):
                client = await self._clients.get()
                reply.read(await client.messages.create(**request))
        else:
            async with aclosing(self._pieces(request, reply)) as pieces:
                async for piece in pieces:
                    await emit(piece)
        return reply.completion()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.aclose()

    async def _pieces(self, request: dict[str, Any], reply: MessageReply) -> Pieces:
        with failures.translated(NAME, self._key):
            client = await self._clients.get()
            stream = await client.messages.create(**request, stream=True)
            async with running(stream, stream.close) as events:
                async for event in events:
                    if piece := reply.hear(event):
                        yield piece

    def _client(self, http: httpx2.AsyncClient) -> AsyncAnthropic:
        return AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url,
            http_client=http,
            timeout=TIMEOUT,
            max_retries=0,
        )
