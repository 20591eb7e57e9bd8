"""The public keys of an identity provider, by OpenID Connect discovery: `IssuerKeys(settings)`.

    discovery         a URL or a file: the provider's `openid-configuration`, whose `jwks_uri` (a
                      URL, or beside a file the name of another) leads to the keys; or the keys
                      themselves (`{"keys": […]}`). Its issuer must be the one of the settings
    without it        <issuer>/.well-known/openid-configuration
    URLs              https, or http on this machine; no redirect is followed; at most MAX_BYTES
                      within SECONDS
    keys are kept     for KEEP seconds, and longer while the provider cannot be reached, up to STALE
    an unknown key    has them read again, but not more often than every BETWEEN seconds; while
                      somebody reads them, others with unknown keys are refused, those with known
                      ones do not wait

Keys for other uses than signatures, and symmetric ones, are left out.
"""

import ipaddress
import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.sign_in import SignInSettings

SECONDS = 5.0
MAX_BYTES = 1 << 20
KEEP, STALE, BETWEEN = 300.0, 86_400.0, 10.0
WELL_KNOWN = "/.well-known/openid-configuration"
_KINDS = ("RSA", "EC", "OKP")
Jwk = Mapping[str, object]


class IssuerKeys:
    """The keys of one issuer; threads may share it."""

    def __init__(self, settings: SignInSettings) -> None:
        issuer = settings.issuer or ""
        self._issuer = issuer
        self._discovery = settings.discovery or issuer.rstrip("/") + WELL_KNOWN
        if "://" in self._discovery:
            _check_address(self._discovery, "sign_in.discovery")
        self._keys: tuple[Jwk, ...] | None = None
        self._read_at = self._tried_at = float("-inf")
        self._reading = threading.Lock()

    def keys(self, ident: str | None) -> tuple[Jwk, ...]:
        """The keys that a token with this `kid` may be signed with; none if there are none."""
        now = time.monotonic()
        if self._keys is None:
            with self._reading:  # the first: everybody waits
                if self._keys is None:
                    self._read(now)
        elif now - self._read_at > KEEP:
            self._refresh(now)
        found = self._matching(ident)
        if not found and now - self._tried_at > BETWEEN:
            self._refresh(now)
            found = self._matching(ident)
        return found

    def _matching(self, ident: str | None) -> tuple[Jwk, ...]:
        if self._keys is None or time.monotonic() - self._read_at > STALE:
            raise _unreadable("they were last read too long ago")
        if ident is None:  # fit only where there is no choice
            return self._keys if len(self._keys) == 1 else ()
        return tuple(key for key in self._keys if key.get("kid") == ident)

    def _refresh(self, now: float) -> None:
        """Read them again, unless somebody does; while that fails, those there are hold."""
        if now - self._tried_at > BETWEEN and self._reading.acquire(blocking=False):
            try:
                self._read(now)
            except StoreFailed:
                pass
            finally:
                self._reading.release()

    def _read(self, now: float) -> None:
        if self._keys is None and now - self._tried_at < 1.0:
            raise _unreadable("they could not be read a moment ago")
        self._tried_at = now
        document = _loaded(self._discovery)
        if document.get("issuer", self._issuer) != self._issuer:
            raise _unreadable("the discovery document is of another issuer")
        if "keys" not in document:
            document = _loaded(self._address(document.get("jwks_uri")))
        listed = document.get("keys")
        if not isinstance(listed, list):
            raise _unreadable("it lists no keys")
        self._keys = tuple(each for each in listed if _signs(each))
        self._read_at = time.monotonic()

    def _address(self, given: object) -> str:
        if not isinstance(given, str) or not given:
            raise _unreadable("the discovery document names no keys")
        if "://" in given:
            try:
                _check_address(given, "jwks_uri")
            except Misconfigured as error:
                raise _unreadable(error.message) from None
            return given
        if "://" in self._discovery:
            raise _unreadable("the discovery document names a file")
        return str(Path(self._discovery).parent / given)


def _signs(key: object) -> bool:
    return (
        isinstance(key, Mapping)
        and key.get("kty") in _KINDS
        and key.get("use", "sig") == "sig"
        and isinstance(key.get("kid"), str | None)
    )


def _check_address(url: str, what: str) -> None:
    """Refuse an address whose keys somebody on the way could replace."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))):
        raise Misconfigured(f"{what} must be an https:// address, or a file", detail=what)


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _loaded(place: str) -> Mapping[str, object]:
    try:
        content = _fetched(place) if "://" in place else _file(place)
        document = json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise _unreadable(reason or "it is no JSON") from None
    if not isinstance(document, Mapping):
        raise _unreadable("it is no JSON object")
    return document


def _file(place: str) -> bytes:
    with open(place, "rb") as file:
        return file.read(MAX_BYTES)


def _fetched(url: str) -> bytes:
    import httpx2  # takes a while

    due = time.monotonic() + SECONDS
    body = b""
    try:
        with (
            httpx2.Client(timeout=SECONDS, follow_redirects=False) as client,
            client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as reply,
        ):
            if reply.status_code != 200:
                raise _unreadable(f"HTTP {reply.status_code}")
            for piece in reply.iter_raw():
                body += piece
                if len(body) > MAX_BYTES or time.monotonic() > due:
                    raise _unreadable("the reply is too long, or too slow")
    except (httpx2.HTTPError, httpx2.InvalidURL):
        raise _unreadable("no connection") from None
    return body


def _unreadable(why: str) -> StoreFailed:
    return StoreFailed("the identity provider's keys cannot be read now: try again", detail=why)
