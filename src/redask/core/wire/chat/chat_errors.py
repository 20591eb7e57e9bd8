"""Errors in the shape of OpenAI's API: `of` the body that every other route would send.

    error    code      our kind, but for what clients of that API know by another name
             message   the same
             param     the field of the request, where one is wrong
             type      whose fault it is
    redask   the body as it is elsewhere

`is_worth_a_retry`: the clients of that API ask again by themselves after 5xx; where that would cost
once more and end in the same, they are told not to.
"""

from collections.abc import Mapping
from typing import Any

_CODES = {"unauthenticated": "invalid_api_key", "overloaded": "rate_limit_exceeded"}
_TYPES = {
    "unauthenticated": "authentication_error",
    "denied": "permission_error",
    "overloaded": "rate_limit_error",
    "ungrounded": "ungrounded_error",
    "bad_ask": "invalid_request_error",
    "limit_exceeded": "invalid_request_error",
    "not_found": "invalid_request_error",
}
_PARAMS = {"question": "messages", "": None}
_FINAL = ("internal", "misconfigured", "provider_refused", "deadline_exceeded")


def of(body: Mapping[str, Any]) -> dict[str, object]:
    """The same error as chat programs read it."""
    found = body["error"]
    kind, detail = found["kind"], found["detail"]
    is_model = (kind, detail) == ("not_found", "model")
    at_fault = kind == "bad_ask" or is_model
    return {
        "error": {
            "code": "model_not_found" if is_model else _CODES.get(kind, kind),
            "message": found["message"],
            "param": _PARAMS.get(detail, detail) if at_fault else None,
            "type": _TYPES.get(kind, "server_error"),
        },
        "redask": dict(body),
    }


def is_worth_a_retry(body: Mapping[str, Any]) -> bool:
    """Whether the same request may succeed later."""
    return body["error"]["kind"] not in _FINAL
