"""The identity provider as an authorization server: where browsers sign in, and what a code is for.

`AuthorizationServer(settings)` finds both addresses by discovery and keeps them for KEEP seconds,
and longer while the provider cannot be reached: it is then asked again BETWEEN seconds later,
however many wait for it. The client proves itself with its secret where it has one: in the head, or
in the form where the provider takes only that. Everything here blocks, for seconds at most.
"""

import base64
import time
from collections.abc import Mapping
from urllib.parse import quote_plus

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.sign_in import RefusedToken, SignInSettings
from redask.providers.identity.issuer_documents import (
    Document,
    check_address,
    discovery_of,
    loaded,
    posted,
)

KEEP = 300.0
BETWEEN = 1.0
_UNREACHABLE = "the identity provider cannot be reached now: try again"
_IN_FORM, _IN_HEAD = "client_secret_post", "client_secret_basic"


class AuthorizationServer:
    """See the module; threads may share it."""

    def __init__(self, settings: SignInSettings) -> None:
        self._settings = settings
        self._discovery = discovery_of(settings)
        self._document: Document | None = None
        self._read_at = self._tried_at = float("-inf")

    def authorization_endpoint(self) -> str:
        """Where a browser is sent to; `StoreFailed` while that cannot be known."""
        return self._address("authorization_endpoint")

    def redeem(self, code: str, verifier: str, redirect: str) -> str:
        """The ID token that a code is for; `RefusedToken` for a code that is for none."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": redirect,
            "client_id": self._settings.client_id or "",
        }
        endpoint = self._address("token_endpoint")
        form, headers = self._proven(form)
        try:
            status, reply = posted(endpoint, form, headers)
        except StoreFailed as error:
            raise _failed(error.detail) from None
        if status == 400 and reply.get("error") == "invalid_grant":
            raise RefusedToken("the provider refused the code")
        token = reply.get("id_token")
        if status != 200:
            raise _failed(f"HTTP {status}")
        if not isinstance(token, str):
            raise RefusedToken("the provider gave no ID token for the code")
        return token

    def _proven(self, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Form and head with the client's secret, if it has one."""
        secret = self._settings.client_secret
        if secret is None:
            return form, {}
        taken = self._configuration().get("token_endpoint_auth_methods_supported", [_IN_HEAD])
        if isinstance(taken, list) and _IN_HEAD not in taken and _IN_FORM in taken:
            return {**form, "client_secret": secret}, {}
        both = f"{quote_plus(form['client_id'])}:{quote_plus(secret)}"
        return form, {"Authorization": f"Basic {base64.b64encode(both.encode()).decode()}"}

    def _address(self, name: str) -> str:
        found = self._configuration().get(name)
        if not isinstance(found, str):
            raise _failed(f"its configuration names no {name}")
        try:
            check_address(found, name)
        except Misconfigured as error:
            raise _failed(error.message) from None
        return found

    def _configuration(self) -> Mapping[str, object]:
        now = time.monotonic()
        if self._document is not None and (
            now - self._read_at <= KEEP or now - self._tried_at < BETWEEN
        ):
            return self._document
        if now - self._tried_at < BETWEEN:
            raise _failed("it could not be reached a moment ago")
        self._tried_at = now
        try:
            read = loaded(self._discovery)
        except StoreFailed as error:
            if self._document is None:
                raise _failed(error.detail) from None
            return self._document
        if read.get("issuer") != self._settings.issuer:
            raise _failed("the discovery document is of another issuer")
        self._document, self._read_at = read, time.monotonic()
        return read


def _failed(why: str) -> StoreFailed:
    return StoreFailed(_UNREACHABLE, detail=why)
