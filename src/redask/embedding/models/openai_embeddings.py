"""Vectors from a host that speaks OpenAI's `POST /embeddings`: `OpenAiCompatible(remote)`.

    reply                                              becomes
    401, 403, other 4xx, a reply we cannot read        ProviderRefused
    408, no reply in time                              ProviderFailed, timeout
    5xx                                                ProviderFailed, 5xx
    no connection                                      ProviderFailed, transport
    vectors of another length than declared or before  Misconfigured

The key is sent to the configured host and shown nowhere. Texts go in batches, cut to what a
model reads anyway; a text without a letter goes as one blank, for some hosts refuse an empty
one. Vectors are brought to length 1 here. Whether equal texts get equal vectors is the host's
doing; each entity is embedded once, so what is stored does not move.

Connections are kept open between calls. A call whose connection broke is made once more, for a
host may close one that was idle just when it is used.
"""

import json
import math
import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from redask.core.errors import Failure, Misconfigured, ProviderFailed, ProviderRefused

if TYPE_CHECKING:
    import httpx2

NAME = "openai_compatible"
TEXTS_A_CALL = 64
TIMEOUT_SECONDS = 30.0
LONGEST = 8000  # characters; a model that reads more than 2,000 tokens of a passage is rare
_MOST_BYTES = 64 * 1024 * 1024
_OPENAI = "https://api.openai.com/v1"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """What the settings say about an embedder elsewhere."""

    base_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None


class OpenAiCompatible:
    """An embedder on the other end of a connection."""

    languages: frozenset[str] = frozenset()

    def __init__(self, remote: RemoteModel, timeout: float = TIMEOUT_SECONDS) -> None:
        if remote.model is None:
            raise Misconfigured(f"{NAME} needs embedder.model", detail="embedder.model")
        if remote.base_url is None and remote.api_key is None:
            raise Misconfigured(
                f"{NAME} needs embedder.base_url, or REDASK_EMBEDDER_API_KEY for OpenAI itself",
                detail="embedder.base_url",
            )
        base = (remote.base_url or _OPENAI).rstrip("/")
        if not base.startswith(("http://", "https://")):
            raise Misconfigured("embedder.base_url must start with http:// or https://")
        self.model = f"{NAME}/{remote.model}"
        self._name = remote.model
        self._url = f"{base}/embeddings"
        self._key = remote.api_key
        self.dimensions = remote.dimensions or 0  # 0: as many as the first vector will have
        self._timeout = timeout

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        found: list[tuple[float, ...]] = []
        for start in range(0, len(texts), TEXTS_A_CALL):
            batch = [_sendable(text) for text in texts[start : start + TEXTS_A_CALL]]
            found += map(self._unit, self._vectors(batch))
        return found

    def _vectors(self, batch: list[str]) -> list[list[float]]:
        """One vector for each text, in their order."""
        try:
            entries = json.loads(self._post({"input": batch, "model": self._name}))["data"]
            placed = {int(entry["index"]): entry["embedding"] for entry in entries}
            vectors = [list(map(float, placed[place])) for place in range(len(batch))]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise ProviderRefused(NAME, "the embedder's reply cannot be read") from None
        return vectors

    def _unit(self, vector: list[float]) -> tuple[float, ...]:
        self.dimensions = self.dimensions or len(vector)
        if len(vector) != self.dimensions:
            raise Misconfigured(
                f"the embedder {self._name} gives vectors of {len(vector)} numbers, "
                f"not {self.dimensions}",
                detail="embedder.dimensions",
            )
        length = math.sqrt(math.fsum(number * number for number in vector))
        if not 0 < length < math.inf:
            raise ProviderRefused(NAME, "the embedder's reply holds a vector without direction")
        return tuple(number / length for number in vector)

    def _post(self, body: dict[str, object]) -> bytes:
        import httpx2  # at the first text: importing it takes a while

        content = json.dumps(body).encode()
        try:
            try:
                return self._exchange(content)
            except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
                return self._exchange(content)  # the host may have closed the kept connection
        except httpx2.TimeoutException:
            raise _failed(Failure.TIMEOUT, "the embedder did not reply in time") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
            raise _failed(Failure.TRANSPORT, "the embedder cannot be reached") from None

    def _exchange(self, content: bytes) -> bytes:
        """The body of one reply, as it was sent."""
        reply = bytearray()
        with self._client.stream("POST", self._url, content=content) as response:
            if not response.is_success:
                raise _refusal(response.status_code)
            for chunk in response.iter_raw():
                reply += chunk
                if len(reply) > _MOST_BYTES:
                    raise ProviderRefused(NAME, "the embedder's reply is too long")
        return bytes(reply)

    @cached_property
    def _client(self) -> "httpx2.Client":
        """Keeps connections open between calls, from any thread, until this object is gone."""
        import httpx2

        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        client = httpx2.Client(
            headers=headers,
            timeout=self._timeout,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            follow_redirects=False,  # the key is for the configured host alone
        )
        weakref.finalize(self, client.close)
        return client


def _refusal(status: int) -> ProviderFailed:
    if status == 408:
        return _failed(Failure.TIMEOUT, "the embedder did not reply in time")
    if status >= 500:
        return _failed(Failure.SERVER, f"the embedder failed with status {status}")
    return ProviderRefused(NAME, f"the embedder refused with status {status}")


def _failed(failure: Failure, message: str) -> ProviderFailed:
    return ProviderFailed(NAME, failure, message)


def _sendable(text: str) -> str:
    """What can travel as JSON and is not empty."""
    cut = _LONE_SURROGATE.sub("\ufffd", text[:LONGEST])
    return cut if cut.strip() else " "
