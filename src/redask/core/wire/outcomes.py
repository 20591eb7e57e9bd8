"""The status codes of an error: `of` an exception, one row for all transports.

Error classes have no transport codes; transports do not know error classes. This table maps one
to the other: HTTP status, gRPC code, SQLSTATE, JSON-RPC code, exit code. A class without a row of
its own takes its parent's; an unexpected exception is `internal`, and its text is never sent.
`body` is the JSON that every transport sends: never a stack trace, never a key.
"""

from dataclasses import dataclass

from redask.core import errors
from redask.core.wire import envelope


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of the table."""

    kind: str
    http: int
    grpc: str
    sqlstate: str
    jsonrpc: int
    exit: int


ANSWERED = Outcome("answered", 200, "OK", "00000", 0, 0)
INTERNAL = Outcome("internal", 500, "INTERNAL", "XX000", -32603, 1)
# HTTP has no status for a client that disconnected; proxies log 499, and no client receives it.
_CANCELLED_HTTP = 499

OUTCOMES: dict[type[BaseException], Outcome] = {
    errors.AskError: INTERNAL,
    errors.BadAsk: Outcome("bad_ask", 400, "INVALID_ARGUMENT", "42601", -32602, 2),
    errors.Unauthenticated: Outcome("unauthenticated", 401, "UNAUTHENTICATED", "28P01", -32001, 3),
    errors.Denied: Outcome("denied", 403, "PERMISSION_DENIED", "42501", -32003, 3),
    errors.LimitExceeded: Outcome("limit_exceeded", 413, "RESOURCE_EXHAUSTED", "54000", -32013, 4),
    errors.DeadlineExceeded: Outcome(
        "deadline_exceeded", 504, "DEADLINE_EXCEEDED", "57014", -32014, 4
    ),
    errors.Ungrounded: Outcome("ungrounded", 422, "FAILED_PRECONDITION", "22000", -32022, 5),
    errors.Overloaded: Outcome("overloaded", 429, "RESOURCE_EXHAUSTED", "53300", -32029, 6),
    errors.Misconfigured: Outcome("misconfigured", 500, "FAILED_PRECONDITION", "F0000", -32050, 7),
    errors.ProviderRefused: Outcome("provider_refused", 502, "UNKNOWN", "58000", -32030, 8),
    errors.ProviderFailed: Outcome("providers_exhausted", 503, "UNAVAILABLE", "57P03", -32031, 8),
    errors.StoreFailed: Outcome("store_failed", 503, "UNAVAILABLE", "57P03", -32051, 9),
    errors.AuditUnavailable: Outcome("audit_unavailable", 503, "UNAVAILABLE", "57P03", -32051, 9),
    errors.Cancelled: Outcome("cancelled", _CANCELLED_HTTP, "CANCELLED", "57014", -32015, 130),
}


def of(error: BaseException) -> Outcome:
    """The row of an error, found along its class hierarchy."""
    return next((OUTCOMES[cls] for cls in type(error).__mro__ if cls in OUTCOMES), INTERNAL)


def message(error: BaseException) -> str:
    """The message for the client; "internal error" for an unexpected exception."""
    return error.message if isinstance(error, errors.AskError) else "internal error"


def body(error: BaseException) -> dict[str, object]:
    """The JSON body of an error; for `ungrounded`, with what validation rejected."""
    detail = error.detail if isinstance(error, errors.AskError) else ""
    found: dict[str, object] = {
        "error": {"detail": detail, "kind": of(error).kind, "message": message(error)}
    }
    if isinstance(error, errors.Ungrounded):
        found["validation"] = {
            "errors": envelope.notices(error.errors),
            "ok": False,
            "warnings": [],
        }
    return found
