"""Every host with OpenAI's chat completions API, through OpenAI's own SDK.

A host is a row of `PROVIDERS`: its address, the variable of its key, its default model. How a
wire differs from the usual one is a row of HOSTS:

    usual     seeds of signed 64 bits, the limit called max_tokens
    openai    the limit called max_completion_tokens
    ollama    seeds mod 2^32-1

The SDK's retries are off: whether to go on is `rules.failover`'s to say. A stream asks for the
usage, which comes with its last chunk. The organisation and project that the SDK takes from its
variables are told to OpenAI alone.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx2
from openai import AsyncOpenAI, Omit

from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.providers.vendors import chat, failures
from redask.providers.vendors.connections import TIMEOUT, ClientPerLoop, Pieces, closing_stream
from redask.providers.vendors.endpoint import Access
from redask.providers.vendors.pricing import pricer

_NO_KEY = "none"  # the SDK requires one; hosts without keys ignore it


@dataclass(frozen=True, slots=True)
class Host:
    """How one host's wire differs from the others'."""

    narrow: Callable[[int], int] = determinism.narrow_to_signed
    limit_name: str = "max_tokens"


_USUAL = Host()
HOSTS: Mapping[str, Host] = {
    "openai": Host(limit_name="max_completion_tokens"),
    "ollama": Host(narrow=determinism.narrow_to_32_bits),
}


class OpenAICompatible:
    """One host of HOSTS."""

    def __init__(self, access: Access) -> None:
        self.name = access.provider
        self.model = access.model
        self.capabilities = capabilities.of(access.provider)
        self._host = HOSTS.get(access.provider, _USUAL)
        self._key = access.api_key
        self._price = pricer(access.provider, access.model, access.prices)
        self._base_url = access.base_url
        self._clients = ClientPerLoop(self._client)

    def narrow(self, seed: int) -> int:
        """The seed in the range that this host accepts."""
        return self._host.narrow(seed)

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
            self._host.limit_name: max_tokens,
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
        private = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
        return AsyncOpenAI(
            api_key=self._key or _NO_KEY,
            base_url=self._base_url,
            http_client=http,
            timeout=TIMEOUT,
            max_retries=0,
            default_headers=None if self.name == "openai" else private,  # type: ignore[arg-type]
        )
