"""Models on Hugging Face, through their own SDK (the extra `huggingface`).

The address is always given, the router's unless the settings name another (an endpoint of one's
own): so the SDK does not look up the host of a model, and a call is one request. The protocol is
chat completions. One inference client serves one call, because the SDK closes a stream only with
its client; connections are shared between calls.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import httpx2
from huggingface_hub import AsyncInferenceClient

from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.providers.vendors import chat, failures
from redask.providers.vendors.connections import TIMEOUT, ClientPerLoop, Pieces, closing_stream
from redask.providers.vendors.endpoint import Access
from redask.providers.vendors.pricing import pricer

NAME = "huggingface"


class HuggingFace:
    """A model behind Hugging Face's router, or behind an endpoint like it."""

    name = NAME
    capabilities = capabilities.of(NAME)

    def __init__(self, access: Access) -> None:
        self.model = access.model
        self._key = access.api_key
        self._base_url = access.base_url
        self._price = pricer(NAME, access.model, access.prices)
        self._clients = ClientPerLoop(_same)

    def narrow(self, seed: int) -> int:
        """Signed 64 bits; sent only where an override enables seeds."""
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
            "messages": chat.messages(prompt),
            "model": self.model,
            "max_tokens": max_tokens,
            **chat.knobs_sent(knobs),
        }
        reply = chat.ChatReply(NAME, self.model, self._key)
        if emit is None:
            with failures.translated(NAME, self._key):
                async with await self._inference() as inference:
                    reply.read(await inference.chat_completion(**request))
        else:
            async with aclosing(self._pieces(request, reply)) as pieces:
                async for piece in pieces:
                    await emit(piece)
        return reply.completion()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.aclose()

    async def _pieces(self, request: dict[str, Any], reply: chat.ChatReply) -> Pieces:
        with failures.translated(NAME, self._key):
            async with await self._inference() as inference:
                stream = await inference.chat_completion(
                    **request, stream=True, stream_options={"include_usage": True}
                )
                async with closing_stream(stream, inference.close) as chunks:
                    async for chunk in chunks:
                        if piece := reply.read_chunk(chunk):
                            yield piece

    async def _inference(self) -> AsyncInferenceClient:
        """The SDK's client for one call, on the connections of this loop."""
        inference = AsyncInferenceClient(
            base_url=self._base_url,
            api_key=self._key,
            timeout=TIMEOUT,  # type: ignore[arg-type]  # it is passed on unchanged
        )
        inference._async_client = await self._clients.get()  # else it opens one of its own
        return inference


def _same(http: httpx2.AsyncClient) -> httpx2.AsyncClient:
    return http
