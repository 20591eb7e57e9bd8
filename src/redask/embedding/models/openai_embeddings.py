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

Plain HTTP from the standard library: one request with one shape needs no SDK.
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
        self._opener = urllib.request.build_opener(_Stay)

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
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                read: bytes = reply.read(_MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error.code) from None
        except TimeoutError:
            raise _failed(Failure.TIMEOUT, "the embedder did not reply in time") from None
        except (
            OSError,
            ValueError,
            http.client.HTTPException,
        ) as error:  # urllib wraps some timeouts, and refuses bad URLs
            reason = getattr(error, "reason", None)
            if isinstance(reason, TimeoutError):
                raise _failed(Failure.TIMEOUT, "the embedder did not reply in time") from None
            raise _failed(Failure.TRANSPORT, "the embedder cannot be reached") from None
        if len(read) > _MOST_BYTES:
            raise ProviderRefused(NAME, "the embedder's reply is too long")
        return read


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key is for the configured host alone."""

    def redirect_request(self, *_: object) -> None:
        return None


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
