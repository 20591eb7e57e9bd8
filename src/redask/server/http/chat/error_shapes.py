"""Errors of the chat routes, whoever makes them: `shaped` for the path they are a reply to.

Routes, the router and what stands around both make the one body of `wire.outcomes`; at the paths of
chat programs it is sent in the shape that they read.
"""

import json

from starlette.responses import Response

from redask.core.wire.chat import chat_errors
from redask.server.http import responses

CHAT = "/v1/chat/completions"
MODELS = "/v1/models"


def shaped(path: str, reply: Response) -> Response:
    """The reply as a client of this path reads it, if it is an error."""
    is_chat = path in (CHAT, MODELS) or path.startswith(f"{MODELS}/")
    if not is_chat or reply.status_code < 400:
        return reply
    body = json.loads(bytes(reply.body))
    made = responses.plain(chat_errors.of(body), reply.status_code)
    kept = {name: value for name, value in reply.headers.items() if name != "content-length"}
    made.headers.update(kept)
    if not chat_errors.is_worth_a_retry(body):
        made.headers["X-Should-Retry"] = "false"
    return made
