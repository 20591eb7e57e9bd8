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

Each request is counted by the `meter`, which may forbid it: see `engine.spending`. A text has no
more tokens than bytes.

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

from redask.core import token_count
from redask.core.errors import Failure, Misconfigured, ProviderFailed, ProviderRefused
from redask.core.ports import EmbeddingMeter

if TYPE_CHECKING:
    import httpx2

NAME = "openai_compatible"
TEXTS_PER_REQUEST = 64
TIMEOUT_SECONDS = 30.0
MAX_CHARACTERS = 8000  # few models read more than 2,000 tokens of a passage
_MAX_RESPONSE_BYTES = 64 * 1024 * 1024
_FRAME = 8  # tokens that a model adds to a text, generously
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
    meter: EmbeddingMeter | None = None  # who counts what is sent, and forbids it

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

    @property
    def price_name(self) -> tuple[str, str]:
        """By which provider and model it is priced and allowed; a host of its own is `custom`."""
        return ("openai" if self._url.startswith(f"{_OPENAI}/") else "custom"), self._name

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        found: list[tuple[float, ...]] = []
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            batch = [_sendable(text) for text in texts[start : start + TEXTS_PER_REQUEST]]
            found += map(self._unit, self._vectors(batch))
        return found

    def _vectors(self, batch: list[str]) -> list[list[float]]:
        """One vector for each text, in order."""
        import httpx2  # at the first text: importing it takes a while

        try:
            try:
                return self._attempt(batch)
            except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
                return self._attempt(batch)  # the host may have closed the kept connection
        except _StatusRefused as refused:
            raise refused.error from None
        except httpx2.TimeoutException:
            raise _failed(Failure.TIMEOUT, "the request to the embedding host timed out") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
            raise _failed(Failure.TRANSPORT, "connection to the embedding host failed") from None

    def _attempt(self, batch: list[str]) -> list[list[float]]:
        """One request, and what it costs; what was sent whole may be billed, however it ended."""
        most = sum(len(text.encode()) + _FRAME for text in batch)
        charge = self.meter.begin(most) if self.meter else None
        used: int | None = None  # cut off, until it is known better
        try:
            try:
                reply = self._exchange(json.dumps({"input": batch, "model": self._name}).encode())
            except BaseException as error:
                used = 0 if _was_not_read(error) else None
                raise
            vectors, reported = _parsed(reply, len(batch))
            used = sum(map(token_count.estimate, batch)) if reported is None else reported
            return vectors
        finally:
            if charge and used is None:
                charge.cut_off(most)
            elif charge:
                charge.settle(used or 0)

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

    def _exchange(self, content: bytes) -> bytes:
        """The body of one reply, as it was sent."""
        reply = bytearray()
        with self._client.stream("POST", self._url, content=content) as response:
            if not response.is_success:
                raise _StatusRefused(_status_error(response.status_code))
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


class _StatusRefused(Exception):
    """The host said no, before it read a text."""

    def __init__(self, error: ProviderFailed) -> None:
        super().__init__()
        self.error = error


def _was_not_read(error: BaseException) -> bool:
    """Whether a request surely was not read by the host."""
    import httpx2

    unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.WriteError, httpx2.WriteTimeout)
    return isinstance(error, (_StatusRefused, httpx2.InvalidURL, *unsent))


def _parsed(reply: bytes, count: int) -> tuple[list[list[float]], int | None]:
    """One vector for each text, in order, and how many tokens the host counted."""
    try:
        document = json.loads(reply)
        by_index = {int(entry["index"]): entry["embedding"] for entry in document["data"]}
        vectors = [list(map(float, by_index[index])) for index in range(count)]
        usage = document.get("usage")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, AttributeError):
        raise ProviderRefused(NAME, "invalid response from the embedding host") from None
    reported = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    is_count = isinstance(reported, int) and not isinstance(reported, bool) and reported >= 0
    return vectors, reported if is_count else None


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
