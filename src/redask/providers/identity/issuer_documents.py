"""What an identity provider says: JSON documents by URL or file, and replies to a form.

URLs are https, or http on this machine; no redirect is followed; a reply has at most MAX_BYTES, and
comes within SECONDS. Everything here blocks: it is for threads.
"""

import ipaddress
import json
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.sign_in import SignInSettings

SECONDS = 5.0
MAX_BYTES = 1 << 20
WELL_KNOWN = "/.well-known/openid-configuration"
Document = Mapping[str, object]


def discovery_of(settings: SignInSettings) -> str:
    """Where the provider's configuration is: a URL, which is checked, or a file."""
    found = settings.discovery or (settings.issuer or "").rstrip("/") + WELL_KNOWN
    if "://" in found:
        check_address(found, "sign_in.discovery")
    return found


def check_address(url: str, what: str) -> None:
    """Refuse an address whose reply somebody on the way could replace."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))):
        raise Misconfigured(f"{what} must be an https:// address, or a file", detail=what)


def loaded(place: str) -> Document:
    """The JSON object at a URL or in a file."""
    try:
        content = _fetched(place) if "://" in place else _file(place)
        return _object(content)
    except OSError as error:
        raise unreadable(error.strerror or "it cannot be read") from None


def posted(url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, Document]:
    """Status and JSON object of the reply to a form."""
    status, content = _replied("POST", url, form=form, headers=headers)
    return status, _object(content)


def unreadable(why: str) -> StoreFailed:
    """What callers hear, with the reason as its detail."""
    return StoreFailed("the identity provider's keys cannot be read now: try again", detail=why)


def _fetched(url: str) -> bytes:
    status, content = _replied("GET", url)
    if status != 200:
        raise unreadable(f"HTTP {status}")
    return content


def _replied(
    method: str,
    url: str,
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    import httpx2  # takes a while

    due = time.monotonic() + SECONDS
    body = b""
    given = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
    data = dict(form) if form is not None else None
    try:
        with (
            httpx2.Client(timeout=SECONDS, follow_redirects=False) as client,
            client.stream(method, url, headers=given, data=data) as reply,
        ):
            for piece in reply.iter_raw():
                body += piece
                if len(body) > MAX_BYTES or time.monotonic() > due:
                    raise unreadable("the reply is too long, or too slow")
            return reply.status_code, body
    except (httpx2.HTTPError, httpx2.InvalidURL):
        raise unreadable("no connection") from None


def _object(content: bytes) -> Document:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise unreadable("it is no JSON") from None
    if not isinstance(document, Mapping):
        raise unreadable("it is no JSON object")
    return document


def _file(place: str) -> bytes:
    with open(place, "rb") as file:
        return file.read(MAX_BYTES)


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
