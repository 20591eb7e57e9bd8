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

Plain HTTP from the standard library: a single kind of request needs no SDK.
"""

import http.client
import json
import math
import re
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field

from redask.core.errors import Failure, Misconfigured, ProviderFailed, ProviderRefused

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
        self._opener = urllib.request.build_opener(_NoRedirects)

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
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                read: bytes = reply.read(_MAX_RESPONSE_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise _status_error(error.code) from None
        except TimeoutError:
            raise _failed(Failure.TIMEOUT, "the request to the embedding host timed out") from None
        except (
            OSError,
            ValueError,
            http.client.HTTPException,
        ) as error:  # urllib wraps some timeouts, and refuses bad URLs
            reason = getattr(error, "reason", None)
            if isinstance(reason, TimeoutError):
                raise _failed(
                    Failure.TIMEOUT, "the request to the embedding host timed out"
                ) from None
            raise _failed(Failure.TRANSPORT, "connection to the embedding host failed") from None
        if len(read) > _MAX_RESPONSE_BYTES:
            raise ProviderRefused(NAME, "the response of the embedding host is too large")
        return read


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key is for the configured host alone."""

    def redirect_request(self, *_: object) -> None:
        return None


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
