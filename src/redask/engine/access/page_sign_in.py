"""Signing in on the web page by a redirect to the identity provider: `PageSignIn`.

`address` is where a browser goes to, `id_token` what the code is for that it comes back with, once
all of it is of this sign-in (`core.access.authorization_code`). Both ask the provider, and block.
Every refusal sounds the same; the reason is in the log `redask.sign_in`.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from redask.core.access import authorization_code, credentials
from redask.core.errors import Unauthenticated
from redask.core.sign_in import RefusedToken

_log = logging.getLogger("redask.sign_in")


class CodeIssuer(Protocol):
    """An identity provider that gives out codes for ID tokens."""

    def authorization_endpoint(self) -> str:
        """Where browsers sign in."""

    def redeem(self, code: str, verifier: str, redirect: str) -> str:
        """The ID token for a code, or `RefusedToken`."""


@dataclass(frozen=True, slots=True)
class PageSignIn:
    """`claims` checks a JWT's signature."""

    issuer: CodeIssuer
    claims: Callable[[str], Mapping[str, object]]
    client: str

    def address(self, redirect: str, secret: str) -> str:
        """Where the browser with this secret is sent; it comes back to `redirect`."""
        endpoint = self.issuer.authorization_endpoint()
        return authorization_code.request_address(endpoint, self.client, redirect, secret)

    def id_token(self, code: str, redirect: str, secret: str) -> str:
        """The ID token of a browser that came back with a code, or `Unauthenticated`."""
        try:
            verifier = authorization_code.verifier_of(secret)
            token = self.issuer.redeem(code, verifier, redirect)
            authorization_code.check_id_token(self.claims(token), self.client, secret)
        except RefusedToken as refusal:
            _log.info("a sign-in by redirect was refused: %s", refusal)
            raise Unauthenticated(credentials.REFUSED) from None
        return token
