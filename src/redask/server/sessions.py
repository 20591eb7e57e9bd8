"""Who is signed in: an `Authenticator` turns a token into a session, for every transport.

A session is the `AsyncDatabase` of one caller: transports call it, and nothing stands between. It
raises `errors.AskError` and nothing else on purpose.
"""

from redask.api.asynchronous import AsyncDatabase
from redask.core.access.credentials import Verifiers
from redask.core.errors import Unauthenticated
from redask.core.ports import AuditEntry


class Authenticator:
    """Signs callers in; without a token only where that means the local owner."""

    def __init__(self, db: AsyncDatabase, *, anonymous: bool, tenant: str | None = None) -> None:
        self._db = db
        self._anonymous = anonymous
        self._tenant = tenant

    async def sign_in(self, token: str | None) -> AsyncDatabase:
        """The session of a token; None: the client sent none. Raises `Unauthenticated`."""
        if token is not None:
            return await self._db.signed_in(token, tenant=self._tenant)
        if not self._anonymous:
            raise Unauthenticated("a token is needed: `redask token make USER` makes one")
        return self._db

    async def only_tenant(self) -> str | None:
        """The tenant, where clients of this server can only be of one; None: of several."""
        return self._tenant or await self._db.only_tenant()

    async def verifiers(self, user: str, tenant: str) -> Verifiers:
        """What a SCRAM proof is checked against; the same shape for a user that does not exist."""
        return await self._db.verifiers(user, tenant)

    async def sign_in_proven(self, token: str) -> AsyncDatabase:
        """The session of a token, by its public part, once it was proven and never sent."""
        return await self._db.holding(token)


def bearer(authorization: str | None) -> str | None:
    """The token of a header `Authorization: Bearer TOKEN`; None without the header."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("expected the header `Authorization: Bearer TOKEN`")
    return token.strip()


def audit_rows(entries: list[AuditEntry]) -> list[dict[str, object]]:
    """Audit rows as transports show them."""
    return [
        {"hash": each.hash, "row": each.row, "seq": each.seq, **each.readings()} for each in entries
    ]
