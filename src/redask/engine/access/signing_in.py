"""Who a token signs in: `SigningIn.caller`, ours by the users of the database, a JWT by its claims.

A token is looked at anew for every statement, whichever kind it is: one that has expired, or whose
key the identity provider withdrew, opens nothing any more. Every refusal sounds the same; the
reason is in the log `redask.sign_in`.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from redask.core.access import credentials
from redask.core.access.identity_claims import caller_of, looks_like_jwt
from redask.core.errors import Unauthenticated
from redask.core.model import Caller
from redask.core.sign_in import RefusedToken, SignInSettings

_log = logging.getLogger("redask.sign_in")


class TokenUsers(Protocol):
    """Whose our own tokens are."""

    def sign_in(self, token: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is, or `Unauthenticated`."""


@dataclass(frozen=True, slots=True)
class SigningIn:
    """`claims` checks a JWT's signature; None where no identity provider is configured."""

    users: TokenUsers
    claims: Callable[[str], Mapping[str, object]] | None
    settings: SignInSettings

    def caller(self, token: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is, or `Unauthenticated`; `tenant` is the one it must be for."""
        if self.claims is None or not looks_like_jwt(token):
            return self.users.sign_in(token, now, tenant)
        try:
            found = caller_of(self.claims(token), self.settings, now)
        except RefusedToken as refusal:
            _log.info("a JWT was refused: %s", refusal)
            raise Unauthenticated(credentials.REFUSED) from None
        if tenant is not None and found.tenant != tenant:
            _log.info("a JWT was refused: it is of another tenant")
            raise Unauthenticated(credentials.REFUSED)
        return found
