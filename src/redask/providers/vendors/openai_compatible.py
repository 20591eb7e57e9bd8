"""Every host with OpenAI's chat completions API, through OpenAI's own SDK.

A host is a row of `core.provider_table`: its address, the variable of its key, its default model,
and its quirks: how its wire differs from the usual one.

The SDK's retries are off: whether to go on is `rules.failover`'s to say. A stream asks for the
usage, which comes with its last chunk. The headers that the SDK takes from its variables are
OpenAI's: no other host is told them (`vendor_headers`).
"""

import os
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import httpx2
from openai import AsyncOpenAI, Omit

from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.provider_table import PROVIDERS
from redask.core.rules import capabilities, determinism
from redask.providers.vendors import chat, failures, vendor_headers
from redask.providers.vendors.connections import TIMEOUT, ClientPerLoop, Pieces, closing_stream
from redask.providers.vendors.endpoint import Access
from redask.providers.vendors.pricing import pricer

_NO_KEY = "none"  # the SDK requires one; hosts without keys ignore it


class OpenAICompatible:
    """One host."""

    def __init__(self, access: Access) -> None:
        self.name = access.provider
        self.model = access.model
        self.capabilities = capabilities.of(access.provider)
        self._quirks = PROVIDERS[access.provider].quirks
        self._key = access.api_key
        self._price = pricer(access.provider, access.model, access.prices)
        self._base_url = access.base_url
        self._clients = ClientPerLoop(self._client)

    def narrow(self, seed: int) -> int:
        """The seed in the range that this host accepts."""
        return determinism.NARROWING[self._quirks.seeds](seed)

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
            "messages": chat.messages(prompt),
            self._quirks.limit_name: max_tokens,
            **chat.knobs_sent(knobs),
        }
        reply = chat.ChatReply(self.name, self.model, self._key)
        if emit is None:
            with failures.translated(self.name, self._key):
                client = await self._clients.get()
                reply.read(await client.chat.completions.create(**request))
        else:
            async with aclosing(self._pieces(request, reply)) as pieces:
                async for piece in pieces:
                    await emit(piece)
        return reply.completion()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.aclose()

    async def _pieces(self, request: dict[str, Any], reply: chat.ChatReply) -> Pieces:
        with failures.translated(self.name, self._key):
            client = await self._clients.get()
            stream = await client.chat.completions.create(
                **request, stream=True, stream_options={"include_usage": True}
            )
            async with closing_stream(stream, stream.close) as chunks:
                async for chunk in chunks:
                    if piece := reply.read_chunk(chunk):
                        yield piece

    def _client(self, http: httpx2.AsyncClient) -> AsyncOpenAI:
        key = self._key or _NO_KEY
        private = vendor_headers.withheld(vendor_headers.OPENAI, self._base_url, os.environ)
        headers = {
            name: f"Bearer {key}" if name.lower() == "authorization" else Omit() for name in private
        }
        return AsyncOpenAI(
            api_key=key,
            base_url=self._base_url,
            http_client=http,
            timeout=TIMEOUT,
            max_retries=0,
            default_headers=headers,  # type: ignore[arg-type]
        )
