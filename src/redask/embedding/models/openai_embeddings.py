"""Embeddings from a host with OpenAI's `POST /embeddings`: `OpenAiCompatible(remote)`.

    response                                           error
    401, 403, other 4xx, an invalid response           ProviderRefused
    408, timeout                                       ProviderFailed, timeout
    5xx                                                ProviderFailed, 5xx
    no connection                                      ProviderFailed, transport
    another dimension than declared, or than before     Misconfigured

The key is sent to the configured host only, and is not in any message. Texts are sent in batches,
truncated to what models read; a blank text is sent as one space, because some hosts refuse an
empty one. Vectors are normalised to length 1 here. A host may give equal texts different vectors;
each entity is embedded once, so stored vectors do not change.

Connections are kept open between requests. A request whose connection broke is sent once more, for
a host may close an idle connection just when it is used.
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
TEXTS_PER_REQUEST = 64
TIMEOUT_SECONDS = 30.0
MAX_CHARACTERS = 8000  # few models read more than 2,000 tokens of a passage
_MAX_RESPONSE_BYTES = 64 * 1024 * 1024
_OPENAI = "https://api.openai.com/v1"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """The settings of a remote embedding model."""

    base_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None


class OpenAiCompatible:
    """A remote embedder."""

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
        self.dimensions = remote.dimensions or 0  # 0: those of the first vector
        self._timeout = timeout

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        found: list[tuple[float, ...]] = []
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            batch = [_sendable(text) for text in texts[start : start + TEXTS_PER_REQUEST]]
            found += map(self._unit, self._vectors(batch))
        return found

    def _vectors(self, batch: list[str]) -> list[list[float]]:
        """One vector for each text, in order."""
        try:
            entries = json.loads(self._post({"input": batch, "model": self._name}))["data"]
            by_index = {int(entry["index"]): entry["embedding"] for entry in entries}
            vectors = [list(map(float, by_index[index])) for index in range(len(batch))]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise ProviderRefused(NAME, "invalid response from the embedding host") from None
        return vectors

    def _unit(self, vector: list[float]) -> tuple[float, ...]:
        self.dimensions = self.dimensions or len(vector)
        if len(vector) != self.dimensions:
            raise Misconfigured(
                f"embedding dimension mismatch: {self._name} returned {len(vector)} dimensions, "
                f"not {self.dimensions}",
                detail="embedder.dimensions",
            )
        length = math.sqrt(math.fsum(number * number for number in vector))
        if not 0 < length < math.inf:
            raise ProviderRefused(NAME, "the embedding host returned a zero or non-finite vector")
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
            raise _failed(Failure.TIMEOUT, "the request to the embedding host timed out") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
            raise _failed(Failure.TRANSPORT, "connection to the embedding host failed") from None

    def _exchange(self, content: bytes) -> bytes:
        """The body of one reply, as it was sent."""
        reply = bytearray()
        with self._client.stream("POST", self._url, content=content) as response:
            if not response.is_success:
                raise _status_error(response.status_code)
            for chunk in response.iter_raw():
                reply += chunk
                if len(reply) > _MAX_RESPONSE_BYTES:
                    raise ProviderRefused(NAME, "the response of the embedding host is too large")
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


def _status_error(status: int) -> ProviderFailed:
    if status == 408:
        return _failed(Failure.TIMEOUT, "the request to the embedding host timed out")
    if status >= 500:
        return _failed(Failure.SERVER, f"the embedding host failed with HTTP status {status}")
    return ProviderRefused(NAME, f"the embedding host refused with HTTP status {status}")


def _failed(failure: Failure, message: str) -> ProviderFailed:
    return ProviderFailed(NAME, failure, message)


def _sendable(text: str) -> str:
    """The text as it is sent: truncated, valid Unicode, and not empty."""
    cut = _LONE_SURROGATE.sub("\ufffd", text[:MAX_CHARACTERS])
    return cut if cut.strip() else " "
