"""Addresses that a browser goes to in order to be signed in: `entry_routes`.

    GET /open?code=…    what `redask open` opens: see `entry_codes`

Each leads on to the page, and where it signs nobody in, `REFUSED` tells the page why. It must be
the first page of its window or the user's own doing (`is_own_page`): a link on a page elsewhere
signs nobody in.
"""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from redask.server.http.browser_sessions import is_own_page
from redask.server.http.entering.entry_codes import EntryCodes
from redask.server.http.request_sessions import RequestSessions

OPEN = "/open"
REFUSED = "/#refused="  # and why; the page has the words
_HEADERS = {"Referrer-Policy": "no-referrer"}


def entry_routes(sessions: RequestSessions, codes: EntryCodes | None) -> list[Route]:
    """Those that there are."""
    if codes is None:
        return []

    async def enter(request: Request) -> Response:
        reply = leading_to("/")
        if request.method == "HEAD":  # looks, and uses nothing up
            return reply
        code = request.query_params.get("code", "")
        if is_own_page(request) and await codes.enter(code, request, reply, sessions.browsers):
            return reply
        return leading_to(f"{REFUSED}code")

    return [Route(OPEN, enter, methods=["GET"])]


def leading_to(address: str) -> Response:
    """Send the browser on; the address that it came from goes nowhere."""
    return RedirectResponse(address, 303, headers=_HEADERS)
