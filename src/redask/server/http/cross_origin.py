"""Who may call from a browser's page: `Origins`, the list of a deployment; by default nobody.

A page of a listed origin may call every route, with a token of its own: `headers_for` its
requests, `preflight` for the question that a browser asks before. Nothing is sent to others, so
their browsers refuse. Cookies are not used, and never allowed. `*` is no origin.
"""

import ipaddress
import re
from collections.abc import Iterable

from starlette.responses import Response

from redask.core.errors import Misconfigured
from redask.core.serving_limits import ORIGIN

Headers = list[tuple[bytes, bytes]]
MAX_AGE = 600
_METHODS = "GET, POST, PUT"
_TAKEN = (
    "Authorization, Content-Encoding, Content-Type, Last-Event-ID, Mcp-Protocol-Version, "
    "Mcp-Session-Id, Traceparent, Tracestate, X-Request-Id, "
    # what OpenAI's SDK says of itself, in a browser, too
    "X-Stainless-Arch, X-Stainless-Helper-Method, X-Stainless-Lang, X-Stainless-OS, "
    "X-Stainless-Package-Version, X-Stainless-Retry-Count, X-Stainless-Runtime, "
    "X-Stainless-Runtime-Version, X-Stainless-Timeout"
)
_SHOWN = "Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id, X-Should-Retry"


class Origins:
    """The origins that were listed."""

    def __init__(self, listed: Iterable[str] = ()) -> None:
        self._listed = frozenset(listed)
        for each in sorted(self._listed):
            if not ORIGIN.fullmatch(each):
                raise Misconfigured(
                    f"{each[:100]!a} is no origin: expected scheme://host, in lower case, and "
                    "nothing after it but a port"
                )

    def allows(self, origin: str) -> bool:
        """Whether pages of this origin may call."""
        return origin in self._listed

    def headers_for(self, origin: str) -> Headers:
        """What a reply to a request of this origin has besides."""
        if not self._listed:
            return []
        varying = [(b"vary", b"Origin")]  # or a cache would show one origin's reply to another
        if not self.allows(origin):
            return varying
        return [
            *varying,
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", _SHOWN.encode()),
        ]

    def preflight(self, origin: str) -> Response | None:
        """The reply to a browser that asks whether a page of this origin may call."""
        if not self.allows(origin):
            return None
        headers = {
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": _TAKEN,
            "Access-Control-Max-Age": str(MAX_AGE),
        }
        return Response(status_code=204, headers=headers)


def is_local(host: str) -> bool:
    """Whether a Host header names this machine: localhost, or an address, which no name is."""
    name = host.rpartition(":")[0] if re.search(r":\d*\Z", host) else host
    if name.lower() == "localhost":
        return True
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def is_local_origin(origin: str) -> bool:
    """The same for a page's origin; a page without one (`null`) is not local."""
    scheme, sign, host = origin.partition("://")
    return bool(sign) and scheme in ("http", "https") and is_local(host)
