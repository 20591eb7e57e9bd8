"""Who is signed in: an `Authenticator` turns a token into a session, for every transport.

A session is the `AsyncDatabase` of one caller: transports call it, and nothing stands between. It
raises `errors.AskError` and nothing else on purpose. Wrong tokens make their address wait: see
`wrong_tokens`. `public` is what needs no sign-in, by the settings.
"""

from collections.abc import Collection

from redask.api.asynchronous import AsyncDatabase
from redask.core.access.credentials import Verifiers
from redask.core.errors import Denied, Unauthenticated
from redask.core.ports import AuditEntry
from redask.server.wrong_tokens import WrongTokens


class Authenticator:
    """Signs callers in; without a token only where that means the local owner."""

    def __init__(
        self,
        db: AsyncDatabase,
        *,
        anonymous: bool,
        tenant: str | None = None,
        wrong: WrongTokens | None = None,
        public: Collection[str] = (),
    ) -> None:
        self._db = db
        self.anonymous = anonymous
        self._tenant = tenant
        self._wrong = wrong or WrongTokens()
        self.public = public

    async def sign_in(self, token: str | None, address: str = "") -> AsyncDatabase:
        """The session of a token; None: the client at this address sent none.

        Raises `Unauthenticated`, and `Overloaded` while the address must wait.
        """
        if token is None:
            if not self.anonymous:
                await self.refused("")
                raise Unauthenticated("a token is needed: `redask token make USER` makes one")
            return self._db
        self._wrong.check(address, token)
        try:
            session = await self._db.signed_in(token, tenant=self._tenant)
        except Unauthenticated:
            self._wrong.failed(address, token)
            raise
        self._wrong.succeeded(address, token)
        return session

    async def resumed(self, token: str, tenant: str | None, of_page: bool) -> AsyncDatabase:
        """The session of somebody who signed in at another process of this server."""
        return await self._db.resumed(token, tenant, of_page)

    @property
    def lag_bytes(self) -> int:
        """How far the replica that is read is behind its primary."""
        return self._db.lag_bytes

    @property
    def identity_provider(self) -> str:
        """The host that the page may send people to, to sign in; empty where there is none."""
        return self._db.identity_provider

    async def identity_address(self, redirect: str, secret: str) -> str:
        """Where a browser is sent to sign in; see `api.page_entry`."""
        return await self._db.identity_address(redirect, secret)

    def is_identity_state(self, state: str, issuer: str | None, secret: str) -> bool:
        """Whether a browser came back from where it was sent to."""
        return self._db.is_identity_state(state, issuer, secret)

    async def sign_in_by_code(
        self, code: str, redirect: str, secret: str, address: str
    ) -> AsyncDatabase:
        """The session of whoever came back with a code; wrong ones count as wrong tokens do.

        `Overloaded` beyond what the identity provider may be called, whatever it said before.
        """
        self._wrong.check(address, code)
        self._wrong.note_call(address)
        try:
            return await self._db.signed_in_by_code(code, redirect, secret, tenant=self._tenant)
        except Unauthenticated:
            self._wrong.failed(address, code)
            raise

    async def check_metrics(self, session: AsyncDatabase) -> None:
        """`Denied` unless a session may read what is counted of the whole server."""
        await session.check_may_audit()
        if await self.only_tenant() is None:
            raise Denied("metrics are of all tenants: the operator opens them by serve.public")

    async def refused(self, user: str) -> None:
        """Note that somebody could not sign in, in the name of this user if one was given."""
        await self._db.sign_in_refused(user, tenant=self._tenant)

    async def only_tenant(self) -> str | None:
        """The tenant, where clients of this server can only be of one; None: of several."""
        return self._tenant or await self._db.only_tenant()

    async def verifiers(self, user: str, tenant: str, address: str = "") -> Verifiers:
        """What a SCRAM proof is checked against; the same shape for a user that does not exist.

        Raises `Overloaded` while the address, or this user there, must wait.
        """
        self._wrong.check_name(address, _user_name(user, tenant))
        return await self._db.verifiers(user, tenant)

    def not_proven(self, user: str, tenant: str, address: str) -> None:
        """A client did not prove that it has a token of this user."""
        self._wrong.failed_name(address, _user_name(user, tenant))

    async def sign_in_proven(self, token: str) -> AsyncDatabase:
        """The session of a token, by its public part, once it was proven and never sent."""
        return await self._db.holding(token, tenant=self._tenant)

    def proven(self, user: str, tenant: str, address: str) -> None:
        """A client did."""
        self._wrong.succeeded_name(address, _user_name(user, tenant))


def _user_name(user: str, tenant: str) -> str:
    return f"{tenant}\0{user}"


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
