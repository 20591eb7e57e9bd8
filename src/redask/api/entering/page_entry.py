"""Signing in on the web page by a redirect to the identity provider: for transports."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from redask.api.entering.principals import ProvenToken, TokenSignIn
from redask.app import App
from redask.core.access import authorization_code
from redask.core.errors import Denied, Unauthenticated
from redask.core.model import Caller

if TYPE_CHECKING:
    from redask.api.asynchronous import AsyncDatabase


class AsyncPageEntry:
    """See the module. `secret` is what the browser keeps between leaving and coming back."""

    _app: App
    _principal: Caller | TokenSignIn | ProvenToken

    async def _opened_here(self) -> App:
        raise NotImplementedError

    async def _checked(self, who: TokenSignIn) -> "AsyncDatabase":
        raise NotImplementedError

    async def sign_in_refused(self, user: str, *, tenant: str | None = None) -> None:
        """Note it: see `AsyncAuditReading`."""
        raise NotImplementedError

    def held_token(self) -> tuple[str, str | None, bool]:
        """What another process of the same server has this session by: see `resumed`."""
        if not isinstance(self._principal, TokenSignIn):
            raise Denied("only who signed in with a token has a session elsewhere")
        return self._principal.token, self._principal.tenant, self._principal.of_page

    async def resumed(self, token: str, tenant: str | None, of_page: bool) -> "AsyncDatabase":
        """The session of somebody who signed in at another process of this server."""
        await self._opened_here()
        return await self._checked(TokenSignIn(token, tenant, of_page))

    @property
    def identity_provider(self) -> str:
        """The host that the page may send people to, to sign in; empty where there is none."""
        by = self._app.signing_in
        return urlsplit(by.settings.issuer or "").netloc if by.page is not None else ""

    async def identity_address(self, redirect: str, secret: str) -> str:
        """Where a browser is sent; it comes back to `redirect`. It asks the provider, for seconds.

        `StoreFailed` while the provider cannot be reached.
        """
        app = await self._opened_here()
        return await app.in_thread(app.signing_in.for_page().address, redirect, secret)

    def is_identity_state(self, state: str, issuer: str | None, secret: str) -> bool:
        """Whether a browser came back from where it was sent to, and from no other issuer."""
        ours = issuer in (None, self._app.signing_in.settings.issuer)
        return ours and authorization_code.is_state_of(state, secret)

    async def signed_in_by_code(
        self, code: str, redirect: str, secret: str, *, tenant: str | None = None
    ) -> "AsyncDatabase":
        """The session of whoever came back with a code; it ends when the ID token does.

        `Unauthenticated` for a code or token that is not of this sign-in.
        """
        app = await self._opened_here()
        page = app.signing_in.for_page()
        try:
            token = await app.in_thread(page.id_token, code, redirect, secret)
        except Unauthenticated:
            await self.sign_in_refused("", tenant=tenant)
            raise
        return await self._checked(TokenSignIn(token, tenant, of_page=True))
