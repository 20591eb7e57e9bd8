"""Middleware of every request: `Around` the routes.

headers        blanks around values are no part of them
X-Request-Id   the caller's own if it is a good one, or a new one; in every reply
traceparent    W3C's: the spans of the request are children of the caller's span; a header that
               is not valid, or stands twice, is ignored, as the standard says, and in silence: its
               library would log what unauthenticated clients wrote there
hosts          with `local_only`, requests must name this machine as their host, and pages
               elsewhere are refused: where callers need not sign in, a web page that had
               its own name point here would act as the owner
CORS           for the origins that were listed: see `cross_origin`
errors         what nobody expected is `internal`, without its text
"""

import logging
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import context as tracing
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redask.core.errors import Overloaded
from redask.server.http import responses
from redask.server.http.chat.error_shapes import shaped
from redask.server.http.cross_origin import Origins, is_local, is_local_origin
from redask.server.http.request_sessions import FOR_HEALTH

HEALTH = ("/healthz", "/readyz")
_REQUEST_ID = re.compile(r"[!-~]{1,128}")
_DEFAULTS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_PROPAGATOR = TraceContextTextMapPropagator()
_TRACE_LOGS = ("opentelemetry.trace.span", "opentelemetry.trace.propagation.tracecontext")
_Headers = list[tuple[bytes, bytes]]


class Around:
    """See the module."""

    def __init__(self, inner: ASGIApp, *, local_only: bool, origins: Origins) -> None:
        for name in _TRACE_LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._inner = inner
        self._local_only = local_only
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        given: _Headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        scope = {**scope, "headers": given}
        origin = _one(given, b"origin") or ""
        more = [(b"x-request-id", _request_id(given)), *self._origins.headers_for(origin)]
        started = False

        async def named(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = message.get("headers", [])
                message = {**message, "headers": [*headers, *more, *_unsaid(headers)]}
            await send(message)

        reply = _without_room(scope) or self._at_once(scope["method"], given, origin)
        if reply is not None:
            await shaped(scope["path"], reply)(scope, receive, named)
            return
        try:
            with _traced(given):
                await self._inner(scope, receive, named)
        except ClientDisconnect:
            pass
        except Exception as error:
            if not started:
                reply = shaped(scope["path"], responses.failed(error))
                await reply(scope, receive, named)

    def _at_once(self, method: str, given: _Headers, origin: str) -> Response | None:
        """The reply that needs no route."""
        if self._local_only:
            if not is_local(_one(given, b"host") or ""):
                message = "without sign-in, only local names are served"
                return responses.refused(403, "denied", message)
            if origin and not (is_local_origin(origin) or self._origins.allows(origin)):
                message = "without sign-in, no pages of other origins are served"
                return responses.refused(403, "denied", message)
        if method == "OPTIONS" and _one(given, b"access-control-request-method"):
            return self._origins.preflight(origin)
        return None


def _without_room(scope: Scope) -> Response | None:
    """The reply on a connection that was let in for health checks alone."""
    if not scope.get(FOR_HEALTH) or scope["path"] in HEALTH:
        return None
    reply = responses.failed(Overloaded("there are too many connections: try again soon"))
    reply.headers["Connection"] = "close"
    return reply


def _unsaid(headers: _Headers) -> _Headers:
    """What every reply says that does not say it itself: browsers guess no types, keep nothing."""
    said = {name.lower() for name, _ in headers}
    return [each for each in _DEFAULTS if each[0] not in said]


def _request_id(given: _Headers) -> bytes:
    own = _one(given, b"x-request-id") or ""
    return (own if _REQUEST_ID.fullmatch(own) else secrets.token_hex(8)).encode()


def _one(given: _Headers, name: bytes) -> str | None:
    """The value of a header that stands once."""
    found = [value for each, value in given if each == name]
    return found[0].decode("latin-1") if len(found) == 1 else None


@contextmanager
def _traced(given: _Headers) -> Iterator[None]:
    """As a child of the caller's span, where it named one."""
    parent = _one(given, b"traceparent")
    if parent is None:
        yield
        return
    state = ",".join(value.decode("latin-1") for name, value in given if name == b"tracestate")
    carrier = {"traceparent": parent, **({"tracestate": state} if state else {})}
    token = tracing.attach(_PROPAGATOR.extract(carrier))
    try:
        yield
    finally:
        tracing.detach(token)
