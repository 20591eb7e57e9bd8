"""Who a token signs in: `SigningIn.caller`, ours by the users of the database, a JWT by its claims.

A token is looked at anew for every statement, whichever kind it is: one that has expired, or whose
key the identity provider withdrew, opens nothing any more. Every refusal sounds the same; the
reason is in the log `redask.sign_in`.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from redask.core.access import credentials
from redask.core.access.identity_claims import caller_of, looks_like_jwt
from redask.core.errors import Misconfigured, Unauthenticated
from redask.core.model import Caller
from redask.core.sign_in import RefusedToken, SignInSettings
from redask.engine.access.page_sign_in import PageSignIn

_log = logging.getLogger("redask.sign_in")


class TokenUsers(Protocol):
    """Whose our own tokens are."""

    def sign_in(self, token: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is, or `Unauthenticated`."""


@dataclass(frozen=True, slots=True)
class SigningIn:
    """`claims` checks a JWT's signature; None where no identity provider is configured.

    `page` is there where its settings name a client of the web page.
    """

    users: TokenUsers
    claims: Callable[[str], Mapping[str, object]] | None
    settings: SignInSettings
    page: PageSignIn | None = None

    def for_page(self) -> PageSignIn:
        """`page`, or `Misconfigured`."""
        if self.page is None:
            raise Misconfigured("no identity provider is configured for the page")
        return self.page

    def caller(
        self, token: str, now: int, tenant: str | None = None, *, of_page: bool = False
    ) -> Caller:
        """Whose token it is, or `Unauthenticated`; `tenant` is the one it must be for.

        `of_page` is an ID token that `page` got: it is made for the client of the page.
        """
        if self.claims is None or not looks_like_jwt(token):
            return self.users.sign_in(token, now, tenant)
        chosen = self.settings
        if of_page:
            chosen = replace(chosen, audience=chosen.client_id)
        try:
            found = caller_of(self.claims(token), chosen, now)
        except RefusedToken as refusal:
            _log.info("a JWT was refused: %s", refusal)
            raise Unauthenticated(credentials.REFUSED) from None
        if tenant is not None and found.tenant != tenant:
            _log.info("a JWT was refused: it is of another tenant")
            raise Unauthenticated(credentials.REFUSED)
        return found
