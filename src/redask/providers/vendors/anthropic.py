"""Anthropic's models, through their own SDK (the extra `anthropic`).

The API has no seed. Usage comes with the reply; in a stream the prompt's with the first event
and the completion's with the last. The prompt's count includes what was read from or written to
the vendor's prompt cache. Stop reason `refusal` is a refusal, and billed; a stream that ends
without a stop reason was cut off. The SDK's retries are off. The SDK has no temperature parameter
any more, but the API has, and the default model accepts it; for a newer model that does not, an
override of its capabilities (`supports_temperature_zero = false`) leaves it out.
"""

import os
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import httpx2
from anthropic import AsyncAnthropic, Omit

from redask.core.errors import Failure, ProviderFailed, ProviderRefused
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.providers.vendors import chat, failures, vendor_headers
from redask.providers.vendors.connections import (
    TIMEOUT,
    ClientPerLoop,
    Pieces,
    Unreadable,
    closing_stream,
)
from redask.providers.vendors.endpoint import Access
from redask.providers.vendors.pricing import pricer

NAME = "anthropic"
_PROMPT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(slots=True)
class MessageReply:
    """Accumulates one message, whole or event by event."""

    model: str
    key: str = field(repr=False)
    pieces: list[str] = field(default_factory=list)
    prompt_tokens: object = None
    completion_tokens: object = None
    stop: str = ""
    parts: int = 0

    def read(self, message: object) -> None:
        """Read a whole message."""
        content = chat.get_path(message, "content")
        if not isinstance(content, list):
            raise Unreadable("its reply holds no answer")
        self._read_metadata(message)
        self.stop = self.stop or "end_turn"  # not a stream: it cannot be cut off
        for block in content:
            if chat.get_path(block, "type") == "text":
                self._append_text(chat.get_path(block, "text"))

    def read_event(self, event: object) -> str:
        """Read one event of a stream. → the text it adds."""
        self.parts += 1
        match chat.get_path(event, "type"):
            case "message_start":
                self._read_metadata(chat.get_path(event, "message"))
            case "content_block_delta":
                if chat.get_path(event, "delta", "type") == "text_delta":
                    return self._append_text(chat.get_path(event, "delta", "text"))
            case "message_delta":
                self._read_usage(chat.get_path(event, "usage"))
                self._read_stop(chat.get_path(event, "delta"))
        return ""

    def completion(self) -> Completion:
        """The completion, or the failure that the message reports."""
        usage = chat.token_counts(self.prompt_tokens, self.completion_tokens)
        if self.stop == "refusal":
            billed = chat.complete_usage(usage)
            raise ProviderRefused(NAME, "it refused to answer", billed=billed)
        if not self.parts:
            raise ProviderRefused(NAME, "its reply is empty")
        if not self.stop:
            raise ProviderFailed(NAME, Failure.TRANSPORT, "the stream broke off")
        return Completion("".join(self.pieces), self.model, *usage)

    def _read_metadata(self, message: object) -> None:
        self.parts += 1
        self.model = chat.name_in(chat.get_path(message, "model")) or self.model
        self._read_usage(chat.get_path(message, "usage"))
        self._read_stop(message)

    def _read_stop(self, holder: object) -> None:
        stop = chat.get_path(holder, "stop_reason")
        if isinstance(stop, str):
            self.stop = stop

    def _read_usage(self, usage: object) -> None:
        counts = [chat.get_path(usage, name) for name in _PROMPT_COUNTS]
        if counts[0] is not None:
            reported = [count for count in counts if count is not None]
            valid = [count for count in reported if chat.is_token_count(count)]
            self.prompt_tokens = sum(valid) if len(valid) == len(reported) else None
        output = chat.get_path(usage, "output_tokens")
        if output is not None:
            self.completion_tokens = output

    def _append_text(self, text: object) -> str:
        if not isinstance(text, str):
            raise Unreadable("its answer is no text")
        if text:
            self.pieces.append(text)
        return text


class AnthropicMessages:
    """A model of Anthropic, through the Messages API."""

    name = NAME
    capabilities = capabilities.of(NAME)

    def __init__(self, access: Access) -> None:
        self.model = access.model
        self._key = access.api_key or ""
        self._base_url = access.base_url
        self._price = pricer(NAME, access.model, access.prices)
        self._clients = ClientPerLoop(self._client)

    def narrow(self, seed: int) -> int:
        """Signed 64 bits; no seed is ever sent."""
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
            async with closing_stream(stream, stream.close) as events:
                async for event in events:
                    if piece := reply.read_event(event):
                        yield piece

    def _client(self, http: httpx2.AsyncClient) -> AsyncAnthropic:
        private = vendor_headers.withheld(vendor_headers.ANTHROPIC, self._base_url, os.environ)
        headers = {name: self._key if name.lower() == "x-api-key" else Omit() for name in private}
        return AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url,
            http_client=http,
            timeout=TIMEOUT,
            max_retries=0,
            default_headers=headers,  # type: ignore[arg-type]
        )
