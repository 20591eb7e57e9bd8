"""The web page: its files, served as they are; `page_routes`.

Every view has an address of its own (`/`, `/data/…`, `/entity`, `/audit`, `/policies`), and all of
them are one document, whose scripts ask the routes of /v1 like any client. The files hold no data:
they are for everybody.

Nothing but our own scripts and styles runs or is loaded: the policy of the document says so to the
browser, and forbids to make markup out of texts (`require-trusted-types-for`), to be framed, and
to be told where a reader came from.
"""

import hashlib
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FILES = Path(__file__).parent / "page"
VIEWS = ("/", "/data", "/data/{collection:path}", "/entity", "/audit", "/policies")
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_Serve = Callable[[Request], Awaitable[Response]]


def page_routes() -> list[Route]:
    """The document at every view, and each file beside it."""
    found = _files()
    files = [Route(f"/page/{name}", _serving(name), methods=["GET"]) for name in sorted(found)]
    return [*(Route(view, _serving("index.html"), methods=["GET"]) for view in VIEWS), *files]


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Content and tag of each file, by name."""
    read = {
        path.name: path.read_bytes() for path in sorted(FILES.iterdir()) if path.suffix in _TYPES
    }
    return {
        name: (body, f'"{hashlib.sha256(body).hexdigest()[:32]}"') for name, body in read.items()
    }


def _serving(name: str) -> _Serve:
    body, tag = _files()[name]
    headers = {**_HEADERS, "ETag": tag}

    async def serve(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        kind = _TYPES[Path(name).suffix]
        return Response(body, headers={**headers, "Content-Type": kind})

    return serve
