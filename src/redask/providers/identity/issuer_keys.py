"""The public keys of an identity provider, by OpenID Connect discovery: `IssuerKeys(settings)`.

    discovery         a URL or a file: the provider's `openid-configuration`, whose `jwks_uri` (a
                      URL, or beside a file the name of another) leads to the keys; or the keys
                      themselves (`{"keys": […]}`). Its issuer must be the one of the settings
    without it        <issuer>/.well-known/openid-configuration; how either is read:
                      `issuer_documents`
    keys are kept     for KEEP seconds, and longer while the provider cannot be reached, up to STALE
    an unknown key    has them read again, but not more often than every BETWEEN seconds; while
                      somebody reads them, others with unknown keys are refused, those with known
                      ones do not wait

Keys for other uses than signatures, and symmetric ones, are left out.
"""

import threading
import time
from collections.abc import Mapping
from pathlib import Path

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.sign_in import SignInSettings
from redask.providers.identity.issuer_documents import (
    check_address,
    discovery_of,
    loaded,
    unreadable,
)

KEEP, STALE, BETWEEN = 300.0, 86_400.0, 10.0
_KINDS = ("RSA", "EC", "OKP")
Jwk = Mapping[str, object]


class IssuerKeys:
    """The keys of one issuer; threads may share it."""

    def __init__(self, settings: SignInSettings) -> None:
        self._issuer = settings.issuer or ""
        self._discovery = discovery_of(settings)
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
            raise unreadable("they were last read too long ago")
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
            raise unreadable("they could not be read a moment ago")
        self._tried_at = now
        document = loaded(self._discovery)
        if document.get("issuer", self._issuer) != self._issuer:
            raise unreadable("the discovery document is of another issuer")
        if "keys" not in document:
            document = loaded(self._address(document.get("jwks_uri")))
        listed = document.get("keys")
        if not isinstance(listed, list):
            raise unreadable("it lists no keys")
        self._keys = tuple(each for each in listed if _signs(each))
        self._read_at = time.monotonic()

    def _address(self, given: object) -> str:
        if not isinstance(given, str) or not given:
            raise unreadable("the discovery document names no keys")
        if "://" in given:
            try:
                check_address(given, "jwks_uri")
            except Misconfigured as error:
                raise unreadable(error.message) from None
            return given
        if "://" in self._discovery:
            raise unreadable("the discovery document names a file")
        return str(Path(self._discovery).parent / given)


def _signs(key: object) -> bool:
    return (
        isinstance(key, Mapping)
        and key.get("kty") in _KINDS
        and key.get("use", "sig") == "sig"
        and isinstance(key.get("kid"), str | None)
    )
