"""What went wrong with a call: any exception of an SDK becomes one `ProviderFailed`.

    no connection, a connection that broke, a stream that broke off       transport
    status 5xx; an error event that says so                               5xx
    status 408, no connection in time; an error event that says so        timeout
    any other status (401, 400, 404, 429, 3xx), any other error event     refused
    a reply nobody can read: HTML, half a JSON, too long, …               refused

The message is in our words, with the beginning of what the provider said. That is cleaned:
one line of printable text, without any word that holds a piece of the key or looks like a
masked one, for vendors like to quote a wrong key.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx2

from redask.core.errors import AskError, Failure, ProviderFailed, ProviderRefused
from redask.core.rules import failover
from redask.providers.vendors.connections import Unreadable

_LONGEST = 300
_PIECE = 6  # so many characters of a key in a row give it away
_HIDDEN = "…"
_OVERLOADED = {
    "api_error",
    "internal_error",
    "internal_server_error",
    "overloaded_error",
    "server_error",
    "service_unavailable",
    "unavailable_error",
}
_LATE = {"timeout", "timeout_error", "request_timeout"}


@contextmanager
def translated(provider: str, key: str | None) -> Iterator[None]:
    """Turn what an SDK raises inside into `ProviderFailed`; our own errors pass."""
    try:
        yield
    except AskError:
        raise
    except Exception as error:
        raise of(provider, error, key) from None


def of(provider: str, error: Exception, key: str | None = None) -> ProviderFailed:
    """The failure that an exception of an SDK stands for."""
    chain = list(_causes(error))
    for each in chain:
        if isinstance(each, Unreadable):
            return ProviderRefused(provider, str(each))
        if isinstance(each, httpx2.TimeoutException):
            return ProviderFailed(provider, Failure.TIMEOUT, "no connection within the time")
        if isinstance(each, httpx2.DecodingError):
            return ProviderRefused(provider, "its reply cannot be read")
        if isinstance(each, httpx2.TransportError):
            return ProviderFailed(provider, Failure.TRANSPORT, _network(each))
        status = _status(each)
        if status is not None and not 200 <= status <= 299:
            body = getattr(each, "body", None)
            said = clean(_said(body) if isinstance(body, Mapping) else _text(each), key)
            words = f"HTTP {status}" + (f": {said}" if said else "")
            return _failed(provider, failover.failure_of(status), words)
    body = getattr(error, "body", None)
    if body is None and error.args and isinstance(error.args[0], Mapping):
        body = error.args[0]  # Hugging Face's errors carry it so
    if isinstance(body, Mapping | str):
        return of_body(provider, body, key)
    return ProviderRefused(provider, "its reply cannot be read")


def of_body(provider: str, body: object, key: str | None = None) -> ProviderFailed:
    """The failure that an error object inside a reply or a stream tells of."""
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    said = clean(_said(inner), key) or "an error without a word"
    facts = [inner.get(name) for name in ("code", "type")] if isinstance(inner, Mapping) else []
    failure = Failure.REFUSED
    for fact in facts:
        if isinstance(fact, int) and not isinstance(fact, bool):
            failure = failover.failure_of(fact)
        elif isinstance(fact, str) and fact in _OVERLOADED:
            failure = Failure.SERVER
        elif isinstance(fact, str) and fact in _LATE:
            failure = Failure.TIMEOUT
        if failure is not Failure.REFUSED:
            break
    return _failed(provider, failure, f"it reports: {said}")


def clean(said: object, key: str | None = None) -> str:
    """What somebody else said, fit for a message: short, one line, and no part of the key."""
    if not isinstance(said, str):
        return ""
    kept = (word if not _telling(word, key) else _HIDDEN for word in said[:4096].split())
    line = "".join(each if each.isprintable() else "\ufffd" for each in " ".join(kept))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _telling(word: str, key: str | None) -> bool:
    if "**" in word:
        return True
    if not key:
        return False
    pieces = (key[at : at + _PIECE] for at in range(max(len(key) - _PIECE, 0) + 1))
    return any(piece in word for piece in pieces)


def _failed(provider: str, failure: Failure, words: str) -> ProviderFailed:
    if failure is Failure.REFUSED:
        return ProviderRefused(provider, words)
    return ProviderFailed(provider, failure, words)


def _causes(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    return status if isinstance(status, int) else None


def _text(error: BaseException) -> str:
    """The error's words inside a JSON reply that the SDK did not read; nothing of any other."""
    response = getattr(error, "response", None)
    try:
        return _said(response.json()) if isinstance(response, httpx2.Response) else ""
    except (ValueError, RecursionError, httpx2.StreamError):
        return ""


def _said(body: object) -> str:
    """The words of an error object, whatever its shape."""
    for _ in range(3):
        if isinstance(body, Mapping):
            body = body.get("error") or body.get("message")
    return body if isinstance(body, str) else ""


def _network(error: httpx2.TransportError) -> str:
    if isinstance(error, httpx2.ConnectError):
        return "no connection"
    return "the connection broke"
