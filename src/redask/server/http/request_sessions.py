"""Who sent an HTTP request: `signed_in`, before anything of its body is read.

The connection is told, and counts as one on which somebody signed in. The address is that of the
connection: a header that names another is not believed. `RequestSessions` are those of the routes:
a token in the head counts first, then the cookie of our own page.
"""

from dataclasses import dataclass, field

from starlette.requests import Request

from redask.api.asynchronous import AsyncDatabase
from redask.core.access.ask_shares import AskClaim
from redask.server.admission import Admission, UserAdmission
from redask.server.http.browser_sessions import BrowserSessions
from redask.server.sessions import Authenticator, bearer

CONNECTION, FOR_HEALTH = "redask.connection", "redask.for_health"  # in a request's scope


async def signed_in(request: Request, authenticator: Authenticator) -> AsyncDatabase:
    """The session of a request. Raises `Unauthenticated`, and `Overloaded` for wrong tokens."""
    address = request.client.host if request.client else ""
    token = bearer(request.headers.get("authorization"))
    session = await authenticator.sign_in(token, address)
    _note(request, session)
    return session


def claim_of(request: Request) -> AskClaim:
    """By whose share of the server its body is read; nobody's before it is signed in."""
    claim = getattr(request.state, "claim", None)
    return claim if isinstance(claim, AskClaim) else AskClaim()


@dataclass(frozen=True, slots=True)
class RequestSessions:
    """What every route asks first: whose request it is, and the room for their work."""

    authenticator: Authenticator
    admission: Admission
    browsers: BrowserSessions = field(default_factory=BrowserSessions)

    async def of(self, request: Request) -> AsyncDatabase:
        """The session of a request; raises as `signed_in` does."""
        if "authorization" not in request.headers:
            session = await self.browsers.of(request)
            if session is not None:
                _note(request, session)
                return session
        return await signed_in(request, self.authenticator)

    def room(self, session: AsyncDatabase) -> UserAdmission:
        """The admission of a session's work."""
        return self.admission.of(session.claim)


def _note(request: Request, session: AsyncDatabase) -> None:
    request.state.claim = session.claim
    connection = request.scope.get(CONNECTION)
    if connection is not None:
        connection.signed_in = True
